//! Sessions that the person deletes. Nothing of what was said in them stays, in whichever transcript a copy of it stands; what
//! stays is which transcripts they were, and a hash of the key of each event, so that none of it is read again.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    Counts, Found, Job, Origin, SessionFacts, SessionId, Store, StoreError, TranscriptId, archive, copied::ids,
    dropped::GONE, event::ORDINAL_BITS, mark, passage, session,
};
use crate::chunk::Sort;

/// What went with a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Deleted {
    /// Its transcripts, those of its sub-agents included.
    pub transcripts: u64,
    /// Their events.
    pub events: u64,
    /// Copies of these in other transcripts.
    pub copies: u64,
    /// Findings in it.
    pub findings: u64,
    /// Snapshots that were saved of it by themselves.
    pub snapshots: u64,
}

impl Deleted {
    /// Puts what went with another one to it.
    pub fn add(&mut self, more: Self) {
        self.transcripts += more.transcripts;
        self.events += more.events;
        self.copies += more.copies;
        self.findings += more.findings;
        self.snapshots += more.snapshots;
    }
}

/// A transcript that is never read again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Tombstone {
    /// The file, or the database.
    pub path: String,
    /// The session's key in a database, '' for a file.
    pub key: String,
    /// When its session was deleted, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The tool that wrote it.
    pub tool: String,
    /// The tool's id of its session.
    pub session: String,
}

/// Set once keys are noted here: until then nobody need ask for them.
const NOTED: &str = "gone-keys";

/// Remembers the keys of a transcript's originals, so that copies of them in other transcripts are told. Those that another
/// session has by itself are not its own.
pub(super) fn note_keys(db: &Connection, session: SessionId, transcript: TranscriptId) -> Result<(), StoreError> {
    let (first, last) = ids(transcript, 0);
    db.prepare_cached(&format!(
        "INSERT OR REPLACE INTO dropped (key, transcript_id, at)
         SELECT DISTINCT key, ?1, {GONE} FROM event AS own
         WHERE id BETWEEN ?2 AND ?3 AND copied = 0 AND key IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM event AS other INDEXED BY event_key
            WHERE other.key = own.key AND other.copied = 0 AND other.key IS NOT NULL
                AND (other.id >> {ORDINAL_BITS}) NOT IN (SELECT id FROM transcript WHERE session_id = ?4))"
    ))?
    .execute(params![transcript, first, last, session])?;
    db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, '1')")?.execute([NOTED])?;
    Ok(())
}

/// Throws away a transcript's events, wherever they are, and where reading them could go on. What is known of them stays.
pub(super) fn clear_events(db: &Connection, transcript: TranscriptId) -> Result<u64, StoreError> {
    let (first, last) = ids(transcript, 0);
    note_held(db)?;
    passage::cut_events(db, transcript, 0)?;
    archive::forget_events(db, transcript)?;
    db.prepare_cached("DELETE FROM usage WHERE id BETWEEN ?1 AND ?2")?.execute([first, last])?;
    db.prepare_cached("DELETE FROM checkpoint WHERE transcript_id = ?1")?.execute([transcript])?;
    let gone = db.prepare_cached("DELETE FROM event WHERE id BETWEEN ?1 AND ?2")?.execute([first, last])?;
    Ok(gone as u64)
}

/// Does the store know keys of what is gone for good?
pub(super) fn has_keys(db: &Connection) -> Result<bool, StoreError> {
    Ok(db.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.exists([NOTED])?)
}

/// Takes copies of a session's events out of other transcripts; gives how many. These are read from their beginning again, as
/// far as they are still there: what was kept to read on from there may hold some of it.
fn clear_copies(db: &Connection, transcripts: &[TranscriptId], now: i64) -> Result<u64, StoreError> {
    let own: BTreeSet<TranscriptId> = transcripts.iter().copied().collect();
    let mut copies = BTreeMap::<TranscriptId, BTreeSet<i64>>::new();
    let mut add = |id: i64| {
        let transcript = passage::transcript_of(id);
        if !own.contains(&transcript) {
            copies.entry(transcript).or_default().insert(id);
        }
    };
    let keys = "SELECT key FROM dropped WHERE at = ?2 AND transcript_id IN (SELECT value FROM json_each(?1))";
    let of = serde_json::json!(transcripts.iter().map(|transcript| transcript.0).collect::<Vec<_>>()).to_string();
    let mut found = db.prepare_cached(&format!(
        "SELECT e.id FROM ({keys}) d CROSS JOIN event e INDEXED BY event_copy ON e.key = d.key AND e.copied = 2"
    ))?;
    found.query_map(params![of, GONE], |row| row.get(0))?.try_for_each(|id| id.map(&mut add))?;
    // Those that a tool itself calls copies are in no index: all events are looked at, once for all transcripts.
    let mut declared = db.prepare_cached(&format!("SELECT id FROM event WHERE copied = 1 AND key IN ({keys})"))?;
    declared.query_map(params![of, GONE], |row| row.get(0))?.try_for_each(|id| id.map(&mut add))?;
    let mut count = 0;
    for (transcript, rows) in copies {
        let session: Option<SessionId> = db
            .prepare_cached("SELECT session_id FROM transcript WHERE id = ?1")?
            .query_row([transcript], |row| row.get(0))
            .optional()?
            .flatten();
        if let Some(session) = session {
            archive::bring_back(db, session)?;
        }
        for id in rows {
            db.prepare_cached("DELETE FROM usage WHERE id = ?1")?.execute([id])?;
            count += db.prepare_cached("DELETE FROM event WHERE id = ?1")?.execute([id])? as u64;
        }
        db.prepare_cached("DELETE FROM checkpoint WHERE transcript_id = ?1")?.execute([transcript])?;
        db.prepare_cached(
            "UPDATE transcript SET analyzed_by = NULL,
                state = iif(state = 'done', 'queued', state), queued_at = iif(state = 'done', ?2, queued_at)
             WHERE id = ?1",
        )?
        .execute(params![transcript, now])?;
    }
    Ok(count)
}

impl Store {
    /// Deletes a session, and sees to it that its transcripts are never read again. None of that number: none.
    ///
    /// What was deleted may still stand in unused parts of the file, until [`Store::vacuum`].
    ///
    /// # Errors
    /// As for any write; everything stays then.
    pub fn delete_session(&mut self, session: SessionId, now: i64) -> Result<Option<Deleted>, StoreError> {
        let Some(row) = self.session(session)? else { return Ok(None) };
        // Freed pages are overwritten.
        self.db.pragma_update(None, "secure_delete", true)?;
        let gone = self.write(|db| {
            let transcripts = archive::transcripts_of(db, session)?;
            let mut gone = Deleted { transcripts: transcripts.len() as u64, ..Deleted::default() };
            for transcript in &transcripts {
                note_keys(db, session, *transcript)?;
            }
            gone.copies = clear_copies(db, &transcripts, now)?;
            for transcript in &transcripts {
                gone.events += clear_events(db, *transcript)?;
                bury(db, *transcript, &row.native_id, now)?;
            }
            let count = "SELECT count(*) FROM finding WHERE session_id = ?1";
            gone.findings = db.prepare_cached(count)?.query_row([session], |row| row.get::<_, i64>(0))?.cast_unsigned();
            gone.snapshots = clear_snapshots(db, &row.tool, &row.native_id)?;
            db.prepare_cached("DELETE FROM imported WHERE tool = ?1 AND session = ?2")?
                .execute([&row.tool, &row.native_id])?;
            session::clear(db, session)?;
            clear_names(db)?;
            note_held(db)?;
            Ok(gone)
        });
        self.labels.forget();
        gone.map(Some)
    }

    /// When the session of a transcript was deleted. None: it was not.
    ///
    /// # Errors
    /// As for any read.
    pub fn deleted_at(&self, found: &Found) -> Result<Option<i64>, StoreError> {
        let mut find =
            self.db.prepare_cached("SELECT at FROM deleted WHERE adapter = ?1 AND path = ?2 AND key = ?3")?;
        Ok(find.query_row([&found.adapter, &found.path, &found.key], |row| row.get(0)).optional()?)
    }

    /// Transcripts that are never read again, the last ones first.
    ///
    /// # Errors
    /// As for any read.
    pub fn tombstones(&self) -> Result<Vec<Tombstone>, StoreError> {
        let mut find =
            self.db.prepare_cached("SELECT path, key, at, tool, session FROM deleted ORDER BY at DESC, path, key")?;
        let rows = find.query_map([], |row| {
            let (path, key, at) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Tombstone { path, key, at, tool: row.get(3)?, session: row.get(4)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Lets a session be read again, and queues all its transcripts; gives how many these are.
    ///
    /// # Errors
    /// As for any write.
    pub fn undelete(&mut self, tool: &str, session: &str, now: i64) -> Result<u64, StoreError> {
        self.write(|db| {
            let mut find = db.prepare_cached(
                "SELECT t.id FROM deleted d JOIN transcript t ON (t.adapter, t.path, t.key) = (d.adapter, d.path, d.key)
                 WHERE d.tool = ?1 AND d.session = ?2",
            )?;
            let transcripts: Vec<TranscriptId> =
                find.query_map([tool, session], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for transcript in &transcripts {
                db.prepare_cached("DELETE FROM dropped WHERE transcript_id = ?1 AND at = ?2")?
                    .execute(params![transcript, GONE])?;
                db.prepare_cached(
                    "UPDATE transcript SET state = 'queued', queued_at = ?2, reason = NULL, why = NULL WHERE id = ?1",
                )?
                .execute(params![transcript, now])?;
            }
            let mut lift = db.prepare_cached("DELETE FROM deleted WHERE tool = ?1 AND session = ?2")?;
            Ok(lift.execute([tool, session])? as u64)
        })
    }

    /// What the files of indexes may hold of what was deleted: a word that is another one after each deletion. None: nothing.
    ///
    /// # Errors
    /// As for any read.
    pub fn held_deleted(&self) -> Result<Option<String>, StoreError> {
        self.meta(HELD)
    }

    /// Notes that they may.
    ///
    /// # Errors
    /// As for any write.
    pub fn indexes_may_hold_deleted(&mut self) -> Result<(), StoreError> {
        note_held(&self.db)
    }

    /// Notes that the files of indexes hold nothing that was deleted before.
    ///
    /// # Errors
    /// As for any write.
    pub fn indexes_are_clean(&mut self) -> Result<(), StoreError> {
        self.db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([HELD])?;
        Ok(())
    }

    /// Notes that they hold nothing of what was meant by this word. Something may have been deleted since.
    ///
    /// # Errors
    /// As for any write.
    pub fn indexes_are_clean_of(&mut self, held: &str) -> Result<(), StoreError> {
        self.db.prepare_cached("DELETE FROM meta WHERE key = ?1 AND value = ?2")?.execute([HELD, held])?;
        Ok(())
    }
}

/// Set while the files of indexes may hold words of what was deleted.
const HELD: &str = "indexes-hold-deleted";

/// Notes that something was deleted of which indexes may hold words.
pub(super) fn note_held(db: &Connection) -> Result<(), StoreError> {
    db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, hex(randomblob(8)))")?.execute([HELD])?;
    Ok(())
}

/// Does a transcript that was never filed tell of a session that was deleted? A sub-agent's that is new, or a file that was moved.
pub(super) fn is_of_deleted(db: &Connection, job: &Job, facts: &SessionFacts) -> Result<bool, StoreError> {
    let mut find = db.prepare_cached("SELECT 1 FROM deleted WHERE tool = ?1 AND session = ?2")?;
    Ok(job.session.is_none() && find.exists([&job.tool, &facts.native_id])?)
}

/// Leaves of a transcript that it is there and that it is not to be read.
pub(super) fn bury(db: &Connection, transcript: TranscriptId, native_id: &str, now: i64) -> Result<(), StoreError> {
    db.prepare_cached("DELETE FROM signal WHERE transcript_id = ?1")?.execute([transcript])?;
    db.prepare_cached("DELETE FROM touch WHERE transcript_id = ?1")?.execute([transcript])?;
    Counts::default().save(db, transcript)?;
    db.prepare_cached(
        "UPDATE transcript SET session_id = NULL, state = 'skipped', reason = 'deleted',
            why = 'its session was deleted', claims = 0, attempts = 0, next_try = NULL, place = NULL, done_at = NULL,
            parsed_by = NULL, analyzed_by = NULL, settled = 0, settled_counts = NULL, dropped = 0,
            size = NULL, mtime_ns = NULL, inode = NULL, device = NULL, version = NULL
         WHERE id = ?1",
    )?
    .execute([transcript])?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO deleted (adapter, path, key, at, tool, session)
         SELECT adapter, path, key, ?2, tool, ?3 FROM transcript WHERE id = ?1",
    )?
    .execute(params![transcript, now, native_id])?;
    Ok(())
}

/// Snapshots were saved of the session without anyone's asking. Of two sessions with one id nobody knows whose they are.
fn clear_snapshots(db: &Connection, tool: &str, native_id: &str) -> Result<u64, StoreError> {
    let mut find = db.prepare_cached(
        "SELECT id FROM chunk WHERE session = ?2 AND kind = ?3
            AND 1 = (SELECT count(*) FROM session WHERE tool = ?1 AND native_id = ?2)",
    )?;
    let rows: Vec<i64> =
        find.query_map(params![tool, native_id, Sort::Snapshot.name()], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for row in &rows {
        archive::clear_chunk(db, *row)?;
    }
    Ok(rows.len() as u64)
}

/// Takes out names that nothing has any more: files, threads, tools.
fn clear_names(db: &Connection) -> Result<(), StoreError> {
    db.prepare_cached("DELETE FROM file WHERE id NOT IN (SELECT file_id FROM touch)")?.execute([])?;
    db.prepare_cached(
        "DELETE FROM label WHERE id NOT IN (
            SELECT thread FROM event WHERE thread IS NOT NULL UNION SELECT name FROM event WHERE name IS NOT NULL)",
    )?
    .execute([])?;
    Ok(())
}

/// Takes a session's row away, and what hangs on it.
pub(super) fn clear_row(db: &Connection, session: SessionId) -> Result<(), StoreError> {
    archive::forget(db, Origin::Session, session.0)?;
    mark::clear(db, Origin::Session, session.0)?;
    passage::remove(db, Origin::Session, session.0)
}
