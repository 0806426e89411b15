//! Tool calls: what kind they are, which files they touch, and what they would change.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::json::{Entries, List, Number, Text};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{ToolCall, ToolKind};

use crate::patch::{self, Patch};
use crate::shell;

/// Kind of a tool, under all the names it has had.
pub(crate) fn kind(name: &str) -> ToolKind {
    match name {
        // shell up to 0.8x, shell_command on Windows and for some models, exec_command since 0.8x.
        "shell" | "container.exec" | "local_shell" | "shell_command" | "exec_command" | "write_stdin"
        | "unified_exec" => ToolKind::Execute,
        "apply_patch" => ToolKind::Edit,
        "read_file" | "view_image" => ToolKind::Read,
        "web_search" | "web_search_call" | "grep_files" | "list_dir" | "file_search" | "tool_search"
        | "tool_search_call" => ToolKind::Search,
        "update_plan" | "create_goal" | "update_goal" | "get_goal" => ToolKind::Plan,
        "request_user_input" | "request_permissions" => ToolKind::Ask,
        "spawn_agent"
        | "spawn_agents_on_csv"
        | "send_input"
        | "send_message"
        | "followup_task"
        | "resume_agent"
        | "wait"
        | "wait_agent"
        | "close_agent"
        | "interrupt_agent"
        | "list_agents"
        | "report_agent_job_result" => ToolKind::Delegate,
        "list_mcp_resources" | "list_mcp_resource_templates" | "read_mcp_resource" => ToolKind::Mcp,
        _ if name.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// A call by its name and its arguments, which are JSON.
pub(crate) fn with_arguments(id: &str, name: &str, arguments: &str, out: &Output) -> ToolCall {
    let entries: Entries<'_> = serde_json::from_str(arguments).unwrap_or_default();
    let kind = kind(name);
    if kind == ToolKind::Execute {
        let command = command(&entries).unwrap_or_default();
        if !command.is_empty() {
            return executing(id, name, &command, &entries.show(), out);
        }
    }
    if kind == ToolKind::Edit {
        let patch = said(&entries, "input").or_else(|| said(&entries, "patch")).unwrap_or_default();
        return patching(id, name, &patch, out);
    }
    let shown = if entries.0.is_empty() { Cow::Borrowed(arguments) } else { Cow::Owned(entries.show()) };
    let mut call = bare(id, name, kind, if shown == "{}" { "" } else { &shown }, out);
    if matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Mcp) {
        let keys = ["path", "file_path", "filePath", "relative_path", "dir_path", "file", "filename"];
        call.paths = keys.iter().filter_map(|key| said(&entries, key)).map(Cow::into_owned).collect();
    }
    call
}

/// A call that runs a command; a patch if the command is one.
pub(crate) fn executing(id: &str, name: &str, command: &str, input: &str, out: &Output) -> ToolCall {
    if let Some(patch) = patch_within(command) {
        return patching(id, name, patch, out);
    }
    let mut call = bare(id, name, ToolKind::Execute, if input.is_empty() { command } else { input }, out);
    call.command = Some(out.cap(command).0);
    call
}

/// A call that applies a patch.
pub(crate) fn patching(id: &str, name: &str, text: &str, out: &Output) -> ToolCall {
    let patch = Patch::read(text);
    let mut call = bare(id, name, patch.kind(), text, out);
    (call.paths, call.edits) = (patch.paths, patch.edits);
    call
}

/// A call of which only the input is known.
pub(crate) fn bare(id: &str, name: &str, kind: ToolKind, input: &str, out: &Output) -> ToolCall {
    let (input, omitted) = out.cap(input);
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        paths: Vec::new(),
        command: None,
        edits: Vec::new(),
        input,
        omitted,
    }
}

/// The patch in `apply_patch <<'EOF'`, perhaps after `cd somewhere &&`. A script that only mentions one is none.
fn patch_within(command: &str) -> Option<&str> {
    let begin = command.find(patch::BEGIN)?;
    let before = command[..begin].trim_end().trim_end_matches(['\'', '"']);
    let (first, last) = (before.lines().next().unwrap_or(before), before.lines().last().unwrap_or(before));
    let calls = |line: &str| line.split_whitespace().any(|word| matches!(word, "apply_patch" | "applypatch"));
    (calls(first) && (last.contains("<<") || first == last)).then(|| &command[begin..])
}

fn command(entries: &Entries<'_>) -> Option<String> {
    let (_, raw) = entries.0.iter().find(|(key, _)| matches!(key.as_ref(), "command" | "cmd"))?;
    match raw.get().starts_with('[') {
        true => Some(shell::command(&decode::<List<Text<'_>>>(raw))),
        false => decode::<Text<'_>>(raw).0.map(Cow::into_owned),
    }
}

fn decode<'a, T: Default + Deserialize<'a>>(raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The string under a key, if it says something.
fn said<'a>(entries: &Entries<'a>, key: &str) -> Option<Cow<'a, str>> {
    entries.text(key).filter(|text| !text.is_empty())
}

/// The number under a key of arguments.
pub(crate) fn number(arguments: &str, key: &str) -> Option<u64> {
    let entries: Entries<'_> = serde_json::from_str(arguments).unwrap_or_default();
    let (_, raw) = entries.0.iter().find(|(name, _)| name == key)?;
    decode::<Number>(raw).0.or_else(|| decode::<Text<'_>>(raw).get()?.parse().ok())
}

/// The string under a key of arguments, if it says something.
pub(crate) fn says(arguments: &str, key: &str) -> bool {
    said(&serde_json::from_str(arguments).unwrap_or_default(), key).is_some()
}

/// Does the person have to approve the call before it runs? The client tells a no to that question like an interruption.
/// A patch is applied in no time: one that was stopped waited for an answer.
pub(crate) fn has_to_be_approved(call: &ToolCall) -> bool {
    let escalates = ["sandbox_permissions: require_escalated", "with_escalated_permissions: true"];
    !call.edits.is_empty() || escalates.iter().any(|words| call.input.contains(words))
}

/// What has to be remembered of a call until its output comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Open {
    call: u64,
    /// The key it was told with.
    pub(crate) key: String,
    pub(crate) kind: ToolKind,
    /// Beginning of its command, for what is said of it later.
    pub(crate) command: String,
    /// See [`has_to_be_approved`].
    pub(crate) asks: bool,
}

/// Calls whose output has not come yet, and commands that go on in the background.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Calls {
    open: VecDeque<Open>,
    /// Their numbers and commands.
    running: VecDeque<(u64, String)>,
}

impl Calls {
    /// Calls that never get an output (the client was killed) are forgotten after this many others.
    const MOST: usize = 256;

    /// Commands in the background that are remembered; the client has a like limit.
    const RUNNING: usize = 64;

    /// Bytes kept of a command.
    const COMMAND: usize = 1024;

    pub(crate) fn open(&mut self, id: &str, key: &str, call: &ToolCall) {
        if self.open.len() == Self::MOST {
            self.open.pop_front();
        }
        let command = cap(call.command.as_deref().unwrap_or_default(), Self::COMMAND).0.into_owned();
        let asks = has_to_be_approved(call);
        self.open.push_back(Open { call: hash64(id), key: key.to_owned(), kind: call.kind, command, asks });
    }

    pub(crate) fn close(&mut self, id: &str) -> Option<Open> {
        let call = hash64(id);
        let at = self.open.iter().rposition(|open| open.call == call)?;
        self.open.remove(at)
    }

    /// Is a call of this turn open?
    pub(crate) fn any_of(&self, turn: &str) -> bool {
        self.open.iter().rev().any(|open| open.key.strip_prefix(turn).is_some_and(|rest| rest.starts_with('/')))
    }

    /// A command goes on in the background.
    pub(crate) fn runs_on(&mut self, number: u64, command: String) {
        self.running.retain(|(known, _)| *known != number);
        if self.running.len() == Self::RUNNING {
            self.running.pop_front();
        }
        self.running.push_back((number, command));
    }

    /// The command that runs under a number.
    pub(crate) fn running(&self, number: u64) -> Option<&str> {
        self.running.iter().find(|(known, _)| *known == number).map(|(_, command)| command.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::patch_within;

    #[test]
    fn patches_within_commands() {
        for command in [
            "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF",
            "cd /w && apply_patch <<\"PATCH\"\n*** Begin Patch\n*** End Patch\nPATCH",
            "apply_patch '*** Begin Patch\n*** End Patch'",
        ] {
            assert!(patch_within(command).unwrap().contains("*** End Patch"), "{command}");
        }
        for command in [
            "cat > x.txt <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF",
            "grep -n '*** Begin Patch' apply_patch.rs",
            "python - <<'EOF'\nrun('apply_patch')\n*** Begin Patch\nEOF",
        ] {
            assert_eq!(patch_within(command), None, "{command}");
        }
    }
}
