//! Copies: a resumed or forked session repeats the history of another. The first transcript that brings a key has the
//! original; when that one goes, a copy takes its place, so that what happened is always counted once.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::{
    Counts, SessionId, StoreError, TranscriptId,
    event::{self, COLUMNS, ORDINAL_BITS},
    label::Labels,
    passage, session, touch,
};

/// The ids that a transcript's events may have, from an ordinal on.
pub(super) fn ids(transcript: TranscriptId, from: i64) -> (i64, i64) {
    let first = transcript.0 << ORDINAL_BITS;
    (first + from, first + (1 << ORDINAL_BITS) - 1)
}

/// Asks whether keys have their original in another transcript.
pub(super) struct Originals<'db> {
    find: CachedStatement<'db>,
    own: (i64, i64),
}

impl<'db> Originals<'db> {
    pub(super) fn outside(db: &'db Connection, transcript: TranscriptId) -> Result<Self, StoreError> {
        let find = db.prepare_cached(
            "SELECT 1 FROM event INDEXED BY event_key
             WHERE key = ?1 AND copied = 0 AND key IS NOT NULL AND id NOT BETWEEN ?2 AND ?3 LIMIT 1",
        )?;
        Ok(Self { find, own: ids(transcript, 0) })
    }

    pub(super) fn has(&mut self, key: i64) -> Result<bool, StoreError> {
        Ok(self.find.exists([key, self.own.0, self.own.1])?)
    }
}

/// Keys whose original is among a transcript's events from an ordinal on, and which others copied.
pub(super) fn copied_by_others(db: &Connection, transcript: TranscriptId, from: i64) -> Result<Vec<i64>, StoreError> {
    let (first, last) = ids(transcript, from);
    let mut find = db.prepare_cached(
        "SELECT DISTINCT key FROM event AS original
         WHERE id BETWEEN ?1 AND ?2 AND copied = 0 AND key IS NOT NULL AND EXISTS (
            SELECT 1 FROM event AS copy INDEXED BY event_copy WHERE copy.key = original.key AND copy.copied = 2)",
    )?;
    Ok(find.query_map([first, last], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Makes the earliest stored copy of each key that has no original any more the original. The transcripts concerned
/// are to be analysed again, since a copy is context only.
pub(super) fn promote(db: &Connection, labels: &Labels, keys: &[i64]) -> Result<(), StoreError> {
    let mut touched = BTreeMap::<TranscriptId, Vec<i64>>::new();
    for &key in keys {
        let original = "SELECT 1 FROM event INDEXED BY event_key WHERE key = ?1 AND copied = 0 AND key IS NOT NULL";
        if db.prepare_cached(original)?.exists([key])? {
            continue;
        }
        let heir = "SELECT min(id) FROM event INDEXED BY event_copy WHERE key = ?1 AND copied = 2";
        let heir: Option<i64> = db.prepare_cached(heir)?.query_row([key], |row| row.get(0))?;
        let Some(heir) = heir else { continue };
        let transcript = TranscriptId(heir >> ORDINAL_BITS);
        let (first, last) = ids(transcript, 0);
        let mut rows = db.prepare_cached(
            "SELECT id FROM event INDEXED BY event_copy WHERE key = ?1 AND copied = 2 AND id BETWEEN ?2 AND ?3",
        )?;
        let rows: Vec<i64> = rows.query_map([key, first, last], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut make = db.prepare_cached("UPDATE event SET copied = 0 WHERE id = ?1")?;
        for id in &rows {
            make.execute([id])?;
        }
        touched.entry(transcript).or_default().extend(rows);
    }
    for (transcript, rows) in touched {
        // An index left them out as copies.
        passage::renumber(db, transcript)?;
        count_in(db, labels, transcript, &rows)?;
        touch::renew(db, transcript)?;
        touch::renew_session_of(db, transcript)?;
    }
    Ok(())
}

/// Adds events that count from now on to the counts of their transcript and its session.
fn count_in(db: &Connection, labels: &Labels, transcript: TranscriptId, rows: &[i64]) -> Result<(), StoreError> {
    let (mut all, settled_rows, mut settled, session) = counts(db, transcript)?;
    for id in rows {
        let mut find = db.prepare_cached(&format!("SELECT {COLUMNS} FROM event WHERE id = ?1"))?;
        let mut found = find.query([id])?;
        let Some(row) = found.next()? else { continue };
        let event = event::read(db, labels, row)?;
        all.add(&event);
        if *id < ids(transcript, settled_rows).0 {
            settled.add(&event);
        }
    }
    all.save(db, transcript)?;
    let settled = serde_json::to_string(&settled)
        .map_err(|error| StoreError::Row { table: "transcript", why: error.to_string() })?;
    db.prepare_cached("UPDATE transcript SET settled_counts = ?2, analyzed_by = NULL WHERE id = ?1")?
        .execute(params![transcript, settled])?;
    if let Some(session) = session {
        session::settle(db, session)?;
    }
    Ok(())
}

/// A transcript's counts, its number of settled rows, the counts of these alone, and its session.
pub(super) fn counts(
    db: &Connection,
    transcript: TranscriptId,
) -> Result<(Counts, i64, Counts, Option<SessionId>), StoreError> {
    let mut find = db.prepare_cached(
        "SELECT events, messages, tool_calls, edits, agent_events, started_at, ended_at, settled, settled_counts,
            session_id
         FROM transcript WHERE id = ?1",
    )?;
    let row = find.query_row([transcript], |row| {
        let count = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
        let all = Counts {
            events: count(0)?,
            messages: count(1)?,
            tool_calls: count(2)?,
            edits: count(3)?,
            agent_events: count(4)?,
            started_at: row.get(5)?,
            ended_at: row.get(6)?,
        };
        Ok((all, row.get(7)?, row.get::<_, Option<String>>(8)?, row.get(9)?))
    });
    let Some((all, rows, settled, session)) = row.optional()? else {
        return Err(StoreError::Row { table: "transcript", why: format!("row {} is not there", transcript.0) });
    };
    let settled = settled.map(|json| serde_json::from_str(&json)).transpose();
    let settled = settled.map_err(|error| StoreError::Row { table: "transcript", why: error.to_string() })?;
    Ok((all, rows, settled.unwrap_or_default(), session))
}
