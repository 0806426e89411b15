//! What a session was about, in outline: what the person asked for first and last, what it changed, what was found in it. A few rows
//! are read of each, however long it was: this is asked of several sessions of every project whenever something was read.

use rusqlite::{OptionalExtension, Row, params};

use super::{
    SessionId, Store, StoreError, TranscriptId,
    copied::ids,
    event::{self, EXECUTES, MESSAGE, Number, TOOL_CALL},
};
use crate::{
    event::{Author, Channel},
    finding::Finding,
};

/// Something that the person asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The event's row.
    pub event: i64,
    /// When.
    pub at: Option<i64>,
    /// The words.
    pub text: String,
}

impl Store {
    /// The first thing that the person asked for in the main thread of a session, and the latest ones, at most so many,
    /// the oldest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn asked(&self, session: SessionId, latest: usize) -> Result<(Option<Asked>, Vec<Asked>), StoreError> {
        let mut main = self.db.prepare_cached("SELECT main_transcript FROM session WHERE id = ?1")?;
        let main: Option<TranscriptId> = main.query_row([session], |row| row.get(0)).optional()?.flatten();
        let Some(main) = main else { return Ok((None, Vec::new())) };
        let (first, last) = ids(main, 0);
        let read = |row: &Row<'_>| Ok(Asked { event: row.get(0)?, at: row.get(1)?, text: row.get(2)? });
        let sql = |order: &str| {
            format!(
                "SELECT id, at, text FROM event WHERE id BETWEEN ?1 AND ?2 AND +kind = {MESSAGE} AND text IS NOT NULL AND author = {}
                    AND channel IN ({}, {}) AND copied = 0 AND thread IS NULL ORDER BY id {order} LIMIT ?3",
                Author::Human.number(),
                Channel::Prompt.number(),
                Channel::Steering.number(),
            )
        };
        let began = self.db.prepare_cached(&sql("ASC"))?.query_row([first, last, 1], read).optional()?;
        let mut find = self.db.prepare_cached(&sql("DESC"))?;
        let latest = find.query_map([first, last, latest as i64], read)?;
        let mut latest = latest.collect::<Result<Vec<_>, _>>()?;
        latest.reverse();
        Ok((began, latest))
    }

    /// What the person calls a session, or else its title.
    ///
    /// # Errors
    /// As for any read.
    pub fn title(&self, session: SessionId) -> Result<Option<String>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT ifnull(renamed, title) FROM session WHERE id = ?1")?;
        Ok(find.query_row([session], |row| row.get(0)).optional()?.flatten())
    }

    /// The files that a session changed and how often, those it changed most first, sub-agents' changes included.
    ///
    /// # Errors
    /// As for any read.
    pub fn changes(&self, session: SessionId) -> Result<Vec<(String, u64)>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT f.path, sum(c.changes) FROM transcript t JOIN touch c ON c.transcript_id = t.id
                JOIN file f ON f.id = c.file_id
             WHERE t.session_id = ?1 AND c.changes > 0 GROUP BY f.id ORDER BY sum(c.changes) DESC, f.path",
        )?;
        let files = find.query_map([session], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        Ok(files.collect::<Result<_, _>>()?)
    }

    /// The lines of the shell that a session ran, sub-agents' ones included.
    ///
    /// # Errors
    /// As for any read.
    pub fn shell_lines(&self, session: SessionId, mut each: impl FnMut(&str)) -> Result<(), StoreError> {
        let mut find = self.db.prepare_cached(&format!(
            "SELECT detail, text FROM event
             WHERE id BETWEEN ?1 AND ?2 AND +kind = {TOOL_CALL} AND tool_kind IN ({EXECUTES}) AND copied = 0
                AND text IS NOT NULL"
        ))?;
        for transcript in self.transcripts(session)? {
            let (first, last) = ids(transcript.id, 0);
            let mut rows = find.query([first, last])?;
            while let Some(row) = rows.next()? {
                if let Some(line) = event::command_of(row, 0, 1)? {
                    each(&line);
                }
            }
        }
        Ok(())
    }

    /// The findings of one session.
    ///
    /// # Errors
    /// As for any read.
    pub fn findings_of(&self, session: SessionId) -> Result<Vec<Finding>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT body FROM finding WHERE session_id = ?1 ORDER BY id")?;
        let mut rows = find.query([session])?;
        let mut findings = Vec::new();
        while let Some(row) = rows.next()? {
            let body = serde_json::from_str(row.get_ref(0)?.as_str().unwrap_or_default());
            findings.push(body.map_err(|why| StoreError::Row { table: "finding", why: why.to_string() })?);
        }
        Ok(findings)
    }

    /// The first event of a line of a transcript. Events are stored in the order of their lines, so it is looked for as in a
    /// dictionary.
    ///
    /// # Errors
    /// As for any read.
    pub fn event_at(&self, transcript: i64, line: u64) -> Result<Option<i64>, StoreError> {
        let (first, end) = ids(TranscriptId(transcript), 0);
        let mut last = self.db.prepare_cached("SELECT max(id) FROM event WHERE id BETWEEN ?1 AND ?2")?;
        let Some(last) = last.query_row([first, end], |row| row.get::<_, Option<i64>>(0))? else { return Ok(None) };
        let mut line_of = self.db.prepare_cached("SELECT id, line FROM event WHERE id BETWEEN ?1 AND ?2 LIMIT 1")?;
        let (mut low, mut high, mut found) = (first, last, None);
        while low <= high {
            let middle = low + (high - low) / 2;
            let next = line_of
                .query_row([middle, high], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?.cast_unsigned())))
                .optional()?;
            match next {
                None => high = middle - 1,
                Some((_, there)) if there > line => high = middle - 1,
                Some((id, there)) if there < line => low = id + 1,
                Some((id, _)) => {
                    found = Some(id);
                    high = middle - 1;
                }
            }
        }
        Ok(found)
    }

    /// Sessions that changed a file whose path is like this, as SQL has it: `%/memory/%`.
    ///
    /// # Errors
    /// As for any read.
    pub fn changed_like(&self, pattern: &str) -> Result<Vec<SessionId>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT DISTINCT t.session_id FROM file f JOIN touch c ON c.file_id = f.id
                JOIN transcript t ON t.id = c.transcript_id
             WHERE f.path LIKE ?1 AND c.changes > 0 AND t.session_id IS NOT NULL",
        )?;
        Ok(find.query_map(params![pattern], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}
