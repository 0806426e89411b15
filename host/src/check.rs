//! Checks: what can be told of a single call without a model, so that a rule is measured by what it is about and, where a
//! person wants it, enforced.
//!
//! A check looks at the whole call: the program, its subcommand, its arguments, in every command of a shell line. Its
//! *opportunities* are the calls in which the rule could have been broken, its *violations* those in which it was.

mod glob;
mod shell;

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

/// What a hook of Claude Code holds a call against; the content of a scaffold file, which the person reviews and installs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Hook {
    /// The proposal it is of.
    pub id: String,
    /// What the agent is told when a call is refused.
    pub message: String,
    /// The calls that are refused.
    pub check: Check,
}

/// What a tool was told to do, as far as a check looks at it.
#[derive(Debug, Clone, Copy)]
pub enum Call<'a> {
    /// To run a line of the shell.
    Shell(&'a str),
    /// To edit, create or delete these files. Absolute, or relative to the project.
    Files {
        /// The files.
        paths: &'a [String],
        /// The project's folder; empty: not known.
        project: &'a str,
    },
}

/// What a call is to a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It has nothing to do with it.
    Nothing,
    /// The rule could have been broken, and was not.
    Kept,
    /// The rule was broken.
    Broken,
}

impl Check {
    /// Looks at a call. A call with several commands, or files, breaks the rule once.
    pub fn look(&self, call: &Call<'_>) -> Found {
        match (self, call) {
            (Self::Command { violations, opportunities }, Call::Shell(line)) => {
                // A pattern that fits every command says nothing.
                let is_meant = |pattern: &CommandPattern| !glob::is_open(&pattern.program) || !pattern.words.is_empty();
                // Reading a line takes longer than seeing that no program of ours is named in it.
                let plain = glob::plain(line);
                if !violations.iter().chain(opportunities).any(|pattern| glob::may_be_in(&pattern.program, &plain)) {
                    return Found::Nothing;
                }
                let commands = shell::commands(line);
                let any = |patterns: &[CommandPattern]| {
                    let mut meant = patterns.iter().filter(|pattern| is_meant(pattern));
                    meant.any(|pattern| commands.iter().any(|words| pattern.matches(words)))
                };
                found(any(violations), any(opportunities))
            }
            (Self::Path { violations, opportunities }, Call::Files { paths, project }) => {
                let inside: Vec<String> = paths.iter().filter_map(|path| within(path, project)).collect();
                let any =
                    |globs: &[String]| inside.iter().any(|path| globs.iter().any(|it| glob::matches_path(it, path)));
                let counts = if opportunities.is_empty() { !inside.is_empty() } else { any(opportunities) };
                found(any(violations), counts)
            }
            _ => Found::Nothing,
        }
    }
}

/// The names of all programs that a line of the shell would run, wherever they stand in it, without folders; those that wrap
/// others among them.
pub fn programs(line: &str) -> std::collections::BTreeSet<String> {
    let named = |words: &Vec<String>| words.first().map(|program| shell::name(program).to_owned());
    shell::commands(line).iter().filter_map(named).collect()
}

fn found(broken: bool, counts: bool) -> Found {
    match (broken, counts) {
        (true, _) => Found::Broken,
        (false, true) => Found::Kept,
        (false, false) => Found::Nothing,
    }
}

impl CommandPattern {
    /// Whether it describes a command, given by its words.
    fn matches(&self, words: &[String]) -> bool {
        let Some((program, arguments)) = words.split_first() else { return false };
        if !glob::matches(&self.program, shell::name(program)) {
            return false;
        }
        let mut rest = arguments.iter();
        let all = self.words.iter().all(|wanted| rest.any(|word| glob::matches(wanted, word)));
        all && !self.without.iter().any(|not| arguments.iter().any(|word| glob::matches(not, word)))
    }
}

/// A path relative to the project, with `/`; none: it lies elsewhere.
fn within(path: &str, project: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":/");
    let relative = if is_absolute {
        let project = project.replace('\\', "/");
        let project = project.trim_end_matches('/');
        let inside = (!project.is_empty()).then(|| path.strip_prefix(project)).flatten()?;
        inside.strip_prefix('/')?.to_owned()
    } else {
        path
    };
    // `a/../b` is `b`; what leads out of the project lies elsewhere.
    let mut parts: Vec<&str> = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests;
