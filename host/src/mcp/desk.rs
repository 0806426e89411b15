//! What every call works with: the home, the folder that the client is in, and the indexes, which stay open between calls.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use super::{tool::Refusal, words::line};
use crate::{
    clock,
    config::Config,
    embedding, inject,
    paths::Home,
    pause, present,
    project::{self, ProjectError},
    redact::Redactor,
    search::{Answer, Request, SearchError, Searcher},
    secrets,
    store::{Origin, Store, StoreError},
};

/// How long a write waits for a worker that writes: longer than any transcript takes, and than agents have patience.
const WAIT: Duration = Duration::from_secs(30);
/// How soon it is tried again to open a store that somebody else is making.
const AGAIN: Duration = Duration::from_millis(20);
/// How long it is tried to note that something was looked at. That it is not noted does no harm.
const NOTE: Duration = Duration::from_millis(20);

/// What one call works with.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) home: Home,
    /// The folder that the client is in.
    pub(super) here: PathBuf,
    /// Milliseconds since the Unix epoch.
    pub(super) now: i64,
    indexes: Arc<Indexes>,
}

/// The indexes that are open.
#[derive(Default)]
pub(super) struct Indexes(Mutex<Option<Open>>);

struct Open {
    stamp: Stamp,
    searcher: Searcher,
    /// Why there is no model, and what to do about it.
    trouble: Option<String>,
}

impl Open {
    fn new(home: &Home, stamp: Stamp) -> Result<Self, SearchError> {
        let (model, trouble) = match embedding::in_use(home) {
            Ok(model) => (model, None),
            Err(error) => {
                let error = line(&error.to_string());
                let trouble = format!(
                    "{error}; what texts mean is not searched: `totalrecall models use {}` takes the built-in model.",
                    embedding::BUILT_IN
                );
                (None, Some(trouble))
            }
        };
        Ok(Self { stamp, searcher: Searcher::open(&home.index(), model)?, trouble })
    }
}

/// Files of the indexes and of models, with their times and sizes: another commit has others.
type Stamp = Vec<(PathBuf, Option<SystemTime>, u64)>;

impl Desk {
    pub(super) fn new(home: Home, here: PathBuf, indexes: Arc<Indexes>) -> Self {
        Self { home, here, now: clock::now(), indexes }
    }

    /// The store, for reading.
    ///
    /// # Errors
    /// `Nothing` where there is none.
    pub(super) fn store(&self) -> Result<Store, Refusal> {
        let store = Store::open_read_only(self.home.path())?;
        if store.is_current()? {
            return Ok(store);
        }
        // An older program made it, and nobody has written since.
        drop(store);
        Ok(Store::open(self.home.path())?)
    }

    /// The store, for writing; made if there is none.
    pub(super) fn store_to_write(&self) -> Result<Store, Refusal> {
        let config = self.config()?;
        let begun = Instant::now();
        let mut store = loop {
            match Store::open(self.home.path()) {
                // Two that make it at once: SQLite waits for nobody then.
                Err(StoreError::Busy) if begun.elapsed() < WAIT => std::thread::sleep(AGAIN),
                opened => break opened?,
            }
        };
        store.wait(WAIT)?;
        secrets::begin(&mut store, &config.privacy.fingerprint())?;
        Ok(store)
    }

    pub(super) fn config(&self) -> Result<Config, Refusal> {
        Ok(Config::load(&self.home.config())?)
    }

    pub(super) fn redactor(&self) -> Result<Redactor, Refusal> {
        Ok(self.config()?.redactor())
    }

    /// Notes that these were looked at, if nobody else is writing just now.
    pub(super) fn note(&self, looked_at: &[(Origin, i64)]) {
        if looked_at.is_empty() {
            return;
        }
        let Ok(mut store) = Store::open(self.home.path()) else { return };
        if store.wait(NOTE).is_err() {
            return;
        }
        for (origin, row) in looked_at {
            if store.note_access(*origin, *row, self.now).is_err() {
                return;
            }
        }
    }

    /// Has sessions be told what holds now. `session`: the one that something new was kept of. What fails here is made good by
    /// the next run of the worker.
    pub(super) fn follow(&self, store: &Store, session: Option<&str>) {
        if let Ok(config) = self.config() {
            let _ = inject::follow(&self.home, store, &config, session, self.now);
        }
    }

    /// The project that what is said here belongs to: the repository of this folder, or the folder. None: it is the person's
    /// home folder, or that of the whole system, and no project.
    pub(super) fn project(&self) -> Option<String> {
        project::kept_in(&self.here)
    }

    /// The project that is meant by who saves something. Nothing: the one of this folder. `*`: none, it holds everywhere.
    /// `known`: the folders and names that anything is filed under.
    pub(super) fn project_named(&self, asked: &str, known: &BTreeSet<String>) -> Result<Option<String>, ProjectError> {
        match asked.trim() {
            "" | "." => Ok(self.project()),
            "*" => Ok(None),
            named if self.here.join(named).is_dir() => {
                let kept_in = project::kept_in(&self.here.join(named));
                // Everywhere is what is meant by nobody who names a folder.
                kept_in.map(Some).ok_or_else(|| ProjectError::None { folder: line(named) })
            }
            named => project::find(Some(named), &self.here, known).map(|project| Some(project.path)),
        }
    }

    /// The session that something is said in, by the tool's id of it: the one that is named, or the one that the client is in, if it
    /// tells.
    pub(super) fn session(&self, named: &str) -> Option<String> {
        let named = Some(named.trim().to_owned()).filter(|named| !named.is_empty());
        named.or_else(|| present::session(self.home.path())).map(|session| line(&session))
    }

    /// Is nothing learned here just now? What is saved on purpose is kept all the same, and that is said.
    pub(super) fn pause_notice(&self) -> Option<String> {
        pause::is_paused(self.home.path(), Some(&self.here))
            .then(|| "Learning is paused here; what is saved on purpose is kept all the same.".to_owned())
    }

    /// Searches with the indexes as they are now. Gives what it has to do without, too.
    pub(super) fn search(&self, store: &Store, request: &Request) -> Result<(Answer, Vec<String>), Refusal> {
        self.with_searcher(store, |searcher| searcher.search(store, request, self.now))
    }

    pub(super) fn with_searcher<T>(
        &self,
        store: &Store,
        work: impl FnOnce(&Searcher) -> Result<T, SearchError>,
    ) -> Result<(T, Vec<String>), Refusal> {
        // One that another call has left in the middle of a panic is as good as any: it only reads.
        let mut open = self.indexes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.home);
        let known = match open.take().filter(|known| known.stamp == stamp) {
            Some(known) => known,
            None => Open::new(&self.home, stamp)?,
        };
        let known = open.insert(known);
        let damaged = known.searcher.troubles(store)?;
        let damaged = damaged.iter().map(|trouble| format!("{}: `totalrecall reindex` makes it anew.", line(trouble)));
        Ok((work(&known.searcher)?, known.trouble.iter().cloned().chain(damaged).collect()))
    }
}

fn stamp(home: &Home) -> Stamp {
    let mut stamp = Stamp::new();
    let files = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let index = files(home.index()).flat_map(|folder| files(folder.path()));
    for file in index.chain(files(home.models())) {
        let metadata = file.metadata().ok();
        let modified = metadata.as_ref().and_then(|it| it.modified().ok());
        stamp.push((file.path(), modified, metadata.map_or(0, |it| it.len())));
    }
    stamp.sort();
    stamp
}
