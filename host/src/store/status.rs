use super::{Store, StoreError, TranscriptId};

/// The store in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Status {
    /// Transcripts that wait to be read.
    pub queued: u64,
    /// Transcripts that were read to their end.
    pub done: u64,
    /// Transcripts that failed and are tried again.
    pub failed: u64,
    /// Transcripts that failed and are not tried again by themselves.
    pub given_up: u64,
    /// Transcripts that were left unread on purpose.
    pub skipped: u64,
    /// Transcripts that their tool has deleted.
    pub expired: u64,
    /// Sessions.
    pub sessions: u64,
    /// Events, sub-agents included, copies not.
    pub events: u64,
    /// Events that were left out because they were said in a pause.
    pub dropped: u64,
    /// Signals.
    pub signals: u64,
    /// Findings.
    pub findings: u64,
    /// Transcripts that are not read any more because their sessions were deleted. They are among `skipped` or `expired`.
    pub deleted: u64,
    /// Sessions that are put away.
    pub archived: u64,
    /// Sessions of which nothing is left of what was said.
    pub purged: u64,
    /// When a transcript was last read to its end.
    pub last_done: Option<i64>,
    /// Size of the database, in bytes.
    pub bytes: u64,
}

/// A transcript that failed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Failed {
    /// Its row.
    pub transcript: TranscriptId,
    /// Where it is.
    pub path: String,
    /// The session's key in a database, '' for a file.
    pub key: String,
    /// Kind of the failure.
    pub kind: String,
    /// One line for a person.
    pub why: String,
    /// Line it happened at.
    pub place: Option<u64>,
    /// Failures in a row.
    pub attempts: u32,
    /// When it is tried again; none: given up.
    pub next_try: Option<i64>,
}

impl Store {
    /// Counts everything.
    ///
    /// # Errors
    /// As for any read.
    pub fn status(&self) -> Result<Status, StoreError> {
        // One look at everything, though others may write meanwhile.
        let _snapshot = self.snapshot()?;
        let mut status = Status::default();
        let mut states = self.db.prepare_cached(
            "SELECT state, next_try IS NULL, count(*), total(events + agent_events), max(done_at),
                total(dropped)
             FROM transcript
             GROUP BY 1, 2",
        )?;
        let mut rows = states.query([])?;
        while let Some(row) = rows.next()? {
            let count = row.get::<_, i64>(2)?.cast_unsigned();
            let state = match (row.get_ref(0)?.as_str().unwrap_or_default(), row.get(1)?) {
                ("queued", _) => &mut status.queued,
                ("done", _) => &mut status.done,
                ("failed", false) => &mut status.failed,
                ("failed", true) => &mut status.given_up,
                ("skipped", _) => &mut status.skipped,
                _ => &mut status.expired,
            };
            *state += count;
            status.events += row.get::<_, f64>(3)? as u64;
            status.dropped += row.get::<_, f64>(5)? as u64;
            status.last_done = status.last_done.max(row.get(4)?);
        }
        let count = |sql| self.db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
        status.sessions = count("SELECT count(*) FROM session")?;
        status.signals = count("SELECT count(*) FROM signal")?;
        status.findings = count("SELECT count(*) FROM finding")?;
        status.deleted = count("SELECT count(*) FROM deleted")?;
        status.archived = count("SELECT count(*) FROM archive WHERE origin = 3")?;
        status.purged = count("SELECT count(*) FROM session WHERE purged_at IS NOT NULL")?;
        status.bytes = count("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")?;
        Ok(status)
    }

    /// Transcripts that failed, those that are given up first.
    ///
    /// # Errors
    /// As for any read.
    pub fn failures(&self) -> Result<Vec<Failed>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT id, path, key, ifnull(reason, ''), ifnull(why, ''), place, attempts, next_try FROM transcript
             WHERE state = 'failed' ORDER BY next_try IS NOT NULL, next_try, id",
        )?;
        let rows = find.query_map([], |row| {
            Ok(Failed {
                transcript: row.get(0)?,
                path: row.get(1)?,
                key: row.get(2)?,
                kind: row.get(3)?,
                why: row.get(4)?,
                place: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
                attempts: row.get(6)?,
                next_try: row.get(7)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Looks the whole file over for damage; slow on a large one.
    ///
    /// # Errors
    /// `Corrupt`, with what was found first.
    pub fn check(&self) -> Result<(), StoreError> {
        let found: String = self.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found == "ok" { Ok(()) } else { Err(StoreError::Corrupt(found)) }
    }
}
