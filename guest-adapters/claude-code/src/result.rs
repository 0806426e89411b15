//! How a tool call ended.
//!
//! A result has one flag, `is_error`; whether the tool failed, the person refused, a rule refused or the person stopped it
//! is in the text. The texts are those of the versions named; a text that is not known is an error if the flag says so.

use totalrecall_sdk::types::Status;

use crate::markers::INTERRUPTED;

/// What a result says.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading<'t> {
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
    /// What the person said when refusing.
    pub(crate) words: Option<&'t str>,
    /// Since 2.1.2xx an interrupted tool has the text of a plain refusal: the next record tells.
    pub(crate) unsure: bool,
}

/// How a refusal begins. The first two: a permission prompt answered with no, and what its parallel siblings get; the
/// third: a plan that was rejected.
const DENIED: [&str; 3] = [
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "The agent proposed a plan that was rejected by the user.",
];

/// Before the person's words in a refusal.
const WORDS: [&str; 2] = ["the user said:\n", "provided the following reason for the rejection:"];

/// After the person's words, since 2.1.2x.
const AFTER_WORDS: &str = "\n\nNote: The user's next message may contain";

/// How refusals by rules, modes and hooks begin: nobody was asked.
const BLOCKED_STARTS: [&str; 14] = [
    "Claude requested permissions to",
    "This command requires approval",
    "Glob patterns are not allowed in write operations",
    // The question that nobody was there to answer (2.1.x, headless).
    "Execute skill: ",
    "This Bash command contains multiple operations. The following",
    "Permission for this tool use was denied",
    "Permission for this action",
    "Permission to use ",
    "Operation stopped by hook",
    "Hook PreToolUse:",
    "PreToolUse:",
    "Output redirection to ",
    "User permission settings deny",
    "The user has denied permission",
];

/// Parts of the same kind of texts that begin with a path or a command.
const BLOCKED_PARTS: [&str; 6] = [
    " was blocked. For security",
    "has been denied",
    "is denied by your permission settings",
    "hook returned blocking error",
    "hook error: ",
    "directory that is denied by",
];

/// Blocked texts are short; a long output that mentions one is an output.
const BLOCKED_LENGTH: usize = 2048;

/// Reads a result's text, without reminders. `decision` is the record's `permissionDecision`, since 2.1.332.
pub(crate) fn read<'t>(text: &'t str, is_error: bool, decision: Option<(&str, &str)>) -> Reading<'t> {
    let plain = |status| Reading { status, exit_code: None, words: None, unsure: false };
    let exit_code = exit_code(text).filter(|_| is_error);
    let body = text.strip_prefix("Exit code ").and_then(|rest| rest.split_once('\n')).map_or(text, |(_, rest)| rest);
    if is_error && (text.starts_with(INTERRUPTED) || body.starts_with(INTERRUPTED)) {
        return Reading { exit_code, ..plain(Status::Interrupted) };
    }
    if !is_error {
        return plain(Status::Ok);
    }
    let rejected = matches!(decision, Some(("reject" | "deny", source)) if source.starts_with("user"));
    if DENIED.iter().any(|start| text.starts_with(start)) {
        let words = words(text);
        return Reading { words, unsure: words.is_none() && !rejected, ..plain(Status::Denied) };
    }
    if rejected {
        return Reading { words: words(text), ..plain(Status::Denied) };
    }
    let refused_by_rule = matches!(decision, Some(("reject" | "deny", _)));
    if refused_by_rule || is_blocked(text) {
        return plain(Status::Blocked);
    }
    Reading { exit_code, ..plain(Status::Error) }
}

fn is_blocked(text: &str) -> bool {
    let text = untagged(text);
    BLOCKED_STARTS.iter().any(|start| text.starts_with(start))
        || (text.len() < BLOCKED_LENGTH
            && !text.starts_with("Exit code")
            && BLOCKED_PARTS.iter().any(|part| text.contains(part)))
}

/// The person's words in a refusal.
fn words(text: &str) -> Option<&str> {
    let (_, words) = WORDS.iter().find_map(|before| text.split_once(before))?;
    let words = words.split_once(AFTER_WORDS).map_or(words, |(words, _)| words).trim();
    (!words.is_empty()).then_some(words)
}

/// The code of `Exit code 137\n…`.
fn exit_code(text: &str) -> Option<i32> {
    let number = text.strip_prefix("Exit code ")?;
    let end = number.find(|char: char| !char.is_ascii_digit() && char != '-').unwrap_or(number.len());
    number[..end].parse().ok()
}

/// The text without the tag around an error of the tool itself.
pub(crate) fn untagged(text: &str) -> &str {
    let bare = text.trim().strip_prefix("<tool_use_error>");
    bare.map_or(text, |bare| bare.strip_suffix("</tool_use_error>").unwrap_or(bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_apart() {
        fn read(text: &str) -> (Status, Option<i32>, Option<&str>, bool) {
            let reading = super::read(text, true, None);
            (reading.status, reading.exit_code, reading.words, reading.unsure)
        }
        let no = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …).";
        assert_eq!(read(&format!("{no} STOP what you are doing")), (Status::Denied, None, None, true));
        let said = format!("{no} To tell you how to proceed, the user said:\nuse pytest");
        assert_eq!(read(&said), (Status::Denied, None, Some("use pytest"), false));
        let noted = format!("{said}\n\nNote: The user's next message may contain a correction.");
        assert_eq!(read(&noted), (Status::Denied, None, Some("use pytest"), false));
        let cut = "Exit code 137\n[Request interrupted by user for tool use]\nsome output";
        assert_eq!(read(cut), (Status::Interrupted, Some(137), None, false));
        assert_eq!(read("[Request interrupted by user for tool use]"), (Status::Interrupted, None, None, false));
        assert_eq!(read("Exit code 3\nno such file"), (Status::Error, Some(3), None, false));
        assert_eq!(read("This command requires approval"), (Status::Blocked, None, None, false));
        assert_eq!(read("cd in '/x' was blocked. For security, …"), (Status::Blocked, None, None, false));
        assert_eq!(read("File has not been read yet"), (Status::Error, None, None, false));
        assert_eq!(super::read("Exit code 3", false, None).status, Status::Ok);
        let decided = super::read("no", true, Some(("reject", "user_reject")));
        assert_eq!((decided.status, decided.unsure), (Status::Denied, false));
    }

    #[test]
    fn tags_are_taken_off() {
        assert_eq!(untagged("<tool_use_error>no</tool_use_error>"), "no");
        assert_eq!(untagged("a <tool_use_error>"), "a <tool_use_error>");
    }
}
