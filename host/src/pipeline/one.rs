//! One transcript from the queue into the store, and the notices that put transcripts there.

use std::{
    collections::{BTreeMap, HashSet},
    io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::Ordering,
};

use super::{Pipeline, PipelineError, Worked};
use crate::{
    analyses::AnalyzerFailed,
    event::Event,
    guests::Installed,
    inbox::{self, BEFORE_COMPACTION, Notice, SESSION_IS_OVER},
    model::Own,
    pause::{self, Ahead, Pauses, Sieve, State},
    reading::{ReadError, Sink},
    redact,
    sandbox::{SandboxError, analyze::Signal, parse::Checkpoint, types::Fault},
    session::Facts,
    store::{
        Absent, Begin, Done, Edges, Failure, Finality, Ingest, Job, Role, SessionFacts, Skip, Stamp, Standing, Store,
        StoreError, Trouble,
    },
    transcript::{self, Database, DatabaseError, Found, Opened, Source, Tree, Unreadable},
};

/// Stored events analysed again in one call.
const PAGE: usize = 4096;

type Sources = [(String, Source)];

/// Puts what is read into the store, and gathers what it says of the session.
struct Stored<'store> {
    ingest: Ingest<'store>,
    sieve: Sieve,
    /// The sieve's state at the checkpoint.
    settled: State,
    facts: Facts,
    own: Own,
}

/// How an attempt to read a transcript ended, when it did not fail.
enum Read {
    /// These added analyzers failed at it.
    Done(Vec<AnalyzerFailed>),
    /// It was left unread on purpose.
    Skipped,
    /// A pause was begun or ended meanwhile: what was read is not to be trusted, and was not kept.
    PausesChanged,
}

impl Sink for Stored<'_> {
    type Error = StoreError;

    fn sift(&mut self, events: &mut Vec<Event>) -> Result<(), StoreError> {
        self.ingest.mark_copied(events)?;
        for event in std::mem::replace(events, Vec::with_capacity(events.len())) {
            self.own.learn(&event);
            let (at, is_paused) = self.sieve.tell(&event);
            if is_paused {
                self.ingest.drop_event(&event, at);
                self.sieve.drop(event);
            } else if self.sieve.has_pauses() && self.ingest.is_copy_of_dropped(&event, at)? {
                self.ingest.leave_out(&event);
                self.sieve.drop(event);
            } else if self.ingest.is_copy_of_gone(&event)? {
                // Whoever deleted a session deleted its copies.
                self.ingest.leave_out(&event);
            } else {
                self.sieve.keep(event, events);
            }
        }
        Ok(())
    }

    fn settled(&mut self) {
        self.settled = self.sieve.state.clone();
    }

    fn take(&mut self, events: Vec<Event>, signals: Vec<Signal>, provisional: bool) -> Result<(), StoreError> {
        let finality = if provisional { Finality::Provisional } else { Finality::Settled };
        for event in &events {
            self.facts.learn(event);
        }
        self.ingest.add_events(&events, finality)?;
        self.ingest.add_signals(&signals, finality)
    }
}

impl Pipeline<'_> {
    /// Reads one transcript and notes how that ended. Only a failure of the store itself is an error.
    pub(super) fn read_one(
        &self,
        store: &mut Store,
        sources: &Sources,
        job: Job,
        worked: &mut Worked,
        progress: &mut dyn FnMut(u64, &Path),
    ) -> Result<(), PipelineError> {
        let Some(installed) = self.guests.named(&job.adapter) else {
            let why = format!("the adapter {} is switched off, removed or refused", job.adapter);
            return self.skip(store, job, "adapter-off", why, worked);
        };
        // What an adapter was granted once and is not granted any more stays in the ledger.
        if !job.named && source_of(sources, &job).is_none() && Path::new(&job.path).exists() {
            let why = format!("it lies in no place that the adapter {} may have read", job.adapter);
            return self.skip(store, job, "not-granted", why, worked);
        }
        let mut opened = match self.open(sources, installed, &job) {
            Ok(opened) => opened,
            Err(error) => return self.not_opened(store, installed, job, error, worked),
        };
        let stamp = opened.stamp.clone();
        // From where it was read to; if that state turns out to be of no use, once more from the beginning.
        let mut from_the_beginning = false;
        loop {
            let pauses = pause::load(self.home.path())?;
            match self.attempt(store, &job, installed, &mut opened, (&pauses, from_the_beginning), worked, progress) {
                Ok(Read::Done(failed)) => {
                    worked.read += 1;
                    self.note_failed(store, &failed, &job.path, worked)?;
                    break;
                }
                Ok(Read::Skipped) => {
                    worked.skipped += 1;
                    break;
                }
                Ok(Read::PausesChanged) => {}
                Err(ReadError::Stopped) => break,
                Err(ReadError::Sink(error)) => return Err(error.into()),
                Err(ReadError::Guest(_)) if !from_the_beginning && job.resume.is_some() => from_the_beginning = true,
                Err(ReadError::Io(error)) => {
                    return self.give_up(store, job, failure(installed, stamp, "unreadable", &error), worked);
                }
                Err(ReadError::Database(error)) => {
                    return self.give_up(store, job, database_failure(installed, stamp, &error), worked);
                }
                Err(ReadError::Guest(error)) => {
                    let place = match &error {
                        SandboxError::Fault { fault: Fault::Malformed(place), .. } => Some(place.line),
                        _ => None,
                    };
                    // Time depends on what else the machine does; everything else would end the same way again.
                    let retry = matches!(error, SandboxError::Deadline { .. } | SandboxError::Engine(_));
                    let failure = Failure { place, retry, ..failure(installed, stamp, error.kind(), &error) };
                    return self.give_up(store, job, failure, worked);
                }
            }
        }
        Ok(())
    }

    /// Opens a transcript through the source it lies in. One that lies in none was named by the person.
    fn open(&self, sources: &Sources, installed: &Installed, job: &Job) -> io::Result<Opened> {
        let path = Path::new(&job.path);
        if let Some(source) = source_of(sources, job) {
            return source.open(path, &job.key);
        }
        if !path.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let declared = &installed.adapter.descriptor().sources;
        if !job.key.is_empty()
            && let Some(tree) = Tree::around(path, declared).map_err(io::Error::other)?
        {
            return Source::Tree(Rc::new(tree)).open(path, &job.key);
        }
        if !job.key.is_empty() {
            // Asked for its sessions once, not for each of them.
            let mut named = self.named.borrow_mut();
            let queries = || installed.grant.queries(declared);
            let database = || Rc::new(Database::new(path.to_owned(), queries(), self.guests.limits().clone()));
            let database = named.entry((job.adapter.clone(), job.path.clone())).or_insert_with(database);
            return Source::Database(Rc::clone(database)).open(path, &job.key);
        }
        let (root, found) = transcript::named(path).map_err(io::Error::other)?;
        root.open_file(&found.path)
    }

    fn skip(
        &self,
        store: &mut Store,
        job: Job,
        kind: &str,
        why: String,
        worked: &mut Worked,
    ) -> Result<(), PipelineError> {
        let stamp = job.stamp.clone().unwrap_or_default();
        let skip = Skip { stamp, parsed_by: String::new(), kind: kind.to_owned(), why };
        worked.skipped += 1;
        Ok(store.ingest(job, Begin::Onward)?.skip(&skip)?)
    }

    fn not_opened(
        &self,
        store: &mut Store,
        installed: &Installed,
        job: Job,
        error: io::Error,
        worked: &mut Worked,
    ) -> Result<(), PipelineError> {
        let stamp = job.stamp.clone().unwrap_or_default();
        let failure = match ReadError::<StoreError>::from(error) {
            ReadError::Database(DatabaseError::Gone) => None,
            ReadError::Database(error) => Some(database_failure(installed, stamp, &error)),
            ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => None,
            error => Some(failure(installed, stamp, "unreadable", &error)),
        };
        let Some(failure) = failure else {
            worked.vanished += 1;
            return Ok(store.expire(&[Absent { id: job.transcript, path: job.path }])?);
        };
        self.give_up(store, job, failure, worked)
    }

    /// Reads one transcript into the store.
    #[expect(clippy::too_many_arguments, reason = "what a reading needs, each once")]
    fn attempt(
        &self,
        store: &mut Store,
        job: &Job,
        installed: &Installed,
        opened: &mut Opened,
        (pauses, from_the_beginning): (&Pauses, bool),
        worked: &mut Worked,
        progress: &mut dyn FnMut(u64, &Path),
    ) -> Result<Read, ReadError<StoreError>> {
        let (parsed_by, analyzed_by) = (installed.adapter.hash().to_string(), self.guests.analyzed_by().to_owned());
        let stamp = opened.stamp.clone();
        // What is no plain file is read from its beginning.
        let resume = match opened.file() {
            Some(file) if !from_the_beginning => job.resume(&parsed_by, &analyzed_by, &stamp, file)?,
            _ => None,
        };
        let state = resume.and_then(|resume| serde_json::from_str::<State>(resume.sieve.as_deref()?).ok());
        // Before there were pauses it was not noted what they need to know of the events before.
        let resume = resume.filter(|_| state.is_some() || pauses.0.is_empty());
        let begin = if resume.is_some() { Begin::Onward } else { Begin::Anew };
        let offset = resume.map_or(0, |resume| resume.checkpoint.offset);

        let path = Path::new(&job.path);
        let sieve = self.sieve(pauses, job, installed, opened, state.filter(|_| resume.is_some()))?;
        let already = sieve.state.dropped;
        let ingest = store.ingest(job.clone(), begin).map_err(ReadError::Sink)?;
        let settled = sieve.state.clone();
        let sink = Stored { ingest, sieve, settled, facts: Facts::default(), own: Own::new(self.home) };
        let mut reader = self.guests.reader(&installed.adapter, (path, &job.key), resume, &self.redactor, sink)?;
        let reading = reader.read(opened, offset, self.stop, |bytes| progress(bytes, path))?;

        let edges = match opened.file() {
            Some(file) => Edges::read(file, reading.parser.offset)?,
            None => Edges::default(),
        };
        let failed = reader.analyses.failed().to_vec();
        let Stored { mut ingest, sieve, settled, facts, own } = reader.sink;
        // What a program that we asked has kept must not be asked about in its turn.
        if own.is_found() {
            let why = "a program that TotalRecall has asked kept it".to_owned();
            let skip = Skip { stamp, parsed_by, kind: "own".to_owned(), why };
            ingest.skip(&skip).map_err(ReadError::Sink)?;
            return Ok(Read::Skipped);
        }
        for (place, folder) in sieve.to_remember() {
            // If it cannot be noted now, it can when the transcript is read again.
            let _ = pause::remember(self.home.path(), place, folder);
        }
        // What was said since a pause began may have been read before that was known.
        if pause::load(self.home.path()).ok().as_ref() != Some(pauses) {
            return Ok(Read::PausesChanged);
        }
        let dropped = sieve.state.dropped;
        worked.paused += dropped.saturating_sub(already);
        if sieve.kept_nothing() && begin == Begin::Anew {
            let why = "all of it was said while TotalRecall was paused".to_owned();
            let skip = Skip { stamp, parsed_by, kind: "paused".to_owned(), why };
            ingest.paused(&skip, dropped).map_err(ReadError::Sink)?;
            return Ok(Read::Skipped);
        }
        if let Some(facts) = session_facts(facts, job, begin, &ingest).map_err(ReadError::Sink)? {
            if ingest.is_of_deleted(&facts).map_err(ReadError::Sink)? {
                ingest.bury(&facts, self.now).map_err(ReadError::Sink)?;
                return Ok(Read::Skipped);
            }
            ingest.set_session(facts);
        }
        let done = Done {
            stamp,
            parsed_by,
            analyzed_by,
            edges,
            checkpoint: self.to_keep(reading.parser),
            analysis: reading.analysis,
            tally: reading.tally,
            sieve: serde_json::to_string(&settled).map_err(io::Error::other)?,
            dropped,
        };
        ingest.done(&done, self.now).map_err(ReadError::Sink)?;
        Ok(Read::Done(failed))
    }

    /// A checkpoint as it may be stored. What an adapter holds back until a later record (a prompt that waits in a queue) has not been
    /// redacted: where there is something to redact in it, the transcript is read from its beginning the next time.
    fn to_keep(&self, checkpoint: Checkpoint) -> Checkpoint {
        let mut secrets = redact::Counts::default();
        self.redactor.kept(&String::from_utf8_lossy(&checkpoint.state), &mut secrets);
        if secrets.total() == 0 { checkpoint } else { Checkpoint { offset: 0, state: Vec::new() } }
    }

    /// What lets through of a transcript what lies in no pause. `state`: from where an earlier reading ended.
    fn sieve(
        &self,
        pauses: &Pauses,
        job: &Job,
        installed: &Installed,
        opened: &mut Opened,
        state: Option<State>,
    ) -> io::Result<Sieve> {
        let ahead = match state {
            None if !pauses.0.is_empty() => {
                let needs_folder = pauses.0.iter().any(|pause| pause.place.is_some());
                let place = (Path::new(&job.path), job.key.as_str());
                self.guests.look_ahead(&installed.adapter, place, opened, needs_folder)?
            }
            _ => Ahead::default(),
        };
        // Of a session in a database nothing tells when it was written; those that are known have times.
        let written = if opened.stamp.mtime_ns == 0 { self.now } else { opened.stamp.mtime_ns / 1_000_000 };
        Ok(Sieve::new(pauses.clone(), &job.tool, state.unwrap_or_default(), ahead, written))
    }

    /// Notes the added analyzers that failed at a transcript. What the others saw in it stays.
    fn note_failed(
        &self,
        store: &mut Store,
        failed: &[AnalyzerFailed],
        path: &str,
        worked: &mut Worked,
    ) -> Result<(), StoreError> {
        for failed in failed {
            worked.problems.push(format!("{path}: {}", failed.why));
            let trouble = Trouble {
                component: failed.name.clone(),
                place: path.to_owned(),
                why: failed.why.clone(),
                hint: "its signals of this transcript are not complete; remove the analyzer, or replace it".to_owned(),
                since: self.now,
            };
            store.add_trouble(&trouble)?;
        }
        Ok(())
    }

    fn give_up(&self, store: &mut Store, job: Job, failure: Failure, worked: &mut Worked) -> Result<(), PipelineError> {
        worked.failed.push(format!("{}: {}", job.path, failure.why));
        Ok(store.ingest(job, Begin::Onward)?.fail(&failure, self.now)?)
    }

    /// Takes what hooks have left in the inbox. A session that a client says is over is read at once, and so is one whose
    /// conversation is about to be compacted; of one that goes on, `reconcile` will see that it has changed.
    pub(super) fn take_notices(
        &self,
        store: &mut Store,
        sources: &Sources,
        worked: &mut Worked,
    ) -> Result<(), PipelineError> {
        let (mut problems, mut looked_at, mut compacting) = (Vec::new(), HashSet::new(), BTreeMap::new());
        let drained = inbox::drain(self.home.path(), |notices| {
            // Those of sessions that are over have all the time that they want.
            let (urgent, others): (Vec<_>, Vec<_>) = notices.iter().partition(|it| it.event == BEFORE_COMPACTION);
            for notice in urgent.into_iter().chain(others) {
                self.take_notice(store, sources, notice, &mut looked_at, &mut problems)?;
                let session = notice.session_id.clone().filter(|_| notice.event == BEFORE_COMPACTION);
                let path = || notice.transcript_path.canonicalize().unwrap_or_else(|_| notice.transcript_path.clone());
                compacting.extend(session.map(|session| (session, path())));
            }
            if !compacting.is_empty() {
                // They come before what was to be read next.
                store.unclaim()?;
            }
            note_last_word(store, notices)?;
            store.commit().map_err(PipelineError::from)
        })?;
        let rejected = drained.rejected.iter().map(|it| format!("inbox/{}: {}", it.name, it.why));
        worked.problems.extend(problems.into_iter().chain(rejected));
        worked.compacting.extend(compacting);
        Ok(())
    }

    fn take_notice(
        &self,
        store: &mut Store,
        sources: &Sources,
        notice: &Notice,
        looked_at: &mut HashSet<PathBuf>,
        problems: &mut Vec<String>,
    ) -> Result<(), PipelineError> {
        // A transcript that is gone by now was deleted by its tool, which `reconcile` notes.
        let Ok((_, found)) = transcript::named(&notice.transcript_path) else { return Ok(()) };
        let is_in = |(_, source): &&(String, Source)| match source {
            Source::Database(database) => database.path() == found.path,
            Source::Files(_) | Source::Tree(_) => source.holds(&found.path, ""),
        };
        let Some((adapter, source)) = sources.iter().find(is_in) else {
            problems
                .push(format!("a hook named {}, which lies in no folder that an adapter reads", found.path.display()));
            return Ok(());
        };
        let is_read_now = notice.event == SESSION_IS_OVER || notice.event == BEFORE_COMPACTION;
        if !is_read_now || !looked_at.insert(found.path.clone()) {
            return Ok(());
        }
        // What is before all times comes first. A copy may then be read before its original, and is taken for it; that is rare.
        let at = if notice.event == BEFORE_COMPACTION { 0 } else { self.now };
        let tool = self.guests.named(adapter).map(|installed| installed.tool().to_owned()).unwrap_or_default();
        let (ended, unreadable) = ended_with(found, source);
        problems.extend(unreadable.iter().map(ToString::to_string));
        for found in ended.iter().filter(|found| !self.ignore.is_match(&found.path)) {
            let row = found.row(adapter, &tool);
            match store.observe(&row)? {
                Standing::Unchanged => {}
                Standing::Queued if notice.event == BEFORE_COMPACTION => store.hurry(&row)?,
                Standing::Queued => {}
                _ => {
                    store.enqueue([&row], at)?;
                }
            }
        }
        Ok(())
    }

    /// Analyses the stored events of transcripts whose signals are of another analyzer or other settings.
    pub(super) fn reanalyse(&self, store: &mut Store, worked: &mut Worked) -> Result<(), PipelineError> {
        let analyzed_by = self.guests.analyzed_by();
        for transcript in store.stale_analyses(analyzed_by)? {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let Some(job) = store.job(transcript)? else { continue };
            let path = job.path.clone();
            match self.reanalyse_one(store, job) {
                Ok(failed) => {
                    worked.reanalysed += 1;
                    self.note_failed(store, &failed, &path, worked)?;
                }
                Err(ReadError::Sink(error)) => return Err(error.into()),
                Err(error) => worked.problems.push(format!("{path}: {error}")),
            }
        }
        Ok(())
    }

    fn reanalyse_one(&self, store: &mut Store, job: Job) -> Result<Vec<AnalyzerFailed>, ReadError<StoreError>> {
        let mut analyses = self.guests.analyses()?;
        let mut ingest = store.ingest(job, Begin::Stored).map_err(ReadError::Sink)?;
        let mut checkpoint = Vec::new();
        for finality in [Finality::Settled, Finality::Provisional] {
            let mut from = None;
            loop {
                let (events, next) = ingest.stored(finality, from, PAGE).map_err(ReadError::Sink)?;
                let signals = analyses.observe(&events)?;
                ingest.add_signals(&signals, finality).map_err(ReadError::Sink)?;
                from = next;
                if from.is_none() {
                    break;
                }
            }
            if finality == Finality::Settled {
                checkpoint = analyses.checkpoint()?;
            }
        }
        ingest.add_signals(&analyses.conclude()?, Finality::Provisional).map_err(ReadError::Sink)?;
        ingest.reanalysed(self.guests.analyzed_by(), &checkpoint).map_err(ReadError::Sink)?;
        Ok(analyses.failed().to_vec())
    }
}

/// Notes when a hook has left word for the last time: notices are gone once they are taken.
fn note_last_word(store: &mut Store, notices: &[Notice]) -> Result<(), StoreError> {
    let known = store.meta(inbox::LAST_WORD)?.and_then(|at| at.parse::<i64>().ok());
    let last = notices.iter().map(|notice| notice.at).max();
    match last {
        Some(last) if Some(last) > known => store.set_meta(inbox::LAST_WORD, &last.to_string()),
        _ => Ok(()),
    }
}

/// What has ended when a tool says that this has: a transcript and then those of its sub-agents, which Claude Code keeps in a
/// folder of the transcript's name (seen with 2.1.120 and newer); or whatever has changed in a database.
fn ended_with(found: Found, source: &Source) -> (Vec<Found>, Vec<Unreadable>) {
    if matches!(source, Source::Database(_)) {
        return source.discover();
    }
    let folder = found.path.with_extension("");
    let (mut ended, mut unreadable) = if folder.is_dir() { source.discover() } else { Default::default() };
    ended.retain(|it| it.path.starts_with(&folder));
    unreadable.retain(|it| it.path.starts_with(&folder));
    ended.insert(0, found);
    (ended, unreadable)
}

/// The source that a transcript lies in.
fn source_of<'a>(sources: &'a Sources, job: &Job) -> Option<&'a Source> {
    let holds =
        |(name, source): &&(String, Source)| *name == job.adapter && source.holds(Path::new(&job.path), &job.key);
    sources.iter().find(holds).map(|(_, source)| source)
}

fn database_failure(installed: &Installed, stamp: Stamp, error: &DatabaseError) -> Failure {
    let retry = error.is_passing();
    let why = format!("{error}: {}", error.hint());
    Failure { retry, ..failure(installed, stamp, error.kind(), &why) }
}

fn failure(installed: &Installed, stamp: Stamp, kind: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure {
        stamp,
        parsed_by: installed.adapter.hash().to_string(),
        kind: kind.to_owned(),
        why: why.to_string(),
        place: None,
        retry: true,
    }
}

/// What the store files the transcript by. After a resumed reading only what is new is known here, so identity and role
/// come from the row.
fn session_facts(
    facts: Facts,
    job: &Job,
    begin: Begin,
    ingest: &Ingest<'_>,
) -> Result<Option<SessionFacts>, StoreError> {
    let stem = || Path::new(&job.path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let filed = if begin == Begin::Onward { ingest.filed()? } else { None };
    let (native_id, role) = match filed {
        Some((native_id, role)) => (native_id, role),
        None => {
            let role = if facts.is_subagent() { Role::Agent } else { Role::Main };
            (facts.id.clone().unwrap_or_else(stem), role)
        }
    };
    let nothing_new = Facts { started_at: facts.started_at, ended_at: facts.ended_at, ..Facts::default() } == facts;
    if begin == Begin::Onward && nothing_new {
        return Ok(None);
    }
    Ok(Some(SessionFacts {
        native_id,
        role,
        // A session is filed where it began.
        project: facts.project.filter(|_| begin == Begin::Anew),
        cwd: facts.cwd,
        branch: facts.branch,
        title: facts.title,
        version: facts.version,
        parent: facts.parent,
    }))
}
