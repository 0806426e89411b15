//! The same for analyzers: a case's `events.jsonl` goes in, its `signals.jsonl` comes out.

mod mutations;
mod pieces;

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::json;

use super::{FixtureError, cost, golden::compared, report::Findings};
use crate::{
    added,
    event::{Event, is_plausible},
    sandbox::{Analyzer, SandboxError, analyze::Signal},
};

/// Events in one call: about what the host gives.
const OBSERVED: usize = 500;

/// A line of `events.jsonl`.
#[derive(Deserialize)]
struct Line {
    transcript: String,
    event: Event,
}

/// What an analyzer gives of the events of a transcript.
#[derive(Debug, Clone)]
pub(super) struct Told {
    settled: Vec<Signal>,
    state: Vec<u8>,
    concluded: Vec<Signal>,
    memory: usize,
}

impl Told {
    fn signals(&self) -> impl Iterator<Item = &Signal> {
        self.settled.iter().chain(&self.concluded)
    }
}

/// Observes these pieces the way the host does.
fn observe<'e>(
    analyzer: &Analyzer,
    resume: Option<&[u8]>,
    pieces: impl IntoIterator<Item = &'e [Event]>,
) -> Result<Told, SandboxError> {
    let mut analysis = analyzer.analysis(&[], resume)?;
    let mut settled = Vec::new();
    for piece in pieces {
        settled.extend(analysis.observe(piece)?);
    }
    let state = analysis.checkpoint()?;
    let concluded = analysis.conclude()?;
    Ok(Told { settled, state, concluded, memory: analysis.memory() })
}

/// The events of a transcript of the fixtures.
pub(super) struct Transcript {
    case: String,
    place: String,
    /// Bytes of its lines in `events.jsonl`.
    pub(super) size: usize,
    events: Vec<Event>,
    whole: Result<Told, String>,
}

impl Transcript {
    fn at(&self) -> (&str, &str) {
        (&self.case, &self.place)
    }
}

/// The analyzer with what it is tested on.
pub(super) struct Subject<'a> {
    analyzer: &'a Analyzer,
    /// How many cases there are.
    pub(super) cases: usize,
    folders: Vec<PathBuf>,
    /// By case, in the order of their files.
    pub(super) transcripts: Vec<Transcript>,
}

impl<'a> Subject<'a> {
    /// Reads the events of all cases, and what the analyzer makes of them.
    pub(super) fn load(analyzer: &'a Analyzer, fixtures: &Path) -> Result<Self, FixtureError> {
        let folders = cases(fixtures)?;
        let mut subject = Self { analyzer, cases: folders.len(), folders, transcripts: Vec::new() };
        for folder in &subject.folders {
            let from = subject.transcripts.len();
            let file = folder.join("events.jsonl");
            let text = fs::read_to_string(&file).map_err(|source| FixtureError::Io { path: file.clone(), source })?;
            for (number, line) in text.lines().enumerate() {
                let Line { transcript: place, event } = serde_json::from_str(line).map_err(|error| {
                    FixtureError::Events { path: file.clone(), line: number + 1, why: error.to_string() }
                })?;
                let of_case = &subject.transcripts[from..];
                let index = match of_case.iter().rposition(|transcript| transcript.place == place) {
                    Some(index) => from + index,
                    None => {
                        let whole = Err("it has not been analysed".to_owned());
                        let (case, events) = (name(folder), Vec::new());
                        subject.transcripts.push(Transcript { case, place, size: 0, events, whole });
                        subject.transcripts.len() - 1
                    }
                };
                subject.transcripts[index].events.push(event);
                subject.transcripts[index].size += line.len() + 1;
            }
        }
        for transcript in &mut subject.transcripts {
            transcript.whole =
                observe(analyzer, None, transcript.events.chunks(OBSERVED)).map_err(|error| error.to_string());
        }
        Ok(subject)
    }

    fn read(&self) -> impl Iterator<Item = (&Transcript, &Told)> {
        self.transcripts.iter().filter_map(|transcript| Some((transcript, transcript.whole.as_ref().ok()?)))
    }

    /// It says the same each time, has a name that it may have, and its kinds and settings make sense.
    pub(super) fn describe(&self) -> Findings {
        let mut findings = Findings::default();
        let descriptor = self.analyzer.descriptor();
        match self.analyzer.describe_again() {
            Ok(again) if again.iter().all(|other| other == descriptor) => {}
            Ok(_) => {
                let todo = "`describe` must not depend on anything that happened before";
                findings.fail(("", ""), "the same descriptor each time", "another one", todo);
            }
            Err(error) => findings.fail(("", ""), "a descriptor", error.to_string(), "`describe` must not fail"),
        }
        if let Err(error) = added::check_name(&descriptor.name) {
            findings.fail(
                ("", ""),
                "a name that a component may have",
                error.to_string(),
                "name it after what it looks for",
            );
        }
        if descriptor.signals.is_empty() {
            findings.fail(("", ""), "kinds of signals", "none", "declare every kind that it may give");
        }
        let mut names = HashSet::new();
        for kind in &descriptor.signals {
            let sound = added::check_name(&kind.name).is_ok() && names.insert(&kind.name);
            let told = [&kind.summary, &kind.advice].iter().all(|text| is_one_line(text));
            if !sound || !told || !(1..=5).contains(&kind.severity) {
                let expected = "a kind with a kebab-case name of its own, a severity from 1 to 5, and summary and advice of one line";
                findings.fail(("", ""), expected, format!("{kind:?}"), "wit/since-v0.1.0/analyzer.wit has the shape");
            }
        }
        for setting in &descriptor.settings {
            if added::check_name(&setting.name).is_err() || !is_one_line(&setting.summary) {
                let expected = "a setting with a kebab-case name and a summary of one line";
                findings.fail(
                    ("", ""),
                    expected,
                    format!("{setting:?}"),
                    "wit/since-v0.1.0/analyzer.wit has the shape",
                );
            }
        }
        findings.count("kinds", descriptor.signals.len());
        findings.count("settings", descriptor.settings.len());
        findings
    }

    /// Compares the signals of every case with its golden file, or writes that.
    pub(super) fn golden(&self, bless: bool) -> Result<Findings, FixtureError> {
        let mut findings = Findings::default();
        let (mut signals, mut written) = (0, 0);
        for folder in &self.folders {
            let case = name(folder);
            let mut text = String::new();
            let mut complete = true;
            for transcript in self.transcripts.iter().filter(|transcript| transcript.case == case) {
                match &transcript.whole {
                    Ok(told) => {
                        for signal in told.signals() {
                            signals += 1;
                            text += &json!({ "transcript": transcript.place, "signal": signal }).to_string();
                            text.push('\n');
                        }
                    }
                    Err(why) => {
                        complete = false;
                        let todo = "the analyzer must take the events of its own fixtures to the end";
                        findings.fail(transcript.at(), "its signals", why, todo);
                    }
                }
            }
            if complete {
                written += usize::from(compared(&case, &folder.join("signals.jsonl"), &text, bless, &mut findings)?);
            }
        }
        findings.count("signals", signals);
        if bless {
            findings.count("golden files written", written);
        }
        Ok(findings)
    }

    /// Only declared kinds, at lines of events, with what the contract says of them.
    pub(super) fn signals(&self) -> Findings {
        let mut findings = Findings::default();
        let kinds: HashSet<_> = self.analyzer.descriptor().signals.iter().map(|kind| kind.name.as_str()).collect();
        let mut count = 0;
        for (transcript, told) in self.read() {
            let lines: HashSet<_> = transcript.events.iter().map(|event| event.line).collect();
            for signal in told.signals() {
                count += 1;
                let mut wrong = |expected: &str, todo: &'static str| {
                    findings.fail(transcript.at(), expected, format!("{signal:?}"), todo);
                };
                if !kinds.contains(signal.kind.as_str()) {
                    wrong(
                        "a kind that was declared",
                        "the host drops signals of other kinds: declare it in `describe`",
                    );
                }
                if !signal.evidence.is_sorted_by(|a, b| a < b) || !signal.evidence.contains(&signal.line) {
                    wrong("evidence that ascends, with the signal's line in it", "sort the lines, each once");
                }
                if !signal.evidence.iter().all(|line| lines.contains(line)) {
                    wrong("evidence that is lines of events", "take them from `event.line`");
                }
                if !(0.0..=1.0).contains(&signal.confidence) {
                    wrong("a confidence from 0 to 1", "the host would clamp it");
                }
                if !is_one_line(&signal.detail) || !is_one_line(&signal.subject) {
                    wrong("subject and detail of one line, without control characters", "cut at the first line's end");
                }
                if signal.at.is_some_and(|at| !is_plausible(at)) {
                    wrong("a time that can be one", "take it from `event.at`");
                }
            }
        }
        findings.count("signals", count);
        findings
    }

    /// Memory and start.
    pub(super) fn limits(&self, load: impl Fn() -> Result<(), SandboxError>) -> Findings {
        let mut findings = Findings::default();
        let memory = self.read().map(|(_, told)| told.memory).max().unwrap_or_default();
        cost::start_and_memory(memory, load, &mut findings);
        findings
    }

    /// Bytes of events, as JSON, a second.
    pub(super) fn speed(&self) -> Findings {
        let longest = self.read().map(|(transcript, _)| transcript).max_by_key(|transcript| transcript.size);
        let (Some(longest), Some(before)) = (longest, cost::processor_time()) else {
            return Findings::not_applicable("there are no events, or the system does not tell the time of a thread");
        };
        let mut findings = Findings::default();
        let spent = || cost::processor_time().unwrap_or(before).saturating_sub(before);
        let mut bytes = 0;
        let mut run = || -> Result<usize, SandboxError> {
            let mut analysis = self.analyzer.analysis(&[], None)?;
            while !cost::is_enough(bytes, spent()) {
                for piece in longest.events.chunks(OBSERVED) {
                    analysis.observe(piece)?;
                }
                bytes += longest.size;
            }
            analysis.conclude()?;
            Ok(bytes)
        };
        match run() {
            Ok(bytes) => cost::judge_speed(bytes, spent(), &mut findings),
            Err(error) => {
                let todo = "it must take a transcript that is some times as long as its fixtures";
                findings.fail(longest.at(), "4 MB of events, taken to their end", error.to_string(), todo);
            }
        }
        findings
    }
}

fn is_one_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folders with events in a folder, by name; the folder itself if it is one.
fn cases(folder: &Path) -> Result<Vec<PathBuf>, FixtureError> {
    let is_case = |folder: &Path| folder.join("events.jsonl").is_file();
    if is_case(folder) {
        return Ok(vec![folder.to_owned()]);
    }
    let io_error = |source: io::Error| FixtureError::Io { path: folder.to_owned(), source };
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error)? {
        cases.push(entry.map_err(io_error)?.path());
    }
    cases.retain(|folder| is_case(folder));
    cases.sort();
    if cases.is_empty() { Err(FixtureError::NoEvents(folder.to_owned())) } else { Ok(cases) }
}
