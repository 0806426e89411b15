//! Which files a transcript's calls were about. Kept apart from the events, so that asking for a file does not mean reading
//! all of them.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::{
    SessionId, Store, StoreError, TranscriptId,
    copied::ids,
    event::{self, CHANGES_FILES, TOOL_CALL},
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

impl Store {
    /// What transcripts did with a file: a whole path, or its last parts.
    ///
    /// # Errors
    /// As for any read.
    pub fn touched(&self, path: &str) -> Result<Vec<Touched>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT t.session_id, f.path, c.calls, c.changes, c.at
             FROM file f JOIN touch c ON c.file_id = f.id JOIN transcript t ON t.id = c.transcript_id
             WHERE t.session_id IS NOT NULL AND (f.path = ?1 OR substr(f.path, -length(?1) - 1) IN ('/' || ?1, '\' || ?1))
             ORDER BY c.at DESC, f.path",
        )?;
        let rows = find.query_map([path], |row| {
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
