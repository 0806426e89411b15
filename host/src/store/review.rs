//! Reviews: what a model was asked about a session, and what became of it. The findings of an answer and the review that says
//! so are written together, so a killed process leaves the session either reviewed or due.

use std::collections::HashMap;

use rusqlite::{Row, params};

use super::{SessionId, Store, StoreError, event};
use crate::{finding::Finding, pattern::Anchor};

/// What became of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewState {
    /// The model answered, be it that there is nothing.
    Done,
    /// It was not asked, on purpose.
    Skipped,
    /// It was asked, and there is no answer that can be used.
    Failed,
}

impl ReviewState {
    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Done, Self::Skipped, Self::Failed].into_iter().find(|state| state.name() == name)
    }
}

/// A row of `review`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// What became of it.
    pub state: ReviewState,
    /// Why it was skipped, or failed.
    pub why: Option<String>,
    /// Kind of the failure.
    pub kind: Option<String>,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    /// The session as it was then ([`Reviewable::covers`]).
    pub covers: String,
    /// Hash of what the model was shown of it.
    pub input: Option<String>,
    /// Hash of the instructions and the schema.
    pub prompt: Option<String>,
    /// The model, as asked for.
    pub model: Option<String>,
    /// Findings that it gave.
    pub findings: u32,
    /// Failures in a row.
    pub attempts: u32,
    /// When it is tried again; none: not by itself.
    pub next_try: Option<i64>,
}

/// A session that a model could be asked about.
#[derive(Clone, Debug)]
pub struct Reviewable {
    /// Its row.
    pub session: SessionId,
    /// Tool.
    pub tool: String,
    /// The tool's id of it.
    pub native_id: String,
    /// Path of its main transcript, if that was seen.
    pub path: Option<String>,
    /// The project it is filed under.
    pub project: Option<String>,
    /// Folder the tool worked in.
    pub cwd: Option<String>,
    /// Time of its last event.
    pub ended_at: Option<i64>,
    /// Events of its main thread.
    pub events: u64,
    /// Tells how far it had gone: another value means that it went on.
    pub covers: String,
    /// A transcript of it waits to be read.
    pub unread: bool,
    /// Kinds of its signals with their number and the sum of their confidences.
    pub signals: Vec<(String, u64, f64)>,
    /// What was done about it last.
    pub review: Option<Review>,
}

/// Reviews of one state, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ReviewCount {
    /// What became of them.
    pub state: ReviewState,
    /// Why they were skipped; the kind of the failure.
    pub why: Option<String>,
    /// None of them is tried again by itself.
    pub given_up: bool,
    /// How many.
    pub count: u64,
}

const REVIEW: &str =
    "r.state, r.why, r.kind, r.at, r.covers, r.input, r.prompt, r.model, r.findings, r.attempts, r.next_try";

/// Reads [`REVIEW`] from a column on.
fn review(row: &Row<'_>, from: usize) -> Result<Option<Review>, StoreError> {
    let Some(name) = row.get::<_, Option<String>>(from)? else { return Ok(None) };
    let state = ReviewState::of(&name)
        .ok_or_else(|| StoreError::Row { table: "review", why: format!("unknown state {name:?}") })?;
    Ok(Some(Review {
        state,
        why: row.get(from + 1)?,
        kind: row.get(from + 2)?,
        at: row.get(from + 3)?,
        covers: row.get(from + 4)?,
        input: row.get(from + 5)?,
        prompt: row.get(from + 6)?,
        model: row.get(from + 7)?,
        findings: row.get(from + 8)?,
        attempts: row.get(from + 9)?,
        next_try: row.get(from + 10)?,
    }))
}

/// Signals of each session: kind, how many, and their confidence in all.
type SignalCounts = HashMap<SessionId, Vec<(String, u64, f64)>>;

impl Store {
    /// All sessions with what is known of reviewing them.
    ///
    /// # Errors
    /// As for any read.
    pub fn reviewable(&self) -> Result<Vec<Reviewable>, StoreError> {
        let mut signals = self.signal_counts()?;
        let sql = format!(
            "SELECT s.id, s.tool, s.native_id, t.path, s.project, s.cwd, s.ended_at, s.events,
                s.events || '/' || s.agent_events || '/' || ifnull(s.ended_at, ''),
                EXISTS (SELECT 1 FROM transcript q WHERE q.session_id = s.id AND q.state = 'queued'), {REVIEW}
             FROM session s LEFT JOIN transcript t ON t.id = s.main_transcript LEFT JOIN review r ON r.session_id = s.id
             ORDER BY s.id"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let mut rows = find.query([])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            let session = row.get(0)?;
            sessions.push(Reviewable {
                session,
                tool: row.get(1)?,
                native_id: row.get(2)?,
                path: row.get(3)?,
                project: row.get(4)?,
                cwd: row.get(5)?,
                ended_at: row.get(6)?,
                events: row.get::<_, i64>(7)?.cast_unsigned(),
                covers: row.get(8)?,
                unread: row.get(9)?,
                signals: signals.remove(&session).unwrap_or_default(),
                review: review(row, 10)?,
            });
        }
        Ok(sessions)
    }

    fn signal_counts(&self) -> Result<SignalCounts, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT t.session_id, g.kind, count(*), total(g.confidence)
             FROM signal g JOIN transcript t ON t.id = g.transcript_id
             WHERE t.session_id IS NOT NULL GROUP BY 1, 2",
        )?;
        let mut rows = find.query([])?;
        let mut counts: HashMap<SessionId, Vec<(String, u64, f64)>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let count = row.get::<_, i64>(2)?.cast_unsigned();
            counts.entry(row.get(0)?).or_default().push((row.get(1)?, count, row.get(3)?));
        }
        Ok(counts)
    }

    /// Whether the person stepped in while the agent worked: stopped it, went back, or wrote to it. Such acts need not have
    /// given a signal.
    ///
    /// # Errors
    /// As for any read.
    pub fn has_pushback(&self, session: SessionId) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM transcript t JOIN event e
                ON e.id BETWEEN t.id << {bits} AND ((t.id + 1) << {bits}) - 1
             WHERE t.session_id = ?1 AND e.copied = 0 AND ({pushback}))",
            bits = event::ORDINAL_BITS,
            pushback = event::pushback(),
        );
        Ok(self.db.prepare_cached(&sql)?.query_row([session], |row| row.get(0))?)
    }

    /// Remembers what became of a session without findings of a model, in place of what was remembered of it. Findings that it
    /// has of an earlier answer stay.
    ///
    /// # Errors
    /// As for any write.
    pub fn put_review(&mut self, session: SessionId, review: &Review) -> Result<(), StoreError> {
        self.write(|db| put(db, session, review))
    }

    /// Replaces the findings that a model gave of a session, with the review that says so and the known patterns they name.
    ///
    /// # Errors
    /// As for any write; everything stays as it was then.
    pub fn replace_model_findings(
        &mut self,
        session: SessionId,
        findings: &[Finding],
        cited: &[Anchor],
        review: &Review,
    ) -> Result<(), StoreError> {
        // An anchor without its finding does no harm; a finding without its anchor would lose its pattern.
        for anchor in cited {
            self.put_anchor(anchor, review.at)?;
        }
        self.write(|db| {
            db.prepare_cached("DELETE FROM finding WHERE session_id = ?1 AND source = 'model'")?.execute([session])?;
            let mut insert = db.prepare_cached(
                "INSERT INTO finding (session_id, source, kind, severity, at, body) VALUES (?1, 'model', ?2, ?3, ?4, ?5)",
            )?;
            for finding in findings {
                let body = serde_json::to_string(finding)
                    .map_err(|error| StoreError::Row { table: "finding", why: error.to_string() })?;
                insert.execute(params![session, finding.kind, finding.severity, finding.first_at, body])?;
            }
            put(db, session, review)
        })
    }

    /// Lets failed reviews be tried again at once, those that were given up too; gives how many.
    ///
    /// # Errors
    /// As for any write.
    pub fn retry_reviews(&mut self, now: i64) -> Result<usize, StoreError> {
        let mut again =
            self.db.prepare_cached("UPDATE review SET attempts = 0, next_try = ?1 WHERE state = 'failed'")?;
        Ok(again.execute([now])?)
    }

    /// Sessions that a model was asked about, with an answer, after a time.
    ///
    /// # Errors
    /// As for any read.
    pub fn reviews_since(&self, at: i64) -> Result<u64, StoreError> {
        let mut count = self.db.prepare_cached("SELECT count(*) FROM review WHERE state = 'done' AND at > ?1")?;
        Ok(count.query_row([at], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    /// Reviews by what became of them, and why.
    ///
    /// # Errors
    /// As for any read.
    pub fn review_counts(&self) -> Result<Vec<ReviewCount>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT state, CASE state WHEN 'failed' THEN ifnull(kind, why) WHEN 'skipped' THEN why END,
                state = 'failed' AND next_try IS NULL, count(*)
             FROM review GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC, 2",
        )?;
        let mut rows = find.query([])?;
        let mut counts = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(state) = ReviewState::of(&row.get::<_, String>(0)?) else { continue };
            counts.push(ReviewCount {
                state,
                why: row.get(1)?,
                given_up: row.get(2)?,
                count: row.get::<_, i64>(3)?.cast_unsigned(),
            });
        }
        Ok(counts)
    }
}

fn put(db: &rusqlite::Connection, session: SessionId, review: &Review) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO review
            (session_id, state, why, kind, at, covers, input, prompt, model, findings, attempts, next_try)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        session,
        review.state.name(),
        review.why,
        review.kind,
        review.at,
        review.covers,
        review.input,
        review.prompt,
        review.model,
        review.findings,
        review.attempts,
        review.next_try,
    ])?;
    Ok(())
}
