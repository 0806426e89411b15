//! `totalrecall check FILE`: what Claude Code asks before a tool is used, where a person installed a rule as a hook.
//!
//! It reads the scaffold and the call, refuses the call if it breaks the rule, and is gone. Neither the components nor the database nor
//! the settings are touched, and whatever else happens it says nothing and ends with 0: a tool is never held up by a mistake of ours.

use std::{io::Read as _, path::PathBuf};

use super::{hook, ui};
use crate::{
    check::{Call, Found, Hook},
    clean::clean,
    config, paths,
};

/// The event that is answered.
const EVENT: &str = "PreToolUse";

/// A scaffold is a few hundred bytes.
const MAX_SCAFFOLD: u64 = 1 << 20;

/// A call may hold a whole file.
const MAX_CALL: u64 = 16 << 20;

/// Refuse a call of a tool that breaks a rule; a hook that you install
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example, as a Claude Code hook of the event PreToolUse, with a file that `totalrecall apply` wrote:
  totalrecall check ~/.totalrecall/hooks/p-use-pnpm.json"
)]
pub(super) struct Check {
    /// The rule's file
    file: PathBuf,
}

/// What is read of a call. Claude Code 1.0.85 and newer write these fields.
#[derive(Debug, serde::Deserialize)]
struct Asked {
    hook_event_name: Option<String>,
    tool_name: String,
    tool_input: Input,
    cwd: Option<String>,
}

/// Of Bash, of Edit and Write, of `NotebookEdit`.
#[derive(Debug, serde::Deserialize)]
struct Input {
    command: Option<String>,
    file_path: Option<String>,
    notebook_path: Option<String>,
}

/// Tools of Claude Code that change files. Read has a `file_path`, too.
const CHANGE_FILES: &[&str] = &["Edit", "MultiEdit", "Write", "NotebookEdit"];

impl Check {
    pub(super) fn run(&self) {
        if let Some(hook) = self.refuses() {
            let reason = format!("{} (rule {})", clean(&hook.message), clean(&hook.id));
            let answer = serde_json::json!({ "hookSpecificOutput": {
                "hookEventName": EVENT, "permissionDecision": "deny", "permissionDecisionReason": reason,
            } });
            let _ = ui::print(&format!("{answer}\n"));
        }
    }

    /// The rule, if the call that is asked about breaks it.
    fn refuses(&self) -> Option<Hook> {
        if config::is_our_child() {
            return None;
        }
        let mut scaffold = Vec::new();
        std::fs::File::open(&self.file).ok()?.take(MAX_SCAFFOLD).read_to_end(&mut scaffold).ok()?;
        let hook: Hook = serde_json::from_slice(&scaffold).ok()?;
        let asked: Asked = hook::first_value(MAX_CALL)?;
        // What was done already cannot be refused.
        if asked.hook_event_name.as_deref().is_some_and(|event| event != EVENT) {
            return None;
        }
        let paths: Vec<String> =
            [asked.tool_input.file_path, asked.tool_input.notebook_path].into_iter().flatten().collect();
        let project = paths::variable("CLAUDE_PROJECT_DIR").or(asked.cwd).unwrap_or_default();
        let call = match (&asked.tool_input.command, asked.tool_name.as_str()) {
            (Some(command), "Bash") => Call::Shell(command),
            (_, tool) if CHANGE_FILES.contains(&tool) => Call::Files { paths: &paths, project: &project },
            _ => return None,
        };
        (hook.check.look(&call) == Found::Broken).then_some(hook)
    }
}
