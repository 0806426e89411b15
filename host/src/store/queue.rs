//! The queue: transcripts that wait, in the order they were found, so that originals are read before their copies. Those that
//! were begun when a process died are read one by one; those that this happened to again and again come last, so that a
//! transcript that kills the process cannot keep others from being read.

use rusqlite::{OptionalExtension, Row};

use super::{
    Edges, Found, Job, Resume, Store, StoreError, TranscriptId,
    event::ORDINAL_BITS,
    ledger::{STAMP, stamp},
};
use crate::sandbox::parse::Checkpoint;

/// Jobs marked as begun in one write.
const CLAIM: usize = 64;
/// Size from which a transcript gets a transaction of its own. In a shared one SQLite keeps in memory every page it
/// changes that was there before, so as to take back one transcript alone: some 3,000 pages for the events of a
/// transcript this large, in the worst case.
const ALONE_BYTES: i64 = 1024 * 1024;

/// Deaths of the process after which a transcript that was begun is suspected and put last. A machine that is switched off
/// does not make one suspect.
const SUSPECT: i64 = 4;

const JOB: &str = "t.id, adapter, tool, path, key, parsed_by, analyzed_by, attempts, state, session_id, \
                   claims, bytes, \
                   c.offset, head_hash, seam_hash, parser_state, analysis_state, named, sieve";

fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    let resume = match row.get::<_, Option<i64>>(12)? {
        None => None,
        Some(offset) => Some(Resume {
            checkpoint: Checkpoint { offset: offset.cast_unsigned(), state: row.get(15)? },
            edges: Edges { head: row.get(13)?, seam: row.get(14)? },
            analysis: row.get(16)?,
            sieve: row.get(18)?,
        }),
    };
    Ok(Job {
        transcript: row.get(0)?,
        adapter: row.get(1)?,
        tool: row.get(2)?,
        path: row.get(3)?,
        key: row.get(4)?,
        parsed_by: row.get(5)?,
        analyzed_by: row.get(6)?,
        attempts: row.get(7)?,
        expired: row.get_ref(8)?.as_str()? == "expired",
        session: row.get(9)?,
        // Once for this claim.
        alone: row.get::<_, i64>(10)? > 1 || row.get::<_, i64>(11)? > ALONE_BYTES,
        named: row.get(17)?,
        stamp: stamp(row, 19)?,
        resume,
    })
}

impl Store {
    /// The next transcript to read: queued, or failed with its next try due. It is marked as begun and stays in the
    /// queue until its [`Ingest`](super::Ingest) ends. None: nothing waits.
    ///
    /// # Errors
    /// As for any write.
    pub fn claim_next(&mut self, now: i64) -> Result<Option<Job>, StoreError> {
        loop {
            if self.claimed.is_empty() {
                self.claim(now)?;
            }
            let Some(next) = self.claimed.pop_front() else { return Ok(None) };
            // Another process may have changed it since it was claimed.
            if let Some(job) = self.job_if(next, "state = 'queued' OR (state = 'failed' AND next_try <= ?2)", now)? {
                return Ok(Some(job));
            }
        }
    }

    fn claim(&mut self, now: i64) -> Result<(), StoreError> {
        // What follows must survive a crash that takes the batch with it.
        self.commit()?;
        let next = self.write(|db| {
            let mut waiting = db.prepare_cached(
                "SELECT id, claims FROM transcript INDEXED BY transcript_waiting
                 WHERE state IN ('queued', 'failed') AND (state = 'queued' OR next_try <= ?1)
                 ORDER BY max(claims, ?3), queued_at, id LIMIT ?2",
            )?;
            let rows =
                waiting.query_map([now, CLAIM as i64, SUSPECT], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
            let mut next: Vec<(TranscriptId, i64)> = rows.collect::<Result<_, _>>()?;
            let fresh = next.iter().take_while(|(_, claims)| *claims == 0).count();
            next.truncate(fresh.max(1));
            let mut begun = db.prepare_cached("UPDATE transcript SET claims = claims + 1 WHERE id = ?1")?;
            for (id, _) in &next {
                begun.execute([id])?;
            }
            Ok(next)
        })?;
        self.claimed.extend(next.into_iter().map(|(id, _)| id));
        Ok(())
    }

    /// Has a transcript that waits be read before all others.
    ///
    /// # Errors
    /// As for any write.
    pub fn hurry(&mut self, found: &Found) -> Result<(), StoreError> {
        self.write(|db| {
            let mut first = db.prepare_cached(
                "UPDATE transcript SET queued_at = 0 WHERE adapter = ?1 AND path = ?2 AND key = ?3 AND state = 'queued'",
            )?;
            first.execute([&found.adapter, &found.path, &found.key])?;
            Ok(())
        })
    }

    /// Marks what was claimed and not begun as such, so that the next claim looks anew at what comes first. Whoever drops the store does
    /// that, too.
    ///
    /// # Errors
    /// As for any write.
    pub fn unclaim(&mut self) -> Result<(), StoreError> {
        if self.claimed.is_empty() {
            return Ok(());
        }
        let claimed = std::mem::take(&mut self.claimed);
        self.write(|db| {
            let mut back = db.prepare_cached("UPDATE transcript SET claims = max(claims - 1, 0) WHERE id = ?1")?;
            for id in claimed {
                back.execute([id])?;
            }
            Ok(())
        })
    }

    /// The job of one transcript, whatever its state. None: there is no such row.
    ///
    /// # Errors
    /// As for any read.
    pub fn job(&self, transcript: TranscriptId) -> Result<Option<Job>, StoreError> {
        self.job_if(transcript, "?2 IS NOT NULL", 0)
    }

    fn job_if(&self, transcript: TranscriptId, condition: &str, now: i64) -> Result<Option<Job>, StoreError> {
        let sql = format!(
            "SELECT {JOB}, {STAMP} FROM transcript t LEFT JOIN checkpoint c ON c.transcript_id = t.id
             WHERE t.id = ?1 AND ({condition})"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        Ok(find.query_row(rusqlite::params![transcript, now], job).optional()?)
    }

    /// Paths of the transcripts that wait now.
    ///
    /// # Errors
    /// As for any read.
    pub fn waiting(&self, now: i64) -> Result<Vec<String>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT path FROM transcript
             WHERE state IN ('queued', 'failed') AND (state = 'queued' OR next_try <= ?1)",
        )?;
        Ok(find.query_map([now], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Transcripts whose stored signals are another analyzer's, or do not fit their events any more, and which
    /// nothing else is going to be done about: their events are to be analysed again, from the store. Of a session that was
    /// purged there are no events, and its signals stay, also once it goes on and this transcript of it is gone.
    ///
    /// # Errors
    /// As for any read.
    pub fn stale_analyses(&self, analyzed_by: &str) -> Result<Vec<TranscriptId>, StoreError> {
        let mut stale = self.db.prepare_cached(&format!(
            "SELECT t.id FROM transcript t
             WHERE t.state IN ('done', 'expired') AND t.size IS NOT NULL AND t.analyzed_by IS NOT ?1
                AND NOT EXISTS (SELECT 1 FROM session s WHERE s.id = t.session_id AND s.purged_at IS NOT NULL)
                AND ((t.settled = 0 AND t.events = 0) OR EXISTS (SELECT 1 FROM event e
                    WHERE e.id BETWEEN t.id << {ORDINAL_BITS} AND ((t.id + 1) << {ORDINAL_BITS}) - 1))
             ORDER BY t.id"
        ))?;
        Ok(stale.query_map([analyzed_by], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Stamp;

    /// An error or a panic ends it: it has begun one transcript and not the others.
    #[test]
    fn who_ends_early_gives_claims_back() {
        let home = tempfile::TempDir::new().unwrap();
        let mut store = Store::open(home.path()).unwrap();
        let found = |path: &str| Found {
            adapter: "claude-code".into(),
            tool: "claude-code".into(),
            path: path.into(),
            key: String::new(),
            stamp: Stamp::default(),
            named: false,
        };
        store.enqueue([&found("/p/a.jsonl"), &found("/p/b.jsonl")], 0).unwrap();
        store.claim_next(0).unwrap();
        drop(store);
        let store = Store::open(home.path()).unwrap();
        let mut claims = store.db.prepare("SELECT claims FROM transcript ORDER BY id").unwrap();
        let claims: Vec<i64> = claims.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(claims, [1, 0]);
    }
}
