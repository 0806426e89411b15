//! Retention: what is old and not looked at any more is put away, compressed and out of the indexes; what was put away long ago
//! can be thrown away. `docs/retention.md` has the rules.
//!
//! What stays of a session in either case: its row, title and tags, its signals and findings, what it did to which files. So
//! nothing that was learned changes. Memories are never put away; they only expire.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    config,
    search::Reference,
    store::{Kept, NoSession, Origin, SessionId, Store, StoreError},
};

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// What was looked at at least so much lately is not put away: one look counts for a month ([`Store::access`]).
const LOOKED_AT: f64 = 0.5;
/// What was looked at so much is kept whatever its age.
const LOVED: f64 = 3.0;
/// Days in which nothing is put away, however little room there is: it may be going on.
const FRESH_DAYS: i64 = 1;
/// Once there is too much, so many percent of the cap are made room in: it is not to be done again every day.
const ROOM: u64 = 10;
/// Percent of words that compressing saves, for previews. Measured: `docs/retention.md`.
const SAVED: u64 = 60;
/// A file is written anew if so many percent of it, and so many bytes, are unused.
const UNUSED: u64 = 25;
const UNUSED_BYTES: u64 = 16 << 20;

/// Longest time that a run by itself puts things away, and writes the file anew.
pub const BY_ITSELF: Duration = Duration::from_secs(10);
const VACUUM: Duration = Duration::from_secs(60);

/// When it last ran by itself to its end.
const LAST: &str = "retention";

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct What {
    /// Put away what is old.
    pub archive: bool,
    /// Throw away what was put away long ago.
    pub purge: bool,
}

/// Why something is put or thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is old.
    Age,
    /// The store is too large.
    Size,
}

/// Something that is put or thrown away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// What it is called: `s12`, or a chunk's name.
    pub id: String,
    /// Its title, or its summary.
    pub title: String,
    /// When it ended or was saved, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Why.
    pub reason: Reason,
    /// About how many bytes of the store it takes.
    pub bytes: u64,
    #[serde(skip)]
    kept: Kept,
}

/// What a run would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// To be put away.
    pub archive: Vec<Candidate>,
    /// To be thrown away for good.
    pub purge: Vec<Candidate>,
    /// Old enough, and kept: marked as important.
    pub immune: u64,
    /// Old enough, and kept: looked at lately.
    pub looked_at: u64,
    /// Bytes that the store uses.
    pub used: u64,
    /// Most that it may use; none: no limit.
    pub cap: Option<u64>,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Sessions and chunks put away.
    pub archived: u64,
    /// Sessions and chunks of which nothing is left of what was said.
    pub purged: u64,
    /// Bytes of the file before and after.
    pub before: u64,
    /// See above.
    pub after: u64,
    /// Bytes over the cap that could not be made room in: what is left is kept on purpose, or too new.
    pub over: u64,
    /// There was no time for all of it; the next run goes on.
    pub unfinished: bool,
    /// The file could not be written anew: another process was writing, the disk is full, or it took too long. What nothing
    /// uses in it is used again.
    pub loose: bool,
}

/// Decides and does.
pub struct Retention<'a> {
    settings: &'a config::Retention,
    now: i64,
}

/// What stands between a thing and being put away.
enum Standing {
    Due,
    Immune,
    LookedAt,
}

impl<'a> Retention<'a> {
    /// By these settings, at a time.
    pub fn new(settings: &'a config::Retention, now: i64) -> Self {
        Self { settings, now }
    }

    /// What the settings say is to be done by itself.
    pub fn what(&self) -> What {
        What { archive: self.settings.archive, purge: self.settings.purge }
    }

    fn cap(&self) -> Option<u64> {
        Some(self.settings.store_bytes).filter(|cap| *cap > 0)
    }

    fn days(days: u32) -> i64 {
        i64::from(days) * DAY
    }

    fn is_old(&self, kept: &Kept) -> bool {
        let days = match kept.origin {
            Origin::Session => self.settings.archive_sessions_after_days,
            _ => self.settings.archive_after_days,
        };
        kept.stored_at < self.now - Self::days(days)
    }

    fn is_long_away(&self, kept: &Kept) -> bool {
        kept.archived_at.is_some_and(|at| at < self.now - Self::days(self.settings.purge_after_days))
    }

    /// Did it end long enough ago not to be going on?
    fn is_over(&self, kept: &Kept) -> bool {
        !kept.unread && kept.at < self.now - FRESH_DAYS * DAY
    }

    fn standing(&self, store: &Store, kept: &Kept, by_age: bool) -> Result<Standing, StoreError> {
        let access = store.access(kept.origin, kept.row, self.now)?;
        if access >= LOVED || store.is_worth_keeping(kept)? {
            return Ok(Standing::Immune);
        }
        Ok(if by_age && access >= LOOKED_AT { Standing::LookedAt } else { Standing::Due })
    }

    /// What a run would do, without doing it. What is done because of the size is estimated: a run measures after each.
    ///
    /// # Errors
    /// Those of the store.
    pub fn plan(&self, store: &Store, what: What) -> Result<Plan, StoreError> {
        let mut plan = Plan { used: store.size()?.used(), cap: self.cap(), ..Plan::default() };
        let all = store.kept()?;
        for kept in all.iter().filter(|kept| self.is_over(kept)) {
            let due = match kept.archived_at {
                None => what.archive && self.is_old(kept),
                Some(_) => what.purge && self.is_long_away(kept),
            };
            if !due {
                continue;
            }
            match self.standing(store, kept, true)? {
                Standing::Due if kept.archived_at.is_none() => {
                    plan.archive.push(candidate(store, kept, Reason::Age)?);
                }
                Standing::Due => plan.purge.push(candidate(store, kept, Reason::Age)?),
                Standing::Immune => plan.immune += 1,
                Standing::LookedAt => plan.looked_at += 1,
            }
        }
        let Some(most) = self.target(plan.used) else { return Ok(plan) };
        let saved: u64 = plan.archive.iter().map(|it| it.bytes * SAVED / 100).sum::<u64>()
            + plan.purge.iter().map(|it| it.bytes).sum::<u64>();
        let mut left = plan.used.saturating_sub(saved);
        let names = |list: &[Candidate]| list.iter().map(|it| (it.kept.origin, it.kept.row)).collect::<BTreeSet<_>>();
        let (archived, purged) = (names(&plan.archive), names(&plan.purge));
        for kept in all.iter().filter(|kept| self.is_over(kept) && kept.archived_at.is_none()) {
            if left <= most {
                break;
            }
            if archived.contains(&(kept.origin, kept.row)) || !self.yields(store, kept)? {
                continue;
            }
            let candidate = candidate(store, kept, Reason::Size)?;
            left = left.saturating_sub(candidate.bytes * SAVED / 100);
            plan.archive.push(candidate);
        }
        for kept in all.iter().filter(|kept| self.is_over(kept)) {
            if left <= most {
                break;
            }
            if purged.contains(&(kept.origin, kept.row)) || !self.yields(store, kept)? {
                continue;
            }
            let mut candidate = candidate(store, kept, Reason::Size)?;
            if kept.archived_at.is_none() {
                candidate.bytes = candidate.bytes * (100 - SAVED) / 100;
            }
            left = left.saturating_sub(candidate.bytes);
            plan.purge.push(candidate);
        }
        Ok(plan)
    }

    fn yields(&self, store: &Store, kept: &Kept) -> Result<bool, StoreError> {
        Ok(matches!(self.standing(store, kept, false)?, Standing::Due))
    }

    /// The size to get down to. None: there is room.
    fn target(&self, used: u64) -> Option<u64> {
        let cap = self.cap().filter(|cap| used > *cap)?;
        Some(cap - cap * ROOM / 100)
    }

    /// Does it. `at_most`: time for putting away; what is left over is for the next run. None: as long as it takes.
    ///
    /// # Errors
    /// Those of the store; what was done before holds.
    pub fn run(
        &self,
        store: &mut Store,
        what: What,
        at_most: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Done, StoreError> {
        let end = at_most.map(|at_most| Instant::now() + at_most);
        let is_time_up = || stop.load(Ordering::Relaxed) || end.is_some_and(|end| Instant::now() >= end);
        let before = store.size()?;
        let mut done = Done { before: before.file, ..Done::default() };
        let all: Vec<Kept> = store.kept()?.into_iter().filter(|kept| self.is_over(kept)).collect();
        for kept in &all {
            let purge = kept.archived_at.is_some();
            let due = if purge { what.purge && self.is_long_away(kept) } else { what.archive && self.is_old(kept) };
            if !due {
                continue;
            }
            if is_time_up() {
                done.unfinished = true;
                break;
            }
            if matches!(self.standing(store, kept, true)?, Standing::Due) {
                self.take(store, kept, purge, &mut done)?;
            }
        }
        if let Some(most) = self.target(store.size()?.used()).filter(|_| !done.unfinished) {
            self.make_room(store, most, false, &is_time_up, &mut done)?;
            // Pages that are half empty count as used. Nothing is thrown away before it is known that there is no other way.
            if store.size()?.used() > most && !done.unfinished && self.compact(store, at_most, &mut done)? {
                self.make_room(store, most, true, &is_time_up, &mut done)?;
            }
        }
        if !stop.load(Ordering::Relaxed) {
            self.give_back(store, at_most, &mut done)?;
        }
        done.after = store.size()?.file;
        done.over = self.cap().map_or(0, |cap| done.after.saturating_sub(cap));
        Ok(done)
    }

    /// Puts or throws away the oldest until the store fits.
    fn make_room(
        &self,
        store: &mut Store,
        most: u64,
        purge: bool,
        is_time_up: &dyn Fn() -> bool,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        for kept in store.kept()?.iter().filter(|kept| self.is_over(kept) && kept.archived_at.is_some() == purge) {
            if store.size()?.used() <= most {
                break;
            }
            if is_time_up() {
                done.unfinished = true;
                break;
            }
            if self.yields(store, kept)? {
                self.take(store, kept, purge, done)?;
            }
        }
        Ok(())
    }

    fn take(&self, store: &mut Store, kept: &Kept, purge: bool, done: &mut Done) -> Result<(), StoreError> {
        let session = SessionId(kept.row);
        let was_done = match (kept.origin, purge) {
            (Origin::Session, false) => store.archive_session(session, self.now)?.is_some(),
            (Origin::Session, true) => store.purge_session(session, self.now)?,
            (Origin::Chunk, false) => store.archive_chunk(kept.row, self.now)?.is_some(),
            (Origin::Chunk, true) => store.forget_chunk(&kept.name)?,
            (Origin::Event | Origin::Memory, _) => false,
        };
        *(if purge { &mut done.purged } else { &mut done.archived }) += u64::from(was_done);
        Ok(())
    }

    /// Gives space back to the system, if it is worth it.
    fn give_back(&self, store: &mut Store, at_most: Option<Duration>, done: &mut Done) -> Result<(), StoreError> {
        let size = store.size()?;
        let is_over = self.cap().is_some_and(|cap| size.file > cap);
        let is_wasteful = size.unused >= UNUSED_BYTES && size.unused * 100 >= size.file * UNUSED;
        // Whoever asks for a run has the time.
        if size.unused > 0 && (is_wasteful || is_over || at_most.is_none()) {
            self.compact(store, at_most, done)?;
        }
        Ok(())
    }

    /// Writes the file anew. It cannot be done now: false.
    fn compact(&self, store: &mut Store, at_most: Option<Duration>, done: &mut Done) -> Result<bool, StoreError> {
        let compacted = match store.vacuum(at_most.map(|_| VACUUM)) {
            Err(StoreError::Busy) => false,
            Err(StoreError::Full) if at_most.is_some() => false,
            other => other?,
        };
        done.loose = !compacted;
        Ok(compacted)
    }

    /// Does what the settings say, once a day and within a time that delays nobody. None: it was done today.
    ///
    /// # Errors
    /// Those of the store.
    pub fn by_itself(&self, store: &mut Store, stop: &AtomicBool) -> Result<Option<Done>, StoreError> {
        let last = store.meta(LAST)?.and_then(|at| at.parse::<i64>().ok());
        // A clock that was put back is no reason to wait for years.
        if last.is_some_and(|last| (0..DAY).contains(&(self.now - last))) {
            return Ok(None);
        }
        let done = self.run(store, self.what(), Some(BY_ITSELF), stop)?;
        if !done.unfinished {
            store.set_meta(LAST, &self.now.to_string())?;
        }
        Ok(Some(done))
    }
}

fn candidate(store: &Store, kept: &Kept, reason: Reason) -> Result<Candidate, StoreError> {
    Ok(Candidate {
        id: kept.name.clone(),
        title: kept.title.clone(),
        at: kept.at,
        reason,
        bytes: store.bytes_of(kept)?,
        kept: kept.clone(),
    })
}

/// Something could not be brought back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// There is no such session or chunk.
    #[error(transparent)]
    Unknown(#[from] NoSession),
    /// Nothing of it is left.
    #[error("{id} was purged on {}: nothing is left to bring back", day(*.at))]
    Purged {
        /// What it was called.
        id: String,
        /// When, in milliseconds since the Unix epoch.
        at: i64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The day of a time, in UTC.
fn day(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| "?".to_owned(), |at| jiff::tz::TimeZone::UTC.to_datetime(at).date().to_string())
}

/// Brings a session or a chunk back that was put away: gives what it is called, and whether it had been.
///
/// # Errors
/// See [`RestoreError`].
pub fn restore(store: &mut Store, asked: &str, now: i64) -> Result<(String, bool), RestoreError> {
    if let Ok(Reference::Chunk(name)) = asked.parse()
        && let Some(chunk) = store.chunk(&name)?
    {
        let restored = store.restore_chunk(chunk.row)?;
        // Otherwise it would be put away again tomorrow.
        store.note_access(Origin::Chunk, chunk.row, now)?;
        return Ok((chunk.id, restored));
    }
    let row = store.find_session(asked)?;
    let name = format!("s{}", row.id.0);
    if let Some(at) = row.purged_at {
        return Err(RestoreError::Purged { id: name, at });
    }
    let restored = store.restore_session(row.id)?;
    store.note_access(Origin::Session, row.id.0, now)?;
    Ok((name, restored))
}
