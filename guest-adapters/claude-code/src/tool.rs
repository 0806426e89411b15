//! Tool calls: what kind they are, which files they touch, and what they would change.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{Edit, ToolCall, ToolKind};

use crate::record::Block;
use totalrecall_sdk::json::{Entries, List, Text, object};

/// Longest side of an edit that is kept: enough to recognise it and to see it put back.
const EDIT: usize = 4096;

/// Most paths and edits of one call.
const MOST: usize = 256;

/// Kind of a tool, under all the names it has had.
pub(crate) fn kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "ReadMcpResourceTool" | "ListMcpResourcesTool" => ToolKind::Read,
        "Edit" | "MultiEdit" | "NotebookEdit" | "Update" => ToolKind::Edit,
        "Write" => ToolKind::Create,
        // Background shells: BashOutput and KillBash up to 2.0.x, then TaskOutput and TaskStop.
        "Bash" | "PowerShell" | "BashOutput" | "KillBash" | "KillShell" | "TaskOutput" | "TaskStop" | "Monitor" => {
            ToolKind::Execute
        }
        "Grep" | "Glob" | "LS" | "LSP" | "ToolSearch" => ToolKind::Search,
        "WebFetch" | "WebSearch" => ToolKind::Fetch,
        // Task was renamed to Agent in 2.1.63.
        "Task" | "Agent" | "SendMessage" | "Workflow" | "TeamCreate" | "TeamDelete" => ToolKind::Delegate,
        // TodoWrite was replaced by the Task… family in 2.1.1x.
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "EnterPlanMode"
        | "ExitPlanMode" | "exit_plan_mode" => ToolKind::Plan,
        "AskUserQuestion" => ToolKind::Ask,
        _ if name.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// Reads a `tool_use` block.
pub(crate) fn call(block: &Block<'_>, out: &Output) -> ToolCall {
    let name = block.name.as_str();
    let kind = kind(name);
    // An input is an object; whatever else it may be is shown as written.
    let entries: Entries<'_> = decode(block.input);
    let mut call = ToolCall {
        id: block.id.as_str().to_owned(),
        name: name.to_owned(),
        kind,
        paths: paths(&entries, kind),
        command: None,
        edits: edits(&entries, kind),
        input: String::new(),
        omitted: 0,
    };
    if kind == ToolKind::Execute {
        call.command = entries.text("command").map(|command| out.cap(&command).0);
    }
    let shown = if entries.0.is_empty() { block.input.map_or("{}", RawValue::get) } else { "" };
    (call.input, call.omitted) = match shown {
        "" => out.cap(&entries.show()),
        "{}" => (String::new(), 0),
        other => out.cap(other),
    };
    call
}

fn decode<'a, T: Default + Deserialize<'a>>(raw: Option<&'a RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// Files the call is about. Servers of the MCP name their arguments as they like: the usual names are looked for.
fn paths(entries: &Entries<'_>, kind: ToolKind) -> Vec<String> {
    let one: &[&str] = match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Create => &["file_path", "notebook_path", "path"],
        ToolKind::Search => &["path", "filePath", "file_path"],
        ToolKind::Mcp => &[
            "path",
            "file_path",
            "filePath",
            "filepath",
            "relative_path",
            "absolute_path",
            "file",
            "filename",
            "notebook_path",
        ],
        _ => return Vec::new(),
    };
    let mut paths: Vec<String> =
        one.iter().filter_map(|key| entries.text(key)).filter(|path| !path.is_empty()).map(Cow::into_owned).collect();
    if kind == ToolKind::Mcp {
        let several = entries.0.iter().filter(|(key, _)| matches!(key.as_ref(), "paths" | "files" | "file_paths"));
        let listed = several.flat_map(|(_, raw)| decode::<List<Text<'_>>>(Some(raw)).0);
        paths.extend(listed.filter_map(|path| path.0).map(Cow::into_owned));
    }
    paths.truncate(MOST);
    paths
}

object! {
    /// One of several edits (`MultiEdit`, up to 2.0.x).
    pub(crate) struct OneEdit<'a> {
        "old_string" => removed: Text<'a>,
        "new_string" => added: Text<'a>,
    }
}

fn edits(entries: &Entries<'_>, kind: ToolKind) -> Vec<Edit> {
    if !matches!(kind, ToolKind::Edit | ToolKind::Create) {
        return Vec::new();
    }
    let text = |key| entries.text(key);
    let path = text("file_path").or_else(|| text("notebook_path")).unwrap_or_default();
    let edit = |removed: &str, added: &str| Edit {
        path: path.to_string(),
        removed: cap(removed, EDIT).0.into_owned(),
        added: cap(added, EDIT).0.into_owned(),
    };
    if let Some((_, several)) = entries.0.iter().find(|(key, _)| key == "edits") {
        let several = decode::<List<OneEdit<'_>>>(Some(several)).0;
        return several.iter().take(MOST).map(|one| edit(one.removed.as_str(), one.added.as_str())).collect();
    }
    // Edit; NotebookEdit, which does not say what it replaces; Write.
    let added = text("new_string").or_else(|| text("new_source")).or_else(|| text("content"));
    let removed = text("old_string").unwrap_or_default();
    added.map(|added| edit(&removed, &added)).into_iter().collect()
}

/// What has to be remembered of a call until its result comes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Open {
    call: u64,
    /// The response it is part of: calls of one response were made together.
    pub(crate) response: u64,
    pub(crate) kind: ToolKind,
}

/// Calls whose results have not come yet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Calls {
    open: VecDeque<Open>,
}

impl Calls {
    /// Calls that never get a result (the tool was killed) are forgotten after this many others.
    const MOST: usize = 256;

    pub(crate) fn open(&mut self, call: &str, response: &str, kind: ToolKind) {
        if self.open.len() == Self::MOST {
            self.open.pop_front();
        }
        self.open.push_back(Open { call: hash64(call), response: hash64(response), kind });
    }

    pub(crate) fn close(&mut self, call: &str) -> Option<Open> {
        let call = hash64(call);
        let at = self.open.iter().rposition(|open| open.call == call)?;
        self.open.remove(at)
    }
}
