//! Which files a transcript's calls were about. Kept apart from the events, so that asking for a file does not mean reading
//! all of them.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SessionId, Store, StoreError, TranscriptId,
    copied::ids,
    event::{self, CHANGES_FILES, TOOL_CALL},
    passage,
};

/// A file, and what a transcript did with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The session that the transcript is of.
    pub session: SessionId,
    /// The file.
    pub path: String,
    /// All calls about it.
    pub calls: u64,
    /// Of these, the ones that changed it.
    pub changes: u64,
    /// When the latest was.
    pub at: Option<i64>,
}

/// In a store that is older than these counts, up to which transcript they are there; absent: all are.
const COUNTED: &str = "files-counted";

/// Is a row of `file` the one that is asked for as `?1` ([`slashes`]): by its whole path, or by its last parts?
pub(super) const IS_FILE: &str =
    r"replace(path, '\', '/') = ?1 OR substr(replace(path, '\', '/'), -length(?1) - 1) = '/' || ?1";

/// A path as [`IS_FILE`] takes it: the same file is written with either slash.
pub(super) fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

/// Transcripts that are counted in one transaction.
const AT_ONCE: i64 = 200;

#[derive(Default)]
struct Touch {
    calls: i64,
    changes: i64,
    at: Option<i64>,
}

/// Counts the files of a transcript anew.
pub(super) fn renew(db: &Connection, transcript: TranscriptId) -> Result<(), StoreError> {
    let (first, last) = ids(transcript, 0);
    let mut touched = BTreeMap::<String, Touch>::new();
    let mut find = db.prepare_cached(&format!(
        "SELECT at, path, detail, tool_kind IN ({CHANGES_FILES}) FROM event
         WHERE id BETWEEN ?1 AND ?2 AND kind = {TOOL_CALL} AND copied = 0 AND path IS NOT NULL"
    ))?;
    let mut rows = find.query([first, last])?;
    while let Some(row) = rows.next()? {
        let at: Option<i64> = row.get(0)?;
        let changes: bool = row.get(3)?;
        for path in event::paths_of(row, 1, 2)? {
            let touch = touched.entry(path).or_default();
            touch.calls += 1;
            touch.changes += i64::from(changes);
            touch.at = touch.at.max(at);
        }
    }
    db.prepare_cached("DELETE FROM touch WHERE transcript_id = ?1")?.execute([transcript])?;
    let mut name = db.prepare_cached(
        "INSERT INTO file (path) VALUES (?1) ON CONFLICT (path) DO UPDATE SET path = path RETURNING id",
    )?;
    let mut put = db
        .prepare_cached("INSERT INTO touch (file_id, transcript_id, calls, changes, at) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (path, Touch { calls, changes, at }) in touched {
        let file: i64 = name.query_row([path], |row| row.get(0))?;
        put.execute(params![file, transcript, calls, changes, at])?;
    }
    Ok(())
}

/// What a session changed is part of what it is found by as a whole.
pub(super) fn renew_session_of(db: &Connection, transcript: TranscriptId) -> Result<(), StoreError> {
    let mut find = db.prepare_cached("SELECT session_id FROM transcript WHERE id = ?1 AND session_id IS NOT NULL")?;
    match find.query_row([transcript], |row| row.get(0)).optional()? {
        Some(session) => passage::renew_session(db, session),
        None => Ok(()),
    }
}

impl Store {
    /// Counts the files of transcripts that an older version has read. Goes on the next time where it was told to stop.
    ///
    /// # Errors
    /// As for any write.
    pub fn count_files(&mut self, stop: &dyn Fn() -> bool) -> Result<(), StoreError> {
        while let Some(counted) = self.meta(COUNTED)? {
            if stop() {
                return Ok(());
            }
            self.write(|db| {
                let mut next = db.prepare_cached("SELECT id FROM transcript WHERE id > ?1 ORDER BY id LIMIT ?2")?;
                let next = next.query_map(params![counted.parse::<i64>().unwrap_or(0), AT_ONCE], |row| row.get(0))?;
                let next: Vec<TranscriptId> = next.collect::<Result<_, _>>()?;
                for transcript in &next {
                    renew(db, *transcript)?;
                    renew_session_of(db, *transcript)?;
                }
                match next.last() {
                    Some(last) => db
                        .prepare_cached("UPDATE meta SET value = ?2 WHERE key = ?1")?
                        .execute(params![COUNTED, last.0.to_string()])?,
                    None => db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([COUNTED])?,
                };
                Ok(())
            })?;
        }
        Ok(())
    }

    /// What transcripts did with a file: a whole path, or its last parts.
    ///
    /// # Errors
    /// As for any read.
    pub fn touched(&self, path: &str) -> Result<Vec<Touched>, StoreError> {
        let mut find = self.db.prepare_cached(&format!(
            "SELECT t.session_id, f.path, c.calls, c.changes, c.at
             FROM file f JOIN touch c ON c.file_id = f.id JOIN transcript t ON t.id = c.transcript_id
             WHERE t.session_id IS NOT NULL AND f.id IN (SELECT id FROM file WHERE {IS_FILE})
             ORDER BY c.at DESC, f.path",
        ))?;
        let rows = find.query_map([slashes(path)], |row| {
            Ok(Touched {
                session: row.get(0)?,
                path: row.get(1)?,
                calls: row.get::<_, i64>(2)?.cast_unsigned(),
                changes: row.get::<_, i64>(3)?.cast_unsigned(),
                at: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
