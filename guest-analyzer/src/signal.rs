//! The signals, one module each. Every detector takes the events of one transcript in order and keeps a state that is
//! small, bounded and serialisable; what it gives from [`Detector::observe`] no later event can change.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::Event;
use totalrecall_sdk::{Signal, SignalKind};

use crate::moment::Moment;
use crate::thresholds::Thresholds;

pub mod api_error;
pub mod churn;
pub mod compaction;
pub mod interrupt;
pub mod permission_denied;
pub mod repeated_instruction;
pub mod retry_loop;
pub mod revert;
pub mod tool_error;
pub mod unresolved_error;
pub mod user_correction;

/// What finds one kind of signal.
pub(crate) trait Detector {
    /// Name, severity and advice.
    fn kind() -> SignalKind;
    /// Takes the next event; adds the signals that are certain now.
    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>);
    /// Adds the signals that hold if nothing follows.
    fn conclude(&self, _thresholds: &Thresholds, _found: &mut Vec<Signal>) {}
}

/// Where something happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) at: Option<i64>,
    pub(crate) thread: Option<String>,
}

impl Place {
    pub(crate) fn of(event: &Event) -> Self {
        Self { line: event.line, at: event.at, thread: event.thread.clone() }
    }

    /// A certain signal seen here that rests on nothing else.
    pub(crate) fn signal(self, kind: &str, subject: String, detail: String) -> Signal {
        Signal {
            kind: kind.into(),
            subject,
            line: self.line,
            at: self.at,
            thread: self.thread,
            confidence: 1.0,
            detail,
            evidence: vec![self.line],
        }
    }
}

/// Builder steps for what differs from [`Place::signal`].
pub(crate) trait Refine {
    /// The other lines it rests on.
    fn resting_on(self, lines: impl IntoIterator<Item = u64>) -> Self;
    fn confident(self, confidence: f32) -> Self;
}

impl Refine for Signal {
    fn resting_on(mut self, lines: impl IntoIterator<Item = u64>) -> Self {
        self.evidence.extend(lines);
        self.evidence.sort_unstable();
        self.evidence.dedup();
        self
    }

    fn confident(mut self, confidence: f32) -> Self {
        self.confidence = confidence;
        self
    }
}

pub(crate) fn kind(name: &str, severity: u8, summary: &str, advice: &str) -> SignalKind {
    SignalKind { name: name.into(), summary: summary.into(), severity, advice: advice.into() }
}

/// State that each thread of a session has of its own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PerThread<T>(Vec<(Option<String>, T)>);

/// Threads kept apart. Sub-agents that ran inside the main file are done long before this many more have started.
const THREADS: usize = 256;

impl<T> Default for PerThread<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> PerThread<T> {
    pub(crate) fn of(&mut self, thread: &Option<String>) -> &mut T {
        let place = match self.0.iter().rposition(|(name, _)| name == thread) {
            Some(place) => place,
            None => {
                if self.0.len() == THREADS {
                    // The main thread lives as long as the session.
                    self.0.remove(usize::from(self.0[0].0.is_none()));
                }
                self.0.push((thread.clone(), T::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[place].1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, state)| state)
    }
}
