use std::path::PathBuf;

use super::{EditError, Status, rules_file::BlockError};
use crate::store::StoreError;

/// Why a proposal was not applied, or not taken back. It stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// There is none of this name.
    #[error("there is no proposal `{0}`")]
    Unknown(String),
    /// Several begin like this.
    #[error("`{given}` is the beginning of several proposals: {}", ids.join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// All that begin so.
        ids: Vec<String>,
    },
    /// This cannot be done with it any more, or not yet.
    #[error("`{id}` is {}, so it cannot be {wanted}", status.name())]
    Status {
        /// The proposal.
        id: String,
        /// What it is.
        status: Status,
        /// What was asked for: `applied`.
        wanted: &'static str,
    },
    /// None of the tools the pattern was seen in has a file of rules.
    #[error("`{id}` was seen in {}, which has no file that rules are read from", tools.join(" and "))]
    NoTool {
        /// The proposal.
        id: String,
        /// The tools.
        tools: Vec<String>,
    },
    /// A rule for paths, and nobody said of which project.
    #[error("`{0}` is for files of a project, and it is not known of which")]
    NoProject(String),
    /// A hook is proposed for something that cannot be told of a call.
    #[error("`{0}` has no check that a hook could make")]
    NoCheck(String),
    /// It was taken over from another program, whose marks are not ours.
    #[error("`{id}` was taken over from the Python TotalRecall and is in its rules file, {}", file.display())]
    Foreign {
        /// The proposal.
        id: String,
        /// The other program's file.
        file: PathBuf,
    },
    /// The rules of one file would cost too much.
    #[error("the rules in {} would cost {tokens} tokens in every session; `rules.tokens` allows {limit}", file.display())]
    Budget {
        /// The file.
        file: PathBuf,
        /// What all of its rules would cost.
        tokens: u32,
        /// What they may.
        limit: u32,
        /// Those that are in it, with what they cost.
        rules: Vec<(String, u32)>,
    },
    /// A file cannot be changed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// What is in a file cannot be changed.
    #[error("cannot change {}: {why}", file.display())]
    Block {
        /// The file.
        file: PathBuf,
        /// Why.
        why: BlockError,
    },
    /// The lock that keeps two of us from changing rules at once.
    #[error("cannot lock {}: {why}", file.display())]
    Lock {
        /// Its file.
        file: PathBuf,
        /// The system's reason.
        why: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RulesError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown(_) => "`totalrecall proposals --all` lists them.",
            Self::Ambiguous { .. } => "Give more of its id.",
            Self::Status { status: Status::Rejected | Status::Stale, .. } => {
                "Its pattern gets another draft with `totalrecall propose --pattern ID`."
            }
            Self::Status { .. } => "`totalrecall proposals --all` shows what became of each.",
            Self::NoTool { .. } => "Name a tool with `--tool claude-code`, `codex`, `opencode` or `all`.",
            Self::NoProject(_) => "Name it with `--project DIR`.",
            Self::NoCheck(_) => "Apply it as a rule instead.",
            Self::Foreign { .. } => {
                "Delete its block there, from `<!-- pattern: … -->` to the line with `_(TotalRecall:`, then say \
                 `totalrecall revert ID --force`."
            }
            Self::Budget { .. } => {
                "Take one back with `totalrecall revert ID`, or raise `rules.tokens` in the configuration."
            }
            Self::Edit(error) => error.hint(),
            Self::Block { why: BlockError::Edited(_), .. } => {
                "Put it back as it was, or use `--force`: the change is then only in the backup."
            }
            Self::Block { why: BlockError::Open(_), .. } => {
                "Write the missing line `<!-- /totalrecall:rule ID -->` behind the rule, or delete the rule with its marker."
            }
            Self::Block { why: BlockError::Utf16, .. } => "Save the file as UTF-8 and try again.",
            Self::Lock { .. } => "Check who owns the home folder.",
            Self::Store(error) => return error.hint(),
        })
    }
}
