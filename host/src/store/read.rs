//! Reading back what was ingested.

use std::collections::BTreeMap;

use rusqlite::{Row, params};

use super::{
    SessionId, Store, StoreError, TranscriptId,
    archive::Shelf,
    copied::ids,
    event::{self, COLUMNS, KIND, ORDINAL_BITS, USAGE, Words},
};
use crate::{
    event::Event,
    sandbox::parse::{Outcome, TallyEntry},
};

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its row.
    pub id: SessionId,
    /// Tool.
    pub tool: String,
    /// The tool's id of it. Two sessions may share one.
    pub native_id: String,
    /// Path of its main transcript, if that was seen.
    pub path: Option<String>,
    /// The project it is filed under.
    pub project: Option<String>,
    /// Folder the tool worked in.
    pub cwd: Option<String>,
    /// Branch of that folder.
    pub branch: Option<String>,
    /// What the person calls it, else its title.
    pub title: Option<String>,
    /// Version of the tool.
    pub version: Option<String>,
    /// Native id of the session that it goes on from.
    pub parent: Option<String>,
    /// Time of its first event.
    pub started_at: Option<i64>,
    /// Time of its last event.
    pub ended_at: Option<i64>,
    /// Events of the main thread, without copies.
    pub events: u64,
    /// Messages of the person and of the model, there.
    pub messages: u64,
    /// Tool calls, there.
    pub tool_calls: u64,
    /// Tool calls that edit or create, there.
    pub edits: u64,
    /// Events of its sub-agents.
    pub agent_events: u64,
    /// Since when it is put away.
    pub archived_at: Option<i64>,
    /// Since when nothing is left of what was said in it.
    pub purged_at: Option<i64>,
}

/// A transcript of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptRow {
    /// Its row.
    pub id: TranscriptId,
    /// The file, or the database.
    pub path: String,
    /// The session's key in a database, '' for a file.
    pub key: String,
    /// `queued`, `done`, `failed`, `skipped` or `expired`.
    pub state: String,
}

/// A signal, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSignal {
    /// The transcript it was seen in.
    pub transcript: TranscriptId,
    /// kebab-case: `tool-error`.
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// Line it is seen in.
    pub line: u64,
    /// Time of that.
    pub at: Option<i64>,
    /// Sub-agent it happened in.
    pub thread: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// One line for a person.
    pub detail: String,
    /// Lines it rests on, ascending.
    pub evidence: Vec<u64>,
}

/// Records that no adapter understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Those of unknown types, by tool and type.
    pub unknown: BTreeMap<(String, String), u64>,
    /// Those that were not readable.
    pub broken: u64,
}

/// Tokens of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// Model.
    pub model: String,
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
}

const SESSION: &str = "s.id, s.tool, s.native_id, t.path, s.project, s.cwd, s.branch, \
                       ifnull(s.renamed, s.title), s.version, s.parent, \
                       s.started_at, s.ended_at, s.events, s.messages, s.tool_calls, s.edits, s.agent_events, \
                       (SELECT at FROM archive WHERE origin = 3 AND source = s.id), s.purged_at \
                       FROM session s LEFT JOIN transcript t ON t.id = s.main_transcript";

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let count = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
    Ok(SessionRow {
        id: row.get(0)?,
        tool: row.get(1)?,
        native_id: row.get(2)?,
        path: row.get(3)?,
        project: row.get(4)?,
        cwd: row.get(5)?,
        branch: row.get(6)?,
        title: row.get(7)?,
        version: row.get(8)?,
        parent: row.get(9)?,
        started_at: row.get(10)?,
        ended_at: row.get(11)?,
        events: count(12)?,
        messages: count(13)?,
        tool_calls: count(14)?,
        edits: count(15)?,
        agent_events: count(16)?,
        archived_at: row.get(17)?,
        purged_at: row.get(18)?,
    })
}

impl Store {
    /// All sessions, oldest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {SESSION} ORDER BY s.started_at, s.id"))?;
        Ok(find.query_map([], session)?.collect::<Result<_, _>>()?)
    }

    /// One session.
    ///
    /// # Errors
    /// As for any read.
    pub fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {SESSION} WHERE s.id = ?1"))?;
        Ok(find.query_map([id], session)?.next().transpose()?)
    }

    /// A session's transcripts, in the order they were found.
    ///
    /// # Errors
    /// As for any read.
    pub fn transcripts(&self, session: SessionId) -> Result<Vec<TranscriptRow>, StoreError> {
        let mut find =
            self.db.prepare_cached("SELECT id, path, key, state FROM transcript WHERE session_id = ?1 ORDER BY id")?;
        let rows = find.query_map([session], |row| {
            Ok(TranscriptRow { id: row.get(0)?, path: row.get(1)?, key: row.get(2)?, state: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// One transcript.
    ///
    /// # Errors
    /// As for any read.
    pub fn transcript(&self, id: TranscriptId) -> Result<Option<TranscriptRow>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT id, path, key, state FROM transcript WHERE id = ?1")?;
        let mut rows = find.query_map([id], |row| {
            Ok(TranscriptRow { id: row.get(0)?, path: row.get(1)?, key: row.get(2)?, state: row.get(3)? })
        })?;
        Ok(rows.next().transpose()?)
    }

    /// Signals of all of a session's transcripts, in the order of their lines.
    ///
    /// # Errors
    /// As for any read.
    pub fn signals(&self, session: SessionId) -> Result<Vec<StoredSignal>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT g.transcript_id, g.kind, g.subject, g.line, g.at, g.thread, g.confidence, g.detail, g.evidence
             FROM transcript t JOIN signal g ON g.transcript_id = t.id
             WHERE t.session_id = ?1 ORDER BY t.id, g.line, g.id",
        )?;
        let mut rows = find.query([session])?;
        let mut signals = Vec::new();
        while let Some(row) = rows.next()? {
            let evidence = row.get_ref(8)?.as_str().map_err(|error| unreadable("signal", &error))?;
            signals.push(StoredSignal {
                transcript: row.get(0)?,
                kind: row.get(1)?,
                subject: row.get(2)?,
                line: row.get::<_, i64>(3)?.cast_unsigned(),
                at: row.get(4)?,
                thread: row.get(5)?,
                confidence: row.get(6)?,
                detail: row.get(7)?,
                evidence: serde_json::from_str(evidence).map_err(|error| unreadable("signal", &error))?,
            });
        }
        Ok(signals)
    }

    /// A transcript's stored events from an ordinal on, at most `limit`, and the ordinal to go on from; none: there
    /// are no more. Its first event has the ordinal 0. What was put away is read as if it was not.
    ///
    /// # Errors
    /// As for any read.
    pub fn events(
        &self,
        transcript: TranscriptId,
        from: u64,
        limit: usize,
    ) -> Result<(Vec<Event>, Option<u64>), StoreError> {
        self.event_page(transcript, from.cast_signed(), 1 << ORDINAL_BITS, limit)
    }

    pub(super) fn event_page(
        &self,
        transcript: TranscriptId,
        from: i64,
        end: i64,
        limit: usize,
    ) -> Result<(Vec<Event>, Option<u64>), StoreError> {
        let (first, zero) = (ids(transcript, from).0, ids(transcript, 0).0);
        let sql = format!("SELECT {COLUMNS} FROM event WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3");
        let mut find = self.db.prepare_cached(&sql)?;
        let mut rows = find.query(params![first, zero + end, limit as i64])?;
        let mut shelf = Shelf::new(&self.db);
        let (mut events, mut next) = (Vec::new(), None);
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            next = Some((id + 1 - zero).cast_unsigned());
            let words = Words::of(row)?;
            let words = if words.text.is_none() && event::has_words(row.get(KIND)?) { shelf.words(id)? } else { words };
            events.push(event::read_with(&self.db, &self.labels, row, words)?);
        }
        let full = events.len() == limit;
        Ok((events, next.filter(|_| full)))
    }

    /// What became of a transcript's records when it was last read.
    ///
    /// # Errors
    /// As for any read.
    pub fn tally(&self, transcript: TranscriptId) -> Result<Vec<TallyEntry>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT tally FROM checkpoint WHERE transcript_id = ?1")?;
        let mut rows = find.query([transcript])?;
        let Some(row) = rows.next()? else { return Ok(Vec::new()) };
        let text = row.get_ref(0)?.as_str().map_err(|error| unreadable("checkpoint", &error))?;
        serde_json::from_str(text).map_err(|error| unreadable("checkpoint", &error))
    }

    /// Records of all transcripts that no adapter understood.
    ///
    /// # Errors
    /// As for any read.
    pub fn unread_records(&self) -> Result<Unread, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT tool, tally FROM checkpoint c JOIN transcript t ON t.id = c.transcript_id
             WHERE tally LIKE '%unknown%' OR tally LIKE '%broken%'",
        )?;
        let mut rows = find.query([])?;
        let mut unread = Unread::default();
        while let Some(row) = rows.next()? {
            let text = row.get_ref(1)?.as_str().map_err(|error| unreadable("checkpoint", &error))?;
            let tally: Vec<TallyEntry> =
                serde_json::from_str(text).map_err(|error| unreadable("checkpoint", &error))?;
            let tool: String = row.get(0)?;
            for entry in tally {
                match entry.outcome {
                    Outcome::Unknown => *unread.unknown.entry((tool.clone(), entry.what)).or_default() += entry.count,
                    Outcome::Broken => unread.broken += entry.count,
                    Outcome::Understood | Outcome::Skipped => {}
                }
            }
        }
        Ok(unread)
    }

    /// Tokens that a session used, by model: of each response the largest figures, copies left out.
    ///
    /// # Errors
    /// As for any read.
    pub fn usage(&self, session: SessionId) -> Result<Vec<UsageRow>, StoreError> {
        let sql = format!(
            "SELECT l.text, sum(input), sum(output), sum(cache_read), sum(cache_write) FROM (
                SELECT e.name, max(input) AS input, max(output) AS output, max(cache_read) AS cache_read,
                    max(cache_write) AS cache_write
                FROM transcript t
                JOIN usage u ON u.id BETWEEN t.id << {ORDINAL_BITS} AND ((t.id + 1) << {ORDINAL_BITS}) - 1
                JOIN event e ON e.id = u.id
                WHERE t.session_id = ?1 AND e.copied = 0 AND e.kind = {USAGE}
                GROUP BY e.name, ifnull(e.key, 'row ' || e.id)
             ) JOIN label l ON l.id = name GROUP BY l.text ORDER BY l.text"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let rows = find.query_map([session], |row| {
            let sum = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
            Ok(UsageRow {
                model: row.get(0)?,
                input: sum(1)?,
                output: sum(2)?,
                cache_read: sum(3)?,
                cache_write: sum(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn unreadable(table: &'static str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Row { table, why: error.to_string() }
}
