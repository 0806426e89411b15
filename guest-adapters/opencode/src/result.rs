//! How a tool call ended.
//!
//! The tool knows two ends, `completed` and `error`. A command that fails is `completed`; whether an `error` is the tool's, a
//! refusal by the person or one by a rule is in its text, which is that of the versions named.

use std::borrow::Cow;

use totalrecall_sdk::types::Status;

/// What a result says.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading<'t> {
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
    /// Without what the tool puts around it.
    pub(crate) text: Cow<'t, str>,
    /// What the person said when refusing.
    pub(crate) words: Option<&'t str>,
}

/// A permission that was asked for and refused, maybe with the person's words. `opencode run` refuses with the same
/// text what it has nobody to ask about.
const REJECTED: &str = "The user rejected permission to use this specific tool call";

/// Before the person's words.
const FEEDBACK: &str = "with the following feedback: ";

/// A question that was not answered.
const DISMISSED: &str = "The user dismissed this question";

/// A rule refused. The rules follow, which are no part of what went wrong.
const RULED: &str = "The user has specified a rule which prevents you from using this specific tool call";

/// A call that ran, or waited, when the response was stopped.
const ABORTED: &str = "Tool execution aborted";

/// What is put after the output of a command that did not end by itself.
const NOTES: [(&str, &str); 3] = [
    ("<bash_metadata>", "</bash_metadata>"),
    // Newer versions.
    ("<shell_metadata>", "</shell_metadata>"),
    // A command of the person.
    ("<metadata>", "</metadata>"),
];

/// How far the tool's own words reach from the beginning of an error, which may have its class in front.
const HEAD: usize = 128;

/// How far they reach from the end of an output.
const TAIL: usize = 512;

/// Reads the text of a call whose status is `error`. `headless`: nobody was there to be asked. `stopped`: the person
/// stopped the response, and nothing else ended it.
pub(crate) fn failed(text: &str, headless: bool, stopped: bool) -> Reading<'_> {
    let text = text.trim();
    // Up to 1.1 errors have their class in front.
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    let end = |status, text| Reading { status, exit_code: None, text: Cow::Borrowed(text), words: None };
    let head = &text[..text.floor_char_boundary(HEAD)];
    if let Some(at) = head.find(REJECTED) {
        let words = text[at + REJECTED.len()..]
            .trim_start()
            .strip_prefix(FEEDBACK)
            .map(str::trim)
            .filter(|words| !words.is_empty());
        let status = if headless && words.is_none() { Status::Blocked } else { Status::Denied };
        return Reading { words, ..end(status, text) };
    }
    if let Some(at) = head.find(RULED) {
        return end(Status::Blocked, &text[..at + RULED.len()]);
    }
    if head.contains(DISMISSED) {
        return end(if headless { Status::Blocked } else { Status::Denied }, text);
    }
    if text == ABORTED && stopped {
        return end(Status::Interrupted, text);
    }
    end(Status::Error, text)
}

/// What is put around an output that is too long: before it in newer versions, after it in older ones.
const CUT: (&str, &str) = ("...output truncated...", "\n\nThe tool call succeeded but the output was truncated.");

/// Reads the output of a command.
pub(crate) fn command(output: &str, exit: Option<i32>) -> Reading<'_> {
    let (body, notes) = notes(uncut(output.trim_end()));
    let stopped = notes.contains("User aborted the command");
    let timed_out = notes.contains("exceeding timeout");
    let status = match exit {
        _ if stopped => Status::Interrupted,
        _ if timed_out => Status::Error,
        Some(0) | None => Status::Ok,
        Some(_) => Status::Error,
    };
    let body = streams(body);
    let body = if body.trim() == "(no output)" { Cow::Borrowed("") } else { body };
    let text = if timed_out { Cow::Owned(format!("{body}\n{}", notes.trim()).trim_start().to_owned()) } else { body };
    Reading { status, exit_code: exit, text, words: None }
}

/// The output without the tool's words on what it left out.
fn uncut(output: &str) -> &str {
    if let Some(rest) = output.strip_prefix(CUT.0) {
        let rest = rest.trim_start();
        return if rest.starts_with("Full output saved to:") {
            rest.split_once('\n').map_or("", |(_, rest)| rest.trim_start_matches('\n'))
        } else {
            rest
        };
    }
    let tail = output.ceil_char_boundary(output.len().saturating_sub(TAIL));
    output[tail..].rfind(CUT.1).map_or(output, |at| &output[..tail + at])
}

/// The output, and what the tool notes after it.
fn notes(output: &str) -> (&str, &str) {
    for (open, close) in NOTES {
        if let Some(rest) = output.strip_suffix(close)
            && let Some((body, notes)) = rest.rsplit_once(open)
        {
            return (body.trim_end(), notes);
        }
    }
    (output, "")
}

/// Up to 0.5 both streams stand one after the other, each in tags.
fn streams(output: &str) -> Cow<'_, str> {
    let Some(rest) = output.strip_prefix("<stdout>") else { return Cow::Borrowed(output) };
    let Some((stdout, rest)) = rest.split_once("</stdout>") else { return Cow::Borrowed(output) };
    let stderr = rest.split_once("<stderr>").map_or("", |(_, stderr)| stderr);
    let stderr = stderr.rsplit_once("</stderr>").map_or(stderr, |(stderr, _)| stderr);
    match (stdout.trim(), stderr.trim()) {
        (stdout, "") => Cow::Owned(stdout.to_owned()),
        ("", stderr) => Cow::Owned(stderr.to_owned()),
        (stdout, stderr) => Cow::Owned(format!("{stdout}\n{stderr}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_apart() {
        fn read(text: &str) -> (Status, String, Option<&str>) {
            let reading = failed(text, false, true);
            (reading.status, reading.text.into_owned(), reading.words)
        }
        let no = "The user rejected permission to use this specific tool call.";
        assert_eq!(read(no), (Status::Denied, no.into(), None));
        assert_eq!(failed(no, true, false).status, Status::Blocked);
        let said =
            "The user rejected permission to use this specific tool call with the following feedback: use pytest";
        assert_eq!(read(said), (Status::Denied, said.into(), Some("use pytest")));
        assert_eq!(failed(said, true, false).status, Status::Denied);
        assert_eq!(read(&format!("Error: {no} You may try again with different parameters.")).0, Status::Denied);
        let rule = format!("{RULED}. Here are some of the relevant rules [{{\"permission\":\"bash\"}}]");
        assert_eq!(read(&rule), (Status::Blocked, RULED.into(), None));
        assert_eq!(read("The user dismissed this question").0, Status::Denied);
        assert_eq!(read("Tool execution aborted").0, Status::Interrupted);
        assert_eq!(failed("Tool execution aborted", false, false).status, Status::Error);
        assert_eq!(read("Error: File not found: /a"), (Status::Error, "File not found: /a".into(), None));
    }

    #[test]
    fn commands_end_with_a_code_or_a_note() {
        fn read(output: &str, exit: Option<i32>) -> (Status, String) {
            let reading = command(output, exit);
            assert_eq!(reading.exit_code, exit);
            (reading.status, reading.text.into_owned())
        }
        assert_eq!(read("a\n", Some(0)), (Status::Ok, "a".into()));
        assert_eq!(read("(no output)", Some(1)), (Status::Error, String::new()));
        let note = "bash tool terminated command after exceeding timeout 120000 ms";
        let timed_out = format!("a\n\n<bash_metadata>\n{note}\n</bash_metadata>");
        assert_eq!(read(&timed_out, None), (Status::Error, format!("a\n{note}")));
        let stopped = "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>";
        assert_eq!(read(stopped, Some(130)), (Status::Interrupted, String::new()));
        assert_eq!(read("<stdout>\na\n</stdout>\n<stderr>\nb\n</stderr>", Some(2)), (Status::Error, "a\nb".into()));
        let saved = "Full output saved to: /home/me/.local/share/opencode/tool-output/tool_1";
        assert_eq!(read(&format!("...output truncated...\n\n{saved}\n\na"), Some(1)), (Status::Error, "a".into()));
        let after = format!("a\n\nThe tool call succeeded but the output was truncated. {saved}\nUse the Task tool");
        assert_eq!(read(&after, Some(1)), (Status::Error, "a".into()));
        assert_eq!(read("</bash_metadata>", Some(0)), (Status::Ok, "</bash_metadata>".into()));
    }
}
