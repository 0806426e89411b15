//! The pipeline, in the order in which data flows: transcripts are found and queued, read one by one into the store, and
//! what the store then knows becomes findings, patterns, and the page.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use globset::GlobSet;

use crate::{
    config::Config,
    files,
    guests::Guests,
    library::{self, Library},
    locale,
    paths::Home,
    redact::{self, Redactor},
    sandbox::Adapter,
    store::{self, Standing, Store},
    transcript::{self, Found, Root},
};

mod one;

pub(crate) use one::SESSION_IS_OVER;

/// Everything a run needs besides the store.
pub struct Pipeline<'a> {
    /// Our folder.
    pub home: &'a Home,
    /// The settings.
    pub config: &'a Config,
    /// The components.
    pub guests: &'a Guests,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
    /// Set: begin nothing new.
    pub stop: &'a AtomicBool,
    redactor: Redactor,
    ignore: GlobSet,
}

/// A run ended early.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The store failed; what was committed before stays.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The page could not be written.
    #[error("could not write {}: {why}", path.display())]
    Page {
        /// The page.
        path: PathBuf,
        /// The system's reason.
        why: String,
    },
    /// The inbox could not be read; what is in it stays there.
    #[error("could not read the inbox: {0}")]
    Inbox(#[from] std::io::Error),
    /// A pattern in `transcripts.ignore` is none.
    #[error("`transcripts.ignore` in the configuration: {0}")]
    Ignore(#[from] globset::Error),
}

impl PipelineError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Page { .. } | Self::Inbox(_) => Some("Check who owns the home folder and whether its disk is full."),
            Self::Ignore(_) => None,
        }
    }
}

/// What a look at the sources found.
#[derive(Debug, Default, serde::Serialize)]
pub struct Reconciled {
    /// Transcripts that exist.
    pub found: u64,
    /// Of these, what was queued now: new, grown, or replaced.
    pub queued: u64,
    /// Bytes of what was queued now.
    pub bytes: u64,
    /// Written to so lately that they are left for later.
    pub settling: u64,
    /// Left out by `transcripts.ignore`.
    pub ignored: u64,
    /// Deleted by their tool since the last look; what is known of them stays.
    pub expired: u64,
    /// Queued again because the adapter is a new one.
    pub outdated: u64,
    /// Places that could not be looked at, as sentences.
    pub problems: Vec<String>,
}

/// What a run read.
#[derive(Debug, Default, serde::Serialize)]
pub struct Worked {
    /// Transcripts read to their end.
    pub read: u64,
    /// Transcripts that failed, as sentences. `status` lists them too.
    pub failed: Vec<String>,
    /// Transcripts left unread on purpose.
    pub skipped: u64,
    /// Transcripts that vanished before they were read.
    pub vanished: u64,
    /// Transcripts whose events were analysed again.
    pub reanalysed: u64,
    /// Hook notices that could not be used, as sentences.
    pub problems: Vec<String>,
    /// Ctrl-C was pressed; the rest stays queued.
    pub stopped: bool,
}

impl<'a> Pipeline<'a> {
    /// Prepares a run.
    ///
    /// # Errors
    /// When the settings make no sense.
    pub fn new(
        home: &'a Home,
        config: &'a Config,
        guests: &'a Guests,
        now: i64,
        stop: &'a AtomicBool,
    ) -> Result<Self, PipelineError> {
        let redactor = Redactor::new(&redact::Settings { text_limit: config.transcripts.text_limit as usize });
        let ignore = transcript::globs(&config.transcripts.ignore)?;
        Ok(Self { home, config, guests, now, stop, redactor, ignore })
    }

    /// Looks at every adapter's sources and queues what is new or has changed.
    ///
    /// # Errors
    /// Those of the store.
    pub fn reconcile(&self, store: &mut Store) -> Result<Reconciled, PipelineError> {
        let mut reconciled = Reconciled::default();
        for adapter in &self.guests.adapters {
            let descriptor = adapter.descriptor();
            let (roots, unopened) = transcript::roots(&descriptor.sources);
            let (mut found, unreadable) = transcript::discover(&roots);
            reconciled.problems.extend(unopened.iter().chain(&unreadable).map(ToString::to_string));
            reconciled.found += found.len() as u64;
            found.retain(|found| !self.ignore.is_match(&found.path));
            reconciled.ignored = reconciled.found - found.len() as u64;
            let rows: Vec<_> = found.iter().map(|found| found.row(&descriptor.name, &descriptor.tool)).collect();

            let survey = store.survey(&descriptor.name, &rows)?;
            let work = found.iter().zip(rows).zip(&survey.standings).filter(|(_, standing)| standing.is_work());
            let (settled, settling): (Vec<_>, Vec<_>) =
                work.map(|(work, _)| work).partition(|(_, row)| self.has_settled(row));
            reconciled.settling += settling.len() as u64;
            reconciled.bytes += settled.iter().map(|(_, row)| row.stamp.size).sum::<u64>();
            reconciled.queued += store.enqueue(&self.by_age(adapter, &roots, settled), self.now)? as u64;
            reconciled.outdated += store.requeue_stale(&descriptor.name, &adapter.hash().to_string(), self.now)? as u64;
            // A root that could not be looked at says nothing about what lies in it.
            if reconciled.problems.is_empty() {
                let gone: Vec<_> =
                    survey.absent.into_iter().filter(|absent| !Path::new(&absent.path).exists()).collect();
                store.expire(&gone)?;
                reconciled.expired += gone.len() as u64;
            }
        }
        Ok(reconciled)
    }

    /// Originals before their copies.
    fn by_age(&self, adapter: &Adapter, roots: &[Root], work: Vec<(&Found, store::Found)>) -> Vec<store::Found> {
        let begins_at = |found: &Found| {
            let head = roots[found.root].head(&found.relative).ok()?;
            self.guests.begins_at(adapter, &found.path, &head)
        };
        let mut aged: Vec<_> = work.into_iter().map(|(found, row)| (begins_at(found), found, row)).collect();
        aged.sort_by(|(a, left, _), (b, right, _)| left.age(*a).cmp(&right.age(*b)));
        aged.into_iter().map(|(_, _, row)| row).collect()
    }

    /// A session that is going on writes to its transcript: reading it now would mean reading it again soon.
    fn has_settled(&self, found: &store::Found) -> bool {
        let age = self.now.saturating_sub(found.stamp.mtime_ns / 1_000_000);
        age < 0 || age >= i64::try_from(self.config.transcripts.settle_seconds).unwrap_or(i64::MAX).saturating_mul(1000)
    }

    /// Queues transcripts that the person named, wherever they lie.
    ///
    /// # Errors
    /// Those of the store.
    pub fn enqueue(&self, store: &mut Store, found: &[store::Found]) -> Result<u64, PipelineError> {
        let mut work = Vec::new();
        for found in found {
            if !matches!(store.observe(found)?, Standing::Unchanged | Standing::Queued) {
                work.push(found);
            }
        }
        Ok(store.enqueue(work, self.now)? as u64)
    }

    /// Reads everything that is queued and renews the page. `progress` is told the bytes of each step and the transcript
    /// they are of.
    ///
    /// # Errors
    /// Those of the store and of the page. A transcript that cannot be read is no error of the run.
    pub fn work(&self, store: &mut Store, progress: &mut dyn FnMut(u64, &Path)) -> Result<Worked, PipelineError> {
        let mut worked = Worked::default();
        let roots = self.roots();
        self.take_notices(store, &roots, &mut worked)?;
        while !self.stop.load(Ordering::Relaxed)
            && let Some(job) = store.claim_next(self.now)?
        {
            self.read_one(store, &roots, job, &mut worked, progress)?;
        }
        self.reanalyse(store, &mut worked)?;
        worked.stopped = self.stop.load(Ordering::Relaxed);
        store.commit()?;
        self.renew(store)?;
        store.finish()?;
        Ok(worked)
    }

    /// Findings and patterns from the signals, the page from the patterns.
    ///
    /// # Errors
    /// Those of the store and of the page.
    pub fn renew(&self, store: &mut Store) -> Result<(), PipelineError> {
        let kinds = &self.guests.analyzer.descriptor().signals;
        library::renew(store, kinds)?;
        let insights = Library::load(store)?.insights(kinds, &self.config.patterns, self.now);
        let page = insights.page(&locale::choose(self.config.language().as_deref(), None));
        files::write_atomically(&self.home.insights(), page.as_bytes())
            .map_err(|error| PipelineError::Page { path: self.home.insights(), why: error.to_string() })
    }

    fn roots(&self) -> Vec<(String, Root)> {
        let of = |adapter: &Adapter| {
            let name = adapter.descriptor().name.clone();
            transcript::roots(&adapter.descriptor().sources).0.into_iter().map(move |root| (name.clone(), root))
        };
        self.guests.adapters.iter().flat_map(of).collect()
    }
}
