//! The conformance kit: what `totalrecall adapters test` holds a component to.
//!
//! A component runs here as it does in earnest: in the sandbox, under the limits that everyone has. Each check proves one
//! promise of the contract (`wit/`) on the author's own fixtures, and on damage that is done to them. What is random is
//! seeded, so two runs check the same; what takes time is measured as time of the processor, so a busy machine fails nobody.
//!
//! | module | checks |
//! | --- | --- |
//! | `fixtures` | none: cases, laid out as the tool has them |
//! | `subject` | none: the transcripts of the cases, read once |
//! | `describe` | what the adapter says of itself, and whether it finds the fixtures |
//! | `golden` | the events that were agreed on |
//! | `recognise` | its own transcripts, and nobody else's |
//! | `pieces` | `chunks`, `resume` and `determinism`: events depend on bytes alone |
//! | `mutations` | damaged transcripts |
//! | `events` | what the contract says of events |
//! | `tally` | every record is counted |
//! | `cost` | `limits` and `speed` |
//! | `analyzer` | the same for analyzers |

mod analyzer;
mod compare;
mod cost;
mod damage;
mod describe;
mod events;
mod fixtures;
mod golden;
mod mutations;
mod pieces;
mod random;
mod recognise;
mod report;
mod subject;
mod tally;

use std::path::PathBuf;

pub use fixtures::{Case, FixtureError, LaidOut, cases, lay_out};
pub use recognise::HEADS;
pub use report::{Check, Checked, Component, Failure, Figure, Report, Unit, Verdict};

use report::Findings;
use subject::Subject;

use crate::{
    added::Kind,
    sandbox::{Analyzer, Guest, Limits, Sandbox, SandboxError},
};

/// What is to be tested, and with what.
pub struct Kit {
    /// Where compiled components are kept.
    pub cache: Option<PathBuf>,
    /// Folder of the cases, or one case.
    pub fixtures: PathBuf,
    /// Write the golden files instead of comparing with them.
    pub bless: bool,
    /// Only these checks; all when empty.
    pub only: Vec<Check>,
}

impl Kit {
    /// Runs the checks. What is wrong with the component is in the report.
    ///
    /// # Errors
    /// When the fixtures cannot be read, or a golden file cannot be written.
    pub fn test(&self, guest: &Guest) -> Result<Report, FixtureError> {
        let sandbox = self.sandbox();
        match sandbox.adapter(guest) {
            Ok(adapter) => {
                let (subject, unread) = Subject::lay_out(&adapter, &cases(&self.fixtures)?);
                let component = Component::adapter(guest, &adapter, &subject);
                self.run(component, Kind::Adapter, |check| match check {
                    Check::Describe => Ok(describe::check(&subject, &unread)),
                    Check::Golden => golden::check(&subject, self.bless),
                    Check::Recognise => Ok(recognise::check(&subject)),
                    Check::Chunks => Ok(pieces::chunks(&subject)),
                    Check::Resume => Ok(pieces::resume(&subject)),
                    Check::Determinism => Ok(pieces::determinism(&subject)),
                    Check::Mutations => Ok(mutations::check(&subject)),
                    Check::Events => Ok(events::check(&subject)),
                    Check::Tally => Ok(tally::check(&subject)),
                    Check::Limits => Ok(cost::limits(&subject, || self.sandbox().adapter(guest).map(drop))),
                    Check::Speed => Ok(cost::speed(&subject)),
                    Check::Signals => Ok(Findings::not_applicable("an adapter gives no signals")),
                })
            }
            Err(SandboxError::WrongWorld { exports, .. }) if exports.iter().any(|name| name == Analyzer::INTERFACE) => {
                match sandbox.analyzer(guest) {
                    Ok(analyzer) => self.test_analyzer(guest, &analyzer),
                    Err(error) => self.unusable(guest, Kind::Analyzer, &error),
                }
            }
            Err(error) => self.unusable(guest, Kind::Adapter, &error),
        }
    }

    fn test_analyzer(&self, guest: &Guest, analyzer: &Analyzer) -> Result<Report, FixtureError> {
        let subject = analyzer::Subject::load(analyzer, &self.fixtures)?;
        let component = Component::analyzer(guest, analyzer, &subject);
        self.run(component, Kind::Analyzer, |check| match check {
            Check::Describe => Ok(subject.describe()),
            Check::Golden => subject.golden(self.bless),
            Check::Chunks => Ok(subject.chunks()),
            Check::Resume => Ok(subject.resume()),
            Check::Determinism => Ok(subject.determinism()),
            Check::Mutations => Ok(subject.mutations()),
            Check::Signals => Ok(subject.signals()),
            Check::Limits => Ok(subject.limits(|| self.sandbox().analyzer(guest).map(drop))),
            Check::Speed => Ok(subject.speed()),
            Check::Recognise | Check::Events | Check::Tally => {
                Ok(Findings::not_applicable("an analyzer reads no transcripts"))
            }
        })
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox::new(self.cache.clone(), Limits::default())
    }

    fn run(
        &self,
        component: Component,
        kind: Kind,
        mut check: impl FnMut(Check) -> Result<Findings, FixtureError>,
    ) -> Result<Report, FixtureError> {
        let mut checks = Vec::new();
        for which in self.wanted(kind) {
            checks.push(check(which)?.checked(which));
        }
        Ok(Report { component, checks })
    }

    /// What does not load fails the first check, and nothing else can be said of it.
    fn unusable(&self, guest: &Guest, kind: Kind, error: &SandboxError) -> Result<Report, FixtureError> {
        self.run(Component::unusable(guest, kind), kind, |check| match check {
            Check::Describe => {
                let mut findings = Findings::default();
                findings.fail(
                    ("", ""),
                    "a component that loads and describes itself",
                    error.to_string(),
                    "build it for the world `adapter` or `analyzer` of wit/, without imports or with those of WASI 0.2",
                );
                Ok(findings)
            }
            _ => Ok(Findings::not_applicable("it does not load")),
        })
    }

    /// The checks that were asked for; otherwise all that apply to the kind.
    fn wanted(&self, kind: Kind) -> Vec<Check> {
        if self.only.is_empty() {
            Check::ALL.into_iter().filter(|check| check.applies_to(kind)).collect()
        } else {
            Check::ALL.into_iter().filter(|check| self.only.contains(check)).collect()
        }
    }
}
