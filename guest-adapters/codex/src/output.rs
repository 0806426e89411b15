//! How a tool call ended.
//!
//! Nothing but the output tells. Up to 0.8x a command's is JSON with its exit code; later a few lines of packaging with the
//! code stand before what the command printed. What the client says itself (a refusal, a patch that does not fit) comes
//! without packaging.

use std::borrow::Cow;

use totalrecall_sdk::json::{List, Raw, Text, object};
use totalrecall_sdk::types::{Status, ToolKind};

use crate::record::{Content, Part};

/// What an output says.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading<'t> {
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
    /// Without packaging.
    pub(crate) text: Cow<'t, str>,
    /// The command goes on in the background, under this number.
    pub(crate) running: Option<u64>,
}

object! {
    /// A command's output up to 0.8x; a patch's for longer.
    struct Structured<'a> {
        "output" => output: Text<'a>,
        "metadata" => metadata: Metadata<'a>,
    }
}

object! {
    struct Metadata<'a> {
        "exit_code" => exit_code: Raw<'a>,
        /// Of the oldest client, which wrote JavaScript.
        "error" => error: Text<'a>,
    }
}

/// What the client says when the person refused: `exec command rejected by user`, `patch rejected by user`, or the bare words
/// within an error of unified exec.
const DENIED: &str = "rejected by user";

/// What it says when a rule did, nobody being asked: the policy for commands or for approvals, a sandbox, a reviewing model, a
/// hook.
const BLOCKED: [&str; 10] = [
    "rejected by user approval settings",
    "rejected: blocked by policy",
    "; reject command",
    "writing is blocked by read-only sandbox",
    "writing outside of the project",
    "This action was rejected due to unacceptable risk",
    "sandbox denied exec error",
    "failed in sandbox",
    "blocked by PreToolUse hook",
    "is blocked by policy",
];

/// How the client's own errors begin, for tools that have no exit code.
const ERRORS: [&str; 14] = [
    "apply_patch verification failed",
    "failed to parse",
    "failed to ",
    "unsupported call",
    "unsupported custom tool call",
    "unsupported payload",
    "execution error",
    "tool call error",
    "err: ",
    "invalid ",
    "unable to ",
    "no agent with id",
    "agent with id",
    "missing field",
];

/// Texts of refusals are short; a long output that mentions one is an output.
const SHORT: usize = 4096;

/// Reads the output of a tool of this kind.
pub(crate) fn read<'t>(output: &'t Content<'_>, kind: ToolKind) -> Reading<'t> {
    let mut reading = match output.text() {
        Cow::Borrowed(text) => read_text(text, kind),
        Cow::Owned(text) => {
            let reading = read_text(&text, kind);
            let text = Cow::Owned(reading.text.into_owned());
            Reading { text, ..reading }
        }
    };
    if output.is_failure() && reading.status == Status::Ok {
        reading.status = Status::Error;
    }
    reading
}

/// Reads the text of an output.
pub(crate) fn read_text(text: &str, kind: ToolKind) -> Reading<'_> {
    if text.starts_with('{')
        && let Ok(structured) = serde_json::from_str::<Structured<'_>>(text)
        && let Some(output) = structured.output.0
    {
        return read_structured(output, &structured.metadata);
    }
    let (packaging, body) = unpack(text);
    let body = without_notes(body);
    let plain = |status| Reading { status, exit_code: packaging.exit_code, text: Cow::Borrowed(body), running: None };
    match packaging {
        Packaging { running: Some(session), .. } => Reading { running: Some(session), ..plain(Status::Ok) },
        Packaging { exit_code: Some(0), .. } => plain(Status::Ok),
        Packaging { exit_code: Some(_), .. } => plain(Status::Error),
        _ => plain(said_by_client(body, kind, text.starts_with("Command: "))),
    }
}

fn read_structured<'t>(output: Cow<'t, str>, metadata: &Metadata<'_>) -> Reading<'t> {
    let exit_code: Option<i32> = metadata.exit_code.and_then(|code| code.get().parse().ok());
    let status = match exit_code {
        Some(0) => Status::Ok,
        Some(_) => Status::Error,
        // The oldest client: the person said no, or its own rules did.
        None if output == "aborted" && metadata.error.get().is_none() => Status::Denied,
        None if metadata.error.get().is_some() => Status::Blocked,
        None => Status::Ok,
    };
    let output = match output {
        Cow::Borrowed(text) => Cow::Borrowed(without_notes(text)),
        Cow::Owned(text) => Cow::Owned(without_notes(&text).to_owned()),
    };
    Reading { status, exit_code, text: output, running: None }
}

/// What stands before an output.
#[derive(Debug, Default, PartialEq)]
struct Packaging {
    exit_code: Option<i32>,
    running: Option<u64>,
}

/// Reads the lines of packaging, and gives what follows them.
fn unpack(text: &str) -> (Packaging, &str) {
    let (mut packaging, mut rest) = (Packaging::default(), text);
    if text.starts_with("Command: ") {
        // The command may have several lines.
        let after = ["\nChunk ID: ", "\nWall time: "].iter().filter_map(|next| text.find(next)).min();
        let Some(after) = after else { return (packaging, text) };
        rest = &text[after + 1..];
    }
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let number = |start: &str| line.strip_prefix(start).map(|number| number.trim());
        if let Some(code) = number("Process exited with code ").or_else(|| number("Exit code: ")) {
            packaging.exit_code = code.parse().ok();
        } else if let Some(session) = number("Process running with session ID ") {
            packaging.running = session.parse().ok();
        } else if line == "Output:" {
            return (packaging, after);
        } else if !["Chunk ID: ", "Wall time", "Original token count: ", "Total output lines: ", "Script "]
            .iter()
            .any(|start| line.starts_with(start))
        {
            break;
        }
        rest = after;
    }
    (packaging, rest)
}

/// The output without the client's notes on how much it cut out.
fn without_notes(text: &str) -> &str {
    let mut rest = text;
    for start in ["Warning: truncated output (", "Total output lines: "] {
        if rest.starts_with(start) {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }
    match rest.len() < text.len() {
        true => rest.strip_prefix('\n').unwrap_or(rest),
        false => text,
    }
}

/// Reads what has no exit code. `quotes` a command: its output was cut in a way that lost the code.
fn said_by_client(text: &str, kind: ToolKind, quotes: bool) -> Status {
    let trimmed = text.trim();
    if trimmed.starts_with("aborted by user") || trimmed == "aborted" {
        return Status::Interrupted;
    }
    let has = |parts: &[&str]| trimmed.len() < SHORT && parts.iter().any(|part| trimmed.contains(part));
    let runs = kind == ToolKind::Execute;
    let edits = matches!(kind, ToolKind::Edit | ToolKind::Create | ToolKind::Delete);
    if runs || edits {
        // What a rule refused mentions the person's settings; so it is looked for first.
        if has(&BLOCKED) {
            return Status::Blocked;
        }
        if has(&[DENIED]) {
            return Status::Denied;
        }
    }
    if trimmed.starts_with("user rejected MCP tool call") || trimmed == "user cancelled MCP tool call" {
        return Status::Denied;
    }
    // A command that ran has an exit code.
    let failed = (runs && !quotes && !trimmed.is_empty()) || ERRORS.iter().any(|start| trimmed.starts_with(start));
    if failed { Status::Error } else { Status::Ok }
}

/// The text of an MCP tool's output, which is written as JSON parts.
pub(crate) fn of_parts(text: &str) -> Option<String> {
    if !text.starts_with("[{") {
        return None;
    }
    let parts: List<Part<'_>> = serde_json::from_str(text).ok()?;
    Some(Content::Parts(parts.0).text().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, kind: ToolKind) -> (Status, Option<i32>, String) {
        let reading = read_text(text, kind);
        (reading.status, reading.exit_code, reading.text.into_owned())
    }

    fn ran(text: &str) -> (Status, Option<i32>, String) {
        told(text, ToolKind::Execute)
    }

    #[test]
    fn packaging_of_every_version() {
        let json = r#"{"output":"a\n","metadata":{"exit_code":1,"duration_seconds":0.1}}"#;
        assert_eq!(ran(json), (Status::Error, Some(1), "a\n".into()));
        let unified =
            "Chunk ID: 12\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\n";
        assert_eq!(ran(&format!("{unified}a\nb")), (Status::Ok, Some(0), "a\nb".into()));
        let quoting = format!("Command: /bin/zsh -lc \"python - <<'PY'\nprint(1)\nPY\"\n{unified}1\n");
        assert_eq!(ran(&quoting), (Status::Ok, Some(0), "1\n".into()));
        let shell = "Exit code: -1\nWall time: 1.2 seconds\nTotal output lines: 9\nOutput:\n";
        assert_eq!(ran(&format!("{shell}x")), (Status::Error, Some(-1), "x".into()));
        let cut = format!("{unified}Total output lines: 4000\n\nline 1\n");
        assert_eq!(ran(&cut), (Status::Ok, Some(0), "line 1\n".into()));
        let running =
            read_text("Wall time: 10.0 seconds\nProcess running with session ID 95602\nOutput:\n", ToolKind::Execute);
        assert_eq!((running.status, running.running), (Status::Ok, Some(95602)));
        // An output that looks like packaging is none after the first line that is not.
        assert_eq!(ran(&format!("{unified}Exit code: 7\n")), (Status::Ok, Some(0), "Exit code: 7\n".into()));
    }

    #[test]
    fn refusals_and_interruptions() {
        for text in ["aborted by user after 2.9s", "Wall time: 4.2 seconds\naborted by user", "aborted"] {
            assert_eq!(ran(text).0, Status::Interrupted, "{text}");
        }
        for text in [
            "exec command rejected by user",
            r#"exec_command failed for `rm -rf x`: CreateProcess { message: "Rejected(\"rejected by user\")" }"#,
            r#"{"output":"aborted","metadata":{}}"#,
        ] {
            assert_eq!(ran(text).0, Status::Denied, "{text}");
        }
        assert_eq!(told("patch rejected by user", ToolKind::Edit).0, Status::Denied);
        for text in [
            "approval policy is Never; reject command — you cannot ask for escalated permissions",
            "`rm -rf /` rejected: blocked by policy",
            r#"{"output":"aborted","metadata":{"error":"command rejected","reason":"…"}}"#,
        ] {
            assert_eq!(ran(text).0, Status::Blocked, "{text}");
        }
        let patch = "patch rejected: writing outside of the project; rejected by user approval settings";
        assert_eq!(told(patch, ToolKind::Edit).0, Status::Blocked);
        assert_eq!(told("apply_patch verification failed: no such line", ToolKind::Edit).0, Status::Error);
        assert_eq!(told("Plan updated", ToolKind::Plan).0, Status::Ok);
        assert_eq!(told("failed to parse function arguments: x", ToolKind::Plan).0, Status::Error);
        assert_eq!(ran("write_stdin failed: Unknown process id 7").0, Status::Error);
    }

    #[test]
    fn failures_that_are_said_outright() {
        let content: Content<'_> = serde_json::from_str(r#"{"content":"no","success":false}"#).unwrap();
        assert_eq!(read(&content, ToolKind::Other).status, Status::Error);
        let content: Content<'_> = serde_json::from_str(
            r#"[{"type":"input_text","text":"Exit code: 2\nOutput:\n"},{"type":"input_text","text":"x"}]"#,
        )
        .unwrap();
        let reading = read(&content, ToolKind::Execute);
        assert_eq!((reading.status, reading.exit_code, reading.text.as_ref()), (Status::Error, Some(2), "x"));
    }
}
