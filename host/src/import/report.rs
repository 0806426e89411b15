//! What was taken over, for a person and for machines.

use serde::Serialize;

/// What an import did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// The other program's folder.
    pub folder: String,
    /// Its patterns.
    pub patterns: Counted,
    /// Its findings: one of each session of each pattern.
    pub findings: Counted,
    /// Distinct sessions that they are of.
    pub sessions: usize,
    /// Its proposals and rules.
    pub proposals: Proposals,
    /// Where its rules are.
    pub rules_file: Option<RulesFile>,
    /// Ids that patterns could not keep.
    pub repaired: Vec<Repair>,
    /// Patterns that have another number of sessions here than it had counted.
    pub differences: Vec<Difference>,
    /// What a person should know of single things that were taken over.
    pub notes: Vec<Matter>,
    /// What could not be taken over.
    pub skipped: Vec<Matter>,
    /// What it had read.
    pub ledger: Ledger,
    /// Its settings.
    pub settings: Settings,
}

/// Numbers of things that were taken over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// All that there are.
    pub found: usize,
    /// Those that were not known here.
    pub new: usize,
    /// Those that were known, and of which more is known now.
    pub changed: usize,
}

/// Numbers of proposals, by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Proposals {
    /// All of them.
    #[serde(flatten)]
    pub counted: Counted,
    /// Waiting for the person.
    pub drafted: usize,
    /// In force.
    pub applied: usize,
    /// Not wanted.
    pub rejected: usize,
    /// They were in force, and the person has taken them out of the rules file.
    pub reverted: usize,
    /// Their pattern is not there any more.
    pub stale: usize,
}

/// The other program's rules file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulesFile {
    /// Where it is.
    pub path: String,
    /// Whether it is there.
    pub is_there: bool,
    /// Rules in it.
    pub rules: usize,
    /// Whether CLAUDE.md imports it; not known where there is none.
    pub is_imported: Option<bool>,
}

/// An id that a pattern could not keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The id it had.
    pub old: String,
    /// The id it has now.
    pub new: String,
    /// Why.
    pub why: String,
}

/// A pattern with another number of sessions than the other program had counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its id here.
    pub pattern: String,
    /// As that program counted them.
    pub then: u32,
    /// As they are counted here.
    pub now: u32,
    /// Why.
    pub why: String,
}

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matter {
    /// What it is about: a file, an id.
    pub what: String,
    /// What is to be known of it.
    pub why: String,
}

/// What the other program had read, by its own account. Nothing of it is taken over: it recorded failures as successes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Transcripts it took for done.
    pub done: Waiting,
    /// Those whose analysis had failed.
    pub pending: Waiting,
    /// Those that its worker had not come to.
    pub queued: Waiting,
}

/// Numbers of transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// All of them.
    pub all: usize,
    /// Those that are still there, so that `reconcile` finds them.
    pub there: usize,
    /// Copies that it had made of sessions of OpenCode, which are read from OpenCode's own database.
    pub copies: usize,
    /// Paths of those that are gone.
    pub gone: Vec<String>,
}

/// The other program's settings that were changed from what it came with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// What is to be known of each.
    pub changed: Vec<Matter>,
    /// Lines for the configuration here that say the same.
    pub lines: Vec<String>,
}
