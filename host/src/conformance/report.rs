//! What came of the checks, for people and machines.

use serde::Serialize;

use super::{analyzer, subject::Subject};
use crate::{
    added::Kind,
    sandbox::{Adapter, Analyzer, Guest},
};

/// Most failures that are told of one check: the first ones explain the others.
const MOST: usize = 5;

/// Longest quotation, in characters.
const LONGEST: usize = 600;

/// One promise that a component is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// It loads, and what it says of itself makes sense.
    Describe,
    /// It says of the fixtures what was agreed on.
    Golden,
    /// It knows its own transcripts, and takes nobody else's.
    Recognise,
    /// However the input is cut, the output is the same.
    Chunks,
    /// Going on from a checkpoint gives the same as reading on.
    Resume,
    /// The same input gives the same output, and what was said is not taken back.
    Determinism,
    /// Damaged input does not bring it down.
    Mutations,
    /// Its events are what the contract says.
    Events,
    /// Its signals are what it declares and the contract says.
    Signals,
    /// Every record is counted.
    Tally,
    /// Memory, and the time to start.
    Limits,
    /// Bytes a second.
    Speed,
}

impl Check {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 12] = [
        Self::Describe,
        Self::Golden,
        Self::Recognise,
        Self::Chunks,
        Self::Resume,
        Self::Determinism,
        Self::Mutations,
        Self::Events,
        Self::Signals,
        Self::Tally,
        Self::Limits,
        Self::Speed,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Golden => "golden",
            Self::Recognise => "recognise",
            Self::Chunks => "chunks",
            Self::Resume => "resume",
            Self::Determinism => "determinism",
            Self::Mutations => "mutations",
            Self::Events => "events",
            Self::Signals => "signals",
            Self::Tally => "tally",
            Self::Limits => "limits",
            Self::Speed => "speed",
        }
    }

    /// What it proves, in a few words.
    pub fn proves(self) -> &'static str {
        match self {
            Self::Describe => "it loads, and what it says of itself makes sense",
            Self::Golden => "it says of the fixtures what was agreed on",
            Self::Recognise => "it knows its own transcripts, and takes nobody else's",
            Self::Chunks => "however the input is cut, the output is the same",
            Self::Resume => "going on from a checkpoint is the same as reading on",
            Self::Determinism => "the same input gives the same output, and nothing is taken back",
            Self::Mutations => "damaged input does not bring it down",
            Self::Events => "its events are what the contract says",
            Self::Signals => "its signals are what it declares and what the contract says",
            Self::Tally => "every record is counted, and one of an unknown type as unknown",
            Self::Limits => "it starts quickly and stays small",
            Self::Speed => "it keeps up",
        }
    }

    /// The check of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// Does it say something of components of this kind?
    pub fn applies_to(self, kind: Kind) -> bool {
        match self {
            Self::Recognise | Self::Events | Self::Tally => kind == Kind::Adapter,
            Self::Signals => kind == Kind::Analyzer,
            _ => true,
        }
    }
}

/// What all checks said.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What was tested.
    pub component: Component,
    /// In the order in which they ran.
    pub checks: Vec<Checked>,
}

impl Report {
    /// Did no check fail?
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|checked| !matches!(checked.verdict, Verdict::Failed { .. }))
    }
}

/// What was tested.
#[derive(Debug, Serialize)]
pub struct Component {
    /// As it calls itself; the file's name where it does not load.
    pub name: String,
    /// As it says.
    pub version: String,
    /// Adapter or analyzer.
    pub kind: Kind,
    /// The tool whose transcripts an adapter reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Of the component, in hexadecimal.
    pub sha256: String,
    /// Bytes of the component.
    pub size: u64,
    /// It imports WASI, and gets an empty world.
    pub imports_wasi: bool,
    /// Cases that were read.
    pub cases: u64,
    /// Transcripts in them.
    pub transcripts: u64,
    /// Bytes of these.
    pub bytes: u64,
}

impl Component {
    pub(super) fn unusable(guest: &Guest, kind: Kind) -> Self {
        Self {
            name: guest.name().to_owned(),
            version: String::new(),
            kind,
            tool: None,
            sha256: guest.hash().to_string(),
            size: guest.bytes().len() as u64,
            imports_wasi: false,
            cases: 0,
            transcripts: 0,
            bytes: 0,
        }
    }

    pub(super) fn adapter(guest: &Guest, adapter: &Adapter, subject: &Subject<'_>) -> Self {
        let descriptor = adapter.descriptor();
        Self {
            name: descriptor.name.clone(),
            version: descriptor.version.clone(),
            tool: Some(descriptor.tool.clone()),
            imports_wasi: adapter.imports_wasi(),
            cases: subject.cases.len() as u64,
            transcripts: subject.transcripts.len() as u64,
            bytes: subject.transcripts.iter().map(|transcript| transcript.bytes.len() as u64).sum(),
            ..Self::unusable(guest, Kind::Adapter)
        }
    }

    pub(super) fn analyzer(guest: &Guest, analyzer: &Analyzer, subject: &analyzer::Subject<'_>) -> Self {
        let descriptor = analyzer.descriptor();
        Self {
            name: descriptor.name.clone(),
            version: descriptor.version.clone(),
            imports_wasi: analyzer.imports_wasi(),
            cases: subject.cases as u64,
            transcripts: subject.transcripts.len() as u64,
            bytes: subject.transcripts.iter().map(|transcript| transcript.size as u64).sum(),
            ..Self::unusable(guest, Kind::Analyzer)
        }
    }
}

/// One check and what came of it.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// Which one.
    pub check: Check,
    /// How it ended.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What was measured on the way.
    pub figures: Vec<Figure>,
}

/// How a check ended.
#[derive(Debug, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was found.
    Passed,
    /// Something was.
    Failed {
        /// The first ones.
        failures: Vec<Failure>,
        /// How many more there were.
        more: u64,
    },
    /// There was nothing to check.
    NotApplicable {
        /// Why not.
        reason: String,
    },
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// The case; empty where it is not about one.
    pub case: String,
    /// The transcript in it, and where in that.
    pub place: String,
    /// What should have come.
    pub expected: String,
    /// What did.
    pub came: String,
    /// What the author can do.
    pub todo: &'static str,
    /// Of a golden file and what came, where they first differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Something that was measured or counted.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// Of what.
    pub name: &'static str,
    /// How much.
    pub value: f64,
    /// Of which unit.
    pub unit: Unit,
}

/// The unit of a [`Figure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// Milliseconds of the processor.
    Milliseconds,
    /// Millions of bytes a second of the processor.
    MegabytesPerSecond,
}

/// What a check gathers while it runs.
#[derive(Debug, Default)]
pub(super) struct Findings {
    failures: Vec<Failure>,
    more: u64,
    figures: Vec<Figure>,
    reason: Option<String>,
}

impl Findings {
    /// There is nothing to check.
    pub(super) fn not_applicable(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }

    /// Something is wrong at a place (case and transcript).
    pub(super) fn fail(
        &mut self,
        (case, place): (&str, &str),
        expected: impl AsRef<str>,
        came: impl AsRef<str>,
        todo: &'static str,
    ) {
        let (expected, came) = (short(expected.as_ref()), short(came.as_ref()));
        self.push(Failure { case: case.to_owned(), place: place.to_owned(), expected, came, todo, diff: None });
    }

    pub(super) fn push(&mut self, failure: Failure) {
        if self.failures.len() < MOST {
            self.failures.push(failure);
        } else {
            self.more += 1;
        }
    }

    /// Notes what was measured.
    pub(super) fn figure(&mut self, name: &'static str, value: f64, unit: Unit) {
        self.figures.push(Figure { name, value, unit });
    }

    /// Notes a number of things.
    pub(super) fn count(&mut self, name: &'static str, value: usize) {
        self.figure(name, value as f64, Unit::Count);
    }

    pub(super) fn checked(self, check: Check) -> Checked {
        let verdict = match self.reason {
            _ if !self.failures.is_empty() => Verdict::Failed { failures: self.failures, more: self.more },
            Some(reason) => Verdict::NotApplicable { reason },
            None => Verdict::Passed,
        };
        Checked { check, verdict, figures: self.figures }
    }
}

/// A text that may be quoted.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
