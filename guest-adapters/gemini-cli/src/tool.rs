//! Tool calls: what kind they are, which files they touch, and what they would change.

use std::borrow::Cow;

use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::json::{Entries, List, Text};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{Edit, ToolCall, ToolKind};

/// Longest side of an edit that is kept: enough to recognise it and to see it put back.
const EDIT: usize = 4096;

/// Most paths of one call.
const MOST: usize = 256;

/// Kind of a tool, under all the names it has had.
pub(crate) fn kind(name: &str) -> ToolKind {
    match name {
        "read_file" | "read_many_files" | "read_mcp_resource" | "list_mcp_resources" | "get_internal_docs" => {
            ToolKind::Read
        }
        "replace" | "edit" => ToolKind::Edit,
        "write_file" => ToolKind::Create,
        "run_shell_command" | "list_background_processes" | "read_background_output" => ToolKind::Execute,
        // search_file_content was renamed to grep_search in 0.2x.
        "grep_search" | "search_file_content" | "glob" | "list_directory" => ToolKind::Search,
        "web_fetch" | "google_web_search" => ToolKind::Fetch,
        "invoke_agent"
        | "delegate_to_agent"
        | "codebase_investigator"
        | "cli_help"
        | "generalist_agent"
        | "generalist" => ToolKind::Delegate,
        "write_todos" | "enter_plan_mode" | "exit_plan_mode" | "update_topic" => ToolKind::Plan,
        "ask_user" => ToolKind::Ask,
        _ if name.starts_with("tracker_") => ToolKind::Plan,
        // `mcp_server_tool`; `server__tool` before 0.3x.
        _ if name.starts_with("mcp_") || name.contains("__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// Reads a call.
pub(crate) fn call(id: &str, name: &str, args: &Entries<'_>, out: &Output) -> ToolCall {
    let kind = kind(name);
    let (input, omitted) = out.cap(&args.show());
    let command = (kind == ToolKind::Execute).then(|| args.text("command")).flatten();
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        paths: paths(args, kind),
        command: command.map(|command| out.cap(&command).0),
        edits: edits(args, kind),
        input,
        omitted,
    }
}

/// Files the call is about. `absolute_path` became `file_path` in 0.14.
fn paths(args: &Entries<'_>, kind: ToolKind) -> Vec<String> {
    let one: &[&str] = match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Create => &["file_path", "absolute_path", "path"],
        ToolKind::Search => &["dir_path", "path"],
        ToolKind::Mcp => &["path", "file_path", "filePath", "relative_path", "absolute_path", "file", "filename"],
        _ => return Vec::new(),
    };
    let found = one.iter().filter_map(|key| args.text(key));
    let mut paths: Vec<String> = found.filter(|path| !path.is_empty()).map(Cow::into_owned).collect();
    if kind == ToolKind::Read {
        let several = args.0.iter().filter(|(key, _)| matches!(key.as_ref(), "paths" | "include"));
        let listed =
            several.flat_map(|(_, raw)| serde_json::from_str::<List<Text<'_>>>(raw.get()).unwrap_or_default().0);
        paths.extend(listed.filter_map(|path| path.0).map(Cow::into_owned));
    }
    paths.truncate(MOST);
    paths
}

fn edits(args: &Entries<'_>, kind: ToolKind) -> Vec<Edit> {
    let added = match kind {
        ToolKind::Edit => args.text("new_string"),
        ToolKind::Create => args.text("content"),
        _ => None,
    };
    let Some(added) = added else { return Vec::new() };
    let short = |text: &str| cap(text, EDIT).0.into_owned();
    vec![Edit {
        path: args.text("file_path").unwrap_or_default().into_owned(),
        removed: short(&args.text("old_string").filter(|_| kind == ToolKind::Edit).unwrap_or_default()),
        added: short(&added),
    }]
}
