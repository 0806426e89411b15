//! Injection: what an agent is told of earlier sessions when one begins, goes on, or was compacted. What matters in a project, as lines
//! with their sources, in order of rank, as far as a budget of tokens allows.
//!
//! A hook has neither the store nor the settings, so it is prepared: whoever renews the page leaves a file for each project
//! ([`renew`]), and a hook picks that of the folder it is called in ([`tell`]). Before a conversation is compacted, what stands in
//! it is prepared likewise ([`snapshot`]).
//!
//! `gather.rs` decides what is worth telling, `item.rs` how it is said so that words of others stay words, `fit.rs` what has room,
//! `prepared.rs` keeps the files, `seen.rs` what each session was told. [`aside`] is what is told in between, where a person wants that.

pub mod aside;
mod fit;
mod gather;
mod item;
mod prepared;
mod seen;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    config::Config,
    paths::Home,
    project,
    redact::Redactor,
    saved,
    store::{SessionRow, Store, StoreError},
    verdict::Verdict,
};

pub use fit::Injection;
pub use item::{Item, Section};
pub use prepared::{FOLDER, expect, tell};

/// Most characters that are told at once: Claude Code puts more than 10,000 into a file (seen with 2.1.332).
pub const MAX_CHARS: usize = 9_500;

/// Projects that are prepared for, those with the latest sessions first.
const PROJECTS: usize = 200;

/// Held by whoever prepares, in the folder of what is prepared.
const LOCK: &str = "lock";
/// How long another one that prepares is waited for, and how soon it is looked again. It takes a second with many projects.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(10);

/// It could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error("could not write {}: {why}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        why: io::Error,
    },
}

/// What all projects need of the store, read once.
struct Known<'a> {
    gather: gather::Known<'a>,
    /// Sessions by the place of their project, the newest first.
    places: BTreeMap<String, Vec<SessionRow>>,
}

impl<'a> Known<'a> {
    fn read(store: &'a Store, config: &'a Config, verdicts: &[Verdict], now: i64) -> Result<Self, StoreError> {
        let mut places = BTreeMap::<String, Vec<SessionRow>>::new();
        let mut known = BTreeMap::<String, String>::new();
        for row in store.sessions()?.into_iter().rev() {
            let Some(folder) = row.project.clone() else { continue };
            let place = known.entry(folder).or_insert_with_key(|folder| place(folder)).clone();
            places.entry(place).or_default().push(row);
        }
        // In the order in which they were read they are only as long as none was read late.
        for rows in places.values_mut() {
            rows.sort_by_key(|row| std::cmp::Reverse((row.ended_at.or(row.started_at), row.id)));
        }
        let mut gather = gather::Known::read(store, config, verdicts, now)?;
        let named: Vec<String> = places.keys().cloned().collect();
        gather.find_places(|name| only_one_called(name, &named));
        for place in gather.memories.iter().filter_map(|memory| memory.place.clone()) {
            places.entry(place).or_default();
        }
        Ok(Self { gather, places })
    }

    fn items(&self, place: Option<&str>) -> Result<Vec<Item>, StoreError> {
        match place {
            Some(place) => self.gather.items(place, self.places.get(place).map_or(&[], Vec::as_slice)),
            None => Ok(self.gather.everywhere()),
        }
    }

    /// The places that are prepared for.
    fn latest(&self) -> Vec<&str> {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.iter().filter_map(|row| row.ended_at).max()));
        places.into_iter().take(PROJECTS).map(|(place, _)| place.as_str()).collect()
    }
}

/// The place of a project that is named by one of its folders.
fn place(folder: &str) -> String {
    project::place(Path::new(folder)).to_string_lossy().into_owned()
}

/// The place of a project of which nothing but its name is known. None: there are several, and it would be told in the wrong one.
fn only_one_called(name: &str, places: &[String]) -> Option<String> {
    let is_called_so = |place: &&String| place.rsplit(['/', '\\']).next() == Some(name);
    let mut called = places.iter().filter(is_called_so);
    called.next().filter(|_| called.next().is_none()).cloned()
}

/// To be called after something was remembered, saved, done or forgotten: has sessions be told what holds now. `session`: the
/// tool's id of the one that something new was kept of, which its guard is told.
///
/// # Errors
/// Those of [`renew`], and of writing into the home. What was changed is changed all the same, and the next run of the worker
/// prepares it anew.
pub fn follow(home: &Home, store: &Store, config: &Config, session: Option<&str>, now: i64) -> Result<(), InjectError> {
    if let Some(session) = session {
        saved::note(home.path(), session, now)
            .map_err(|why| InjectError::Write { path: home.path().join(saved::FOLDER), why })?;
    }
    renew(home, store, config, None, now).map(drop)
}

/// What was prepared.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Renewed {
    /// Projects that have something to be told.
    pub projects: usize,
    /// Is something told wherever a session begins?
    pub everywhere: bool,
}

/// Prepares anew what sessions are told. `verdicts` are those on the rules in force; none: as they were when it was last prepared.
/// To be called by whoever has changed what holds: a memory that was forgotten must not be told.
///
/// # Errors
/// Those of the store and of writing into the home; what was prepared before may be there still.
pub fn renew(
    home: &Home,
    store: &Store,
    config: &Config,
    verdicts: Option<&[Verdict]>,
    now: i64,
) -> Result<Renewed, InjectError> {
    // One that has read the store before another has changed it must not write after that one.
    let _lock = lock(home)?;
    aside::set(home.path(), &config.inject).map_err(|(path, why)| InjectError::Write { path, why })?;
    let verdicts = prepared::verdicts(home, verdicts)?;
    let (mut renewed, mut kept) = (Renewed::default(), BTreeSet::new());
    if config.inject.session {
        let (known, redactor) = (Known::read(store, config, &verdicts, now)?, config.redactor());
        for place in known.latest().into_iter().map(Some).chain([None]) {
            let injection = fit::fit(place, shown(known.items(place)?, &redactor), config.inject.tokens);
            let Some(file) = prepared::write(home, place, &injection)? else { continue };
            kept.insert(file);
            match place {
                Some(_) => renewed.projects += 1,
                None => renewed.everywhere = true,
            }
        }
    }
    prepared::remove_others(home, &kept, !config.inject.session);
    Ok(renewed)
}

fn shown(items: Vec<Item>, redactor: &Redactor) -> Vec<Item> {
    items.into_iter().map(|item| item.redacted(redactor)).collect()
}

/// Waits until nobody else prepares. Given back when it is dropped, and by the system when we are killed.
fn lock(home: &Home) -> Result<File, InjectError> {
    let path = home.path().join(FOLDER).join(LOCK);
    let failed = |why: io::Error| InjectError::Write { path: path.clone(), why };
    let file = prepared::lock_file(&path).map_err(failed)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(AGAIN),
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::Error::new(io::ErrorKind::TimedOut, "another process holds it for long")));
            }
            Err(TryLockError::Error(why)) => return Err(failed(why)),
        }
    }
}

/// Drops what is kept of what a session was told, and of what stood in it: to be called when it is deleted. `session` is the tool's
/// id. What cannot be removed goes when it is old.
pub fn drop_session(home: &Path, session: &str) {
    prepared::drop_session(home, session);
    seen::forget(home, session);
}

/// What a session would be told that begins in this folder now, with what was left out.
///
/// # Errors
/// Those of the store.
pub fn preview(home: &Home, store: &Store, config: &Config, folder: &Path, now: i64) -> Result<Injection, InjectError> {
    let verdicts = prepared::verdicts(home, None)?;
    let (known, redactor) = (Known::read(store, config, &verdicts, now)?, config.redactor());
    let here = prepared::places(folder).into_iter().find(|place| known.places.contains_key(place));
    let injection = fit::fit(here.as_deref(), shown(known.items(here.as_deref())?, &redactor), config.inject.tokens);
    // As a hook does where there is nothing for the project.
    if injection.text.is_none() && here.is_some() {
        return Ok(fit::fit(None, shown(known.items(None)?, &redactor), config.inject.tokens));
    }
    Ok(injection)
}

/// Removes what was prepared for conversations that were compacted, all of it: something was taken out of what stood in them.
///
/// # Errors
/// The system does not allow it.
pub fn drop_snapshots(home: &Home) -> io::Result<()> {
    prepared::drop_snapshots(home)
}

/// Prepares what is told when a conversation goes on that was compacted: what stood in it. `session` is the tool's id.
///
/// # Errors
/// Those of the store and of writing into the home.
pub fn snapshot(home: &Home, store: &Store, config: &Config, session: &str) -> Result<(), InjectError> {
    let Some(row) = store.sessions()?.into_iter().rev().find(|row| row.native_id == session) else { return Ok(()) };
    let items = shown(gather::snapshot(store, &row)?, &config.redactor());
    prepared::write_snapshot(home, session, &items, config.inject.tokens)
}
