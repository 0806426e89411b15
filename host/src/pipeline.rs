//! The pipeline, in the order in which data flows: transcripts are found and queued, read one by one into the store, and
//! what the store then knows becomes findings, patterns, and the page.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use globset::GlobSet;
use totalrecall_retrieval::embed::Model;

use crate::{
    config::Config,
    embedding, files, guard,
    guests::{Guests, Installed},
    inbox,
    index::{IndexError, Renewal},
    inject::{self, InjectError},
    leftovers,
    library::{self, Library},
    locale, news,
    paths::Home,
    pause::PauseError,
    present, proposal,
    redact::Redactor,
    saved,
    store::{self, Standing, Store, Trouble},
    transcript::{self, Database, Found, Source, Unreadable},
    verdict::Verdict,
};

mod one;
mod tidy;

pub use tidy::Left;

/// Where a run listens while it goes on.
struct Ears {
    /// Every source of every adapter, with the adapter's name.
    sources: Vec<(String, Source)>,
    /// Notices that were there when it last listened, and when each was left; none: it has not yet.
    heard: Option<BTreeSet<(OsString, Option<SystemTime>)>>,
}

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
    /// Databases that the person named, by adapter and path.
    named: RefCell<HashMap<(String, String), Rc<Database>>>,
}

/// A run ended early.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The store failed; what was committed before stays.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The page, or what is to be told of it, could not be written.
    #[error("could not write {}: {why}", path.display())]
    Page {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        why: String,
    },
    /// What was deleted may still stand in the indexes, though search leaves it out.
    #[error("what was deleted may still stand in the indexes: {0}")]
    Index(#[from] IndexError),
    /// The inbox could not be read; what is in it stays there.
    #[error("could not read the inbox: {0}")]
    Inbox(#[from] std::io::Error),
    /// It cannot be told what is paused. Nothing more is read: what is learned against the person's word cannot be taken back.
    #[error(transparent)]
    Pauses(#[from] PauseError),
    /// A pattern in `transcripts.ignore` is none.
    #[error("`transcripts.ignore` in the configuration: {0}")]
    Ignore(#[from] globset::Error),
}

impl From<InjectError> for PipelineError {
    fn from(error: InjectError) -> Self {
        match error {
            InjectError::Store(error) => error.into(),
            InjectError::Write { path, why } => Self::Page { path, why: why.to_string() },
        }
    }
}

impl PipelineError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Index(error) => error.hint(),
            Self::Page { .. } | Self::Inbox(_) => Some("Check who owns the home folder and whether its disk is full."),
            Self::Pauses(error) => Some(error.hint()),
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
    /// Events that were left out because they were said in a pause.
    pub paused: u64,
    /// Transcripts that vanished before they were read.
    pub vanished: u64,
    /// Transcripts whose events were analysed again.
    pub reanalysed: u64,
    /// Hook notices that could not be used, as sentences.
    pub problems: Vec<String>,
    /// Sessions and chunks that were put away because they are old, or the store too large.
    pub archived: u64,
    /// Sessions and chunks that were thrown away for the same reasons.
    pub purged: u64,
    /// Ctrl-C was pressed; the rest stays queued.
    pub stopped: bool,
    /// Sessions, by their tools' ids, whose conversations are being compacted, with their transcripts, until what stood in them is
    /// prepared.
    #[serde(skip)]
    compacting: BTreeMap<String, PathBuf>,
}

impl Worked {
    /// Puts what another run did to it.
    pub fn add(&mut self, more: Self) {
        self.read += more.read;
        self.failed.extend(more.failed);
        self.skipped += more.skipped;
        self.vanished += more.vanished;
        self.reanalysed += more.reanalysed;
        self.problems.extend(more.problems);
        self.paused += more.paused;
        self.archived += more.archived;
        self.purged += more.purged;
        self.stopped |= more.stopped;
    }
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
        let redactor = config.redactor();
        let ignore = transcript::globs(&config.transcripts.ignore)?;
        Ok(Self { home, config, guests, now, stop, redactor, ignore, named: RefCell::default() })
    }

    /// Looks at every adapter's sources and queues what is new or has changed.
    ///
    /// # Errors
    /// Those of the store.
    pub fn reconcile(&self, store: &mut Store) -> Result<Reconciled, PipelineError> {
        let mut reconciled = Reconciled::default();
        let analyzers = self.guests.analyzers().iter().map(|it| it.analyzer().descriptor().name.as_str());
        let refused = self.guests.refused.iter().map(|refused| refused.name.as_str());
        let components: Vec<_> =
            self.guests.adapters.iter().map(Installed::name).chain(analyzers).chain(refused).collect();
        store.keep_troubles_of(&components)?;
        for refused in &self.guests.refused {
            let hint = refused.hint.unwrap_or("`totalrecall adapters list` shows it").to_owned();
            let (component, why) = (refused.name.clone(), refused.why.clone());
            let trouble = Trouble { component, place: "components".to_owned(), why, hint, since: self.now };
            reconciled.problems.push(trouble.why.clone());
            store.set_troubles(&refused.name, &[trouble])?;
        }
        for installed in &self.guests.adapters {
            self.reconcile_one(store, installed, &mut reconciled)?;
        }
        Ok(reconciled)
    }

    /// The same for one adapter.
    ///
    /// # Errors
    /// Those of the store.
    pub fn reconcile_one(
        &self,
        store: &mut Store,
        installed: &Installed,
        reconciled: &mut Reconciled,
    ) -> Result<(), PipelineError> {
        let (name, tool) = (installed.name(), installed.tool());
        let (sources, mut unreadable) = installed.sources(self.guests.limits());
        let mut looked = Looked::default();
        for source in &sources {
            looked.at(source, store, installed, self, &mut unreadable)?;
        }
        reconciled.problems.extend(unreadable.iter().map(ToString::to_string));
        let troubles: Vec<_> = unreadable.iter().map(|it| self.trouble(name, it)).collect();
        store.set_troubles(name, &troubles)?;

        reconciled.found += looked.found.len() as u64;
        looked.found.retain(|found| !self.ignore.is_match(&found.path));
        reconciled.ignored += looked.all - looked.found.len() as u64;
        let rows: Vec<_> = looked.found.iter().map(|found| found.row(name, tool)).collect();
        let survey = store.survey(name, &rows, &looked.unchanged)?;
        let work = looked.found.iter().zip(rows).zip(&survey.standings).filter(|(_, standing)| standing.is_work());
        let (settled, settling): (Vec<_>, Vec<_>) =
            work.map(|(work, _)| work).partition(|(_, row)| self.has_settled(row));
        reconciled.settling += settling.len() as u64;
        reconciled.bytes += settled.iter().map(|(_, row)| row.stamp.size).sum::<u64>();
        reconciled.queued += store.enqueue(&self.by_age(installed, &sources, settled), self.now)? as u64;
        reconciled.outdated += store.requeue_stale(name, &installed.adapter.hash().to_string(), self.now)? as u64;
        for path in &looked.unchanged {
            reconciled.found += store.count_in(name, path)?;
        }
        // A place that could not be looked at says nothing about what lies in it.
        if unreadable.is_empty() {
            // A session that its database does not list is gone, though the database is there.
            let was_looked_at = |path: &String| looked.stamps.iter().any(|(database, _)| database == path);
            let is_gone = |absent: &store::Absent| was_looked_at(&absent.path) || !Path::new(&absent.path).exists();
            let gone: Vec<_> = survey.absent.into_iter().filter(is_gone).collect();
            store.expire(&gone)?;
            reconciled.expired += gone.len() as u64;
        }
        for (path, stamp) in looked.stamps {
            store.set_source(name, &path, stamp.as_deref())?;
        }
        Ok(())
    }

    fn trouble(&self, component: &str, unreadable: &Unreadable) -> Trouble {
        Trouble {
            component: component.to_owned(),
            place: unreadable.path.to_string_lossy().into_owned(),
            why: unreadable.why.clone(),
            hint: unreadable.hint.to_owned(),
            since: self.now,
        }
    }

    /// Originals before their copies.
    fn by_age(
        &self,
        installed: &Installed,
        sources: &[Source],
        work: Vec<(&Found, store::Found)>,
    ) -> Vec<store::Found> {
        let begins_at = |found: &Found| {
            let source = sources.iter().find(|source| source.holds(&found.path, &found.key))?;
            let head = source.open(&found.path, &found.key).and_then(|mut opened| opened.head()).ok()?;
            self.guests.begins_at(&installed.adapter, &found.path, &found.key, &head)
        };
        let mut aged: Vec<_> = work
            .into_iter()
            .map(|(found, row)| {
                (Found { begins_at: found.begins_at.or_else(|| begins_at(found)), ..found.clone() }, row)
            })
            .collect();
        aged.sort_by(|(a, _), (b, _)| a.age().cmp(&b.age()));
        aged.into_iter().map(|(_, row)| row).collect()
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
        let mut ears = Ears { sources: self.sources(), heard: None };
        loop {
            self.read_waiting(store, &mut ears, &mut worked, progress)?;
            self.reanalyse(store, &mut worked)?;
            store.commit()?;
            worked.stopped = self.stop.load(Ordering::Relaxed);
            let rules = self.renew_page(store)?;
            if let Err(error) = self.tell_sessions(store, &rules) {
                worked.problems.push(failed_to_tell(error)?);
            }
            self.keep_in_order(store, &mut worked)?;
            if !self.index(store, &mut ears, &mut worked, progress)? {
                break;
            }
        }
        store.finish()?;
        Ok(worked)
    }

    /// Reads everything that is queued, and what hooks leave meanwhile.
    fn read_waiting(
        &self,
        store: &mut Store,
        ears: &mut Ears,
        worked: &mut Worked,
        progress: &mut dyn FnMut(u64, &Path),
    ) -> Result<(), PipelineError> {
        while !self.stop.load(Ordering::Relaxed) {
            // A client that is about to compact a conversation waits for nobody.
            self.hear(store, ears, worked)?;
            let Some(job) = store.claim_next(self.now)? else { break };
            let path = job.path.clone();
            self.read_one(store, &ears.sources, job, worked, progress)?;
            self.keep_compacted(store, worked, |transcript| transcript == Path::new(&path))?;
        }
        store.commit()?;
        // Of these there was nothing new to be read.
        self.keep_compacted(store, worked, |_| true)
    }

    /// Takes what hooks have left since it was last looked, if anything.
    fn hear(&self, store: &mut Store, ears: &mut Ears, worked: &mut Worked) -> Result<(), PipelineError> {
        let names = inbox::names(self.home.path());
        // What cannot be taken out of the inbox was heard before.
        if ears.heard.as_ref().is_none_or(|heard| !names.is_subset(heard)) {
            self.take_notices(store, &ears.sources, worked)?;
        }
        ears.heard = Some(names);
        Ok(())
    }

    /// Has the indexes follow. That may take minutes, so that what hooks leave meanwhile is read in between; gives whether anything was.
    fn index(
        &self,
        store: &mut Store,
        ears: &mut Ears,
        worked: &mut Worked,
        progress: &mut dyn FnMut(u64, &Path),
    ) -> Result<bool, PipelineError> {
        let before = worked.read;
        // What is there stays as it is for as long as the chosen model cannot be used.
        let model = embedding::in_use(self.home).unwrap_or_else(|error| {
            worked.problems.push(error.to_string());
            None
        });
        loop {
            let is_called =
                || ears.heard.as_ref().is_some_and(|heard| !inbox::names(self.home.path()).is_subset(heard));
            let stop = || self.stop.load(Ordering::Relaxed) || is_called();
            self.follow(store, model.as_ref(), &stop, worked);
            if self.stop.load(Ordering::Relaxed) || !is_called() {
                return Ok(worked.read > before);
            }
            self.read_waiting(store, ears, worked, progress)?;
        }
    }

    /// The same until it is told to stop. Search does without what is not indexed, so that nothing here ends the run.
    fn follow(&self, store: &mut Store, model: Option<&Model>, stop: &dyn Fn() -> bool, worked: &mut Worked) {
        let renewal = Renewal { folder: &self.home.index(), model, stop, beside: false };
        if let Err(error) = renewal.run(store, &mut |_| {}) {
            worked.problems.push(format!("search does without what was read now: {error}"));
        }
        if let Err(error) = leftovers::renew(self.home, store, model, stop, self.now) {
            worked.problems.push(format!("what was deleted may still stand in the indexes: {error}"));
        }
    }

    /// Prepares what is told when conversations go on that are being compacted, before anything that takes longer: their clients
    /// need some seconds for that. `is_read`: of a transcript, whether it was read.
    fn keep_compacted(
        &self,
        store: &mut Store,
        worked: &mut Worked,
        is_read: impl Fn(&Path) -> bool,
    ) -> Result<(), PipelineError> {
        let sessions: Vec<_> = worked.compacting.extract_if(.., |_, transcript| is_read(transcript)).collect();
        if sessions.is_empty() || !self.config.inject.session {
            return Ok(());
        }
        store.commit()?;
        library::renew(store, self.guests.kinds())?;
        for (session, _) in sessions {
            if let Err(error) = inject::snapshot(self.home, store, self.config, &session) {
                worked.problems.push(failed_to_tell(error.into())?);
            }
        }
        Ok(())
    }

    /// Findings and patterns from the signals, the page, the news, and what sessions are told from the patterns.
    ///
    /// # Errors
    /// Those of the store and of the page.
    pub fn renew(&self, store: &mut Store) -> Result<(), PipelineError> {
        let rules = self.renew_page(store)?;
        self.tell_sessions(store, &rules)
    }

    /// Without what sessions are told. Gives the verdicts on the rules in force.
    fn renew_page(&self, store: &mut Store) -> Result<Vec<Verdict>, PipelineError> {
        let kinds = self.guests.kinds();
        library::renew(store, kinds)?;
        let library = Library::load(store)?.judged(store, self.config, self.now)?;
        let insights = library.insights(kinds, &self.config.patterns, self.now).redacted(&self.redactor);
        let locale = locale::choose(self.config.language().as_deref(), None);
        files::write_atomically(&self.home.insights(), insights.page(&locale).as_bytes())
            .map_err(|error| PipelineError::Page { path: self.home.insights(), why: error.to_string() })?;
        let drafts = store.proposals()?.into_iter().filter(|it| it.status == proposal::Status::Drafted);
        news::renew(self.home, &insights, drafts.map(|it| it.id).collect(), self.config.session.line, &locale)
            .map_err(|(path, error)| PipelineError::Page { path, why: error.to_string() })?;
        Ok(insights.rules)
    }

    /// What sessions are told, and what hooks have to know.
    fn tell_sessions(&self, store: &Store, rules: &[Verdict]) -> Result<(), PipelineError> {
        inject::renew(self.home, store, self.config, Some(rules), self.now)?;
        saved::sweep(self.home.path());
        present::sweep(self.home.path());
        guard::set(self.home.path(), self.config.guard.manual)
            .map_err(|error| PipelineError::Page { path: self.home.path().join(guard::FOLDER), why: error.to_string() })
    }

    /// Every source of every adapter, with the adapter's name.
    fn sources(&self) -> Vec<(String, Source)> {
        let of = |installed: &Installed| {
            let name = installed.name().to_owned();
            installed.sources(self.guests.limits()).0.into_iter().map(move |source| (name.clone(), source))
        };
        self.guests.adapters.iter().flat_map(of).collect()
    }
}

/// What is said of a run that could read and learn, and not write what sessions are told.
///
/// # Errors
/// Anything else ends the run.
fn failed_to_tell(error: PipelineError) -> Result<String, PipelineError> {
    match &error {
        PipelineError::Page { .. } => Ok(format!("what sessions are told is as it was before: {error}")),
        _ => Err(error),
    }
}

/// What a look at an adapter's sources found.
#[derive(Default)]
struct Looked {
    found: Vec<Found>,
    /// Of these, before any were left out.
    all: u64,
    /// Databases in which nothing is new.
    unchanged: Vec<String>,
    /// Databases that were looked at, as they are now.
    stamps: Vec<(String, Option<String>)>,
}

impl Looked {
    fn at(
        &mut self,
        source: &Source,
        store: &Store,
        installed: &Installed,
        pipeline: &Pipeline<'_>,
        unreadable: &mut Vec<Unreadable>,
    ) -> Result<(), PipelineError> {
        let mut look = || {
            let (found, problems) = source.discover();
            let is_sound = problems.is_empty();
            unreadable.extend(problems);
            (found, is_sound)
        };
        let found = match source {
            // Nothing of it would be kept, so it is not even opened.
            Source::Database(database) if pipeline.ignore.is_match(database.path()) => return Ok(()),
            Source::Database(database) => {
                let path = database.path().to_string_lossy().into_owned();
                // Before the look: what is written during it must be seen by the next one.
                let stamp = database.stamp(pipeline.now).map(|stamp| format!("{} {stamp}", installed.adapter.hash()));
                if stamp.is_some() && stamp == store.source(installed.name(), &path)? {
                    self.unchanged.push(path);
                    return Ok(());
                }
                let (found, is_sound) = look();
                self.stamps.push((path, stamp.filter(|_| is_sound)));
                found
            }
            Source::Files(_) | Source::Tree(_) => look().0,
        };
        self.all += found.len() as u64;
        self.found.extend(found);
        Ok(())
    }
}
