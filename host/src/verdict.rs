//! Verdicts: whether a rule in force works, from what happened before and since.

use serde::{Deserialize, Serialize};

/// What the sessions since say of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The proposal that is in force.
    pub proposal: String,
    /// Its pattern's id.
    pub pattern: String,
    /// The rule's text.
    pub text: String,
    /// What the pattern is about.
    pub subject: String,
    /// Since when it is in force; milliseconds since the Unix epoch.
    pub applied_at: i64,
    /// What can be said.
    pub outcome: Outcome,
    /// What is counted.
    pub unit: Unit,
    /// The matched time before the rule.
    pub before: Exposure,
    /// The time since.
    pub after: Exposure,
    /// Rate after ÷ rate expected without the rule; none where nothing can be said.
    pub ratio: Option<Interval>,
    /// The predecessor's simple reading, beside it.
    pub simple: Simple,
    /// What the rule costs in every session.
    pub tokens: u32,
}

/// What can be said of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The friction is rarer than it would have been.
    Working,
    /// Enough has happened, and it is not rarer.
    NotWorking,
    /// It is more frequent than it would have been.
    Worse,
    /// It was applied so lately that the sessions since are too few.
    TooEarly,
    /// Much time has passed, and still there are too few sessions, here or before.
    NotEnoughData,
}

/// What opportunities and occurrences are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Sessions of the same tools, in the same project if the pattern is bound to one.
    Sessions,
    /// Calls that a check is about.
    Calls,
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

/// A 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// 5 % lie below.
    pub low: f64,
    /// The middle.
    pub middle: f64,
    /// 5 % lie above.
    pub high: f64,
}

/// The predecessor's reading: any occurrence since is a failure, none in `rules.resolved-after-days` a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Simple {
    /// No occurrence since, long enough ago.
    Resolved,
    /// No occurrence since, not long enough ago.
    Pending,
    /// It came up since.
    Ineffective,
}
