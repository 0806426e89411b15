//! Proposals: rules that are drafted from patterns. An applied proposal is a rule in force; what became of the pattern since
//! is its verdict (`verdict.rs`).
//!
//! `template.rs` drafts one from what the signals say, `answer.rs` takes what a model drafts, `text.rs` makes either safe;
//! `draft.rs` decides for which patterns, `escalate.rs` what
//! comes after a rule that does not work. `apply.rs` brings it into force: `place.rs` knows the files, `rules_file.rs` and
//! `import.rs` what is put into them, `edit.rs` how they are written.

mod answer;
mod apply;
mod draft;
mod edit;
mod error;
mod escalate;
mod import;
mod page;
mod place;
mod rules_file;
mod template;
mod text;
mod whole;

use serde::{Deserialize, Serialize};

use crate::check::Check;

pub use answer::{Answered, Earlier, INSTRUCTIONS, input, read, schema};
pub use apply::{Plan, Rules, RulesLock, Wanted, write_page};
pub use draft::{Case, Draft, Limits, Skip, candidates, cost, propose};
pub use edit::{Edit, EditError, Edits, Staged, Written};
pub use error::RulesError;
pub use escalate::{Next, counts, escalate, redraft};
pub use page::page;
pub use place::{TOOLS, claude_folder, existing, project_of};
pub use rules_file::BlockError;
pub use text::rule as rule_text;
pub use whole::{settings as hook_settings, shell_word};

/// A drafted rule and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// `p-` and the pattern's id; a later draft for the same pattern has `-2`, `-3` … behind.
    pub id: String,
    /// Id of the pattern ([`crate::pattern::Anchor::id`]).
    pub pattern: String,
    /// What became of it.
    pub status: Status,
    /// How strong a means it is.
    pub step: Step,
    /// The rule, in one or a few sentences; what the agent will read.
    pub text: String,
    /// Why, for the person.
    pub rationale: String,
    /// Globs relative to the project of the files that a path-scoped rule is read for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// By what it can be told, call by call, whether it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Who drafted it.
    pub author: Author,
    /// The proposal that did not work and that this one takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// Tokens that the rule costs in each session: characters ÷ 4 (÷ 1 for CJK), rounded up.
    pub tokens: u32,
    /// Sessions with the pattern when it was drafted.
    pub occurrences: u32,
    /// Milliseconds since the Unix epoch, as all times here.
    pub created_at: i64,
    /// When the pattern had last come up when it was drafted.
    #[serde(default)]
    pub last_seen: i64,
    /// When it was applied.
    pub applied_at: Option<i64>,
    /// When it was rejected, reverted or became stale.
    pub ended_at: Option<i64>,
    /// Where it was written to, a file for each tool that reads another one. They are noted before anything is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// See [`Proposal::status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It waits for the person.
    Drafted,
    /// It is in force.
    Applied,
    /// The person does not want it; its pattern is not drafted for again.
    Rejected,
    /// It was in force and was taken back.
    Reverted,
    /// Its pattern is not there any more.
    Stale,
}

impl Status {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Drafted, Self::Applied, Self::Reverted, Self::Rejected, Self::Stale];

    /// As it is stored and shown: `drafted`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drafted => "drafted",
            Self::Applied => "applied",
            Self::Rejected => "rejected",
            Self::Reverted => "reverted",
            Self::Stale => "stale",
        }
    }
}

/// How strong a means a proposal is. What does not work is escalated to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A rule that is read in every session.
    Rule,
    /// A rule that is read where files of its paths are worked on.
    PathRule,
    /// A hook that refuses the call, which the person reviews and installs.
    Hook,
}

impl Step {
    /// As it is stored and shown: `path-rule`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::PathRule => "path-rule",
            Self::Hook => "hook",
        }
    }
}

/// Who drafted a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Author {
    /// The signal's own advice, in a template.
    Template,
    /// A model, by its name.
    Model(String),
    /// The person wrote or changed it.
    Person,
    /// Another program's library.
    Imported,
}

/// Where a rule was written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The tool that reads it: `claude-code`.
    pub tool: String,
    /// The file that holds it.
    pub file: String,
    /// The project it is for; none: all of the user's.
    pub project: Option<String>,
}
