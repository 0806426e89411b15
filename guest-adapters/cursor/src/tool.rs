//! Tool calls and how they ended: `toolFormerData`.

use std::borrow::Cow;

use serde_json::value::RawValue;
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::json::{Entries, Flag, Number, Raw, Text, object};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{Edit, Status, ToolCall, ToolKind, ToolResult};

/// Longest side of an edit that is kept: enough to recognise it and to see it put back.
const EDIT: usize = 4096;

object! {
    /// A call. `rawArgs`, `params`, `result` and `error` are JSON in a text, in some versions JSON.
    pub(crate) struct Tool<'a> {
        /// The tool's number, where its name is missing.
        "tool" => number: Number,
        "name" => name: Text<'a>,
        "toolCallId" => id: Text<'a>,
        /// loading, completed, cancelled, error.
        "status" => status: Text<'a>,
        /// As the model gave them.
        "rawArgs" => raw: Raw<'a>,
        /// As the editor made of them.
        "params" => params: Raw<'a>,
        "result" => result: Raw<'a>,
        "error" => error: Raw<'a>,
        /// accepted, rejected.
        "userDecision" => decision: Text<'a>,
        "additionalData" => additional: Additional<'a>,
    }
}

object! {
    /// What the editor notes of a call.
    pub(crate) struct Additional<'a> {
        "userDecision" => decision: Text<'a>,
    }
}

object! {
    /// What a command gives, and what other tools say when they fail.
    struct Outcome<'a> {
        "output" => output: Text<'a>,
        "contents" => contents: Text<'a>,
        "rejected" => rejected: Flag,
        "exitCodeV2" => code: Raw<'a>,
        /// Written when it is not zero only.
        "exitCode" => old_code: Raw<'a>,
        "endedReason" => ended: Text<'a>,
        "notInterrupted" => not_interrupted: Raw<'a>,
        "error" => error: Raw<'a>,
        "modelVisibleErrorMessage" => for_model: Text<'a>,
        "clientVisibleErrorMessage" => for_person: Text<'a>,
        "message" => message: Text<'a>,
    }
}

impl Tool<'_> {
    /// Messages of the person may carry a stub, for which nothing ran.
    pub(crate) fn is_call(&self) -> bool {
        self.name.get().is_some() || self.id.get().is_some()
    }

    fn name(&self) -> Cow<'_, str> {
        match (self.name.get(), self.number.0) {
            (Some(name), _) => Cow::Borrowed(name),
            (None, Some(number)) => match number {
                3 | 41 => "grep".into(),
                5 | 40 => "read_file".into(),
                6 | 39 => "list_dir".into(),
                7 | 38 => "edit_file".into(),
                8 | 42 => "file_search".into(),
                9 => "codebase_search".into(),
                15 => "run_terminal_cmd".into(),
                other => format!("tool {other}").into(),
            },
            (None, None) => "tool".into(),
        }
    }
}

/// Kind of a tool, under all the names it has had; `_v2` is the same tool again.
pub(crate) fn kind(name: &str) -> ToolKind {
    match name.strip_suffix("_v2").unwrap_or(name) {
        "read_file" | "read" | "Read" | "read_chunk" | "read_lints" | "ReadLints" | "fetch_rules" | "read_project" => {
            ToolKind::Read
        }
        "edit_file" | "search_replace" | "StrReplace" | "MultiEdit" | "multi_edit" | "edit" | "Edit" | "reapply"
        | "apply_patch" | "ApplyPatch" | "edit_notebook" | "EditNotebook" | "new_edit" | "fix_lints" => ToolKind::Edit,
        "write" | "Write" | "create_file" | "new_file" | "save_file" => ToolKind::Create,
        "delete_file" | "Delete" | "delete" => ToolKind::Delete,
        "run_terminal_cmd"
        | "run_terminal_command"
        | "run_terminal_commands"
        | "Shell"
        | "shell"
        | "run_test"
        | "write_shell_stdin" => ToolKind::Execute,
        "grep"
        | "Grep"
        | "grep_search"
        | "ripgrep_search"
        | "ripgrep_raw_search"
        | "rg"
        | "file_search"
        | "glob_file_search"
        | "Glob"
        | "glob"
        | "codebase_search"
        | "SemanticSearch"
        | "semantic_search"
        | "semantic_search_full"
        | "search"
        | "search_symbols"
        | "list_dir"
        | "LS"
        | "ls"
        | "gotodef" => ToolKind::Search,
        "web_search" | "WebSearch" | "web_fetch" | "WebFetch" | "fetch" | "fetch_pull_request" => ToolKind::Fetch,
        "task" | "Task" | "task_subagent" | "spec_subagent" => ToolKind::Delegate,
        "todo_write" | "TodoWrite" | "todo_read" | "update_todos" | "create_plan" | "CreatePlan" | "switch_mode"
        | "SwitchMode" => ToolKind::Plan,
        "ask_question" | "AskQuestion" => ToolKind::Ask,
        "call_mcp_tool" | "CallMcpTool" | "list_mcp_resources" | "read_mcp_resource" | "mcp" => ToolKind::Mcp,
        name if name.starts_with("mcp_") || name.starts_with("mcp-") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// JSON that may stand in a text.
fn unwrapped(raw: Raw<'_>) -> Cow<'_, str> {
    let Some(raw) = raw.map(RawValue::get) else { return Cow::Borrowed("") };
    match serde_json::from_str::<Text<'_>>(raw).unwrap_or_default().0 {
        Some(text) => text,
        None => Cow::Borrowed(raw),
    }
}

/// Reads a call.
pub(crate) fn call(tool: &Tool<'_>, id: &str, out: &Output) -> ToolCall {
    let name = tool.name();
    let kind = kind(&name);
    let (raw, params) = (unwrapped(tool.raw), unwrapped(tool.params));
    let raw: Entries<'_> = serde_json::from_str(&raw).unwrap_or_default();
    let params: Entries<'_> = serde_json::from_str(&params).unwrap_or_default();
    let text = |keys: &[&str]| {
        let found = |entries: &Entries<'_>| keys.iter().find_map(|key| entries.text(key)).map(Cow::into_owned);
        found(&raw).or_else(|| found(&params)).filter(|text| !text.is_empty())
    };
    let path = match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Create | ToolKind::Delete => text(&PATHS),
        ToolKind::Search => text(&["path", "target_directory", "targetDirectory"]),
        ToolKind::Mcp => text(&["path", "file_path", "filePath"]),
        _ => None,
    };
    let shown = if raw.0.is_empty() { &params } else { &raw };
    let (input, omitted) = out.cap(&shown.show());
    ToolCall {
        id: id.to_owned(),
        name: name.into_owned(),
        kind,
        edits: edits(kind, path.as_deref(), &raw, &params),
        paths: path.into_iter().collect(),
        command: text(&["command"]).filter(|_| kind == ToolKind::Execute).map(|command| out.cap(&command).0),
        input,
        omitted,
    }
}

/// Under which names tools are given a file.
const PATHS: [&str; 7] =
    ["file_path", "target_file", "targetFile", "relativeWorkspacePath", "path", "target_notebook", "filePath"];

/// The edit of a call that says what it replaces, or writes all of a file.
fn edits(kind: ToolKind, path: Option<&str>, raw: &Entries<'_>, params: &Entries<'_>) -> Vec<Edit> {
    let Some(path) = path else { return Vec::new() };
    let text = |keys: &[&str]| keys.iter().find_map(|key| raw.text(key).or_else(|| params.text(key)));
    let sides = match kind {
        ToolKind::Edit => text(&["old_string", "oldString"]).zip(text(&["new_string", "newString"])),
        ToolKind::Create => text(&["contents", "content"]).map(|added| (Cow::Borrowed(""), added)),
        _ => None,
    };
    let short = |text: &str| cap(text, EDIT).0.into_owned();
    let edit = |(removed, added): (Cow<'_, str>, Cow<'_, str>)| Edit {
        path: path.to_owned(),
        removed: short(&removed),
        added: short(&added),
    };
    sides.map(edit).into_iter().collect()
}

/// Reads how a call ended; none while it runs, or if the editor was closed on it.
pub(crate) fn result(tool: &Tool<'_>, id: &str, kind: ToolKind, out: &Output) -> Option<ToolResult> {
    let (result, error) = (unwrapped(tool.result), unwrapped(tool.error));
    let outcome: Outcome<'_> = serde_json::from_str(&result).unwrap_or_default();
    let number = |raw: Raw<'_>| raw.and_then(|raw| raw.get().parse::<i32>().ok());
    let code = number(outcome.code).or_else(|| number(outcome.old_code)).filter(|_| kind == ToolKind::Execute);
    let refused = [&tool.decision, &tool.additional.decision].iter().any(|it| it.as_str() == "rejected");
    let cut =
        outcome.ended.as_str().ends_with("ABORTED") || outcome.not_interrupted.is_some_and(|raw| raw.get() == "false");
    let failure = failure(&error).or_else(|| outcome.error.and_then(|raw| failure(raw.get())));
    let status = match tool.status.as_str() {
        _ if refused || outcome.rejected.0 => Status::Denied,
        "cancelled" => Status::Interrupted,
        "error" => Status::Error,
        "completed" => Status::Ok,
        // Without a status, but with a result: old versions.
        "" if tool.result.is_some() => Status::Ok,
        _ => return None,
    };
    let status = match status {
        Status::Ok if kind == ToolKind::Execute && cut => Status::Interrupted,
        Status::Ok if failure.is_some() || code.is_some_and(|code| code != 0) => Status::Error,
        status => status,
    };
    let said = match (status, failure, outcome.output.0.or(outcome.contents.0)) {
        (Status::Error, Some(failure), None) => failure,
        (_, _, Some(output)) => output.trim_end().to_owned(),
        (Status::Denied | Status::Interrupted, failure, None) => failure.unwrap_or_default(),
        (_, failure, None) => failure.unwrap_or_else(|| result.trim().to_owned()),
    };
    let (text, omitted) = out.cap(&said);
    Some(ToolResult { call: id.to_owned(), status, exit_code: code, text, omitted, words: None, amended: false })
}

/// The message of an error, which may be wrapped in others of its kind.
fn failure(json: &str) -> Option<String> {
    let mut json = Cow::Borrowed(json);
    // No more than are ever wrapped.
    for _ in 0..8 {
        if let Some(text) = serde_json::from_str::<Text<'_>>(&json).ok().and_then(|text| text.0) {
            return Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        if !json.starts_with('{') {
            // A text that is no JSON; `null`, `false` and the like say nothing.
            let word = json.trim();
            return (word.len() > 5).then(|| word.to_owned());
        }
        let outcome: Outcome<'_> = serde_json::from_str(&json).ok()?;
        let told = [&outcome.for_model, &outcome.for_person, &outcome.message].into_iter().find_map(Text::get);
        if let Some(told) = told {
            return Some(told.trim().to_owned());
        }
        let inner = outcome.error?.get().to_owned();
        json = Cow::Owned(inner);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_errors() {
        assert_eq!(failure(r#"{"modelVisibleErrorMessage":"no file","x":1}"#).as_deref(), Some("no file"));
        assert_eq!(failure(r#"{"error":{"error":{"message":"deep"}}}"#).as_deref(), Some("deep"));
        assert_eq!(failure(r#"{"error":"flat"}"#).as_deref(), Some("flat"));
        assert_eq!(failure("plain text").as_deref(), Some("plain text"));
        assert_eq!((failure("null"), failure("{}"), failure("\"\""), failure("")), (None, None, None, None));
        let deep = format!("{}1{}", r#"{"error":"#.repeat(20), "}".repeat(20));
        assert_eq!(failure(&deep), None);
    }

    #[test]
    fn kinds_of_all_ages() {
        assert_eq!(kind("run_terminal_command_v2"), ToolKind::Execute);
        assert_eq!((kind("edit_file_v2"), kind("search_replace")), (ToolKind::Edit, ToolKind::Edit));
        assert_eq!((kind("mcp-github-get_issue"), kind("future")), (ToolKind::Mcp, ToolKind::Other));
    }
}
