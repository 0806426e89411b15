//! What every call works with: the home, the folder that the client is in, and the indexes, which stay open between calls.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use super::{tool::Refusal, words::line};
use crate::{
    clock,
    config::Config,
    embedding, inject,
    paths::{self, Home},
    pause,
    project::{self, ProjectError},
    redact::Redactor,
    search::{Answer, Request, SearchError, Searcher},
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
pub(super) struct Indexes(Mutex<Option<(Stamp, Searcher)>>);

/// Files of the indexes, with their times and sizes: another commit has others.
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
        let begun = Instant::now();
        let store = loop {
            match Store::open(self.home.path()) {
                // Two that make it at once: SQLite waits for nobody then.
                Err(StoreError::Busy) if begun.elapsed() < WAIT => std::thread::sleep(AGAIN),
                opened => break opened?,
            }
        };
        store.wait(WAIT)?;
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
        project_of(&self.here)
    }

    /// The project that is meant by who saves something. Nothing: the one of this folder. `*`: none, it holds everywhere.
    pub(super) fn project_named(&self, asked: &str, store: &Store) -> Result<Option<String>, ProjectError> {
        match asked.trim() {
            "" | "." => Ok(self.project()),
            "*" => Ok(None),
            folder if Path::new(folder).is_absolute() => Ok(project_of(Path::new(folder))),
            name => {
                let known = store.projects().unwrap_or_default();
                project::find(Some(name), &self.here, &known).map(|project| Some(project.path))
            }
        }
    }

    /// The session that something is said in, by the tool's id of it: the one that is named, or the one that the client started the
    /// server in, if it tells. That one may have been cleared since; which one followed, no client tells.
    pub(super) fn session(&self, named: &str) -> Option<String> {
        let named = Some(named.trim().to_owned()).filter(|named| !named.is_empty());
        named.or_else(|| paths::variable("CLAUDE_CODE_SESSION_ID")).map(|session| line(&session))
    }

    /// Is nothing learned here just now? What is saved on purpose is kept all the same, and that is said.
    pub(super) fn pause_notice(&self) -> Option<String> {
        pause::is_paused(self.home.path(), Some(&self.here))
            .then(|| "Learning is paused here; what is saved on purpose is kept all the same.".to_owned())
    }

    /// Searches with the indexes as they are now.
    pub(super) fn search(&self, store: &Store, request: &Request) -> Result<Answer, Refusal> {
        self.with_searcher(|searcher| searcher.search(store, request, self.now))
    }

    pub(super) fn with_searcher<T>(
        &self,
        work: impl FnOnce(&Searcher) -> Result<T, SearchError>,
    ) -> Result<T, Refusal> {
        let folder = self.home.index();
        // One that another call has left in the middle of a panic is as good as any: it only reads.
        let mut open = self.indexes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&folder);
        if open.as_ref().is_none_or(|(known, _)| *known != stamp) {
            *open = Some((stamp, Searcher::open(&folder, embedding::in_use(&self.home).ok().flatten())?));
        }
        match open.as_ref() {
            Some((_, searcher)) => Ok(work(searcher)?),
            None => Err(Refusal::Failed("the indexes could not be opened".to_owned(), None)),
        }
    }
}

fn project_of(folder: &Path) -> Option<String> {
    let place = project::place(folder);
    let is_home = paths::user_home().is_some_and(|home| project::resolved(&home) == place);
    (place.parent().is_some() && !is_home).then(|| place.to_string_lossy().into_owned())
}

fn stamp(folder: &Path) -> Stamp {
    let mut stamp = Stamp::new();
    let index = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for file in index.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten()) {
        let metadata = file.metadata().ok();
        let modified = metadata.as_ref().and_then(|it| it.modified().ok());
        stamp.push((file.path(), modified, metadata.map_or(0, |it| it.len())));
    }
    stamp.sort();
    stamp
}
