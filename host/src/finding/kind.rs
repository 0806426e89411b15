//! What the host knows of the built-in signal kinds beyond their descriptors: the sort of friction, and what makes two
//! signals of a kind the same friction.

use serde::{Deserialize, Serialize};

/// A sort of friction: what the signal kinds, which say what was seen, say about the collaboration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The agent set out to do something else than what was wanted.
    MisunderstoodIntent,
    /// The person had to say the same thing again.
    RepeatedCorrection,
    /// A question that should have been asked was not.
    ClarificationGap,
    /// A rule that was written down was not kept.
    RuleViolation,
    /// Tools failed.
    ToolError,
    /// Work was done over or undone.
    Rework,
    /// The model's service or its context window got in the way.
    Service,
    /// The person lost patience.
    Frustration,
    /// Of a kind the host does not know.
    #[default]
    Other,
}

impl Category {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::RepeatedCorrection,
        Self::MisunderstoodIntent,
        Self::ClarificationGap,
        Self::RuleViolation,
        Self::Frustration,
        Self::Rework,
        Self::ToolError,
        Self::Service,
        Self::Other,
    ];

    /// What signals of `kind` stand for. A correction that was given more than once, in a session or across sessions,
    /// is a repeated one.
    pub fn of(kind: &str, again: bool) -> Self {
        match kind {
            "user-correction" if again => Self::RepeatedCorrection,
            "user-correction" | "permission-denied" | "interrupt" => Self::MisunderstoodIntent,
            "repeated-instruction" => Self::RepeatedCorrection,
            "tool-error" | "retry-loop" | "unresolved-error" => Self::ToolError,
            "churn" | "revert" => Self::Rework,
            "api-error" | "compaction" => Self::Service,
            _ => Self::Other,
        }
    }

    /// As it is stored and shown to machines: `tool-error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MisunderstoodIntent => "misunderstood-intent",
            Self::RepeatedCorrection => "repeated-correction",
            Self::ClarificationGap => "clarification-gap",
            Self::RuleViolation => "rule-violation",
            Self::ToolError => "tool-error",
            Self::Rework => "rework",
            Self::Service => "service",
            Self::Frustration => "frustration",
            Self::Other => "other",
        }
    }
}

/// A form of misalignment: which part of the work went another way than the person's. The seven forms of Tang et al. 2026
/// (arXiv 2605.29442, section 4.1), in the paper's order. Only a model tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The project, its state or a technical fact was misread.
    ProjectReading,
    /// What the person wanted was misread.
    Intent,
    /// A rule or constraint that was stated was not kept.
    RuleFollowing,
    /// More was done, or touched, than was asked for.
    Scope,
    /// The code that was written is wrong.
    Implementation,
    /// Commands or tools were used wrongly.
    Execution,
    /// What the agent said of its work is not so.
    SelfReporting,
}

impl Form {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 7] = [
        Self::ProjectReading,
        Self::Intent,
        Self::RuleFollowing,
        Self::Scope,
        Self::Implementation,
        Self::Execution,
        Self::SelfReporting,
    ];

    /// As it is stored and shown to machines: `project-reading`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProjectReading => "project-reading",
            Self::Intent => "intent",
            Self::RuleFollowing => "rule-following",
            Self::Scope => "scope",
            Self::Implementation => "implementation",
            Self::Execution => "execution",
            Self::SelfReporting => "self-reporting",
        }
    }
}

/// How far equal subjects are the same friction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Wherever it happens: a tool fails the same way in every project.
    Everywhere,
    /// Within one project: its files are its own.
    Project,
}

/// How far equal subjects of `kind` are the same friction.
pub fn scope_of(kind: &str) -> Scope {
    match kind {
        "churn" | "revert" => Scope::Project,
        _ => Scope::Everywhere,
    }
}
