//! One transcript into the store: all of it or nothing. A large transcript is a transaction, a small one a savepoint
//! in a transaction that several share (see `Batch`), so a killed process leaves each transcript either as it was,
//! still queued, or done.

use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, params};

use super::{
    Batch, Counts, Edges, Job, Role, SessionFacts, SessionId, Stamp, Store, StoreError, archive,
    copied::{self, Originals, ids},
    deleted,
    dropped::{self, Dropped},
    event::{Copied, Writer},
    key::Keys,
    ledger::set_stamp,
    passage, session, touch,
};
use crate::{
    event::Event,
    sandbox::{
        analyze::Signal,
        parse::{Checkpoint, TallyEntry},
    },
};

/// Rows and time after which a batch is committed: long enough that the key index is written a few times only, short
/// enough that a killed run repeats little and that other processes, which wait for five seconds at most, get their
/// turn.
const BATCH_ROWS: u64 = 50_000;
const BATCH_TIME: Duration = Duration::from_millis(500);

/// Delay before the first repetition of a failed transcript; each further one is four times as long.
const FIRST_RETRY_MS: i64 = 60_000;
/// Failures after which a transcript is given up.
pub(super) const MAX_ATTEMPTS: u32 = 5;

/// How an ingest relates to what is stored of the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is read from its beginning: what is stored goes.
    Anew,
    /// It is read from its checkpoint: what was provisional goes.
    Onward,
    /// It is not read; its stored events are analysed again: signals go.
    Stored,
}

/// Whether later bytes of a transcript can change what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    /// It holds whatever follows.
    Settled,
    /// It holds if nothing follows.
    Provisional,
}

/// How a transcript was read to its end.
#[derive(Clone, Debug)]
pub struct Done {
    /// How it looked before it was opened.
    pub stamp: Stamp,
    /// Adapter component.
    pub parsed_by: String,
    /// Analyzer component and settings.
    pub analyzed_by: String,
    /// Where reading can go on.
    pub checkpoint: Checkpoint,
    /// Of the bytes before the checkpoint; default for a database.
    pub edges: Edges,
    /// The analysis' state at the checkpoint.
    pub analysis: Vec<u8>,
    /// What became of its records.
    pub tally: Vec<TallyEntry>,
    /// State of the looking for pauses at the checkpoint.
    pub sieve: String,
    /// Events that were dropped because of one, earlier readings included.
    pub dropped: u64,
}

/// Why a transcript could not be read.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How it looked before it was opened.
    pub stamp: Stamp,
    /// Adapter component.
    pub parsed_by: String,
    /// Kind of the failure, kebab-case: `unsupported-format`.
    pub kind: String,
    /// One line for a person.
    pub why: String,
    /// Line it happened at.
    pub place: Option<u64>,
    /// It may go better another time; otherwise it waits until the transcript or the adapter changes.
    pub retry: bool,
}

/// Why a transcript was not read although nothing is wrong.
#[derive(Clone, Debug)]
pub struct Skip {
    /// How it looked before it was opened.
    pub stamp: Stamp,
    /// Adapter component.
    pub parsed_by: String,
    /// Kind of the reason, kebab-case: `ignored`.
    pub kind: String,
    /// One line for a person.
    pub why: String,
}

/// A transcript that is being stored. Dropped without an ending, it leaves everything as it was.
#[derive(Debug)]
pub struct Ingest<'store> {
    store: &'store mut Store,
    job: Job,
    begin: Begin,
    keys: Keys,
    /// Ordinal of the next event.
    next: i64,
    /// Events that are settled, and their counts.
    settled: i64,
    settled_counts: Counts,
    counts: Counts,
    facts: Option<SessionFacts>,
    /// Keys whose original was dropped here while others have copies.
    orphans: Vec<i64>,
    dropped: Dropped,
    /// Lines of events with words that were stored before and are read again.
    before: Vec<i64>,
    /// Some of these are left out now.
    takes_out: bool,
    /// Copies of what is gone for good are to be looked for.
    has_gone: bool,
    ended: bool,
}

impl Store {
    /// Begins to store a transcript.
    ///
    /// # Errors
    /// As for any write.
    pub fn ingest(&mut self, job: Job, begin: Begin) -> Result<Ingest<'_>, StoreError> {
        if job.alone {
            self.commit()?;
            self.give_way();
            self.db.execute_batch("BEGIN IMMEDIATE")?;
        } else {
            if self.batch.is_none() {
                self.give_way();
                self.db.execute_batch("BEGIN IMMEDIATE")?;
                self.batch = Some(Batch { since: Instant::now(), rows: 0 });
            }
            self.db.execute_batch("SAVEPOINT transcript")?;
        }
        let keys = Keys::of(&job.tool);
        let has_gone = deleted::has_keys(&self.db)?;
        let mut ingest = Ingest {
            store: self,
            job,
            begin,
            keys,
            next: 0,
            settled: 0,
            settled_counts: Counts::default(),
            counts: Counts::default(),
            facts: None,
            orphans: Vec::new(),
            dropped: Dropped::default(),
            before: Vec::new(),
            takes_out: false,
            has_gone,
            ended: false,
        };
        ingest.clear()?;
        Ok(ingest)
    }
}

impl Ingest<'_> {
    /// The transcript.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Removes what the ingest replaces.
    fn clear(&mut self) -> Result<(), StoreError> {
        let db = &self.store.db;
        let id = self.job.transcript;
        // A session that goes on is looked at again.
        if let Some(session) = self.job.session.filter(|_| self.begin != Begin::Stored) {
            archive::bring_back(db, session)?;
        }
        if self.begin != Begin::Anew {
            let (all, settled, settled_counts, _) = copied::counts(db, id)?;
            (self.settled, self.next) = (settled, settled);
            self.counts = if self.begin == Begin::Stored { all } else { settled_counts.clone() };
            self.settled_counts = settled_counts;
        }
        if self.begin != Begin::Stored {
            let (first, last) = ids(id, self.settled);
            self.orphans = copied::copied_by_others(db, id, self.settled)?;
            db.prepare_cached("DELETE FROM usage WHERE id BETWEEN ?1 AND ?2")?.execute([first, last])?;
            let mut take = db.prepare_cached(
                "DELETE FROM event WHERE id BETWEEN ?1 AND ?2 RETURNING iif(text IS NULL, NULL, line)",
            )?;
            let lines = take.query_map([first, last], |row| row.get::<_, Option<i64>>(0))?;
            self.before = lines.filter_map(Result::transpose).collect::<Result<_, _>>()?;
            self.before.sort_unstable();
            passage::cut_events(db, id, self.settled)?;
        }
        let signals = match self.begin {
            Begin::Onward => "DELETE FROM signal WHERE transcript_id = ?1 AND provisional",
            Begin::Anew | Begin::Stored => "DELETE FROM signal WHERE transcript_id = ?1",
        };
        db.prepare_cached(signals)?.execute([id])?;
        Ok(())
    }

    /// Marks events as copied whose key is stored from another transcript of the tool, and renames keys to what the
    /// store knows them by. To be called before events are analysed or added.
    ///
    /// # Errors
    /// As for any read.
    pub fn mark_copied(&mut self, events: &mut [Event]) -> Result<(), StoreError> {
        let mut originals = Originals::outside(&self.store.db, self.job.transcript)?;
        for event in events {
            if let Some(key) = self.keys.rename_in(event)
                && !event.copied
            {
                event.copied = originals.has(key)?;
            }
        }
        Ok(())
    }

    /// Notes an event that is left out because it was said in a pause, at that time. To be called after `mark_copied`.
    pub fn drop_event(&mut self, event: &Event, at: i64) {
        self.leave_out(event);
        self.dropped.add(event, at);
    }

    /// Notes an event that is not stored, for whatever reason: an earlier reading may have stored it.
    pub fn leave_out(&mut self, event: &Event) {
        self.takes_out |= self.before.binary_search(&event.line.cast_signed()).is_ok();
    }

    /// Is it a copy, said to be of that time, of what was left out of another transcript?
    ///
    /// # Errors
    /// As for any read.
    pub fn is_copy_of_dropped(&self, event: &Event, at: i64) -> Result<bool, StoreError> {
        dropped::is_copy(&self.store.db, self.job.transcript, event, at)
    }

    /// Is it a copy of what another transcript said in a session that was deleted or purged? To be called after
    /// `mark_copied`.
    ///
    /// # Errors
    /// As for any read.
    pub fn is_copy_of_gone(&self, event: &Event) -> Result<bool, StoreError> {
        Ok(self.has_gone && dropped::is_gone(&self.store.db, self.job.transcript, event)?)
    }

    /// Adds the next events. Settled ones come before provisional ones.
    ///
    /// # Errors
    /// As for any write.
    pub fn add_events(&mut self, events: &[Event], finality: Finality) -> Result<(), StoreError> {
        debug_assert!(finality == Finality::Provisional || self.next == self.settled, "settled events come first");
        let mut writer = Writer::new(&self.store.db, &self.store.labels)?;
        let mut originals = Originals::outside(&self.store.db, self.job.transcript)?;
        let (first, _) = ids(self.job.transcript, 0);
        for event in events {
            let copied = match event.key.as_deref().and_then(super::key::parse) {
                _ if !event.copied => Copied::No,
                Some(key) if originals.has(key)? => Copied::Found,
                _ => Copied::Declared,
            };
            writer.insert(first + self.next, event, copied)?;
            self.next += 1;
            self.counts.add(event);
            if finality == Finality::Settled {
                self.settled_counts.add(event);
            }
        }
        if finality == Finality::Settled {
            self.settled = self.next;
        }
        Ok(())
    }

    /// Adds signals.
    ///
    /// # Errors
    /// As for any write.
    pub fn add_signals(&mut self, signals: &[Signal], finality: Finality) -> Result<(), StoreError> {
        let mut put = self.store.db.prepare_cached(
            "INSERT INTO signal (transcript_id, kind, subject, line, at, thread, confidence, detail, evidence,
                provisional)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        for signal in signals {
            put.execute(params![
                self.job.transcript,
                signal.kind,
                signal.subject,
                signal.line.cast_signed(),
                signal.at,
                signal.thread,
                f64::from(signal.confidence),
                signal.detail,
                json(&signal.evidence)?,
                finality == Finality::Provisional,
            ])?;
        }
        Ok(())
    }

    /// The session that the transcript was filed under when it was read before: its native id, and what the
    /// transcript is to it.
    ///
    /// # Errors
    /// As for any read.
    pub fn filed(&self) -> Result<Option<(String, Role)>, StoreError> {
        let mut find =
            self.store.db.prepare_cached("SELECT native_id, main_transcript IS ?2 FROM session WHERE id = ?1")?;
        let role = |main| if main { Role::Main } else { Role::Agent };
        Ok(find
            .query_row(params![self.job.session, self.job.transcript], |row| Ok((row.get(0)?, role(row.get(1)?))))
            .optional()?)
    }

    /// Says which session the transcript belongs to, and what it tells of it. Needed when it is read anew; later only
    /// if there is something new. The last call counts.
    pub fn set_session(&mut self, facts: SessionFacts) {
        self.facts = Some(facts);
    }

    /// Is the transcript of a session that the person deleted, whichever transcript that was in then?
    ///
    /// # Errors
    /// As for any read.
    pub fn is_of_deleted(&self, facts: &SessionFacts) -> Result<bool, StoreError> {
        deleted::is_of_deleted(&self.store.db, &self.job, facts)
    }

    /// Leaves the transcript unread for good, because its session was deleted.
    ///
    /// # Errors
    /// As for any write.
    pub fn bury(mut self, facts: &SessionFacts, now: i64) -> Result<(), StoreError> {
        self.back()?;
        deleted::bury(&self.store.db, self.job.transcript, &facts.native_id, now)?;
        self.end()
    }

    /// Stored events of the transcript for [`Begin::Stored`], from an ordinal on, at most `limit`, and the ordinal to
    /// go on from; none: there are no more.
    ///
    /// # Errors
    /// As for any read.
    pub fn stored(
        &self,
        finality: Finality,
        from: Option<u64>,
        limit: usize,
    ) -> Result<(Vec<Event>, Option<u64>), StoreError> {
        let (first, end) = match finality {
            Finality::Settled => (0, self.settled),
            Finality::Provisional => (self.settled, i64::from(u32::MAX) + 1),
        };
        let first = from.map_or(first, u64::cast_signed);
        self.store.event_page(self.job.transcript, first, end, limit)
    }

    /// The transcript is read to its end.
    ///
    /// # Errors
    /// As for any write; nothing is stored then.
    pub fn done(mut self, done: &Done, now: i64) -> Result<Option<SessionId>, StoreError> {
        let db = &self.store.db;
        let id = self.job.transcript;
        db.prepare_cached(
            "INSERT OR REPLACE INTO checkpoint (transcript_id, offset, head_hash, seam_hash, parser_state,
                analysis_state, tally, sieve) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            id,
            done.checkpoint.offset.cast_signed(),
            done.edges.head,
            done.edges.seam,
            done.checkpoint.state,
            done.analysis,
            json(&done.tally)?,
            done.sieve,
        ])?;
        db.prepare_cached(
            "UPDATE transcript SET state = 'done', claims = 0, attempts = 0, next_try = NULL, reason = NULL, why = NULL,
                place = NULL, parsed_by = ?2, analyzed_by = ?3, settled = ?4, settled_counts = ?5, done_at = ?6,
                dropped = ?7
             WHERE id = ?1",
        )?
        .execute(params![
            id,
            done.parsed_by,
            done.analyzed_by,
            self.settled,
            json(&self.settled_counts)?,
            now,
            done.dropped.cast_signed()
        ])?;
        self.save_dropped()?;
        set_stamp(db, id, &done.stamp)?;
        self.counts.save(db, id)?;
        let before = self.job.session;
        let session = self.file()?;
        let db = &self.store.db;
        if session == before {
            passage::add_events(db, id, self.next)?;
        } else {
            // An index files passages under their session.
            passage::cut_events(db, id, 0)?;
            passage::add_events(db, id, self.next)?;
        }
        if let Some(session) = session {
            archive::bring_back(db, session)?;
            archive::go_on(db, session, id, now)?;
        }
        touch::renew(db, id)?;
        copied::promote(db, &self.store.labels, &self.orphans)?;
        self.end()?;
        Ok(session)
    }

    /// The stored events are analysed again. The transcript's state stays.
    ///
    /// # Errors
    /// As for any write; nothing is stored then.
    pub fn reanalysed(mut self, analyzed_by: &str, analysis: &[u8]) -> Result<Option<SessionId>, StoreError> {
        let db = &self.store.db;
        let id = self.job.transcript;
        db.prepare_cached("UPDATE transcript SET analyzed_by = ?2 WHERE id = ?1")?.execute(params![id, analyzed_by])?;
        db.prepare_cached("UPDATE checkpoint SET analysis_state = ?2 WHERE transcript_id = ?1")?
            .execute(params![id, analysis])?;
        if let Some(session) = self.job.session {
            session::settle(db, session)?;
        }
        let session = self.job.session;
        self.end()?;
        Ok(session)
    }

    /// Puts the transcript into its session.
    fn file(&self) -> Result<Option<SessionId>, StoreError> {
        let db = &self.store.db;
        let id = self.job.transcript;
        let before = db
            .prepare_cached("SELECT session_id FROM transcript WHERE id = ?1")?
            .query_row([id], |row| row.get::<_, Option<SessionId>>(0))
            .optional()?
            .flatten();
        let session = match &self.facts {
            Some(facts) => Some(session::file(db, &self.job, facts, self.begin == Begin::Anew)?),
            None if self.begin == Begin::Anew => None,
            None => before,
        };
        db.prepare_cached("UPDATE transcript SET session_id = ?2 WHERE id = ?1")?.execute(params![id, session])?;
        for concerned in [session, before.filter(|before| Some(*before) != session)].into_iter().flatten() {
            session::settle(db, concerned)?;
            passage::renew_session(db, concerned)?;
        }
        Ok(session)
    }

    /// The transcript could not be read. What was stored before stays; when it is tried again is noted.
    ///
    /// # Errors
    /// As for any write.
    pub fn fail(mut self, failure: &Failure, now: i64) -> Result<(), StoreError> {
        self.back()?;
        let attempts = self.job.attempts + 1;
        let again = failure.retry && attempts < MAX_ATTEMPTS;
        let next_try = again.then(|| now + FIRST_RETRY_MS * 4_i64.pow(self.job.attempts.min(MAX_ATTEMPTS)));
        let place = failure.place.map(u64::cast_signed);
        self.store
            .db
            .prepare_cached(
                "UPDATE transcript SET state = 'failed', claims = 0, attempts = ?2, next_try = ?3, parsed_by = ?4,
                    reason = ?5, why = ?6, place = ?7
                 WHERE id = ?1",
            )?
            .execute(params![
                self.job.transcript,
                attempts,
                next_try,
                failure.parsed_by,
                failure.kind,
                failure.why,
                place
            ])?;
        set_stamp(&self.store.db, self.job.transcript, &failure.stamp)?;
        self.end()
    }

    /// The transcript is left unread on purpose. What was stored before stays.
    ///
    /// # Errors
    /// As for any write.
    pub fn skip(mut self, skip: &Skip) -> Result<(), StoreError> {
        self.back()?;
        self.store
            .db
            .prepare_cached(
                "UPDATE transcript SET state = 'skipped', claims = 0, attempts = 0, next_try = NULL, place = NULL,
                    parsed_by = ?2, reason = ?3, why = ?4
                 WHERE id = ?1",
            )?
            .execute(params![self.job.transcript, skip.parsed_by, skip.kind, skip.why])?;
        set_stamp(&self.store.db, self.job.transcript, &skip.stamp)?;
        self.end()
    }

    /// All of the transcript was said in a pause: it is left unread, and what an earlier reading stored of it goes. To be called
    /// when it was read from its beginning.
    ///
    /// # Errors
    /// As for any write.
    pub fn paused(mut self, skip: &Skip, dropped: u64) -> Result<(), StoreError> {
        debug_assert!(self.begin == Begin::Anew && self.next == 0, "nothing of it is stored");
        let db = &self.store.db;
        let id = self.job.transcript;
        db.prepare_cached("DELETE FROM checkpoint WHERE transcript_id = ?1")?.execute([id])?;
        db.prepare_cached(
            "UPDATE transcript SET state = 'skipped', claims = 0, attempts = 0, next_try = NULL, place = NULL,
                parsed_by = ?2, analyzed_by = NULL, reason = ?3, why = ?4, settled = 0, settled_counts = NULL, dropped = ?5
             WHERE id = ?1",
        )?
        .execute(params![id, skip.parsed_by, skip.kind, skip.why, dropped.cast_signed()])?;
        self.save_dropped()?;
        set_stamp(db, id, &skip.stamp)?;
        Counts::default().save(db, id)?;
        self.file()?;
        copied::promote(&self.store.db, &self.store.labels, &self.orphans)?;
        self.end()
    }

    /// Keeps what is known of what was left out.
    fn save_dropped(&self) -> Result<(), StoreError> {
        let db = &self.store.db;
        if self.takes_out {
            deleted::note_held(db)?;
        }
        self.dropped.save(db, self.job.transcript, self.begin == Begin::Anew)
    }

    /// Takes everything back that was stored so far.
    fn back(&mut self) -> Result<(), StoreError> {
        let back = if self.job.alone { "ROLLBACK; BEGIN IMMEDIATE" } else { "ROLLBACK TO transcript" };
        self.store.db.execute_batch(back)?;
        self.store.labels.forget();
        self.next = 0;
        Ok(())
    }

    fn end(&mut self) -> Result<(), StoreError> {
        if self.job.alone {
            self.store.db.execute_batch("COMMIT")?;
            self.ended = true;
            return Ok(());
        }
        self.store.db.execute_batch("RELEASE transcript")?;
        self.ended = true;
        let Some(batch) = &mut self.store.batch else { return Ok(()) };
        batch.rows += self.next.cast_unsigned();
        if batch.rows >= BATCH_ROWS || batch.since.elapsed() >= BATCH_TIME {
            self.store.commit()?;
        }
        Ok(())
    }
}

impl Drop for Ingest<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // A full disk may have ended the transaction already; others of the batch are queued again then.
        let given_up = self.job.alone
            || self.back().and_then(|()| Ok(self.store.db.execute_batch("RELEASE transcript")?)).is_err();
        if given_up {
            self.store.batch = None;
            self.store.abandon();
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Row { table: "transcript", why: error.to_string() })
}
