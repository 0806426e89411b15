//! How tool calls ended.
//!
//! The `status` says success for a shell command whatever it returned: its exit code stands in the text. `cancelled` is a
//! refusal or an interruption, which only the words tell apart, and they have changed.

use std::borrow::Cow;

use totalrecall_sdk::json::{Entries, Raw, Text};
use totalrecall_sdk::types::{Status, ToolKind};

use crate::record::{Part, Response, parts};

/// How a call ended, read from its text.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
    pub(crate) text: String,
    pub(crate) words: Option<String>,
    pub(crate) amended: bool,
}

/// How a call ended, as the client tells it.
pub(crate) struct Told<'a> {
    pub(crate) kind: ToolKind,
    /// Empty where only the model's side of it is there.
    pub(crate) status: &'a str,
    pub(crate) text: &'a str,
    /// The answer is an error.
    pub(crate) error: bool,
}

/// What a call was answered: the text, and whether it is an error. After a resume a call's result holds the answers of all
/// the calls made with it: the one with its id counts.
pub(crate) fn answer(result: Raw<'_>, call: &str, shown: Raw<'_>) -> (String, bool) {
    let parts = parts(result);
    let theirs = |part: &&Part<'_>| part.response.id.get().is_some_and(|id| id != call);
    let shared = parts.iter().any(|part| theirs(&part));
    let (mut text, mut error) = (String::new(), false);
    for part in parts.iter().filter(|part| !theirs(part)) {
        let (said, failed) = match part.response.response {
            Some(_) => response(part),
            None if shared => continue,
            None => (Cow::Borrowed(part.text.as_str()), false),
        };
        if !said.is_empty() && !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&said);
        error |= failed;
    }
    if text.is_empty() {
        // A result that the model never got: what the person saw.
        let shown: Option<Text<'_>> = shown.and_then(|raw| serde_json::from_str(raw.get()).ok());
        text.push_str(shown.unwrap_or_default().as_str());
    }
    (text, error)
}

/// The text of one answer, and whether it is an error.
pub(crate) fn response<'p>(part: &'p Part<'_>) -> (Cow<'p, str>, bool) {
    let Some(raw) = part.response.response else { return (Cow::Borrowed(""), false) };
    let response: Response<'p> = serde_json::from_str(raw.get()).unwrap_or_default();
    match (response.error.0, response.output.0) {
        (Some(error), _) => (error, true),
        (None, Some(output)) => (output, false),
        (None, None) => (Cow::Borrowed(raw.get()), false),
    }
}

/// How a refusal by the person reads: since 0.30; before; and up to 0.1x.
const REFUSED: [&str; 3] = ["User denied execution", "User did not allow tool call", "User cancelled the operation"];

/// How a refusal by a rule or a hook begins.
const BLOCKED: [&str; 2] = ["Tool execution denied by policy", "Tool execution blocked"];

/// Reads how a call ended.
pub(crate) fn read(told: &Told<'_>) -> Reading {
    let text = told.text.trim();
    let mut reading = Reading { status: Status::Ok, exit_code: None, text: String::new(), words: None, amended: false };
    let bare = text.strip_prefix("[Operation Cancelled]").map_or(text, str::trim_start);
    let bare = bare.strip_prefix("Reason: ").unwrap_or(bare);
    if told.status == "cancelled" || (told.error && bare.len() < text.len()) {
        let refused = REFUSED.iter().any(|words| bare.starts_with(words));
        reading.status = if refused { Status::Denied } else { Status::Interrupted };
        reading.text = bare.to_owned();
        return reading;
    }
    if told.error || told.status == "error" {
        let blocked = BLOCKED.iter().any(|words| text.starts_with(words));
        reading.status = if blocked { Status::Blocked } else { Status::Error };
        reading.text = text.to_owned();
        return reading;
    }
    match told.kind {
        ToolKind::Execute => shell(text, &mut reading),
        ToolKind::Plan if text.starts_with("Plan rejected") => {
            reading.status = Status::Denied;
            let words = text.split_once("User feedback: ").map(|(_, words)| words);
            let words = words.map(|words| words.split("\n\nThe plan is stored").next().unwrap_or(words));
            reading.words = words.map(|words| words.trim().trim_matches('"').to_owned()).filter(|it| !it.is_empty());
            text.clone_into(&mut reading.text);
        }
        ToolKind::Ask if text.starts_with("User dismissed") => {
            reading.status = Status::Denied;
            text.clone_into(&mut reading.text);
        }
        kind => {
            reading.amended = matches!(kind, ToolKind::Edit | ToolKind::Create) && text.contains("User modified the `");
            text.clone_into(&mut reading.text);
        }
    }
    reading
}

/// Lines that a shell's answer ends with.
const TAIL: [&str; 5] = ["Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ", "Error: (none)"];

/// Reads a shell's answer: `Output: …`, framed by what the command was (up to 0.2x) and by how it ended, within
/// `<untrusted_context>` (since 0.3x).
fn shell(text: &str, reading: &mut Reading) {
    if text.starts_with("Command was cancelled by user") {
        reading.status = Status::Interrupted;
    } else if text.starts_with("Command was automatically cancelled") {
        reading.status = Status::Error;
    }
    let inner = text.split_once("<untrusted_context>\n").map_or(text, |(_, inner)| inner);
    let inner = inner.strip_suffix("</untrusted_context>").unwrap_or(inner).trim_end();
    let output = match inner.strip_prefix("Output: ") {
        None if !inner.starts_with("Command: ") => inner,
        None => without_tail(inner.split_once("\nOutput: ").map_or(inner, |(_, output)| output), reading),
        Some(output) => without_tail(output, reading),
    };
    if reading.exit_code.is_some_and(|code| code != 0) && reading.status == Status::Ok {
        reading.status = Status::Error;
    }
    reading.text = if output == "(empty)" { String::new() } else { output.to_owned() };
}

/// The output without the lines that say how the command ended, which are read.
fn without_tail<'t>(mut output: &'t str, reading: &mut Reading) -> &'t str {
    loop {
        let last = output.rfind('\n').map_or(0, |at| at + 1);
        let line = output[last..].trim_end();
        let Some(mark) = TAIL.iter().find(|mark| line.starts_with(**mark)) else { return output };
        let value = &line[mark.len()..];
        match *mark {
            "Exit Code: " => reading.exit_code = value.parse().ok(),
            "Signal: " if !matches!(value, "0" | "(none)") && reading.status == Status::Ok => {
                reading.status = Status::Error;
            }
            _ => {}
        }
        output = output[..last].trim_end();
        if last == 0 {
            return output;
        }
    }
}

/// The answers of `{"answers":{"0":"…"}}`, on lines of their own.
pub(crate) fn answers(text: &str) -> String {
    let given: Entries<'_> = serde_json::from_str(text).unwrap_or_default();
    let Some((_, raw)) = given.0.iter().find(|(key, _)| key == "answers") else { return String::new() };
    let each: Entries<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let texts = each.0.iter().filter_map(|(_, raw)| serde_json::from_str::<Text<'_>>(raw.get()).ok()?.0);
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: ToolKind, status: &str, text: &str, error: bool) -> Reading {
        read(&Told { kind, status, text, error })
    }

    #[test]
    fn shells_of_all_ages() {
        let new = "<untrusted_context>\nOutput: cat: x: No such file\nExit Code: 3\nProcess Group PGID: 9056\n</untrusted_context>";
        let old = "Command: ls\nDirectory: (root)\nOutput: cat: x: No such file\nError: (none)\nExit Code: 3\nSignal: 0\n\
                   Background PIDs: (none)\nProcess Group PGID: 2";
        for text in [new, old] {
            let reading = told(ToolKind::Execute, "success", text, false);
            assert_eq!((reading.status, reading.exit_code), (Status::Error, Some(3)), "{text}");
            assert_eq!(reading.text, "cat: x: No such file");
        }
        let quiet = told(
            ToolKind::Execute,
            "success",
            "Command: rm x\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 27431",
            false,
        );
        assert_eq!((quiet.status, quiet.exit_code, quiet.text.as_str()), (Status::Ok, Some(0), ""));
        let killed = told(
            ToolKind::Execute,
            "success",
            "Command: x\nOutput: a\nExit Code: (none)\nSignal: 9\nProcess Group PGID: 2",
            false,
        );
        assert_eq!((killed.status, killed.exit_code, killed.text.as_str()), (Status::Error, None, "a"));
        // What a command printed is no frame.
        let printed = told(
            ToolKind::Execute,
            "success",
            "<untrusted_context>\nOutput: Exit Code: 4\nx\nProcess Group PGID: 1\n</untrusted_context>",
            false,
        );
        assert_eq!((printed.status, printed.text.as_str()), (Status::Ok, "Exit Code: 4\nx"));
        let stopped =
            told(ToolKind::Execute, "success", "Command was cancelled by user before it could complete.", false);
        assert_eq!(stopped.status, Status::Interrupted);
    }

    #[test]
    fn refusals_and_interruptions() {
        let status = |text| told(ToolKind::Edit, "cancelled", text, true).status;
        assert_eq!(status("[Operation Cancelled] Reason: User denied execution."), Status::Denied);
        assert_eq!(status("[Operation Cancelled] Reason: User did not allow tool call"), Status::Denied);
        assert_eq!(status("[Operation Cancelled] Reason: User cancelled the operation."), Status::Denied);
        assert_eq!(status("[Operation Cancelled] Reason: User cancelled operation"), Status::Interrupted);
        assert_eq!(status("[Operation Cancelled] User cancelled tool execution."), Status::Interrupted);
        assert_eq!(status(""), Status::Interrupted);
        // The model's side of a refusal has no status.
        let model = told(ToolKind::Edit, "", "[Operation Cancelled] Reason: User denied execution.", true);
        assert_eq!((model.status, model.text.as_str()), (Status::Denied, "User denied execution."));
        let rule = told(ToolKind::Execute, "error", "Tool execution denied by policy. You are in Plan Mode.", true);
        assert_eq!(rule.status, Status::Blocked);
    }

    #[test]
    fn words_of_the_person() {
        let plan = told(
            ToolKind::Plan,
            "success",
            "Plan rejected. User feedback: \"smaller steps\"\n\nThe plan is stored at: /p",
            false,
        );
        assert_eq!((plan.status, plan.words.as_deref()), (Status::Denied, Some("smaller steps")));
        assert_eq!(answers(r#"{"answers":{"0":"Yes","1":"No\nlater"}}"#), "Yes\nNo\nlater");
        assert_eq!(answers("no JSON"), "");
        let edit = told(ToolKind::Edit, "success", "Modified. User modified the `new_string` content to be: x", false);
        assert!(edit.amended);
    }
}
