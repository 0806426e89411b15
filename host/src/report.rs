//! Reading transcripts without a store: what `analyze` shows.
//!
//! One report a session. The transcripts of sub-agents join the session they belong to when it is in the same run.

pub mod junit;
pub mod markdown;
pub mod sarif;
mod view;

pub use view::View;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::AtomicBool,
};

use serde::Serialize;

use crate::{
    event::{Author, Body, Channel, Event},
    guests::Guests,
    reading::{ReadError, Sink},
    redact::Redactor,
    sandbox::{
        analyze::Signal,
        parse::{self, Outcome, TallyEntry},
    },
    session::Facts,
    store,
    transcript::{self, Found, Root, Source, Tree, Unreadable, database},
};

/// What one session's transcripts say.
#[derive(Debug, Clone, Serialize)]
pub struct SessionReport {
    /// The tool that wrote it.
    pub tool: String,
    /// The tool's own id; the file's name where the transcript has none.
    pub session_id: String,
    /// The main transcript.
    pub path: String,
    /// The working directory it began in.
    pub project: Option<String>,
    /// Time of the first event, RFC 3339, UTC.
    pub started_at: Option<String>,
    /// Time of the last event, RFC 3339, UTC.
    pub ended_at: Option<String>,
    /// How much happened, sub-agents included. Copied history is not counted.
    pub stats: Stats,
    /// Signals by kind in the main conversation.
    pub counts: BTreeMap<String, u64>,
    /// Signals by kind in sub-agents.
    pub counts_subagents: BTreeMap<String, u64>,
    /// All of them, by transcript and line.
    pub signals: Vec<SignalReport>,
    /// What became of the records.
    pub tally: Tally,
    #[serde(skip)]
    subagent: bool,
}

/// Counts of events.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Stats {
    /// All.
    pub events: u64,
    /// Texts of the person and the agent.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Calls that change files.
    pub edits: u64,
}

/// A signal as it is printed.
#[derive(Debug, Clone, Serialize)]
pub struct SignalReport {
    /// `tool-error`, …
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// RFC 3339, UTC.
    pub at: Option<String>,
    /// The record it is seen in.
    pub line: u64,
    /// The sub-agent; none in the main conversation.
    pub thread: Option<String>,
    /// 0 to 1.
    pub confidence: f32,
    /// One line for a person.
    pub detail: String,
    /// Lines of the events it rests on.
    pub evidence: Vec<u64>,
    /// The transcript, where it is not the session's main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Records by what became of them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tally {
    /// Turned into events.
    pub understood: u64,
    /// Known and of no use, by type.
    pub skipped: BTreeMap<String, u64>,
    /// Never seen before, by type.
    pub unknown: BTreeMap<String, u64>,
    /// Not readable.
    pub broken: u64,
}

impl Tally {
    fn add(&mut self, entries: &[TallyEntry]) {
        for entry in entries {
            match entry.outcome {
                Outcome::Understood => self.understood += entry.count,
                Outcome::Skipped => *self.skipped.entry(entry.what.clone()).or_default() += entry.count,
                Outcome::Unknown => *self.unknown.entry(entry.what.clone()).or_default() += entry.count,
                Outcome::Broken => self.broken += entry.count,
            }
        }
    }

    fn join(&mut self, other: Self) {
        self.understood += other.understood;
        self.broken += other.broken;
        for (mine, theirs) in [(&mut self.skipped, other.skipped), (&mut self.unknown, other.unknown)] {
            for (what, count) in theirs {
                *mine.entry(what).or_default() += count;
            }
        }
    }
}

/// A transcript that an adapter reads.
#[derive(Debug)]
pub struct Candidate {
    /// Where it is.
    pub found: Found,
    source: usize,
    adapter: usize,
}

/// What was found at the given paths.
#[derive(Default)]
pub struct Search {
    /// In the order of reading: originals before their copies, as far as their times tell.
    pub candidates: Vec<Candidate>,
    /// What could not be looked at, as sentences.
    pub problems: Vec<String>,
    sources: Vec<Source>,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Report {
    /// By path.
    pub sessions: Vec<SessionReport>,
    /// What could not be read, as sentences.
    pub problems: Vec<String>,
}

/// Looks for transcripts at these paths: files, databases, or folders of them. `tool` overrules what place and content say.
pub fn find(guests: &Guests, paths: &[PathBuf], tool: Option<&str>) -> Search {
    let mut search = Search::default();
    let only = tool.and_then(|tool| guests.of_tool(tool));
    for path in paths {
        let looked = if path.is_dir() { search.folder(guests, path, only) } else { search.file(guests, path, only) };
        if let Err(error) = looked {
            search.problems.push(error.to_string());
        }
    }
    search.sort();
    search
}

impl Search {
    /// As the ledger knows what was found.
    pub fn rows(&self, guests: &Guests) -> Vec<store::Found> {
        let row = |candidate: &Candidate| {
            let installed = &guests.adapters[candidate.adapter];
            store::Found { named: true, ..candidate.found.row(installed.name(), installed.tool()) }
        };
        self.candidates.iter().map(row).collect()
    }

    /// Adds everything that an adapter (of this index) was granted.
    pub fn granted(&mut self, guests: &Guests, adapter: usize) {
        let (sources, unreadable) = guests.adapters[adapter].sources(guests.limits());
        self.problems.extend(unreadable.iter().map(ToString::to_string));
        for source in sources {
            let (found, unreadable) = source.discover();
            self.problems.extend(unreadable.iter().map(ToString::to_string));
            let source = self.add(source);
            for found in found {
                self.take(guests, source, adapter, found);
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.candidates.sort_by(|a, b| a.found.age().cmp(&b.found.age()));
        self.candidates.dedup_by(|a, b| (&a.found.path, &a.found.key) == (&b.found.path, &b.found.key));
    }

    fn folder(&mut self, guests: &Guests, path: &Path, only: Option<usize>) -> Result<(), Unreadable> {
        self.trees(guests, path, only)?;
        let Some(root) = Root::open(path, &["**/*".to_owned()])? else { return Ok(()) };
        let (found, unreadable) = root.discover();
        self.problems.extend(unreadable.iter().map(ToString::to_string));
        let source = self.add(Source::Files(Rc::new(root)));
        for found in found {
            let file = found.path.clone();
            if let Err(error) = self.recognise(guests, source, found, only) {
                self.problems.push(format!("{}: {error}", file.display()));
            }
        }
        Ok(())
    }

    /// Sessions of many files: the folder is laid out as an adapter declares, or holds a folder that is.
    fn trees(&mut self, guests: &Guests, path: &Path, only: Option<usize>) -> Result<(), Unreadable> {
        for (index, installed) in guests.adapters.iter().enumerate() {
            if only.is_some_and(|only| only != index) {
                continue;
            }
            for declared in &installed.adapter.descriptor().sources {
                let parse::Source::Tree(declared) = declared else { continue };
                let names = declared.roots.iter().filter_map(|root| root.rsplit('/').next());
                let inner: BTreeSet<_> = names.map(|name| path.join(name)).collect();
                for folder in inner.into_iter().chain([path.to_owned()]) {
                    let Some(tree) = Tree::open_root(&folder, &declared.levels)? else { continue };
                    let (found, unreadable) = tree.discover();
                    self.problems.extend(unreadable.iter().map(ToString::to_string));
                    let source = self.add(Source::Tree(Rc::new(tree)));
                    for found in found {
                        self.take(guests, source, index, found);
                    }
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, guests: &Guests, path: &Path, only: Option<usize>) -> Result<(), Unreadable> {
        let (root, found) = transcript::named(path)?;
        let source = self.add(Source::Files(Rc::new(root)));
        let recognised = match self.recognise(guests, source, found, only) {
            Ok(recognised) => recognised,
            Err(error) => {
                self.problems.push(format!("{}: {error}", path.display()));
                return Ok(());
            }
        };
        if !recognised {
            self.problems.push(format!(
                "{}: no adapter recognises this as a transcript; name the tool with --tool if it is one",
                path.display()
            ));
        }
        Ok(())
    }

    /// Makes a candidate of a file that an adapter reads: the named tool's, the one that knows the content, or the one that
    /// was granted the place; and candidates of the sessions of a database.
    fn recognise(&mut self, guests: &Guests, source: usize, found: Found, only: Option<usize>) -> io::Result<bool> {
        let head = self.sources[source].open(&found.path, "")?.head()?;
        if head.starts_with(database::MAGIC) {
            let Some((adapter, database)) = guests.database(&found.path, only) else { return Ok(false) };
            let sessions = database.discover().map_err(io::Error::other)?;
            let source = self.add(Source::Database(Rc::new(database)));
            for session in sessions {
                self.take(guests, source, adapter, session);
            }
            return Ok(true);
        }
        let adapter = match only {
            Some(only) => Some(only).filter(|only| guests.adapters[*only].reads_files()),
            None => guests.recognise(&head).or_else(|| guests.of_place(&found.path)),
        };
        if let Some(adapter) = adapter {
            let begins_at = guests.begins_at(&guests.adapters[adapter].adapter, &found.path, "", &head);
            self.candidates.push(Candidate { found: Found { begins_at, ..found }, source, adapter });
        }
        Ok(adapter.is_some())
    }

    fn add(&mut self, source: Source) -> usize {
        self.sources.push(source);
        self.sources.len() - 1
    }

    /// A transcript that is known to be an adapter's.
    fn take(&mut self, guests: &Guests, source: usize, adapter: usize, mut found: Found) {
        if found.begins_at.is_none()
            && let Ok(head) = self.sources[source].open(&found.path, &found.key).and_then(|mut opened| opened.head())
        {
            let adapter = &guests.adapters[adapter].adapter;
            found.begins_at = guests.begins_at(adapter, &found.path, &found.key, &head);
        }
        self.candidates.push(Candidate { found, source, adapter });
    }
}

/// Reads what was found. `progress` is told the bytes of each step and the transcript they are of.
pub fn read(
    guests: &Guests,
    redactor: &Redactor,
    search: &Search,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, &Path),
) -> Report {
    let mut seen = Seen::default();
    let mut report = Report::default();
    for (index, candidate) in search.candidates.iter().enumerate() {
        let found = &candidate.found;
        let mut opened = match search.sources[candidate.source].open(&found.path, &found.key) {
            Ok(opened) => opened,
            Err(error) => {
                report.problems.push(format!("{}: {error}", found.place()));
                continue;
            }
        };
        let installed = &guests.adapters[candidate.adapter];
        let mut collected = Collected::new(installed.tool(), index, &mut seen);
        let place = (found.path.as_path(), found.key.as_str());
        let read = guests
            .reader(&installed.adapter, place, None, redactor, &mut collected)
            .map_err(ReadError::Guest)
            .and_then(|mut reader| {
                let tally = reader.read(&mut opened, 0, stop, |bytes| progress(bytes, &found.path))?.tally;
                let failed = reader.analyses.failed().iter();
                report.problems.extend(failed.map(|failed| format!("{}: {}", found.place(), failed.why)));
                Ok(tally)
            });
        match read {
            Ok(tally) => report.sessions.push(collected.finish(found, &tally)),
            Err(ReadError::Stopped) => {
                report.problems.push("interrupted: what follows was not read".to_owned());
                break;
            }
            Err(error) => report.problems.push(format!("{}: {error}", found.place())),
        }
    }
    report.sessions = join_subagents(report.sessions);
    report
}

/// Keys of the events that were read, with the transcript that said them first.
#[derive(Debug, Default)]
struct Seen(HashMap<u64, usize>);

/// The events of one transcript, as they are counted.
struct Collected<'a> {
    tool: String,
    transcript: usize,
    seen: &'a mut Seen,
    facts: Facts,
    stats: Stats,
    signals: Vec<Signal>,
}

impl<'a> Collected<'a> {
    fn new(tool: &str, transcript: usize, seen: &'a mut Seen) -> Self {
        let (facts, stats, signals) = (Facts::default(), Stats::default(), Vec::new());
        Self { tool: tool.to_owned(), transcript, seen, facts, stats, signals }
    }

    fn finish(mut self, found: &Found, tally: &[TallyEntry]) -> SessionReport {
        self.signals.sort_by(|a, b| (a.line, &a.kind, &a.subject).cmp(&(b.line, &b.kind, &b.subject)));
        let (mut counts, mut counts_subagents) = (BTreeMap::new(), BTreeMap::new());
        for signal in &self.signals {
            let counts = if signal.thread.is_some() { &mut counts_subagents } else { &mut counts };
            *counts.entry(signal.kind.clone()).or_default() += 1;
        }
        let named = || match found.key.as_str() {
            "" => found.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
            key => key.to_owned(),
        };
        let subagent = self.facts.is_subagent();
        let mut report = SessionReport {
            tool: self.tool,
            session_id: self.facts.id.unwrap_or_else(named),
            path: found.path.to_string_lossy().into_owned(),
            project: self.facts.project,
            started_at: self.facts.started_at.map(rfc3339),
            ended_at: self.facts.ended_at.map(rfc3339),
            stats: self.stats,
            counts,
            counts_subagents,
            signals: self.signals.into_iter().map(SignalReport::from).collect(),
            tally: Tally::default(),
            subagent,
        };
        report.tally.add(tally);
        report
    }
}

impl Sink for &mut Collected<'_> {
    type Error = Infallible;

    fn sift(&mut self, events: &mut Vec<Event>) -> Result<(), Infallible> {
        for event in events {
            if let Some(key) = event.key_hash(&self.tool) {
                event.copied |= *self.seen.0.entry(key).or_insert(self.transcript) != self.transcript;
            }
        }
        Ok(())
    }

    fn take(&mut self, events: Vec<Event>, signals: Vec<Signal>, _provisional: bool) -> Result<(), Infallible> {
        for event in &events {
            self.facts.learn(event);
            self.stats.count(event);
        }
        self.signals.extend(signals);
        Ok(())
    }
}

impl Stats {
    fn count(&mut self, event: &Event) {
        if event.copied {
            return;
        }
        self.events += 1;
        match &event.body {
            Body::Message(message) if message.author != Author::Harness && message.channel != Channel::Reasoning => {
                self.messages += 1;
            }
            Body::ToolCall(call) => {
                self.tool_calls += 1;
                self.edits += u64::from(!call.edits.is_empty());
            }
            _ => {}
        }
    }
}

impl From<Signal> for SignalReport {
    fn from(signal: Signal) -> Self {
        Self {
            kind: signal.kind,
            subject: signal.subject,
            at: signal.at.map(rfc3339),
            line: signal.line,
            thread: signal.thread,
            confidence: signal.confidence,
            detail: signal.detail,
            evidence: signal.evidence,
            path: None,
        }
    }
}

/// Adds the reports of sub-agents' transcripts to that of their session, which is the one with their parent's id whose
/// transcript lies nearest above or beside.
fn join_subagents(reports: Vec<SessionReport>) -> Vec<SessionReport> {
    let (subagents, mut sessions): (Vec<_>, Vec<_>) = reports.into_iter().partition(|report| report.subagent);
    for subagent in subagents {
        let near = |session: &SessionReport| {
            let folder = Path::new(&session.path).parent();
            folder.is_some_and(|folder| Path::new(&subagent.path).starts_with(folder))
        };
        let parent = sessions.iter_mut().find(|session| {
            !session.subagent
                && session.tool == subagent.tool
                && session.session_id == subagent.session_id
                && near(session)
        });
        match parent {
            Some(session) => session.absorb(subagent),
            None => sessions.push(subagent),
        }
    }
    sessions.sort_by(|a, b| a.path.cmp(&b.path));
    sessions
}

impl SessionReport {
    fn absorb(&mut self, subagent: Self) {
        self.stats.events += subagent.stats.events;
        self.stats.messages += subagent.stats.messages;
        self.stats.tool_calls += subagent.stats.tool_calls;
        self.stats.edits += subagent.stats.edits;
        for (kind, count) in subagent.counts_subagents.into_iter().chain(subagent.counts) {
            *self.counts_subagents.entry(kind).or_default() += count;
        }
        let path = subagent.path;
        self.signals
            .extend(subagent.signals.into_iter().map(|signal| SignalReport { path: Some(path.clone()), ..signal }));
        self.tally.join(subagent.tally);
    }
}

fn rfc3339(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map_or_else(|_| String::new(), |time| time.to_string())
}
