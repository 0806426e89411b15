//! Checks: what can be told of a single call without a model, so that a rule is measured by what it is about and, where a
//! person wants it, enforced.
//!
//! A check looks at the whole call: the program, its subcommand, its arguments, in every command of a shell line. Its
//! *opportunities* are the calls in which the rule could have been broken, its *violations* those in which it was.

use serde::{Deserialize, Serialize};

/// A rule about calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Shell commands.
    Command {
        /// Any of these breaks the rule.
        violations: Vec<CommandPattern>,
        /// Any of these, and every violation, is an opportunity: with `npm install` the violation, `pnpm install`.
        opportunities: Vec<CommandPattern>,
    },
    /// Files that are edited, created or deleted.
    Path {
        /// Globs relative to the project; a file that matches one breaks the rule.
        violations: Vec<String>,
        /// Globs of the files that count; none: every one.
        opportunities: Vec<String>,
    },
}

/// A command of a shell line: `git push --force`, whatever stands before, between and behind.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CommandPattern {
    /// The program's name without its folder; a glob.
    pub program: String,
    /// Words that must be there, in this order, others between them; globs. The first is mostly the subcommand.
    pub words: Vec<String>,
    /// Words none of which may be there; globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}
