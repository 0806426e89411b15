//! Tool calls: what kind they are, which files they touch, and what they would change.

use std::borrow::Cow;

use serde_json::value::RawValue;
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::json::{Entries, List, Raw, Text, object};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{Edit, ToolCall, ToolKind};

use crate::patch;
use crate::record::decode;

/// Longest side of an edit that is kept: enough to recognise it and to see it put back.
const EDIT: usize = 4096;

/// Most paths and edits of one call.
const MOST: usize = 256;

/// What the tool calls one whose name or input it could not make sense of.
pub(crate) const INVALID: &str = "invalid";

/// Kind of a tool.
pub(crate) fn kind(name: &str) -> ToolKind {
    match name {
        "read" => ToolKind::Read,
        // `patch` up to 0.x, `multiedit` where a model or the person asks for it.
        "edit" | "multiedit" | "patch" | "apply_patch" => ToolKind::Edit,
        "write" => ToolKind::Create,
        "bash" | "shell" => ToolKind::Execute,
        "grep" | "glob" | "list" | "lsp" | "lsp_hover" | "lsp_diagnostics" | "lsp_symbols" => ToolKind::Search,
        "webfetch" | "websearch" | "codesearch" => ToolKind::Fetch,
        "task" | "task_status" => ToolKind::Delegate,
        "todowrite" | "todoread" | "plan_enter" | "plan_exit" => ToolKind::Plan,
        "question" => ToolKind::Ask,
        INVALID | "skill" | "batch" | "StructuredOutput" => ToolKind::Other,
        // Tools of a server are called `<server>_<tool>`; plugins may name theirs alike.
        _ if name.contains('_') => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// Reads a call. Its id is left to the caller.
pub(crate) fn call(name: &str, input: Raw<'_>, out: &Output) -> ToolCall {
    // An input is an object; whatever else it may be is shown as written.
    let entries: Entries<'_> = decode(input);
    // The call went to `invalid` instead of the tool that was meant.
    let meant = if name == INVALID { entries.text("tool").filter(|tool| !tool.is_empty()) } else { None };
    let name = meant.as_deref().unwrap_or(name);
    let kind = kind(name);
    let patch = if kind == ToolKind::Edit { patch_text(&entries) } else { None };
    let edits = match &patch {
        Some(patch) => patch::edits(patch, MOST),
        None => edits(&entries, kind),
    };
    let paths = match &patch {
        Some(patch) => patch::paths(patch, MOST),
        None => paths(&entries, kind),
    };
    let shown = match input.map_or("{}", RawValue::get) {
        "{}" | "null" => Cow::Borrowed(""),
        raw if entries.0.is_empty() => Cow::Borrowed(raw),
        _ => Cow::Owned(entries.show()),
    };
    let (input, omitted) = out.cap(&shown);
    let command = if kind == ToolKind::Execute { entries.text("command") } else { None };
    ToolCall {
        id: String::new(),
        name: name.to_owned(),
        kind,
        paths,
        command: command.map(|command| out.cap(&command).0),
        edits: edits.into_iter().map(capped).collect(),
        input,
        omitted,
    }
}

fn patch_text<'a>(entries: &Entries<'a>) -> Option<Cow<'a, str>> {
    entries.text("patchText").or_else(|| entries.text("patch"))
}

/// Files the call is about. Servers of the MCP name their arguments as they like: the usual names are looked for.
fn paths(entries: &Entries<'_>, kind: ToolKind) -> Vec<String> {
    let keys: &[&str] = match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Create => &["filePath", "file_path", "path"],
        ToolKind::Search => &["path", "filePath"],
        ToolKind::Mcp => &["path", "file_path", "filePath", "filepath", "relative_path", "absolute_path", "filename"],
        _ => return Vec::new(),
    };
    let named = keys.iter().filter_map(|key| entries.text(key)).filter(|path| !path.is_empty());
    let mut paths: Vec<String> = named.map(Cow::into_owned).collect();
    if kind == ToolKind::Mcp {
        let several = entries.0.iter().filter(|(key, _)| matches!(key.as_ref(), "paths" | "files" | "file_paths"));
        let listed = several.flat_map(|(_, raw)| decode::<List<Text<'_>>>(Some(raw)).0);
        paths.extend(listed.filter_map(|path| path.0).map(Cow::into_owned));
    }
    paths.truncate(MOST);
    paths
}

object! {
    /// One of the edits of a `multiedit`.
    pub(crate) struct OneEdit<'a> {
        "oldString" => removed: Text<'a>,
        "newString" => added: Text<'a>,
    }
}

fn edits(entries: &Entries<'_>, kind: ToolKind) -> Vec<Edit> {
    if !matches!(kind, ToolKind::Edit | ToolKind::Create) {
        return Vec::new();
    }
    let path = entries.text("filePath").unwrap_or_default();
    let edit = |removed: &str, added: &str| Edit {
        path: path.to_string(),
        removed: removed.to_owned(),
        added: added.to_owned(),
    };
    if let Some((_, several)) = entries.0.iter().find(|(key, _)| key == "edits") {
        let several = decode::<List<OneEdit<'_>>>(Some(several)).0;
        return several.iter().take(MOST).map(|one| edit(one.removed.as_str(), one.added.as_str())).collect();
    }
    let added = entries.text("newString").or_else(|| entries.text("content"));
    let removed = entries.text("oldString").unwrap_or_default();
    added.map(|added| edit(&removed, &added)).into_iter().collect()
}

fn capped(edit: Edit) -> Edit {
    let within = |text: String| if text.len() > EDIT { cap(&text, EDIT).0.into_owned() } else { text };
    Edit { path: edit.path, removed: within(edit.removed), added: within(edit.added) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_servers_are_told_by_their_names() {
        assert_eq!(kind("github_get_issue"), ToolKind::Mcp);
        assert_eq!(kind("apply_patch"), ToolKind::Edit);
        assert_eq!(kind("mytool"), ToolKind::Other);
    }
}
