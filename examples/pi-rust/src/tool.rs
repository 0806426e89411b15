//! Tool calls and their results.

use serde::Deserialize;
use serde_json::value::RawValue;
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::json::{Entries, List, Text, object};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{Edit, Status, ToolCall, ToolKind, ToolResult};

use crate::record::{Part, Said, decode, text};

/// Longest side of an edit that is kept: enough to recognise it, and to see it put back.
const EDIT: usize = 4096;

/// Most edits of one call.
const EDITS: usize = 256;

object! {
    /// Arguments of pi's own tools.
    struct Arguments<'a> {
        "path" => path: Text<'a>,
        "command" => command: Text<'a>,
        // `write`
        "content" => content: Text<'a>,
        // `edit`: one replacement, newer versions take several.
        "oldText" => removed: Text<'a>,
        "newText" => added: Text<'a>,
        "edits" => edits: List<Replacement<'a>>,
    }
}

object! {
    /// One of the replacements of `edit`.
    struct Replacement<'a> {
        "oldText" => removed: Text<'a>,
        "newText" => added: Text<'a>,
    }
}

/// Kind of a tool. Extensions may add any.
fn kind(name: &str) -> ToolKind {
    match name {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "write" => ToolKind::Create,
        "bash" => ToolKind::Execute,
        "grep" | "find" | "ls" => ToolKind::Search,
        _ => ToolKind::Other,
    }
}

/// A call of a tool.
pub(crate) fn call(part: &Part<'_>, out: &Output) -> ToolCall {
    let name = part.name.as_str();
    let arguments: Arguments<'_> = decode(part.arguments);
    let kind = kind(name);
    let (input, omitted) = out.cap(&show(part.arguments));
    ToolCall {
        id: part.id.as_str().to_owned(),
        name: name.to_owned(),
        kind,
        paths: arguments.path.get().map(str::to_owned).into_iter().collect(),
        command: match kind {
            ToolKind::Execute => arguments.command.get().map(|command| out.cap(command).0),
            _ => None,
        },
        edits: edits(kind, &arguments),
        input,
        omitted,
    }
}

fn edits(kind: ToolKind, arguments: &Arguments<'_>) -> Vec<Edit> {
    let edit = |removed: &Text<'_>, added: &Text<'_>| Edit {
        path: arguments.path.as_str().to_owned(),
        removed: cap(removed.as_str(), EDIT).0.into_owned(),
        added: cap(added.as_str(), EDIT).0.into_owned(),
    };
    match kind {
        ToolKind::Create => vec![edit(&Text::default(), &arguments.content)],
        ToolKind::Edit if arguments.edits.0.is_empty() => vec![edit(&arguments.removed, &arguments.added)],
        ToolKind::Edit => arguments.edits.0.iter().take(EDITS).map(|one| edit(&one.removed, &one.added)).collect(),
        _ => Vec::new(),
    }
}

/// Arguments for reading and comparing: `key: value` lines as written, strings without quotes and escapes.
fn show(arguments: Option<&RawValue>) -> String {
    let entries: Entries<'_> = decode(arguments);
    let lines = entries.0.iter().map(|(key, value)| match Text::deserialize(*value) {
        Ok(Text(Some(text))) => format!("{key}: {text}"),
        _ => format!("{key}: {}", value.get()),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What became of a call.
pub(crate) fn result(said: &Said<'_>, out: &Output) -> ToolResult {
    let whole = text(said.content);
    let (bare, ended) = ending(&whole);
    let (status, exit_code) = match (said.failed.0, ended) {
        (_, Some(Ended::Aborted)) => (Status::Interrupted, None),
        (true, Some(Ended::With(code))) => (Status::Error, Some(code)),
        (true, None) => (Status::Error, None),
        // A command that fails is an error to pi.
        (false, _) => (Status::Ok, (said.tool.as_str() == "bash").then_some(0)),
    };
    let shown = if said.failed.0 { bare } else { whole.as_ref() };
    let (text, omitted) = out.cap(shown);
    let call = said.call.as_str().to_owned();
    ToolResult { call, status, exit_code, text, omitted, words: None, amended: false }
}

/// How a command ended if it did not end well.
enum Ended {
    With(i32),
    Aborted,
}

/// Takes off the line that pi puts below the output of a command that failed.
fn ending(text: &str) -> (&str, Option<Ended>) {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let ended = match last.trim() {
        "Command aborted" | "Operation aborted" => Some(Ended::Aborted),
        last => last.strip_prefix("Command exited with code ").and_then(|code| code.parse().ok()).map(Ended::With),
    };
    let bare = before.trim_end();
    match ended {
        Some(ended) => (if bare == "(no output)" { "" } else { bare }, Some(ended)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_told_from_output() {
        let told = |text| match ending(text) {
            (bare, Some(Ended::With(code))) => format!("{bare}|{code}"),
            (bare, Some(Ended::Aborted)) => format!("{bare}|aborted"),
            (bare, None) => format!("{bare}|"),
        };
        assert_eq!(told("no such file\n\n\nCommand exited with code 3"), "no such file|3");
        assert_eq!(told("Command exited with code 1"), "|1");
        assert_eq!(told("(no output)\n\nCommand exited with code 1"), "|1");
        assert_eq!(told("half\n\nCommand aborted"), "half|aborted");
        assert_eq!(told("Command exited with code x"), "Command exited with code x|");
    }
}
