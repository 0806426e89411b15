//! Whether a rule works, from counts: how often a friction came up before the rule and since, and what else happened in the same
//! sessions.
//!
//! A rule is drafted *because* its friction was frequent, other things change too, sessions of a day are alike, there are few of
//! them, and the person looks every day. `docs/verdicts.md` explains what is done about each, and what it was measured to be worth.
//! This crate is apart from the program so that the simulation that measures it (`bench`) asks the very same functions.

mod clustering;
mod drift;
mod judge;
mod looks;
mod luck;
mod predict;

use serde::{Deserialize, Serialize};

pub use judge::judge;
pub use looks::{FIRST_LOOK, LOOKS, next_look};

/// A session in which the friction could have come up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// When it began; milliseconds since the Unix epoch.
    pub at: i64,
    /// Times it could have come up: 1 where sessions are counted, calls where calls are.
    pub opportunities: u32,
    /// Times it did.
    pub occurrences: u32,
}

/// Another pattern, as far as it came up in the same sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Indices into [`Case::visits`], ascending.
    pub seen_in: Vec<usize>,
    /// Since when it has a rule of its own. Only patterns without one say what would have happened without rules.
    pub ruled_at: Option<i64>,
}

/// All there is to judge a rule by.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Sessions before and since, by time.
    pub visits: &'a [Visit],
    /// The other patterns of the library.
    pub others: &'a [Other],
    /// When the rule was drafted: what happened until then is why it was. Milliseconds since the Unix epoch, as all times here.
    pub drafted_at: i64,
    /// Since when it is in force.
    pub applied_at: i64,
    /// Today.
    pub now: i64,
}

/// What can be said of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The friction is rarer than it would have been.
    Working,
    /// Enough has happened to say that it did not become half as frequent.
    NotWorking,
    /// It is more frequent than it would have been.
    Worse,
    /// It was applied so lately that the sessions since are too few.
    TooEarly,
    /// Much time has passed, and what happened since, or before, is too little to say anything.
    NotEnoughData,
}

impl Outcome {
    /// As it is shown and stored: `not-working`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::NotWorking => "not-working",
            Self::Worse => "worse",
            Self::TooEarly => "too-early",
            Self::NotEnoughData => "not-enough-data",
        }
    }
}

/// So many occurrences at so many opportunities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// Times it came up.
    pub occurrences: u32,
    /// Times it could have come up.
    pub opportunities: u32,
    /// Milliseconds since the Unix epoch.
    pub from: i64,
    /// Likewise; exclusive.
    pub to: i64,
}

impl Exposure {
    /// Occurrences ÷ opportunities.
    pub fn rate(&self) -> f64 {
        if self.opportunities == 0 { 0.0 } else { f64::from(self.occurrences) / f64::from(self.opportunities) }
    }
}

/// A 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// 5 % lie below.
    pub low: f64,
    /// The best guess.
    pub middle: f64,
    /// 5 % lie above.
    pub high: f64,
}

/// What the counts say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// In a word.
    pub outcome: Outcome,
    /// The earlier period that is compared with.
    pub before: Exposure,
    /// The sessions since that the outcome rests on: up to the last look.
    pub after: Exposure,
    /// All sessions since.
    pub since: Exposure,
    /// Occurrences to be expected in `after` if the rule did nothing.
    pub expected: f64,
    /// Rate in `after` ÷ rate expected without the rule. None: before the first look, or nothing to compare with.
    pub ratio: Option<Interval>,
    /// Share of the rate before that is no luck: what a pattern that was picked for being frequent keeps.
    pub luck: f64,
    /// How the other patterns' rate changed in the same sessions. None: there are too few of them.
    pub drift: Option<f64>,
    /// How much more occurrences vary than if sessions had nothing to do with each other.
    pub clustering: f64,
    /// Opportunities since the rule at which the next look is taken.
    pub next_look: u32,
    /// Opportunities since the rule at which not a single occurrence would be enough to say that it works. None: the period before is
    /// too poor to show that at all.
    pub enough_at: Option<u32>,
}
