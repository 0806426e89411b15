//! Errors of tools that every agent makes, each with what prevents it; any other error by its own words.

use super::{Case, Filled, code, quoted};

/// Parts of an error's template, in lower case, and the rule. What is at the top is looked for first.
const KNOWN: [(&[&str], &str); 15] = [
    (
        &["has not been read yet", "must read the file", "read it first"],
        "Read a file before you edit or overwrite it, in this session, even if you believe you know what is in it.",
    ),
    (
        &["modified since read", "has been modified", "changed since"],
        "Read a file again before you edit it if a command, a formatter or the user may have changed it since you read it.",
    ),
    (
        &[
            "string to replace not found",
            "no match found",
            "failed to find expected lines",
            "oldstring not found",
            "could not find oldstring",
        ],
        "Copy the lines to be replaced exactly from what you just read, with their indentation. When an edit finds no match, \
         read that part of the file again before the next try.",
    ),
    (
        &["matches of the string", "multiple matches", "found multiple"],
        "Give an edit enough of the lines around the place for it to be the only match, or replace all matches on purpose.",
    ),
    (
        &["exceeds maximum allowed tokens", "file is too large", "exceeds maximum"],
        "Read large files in parts, with an offset and a limit, or search in them first.",
    ),
    (&["is a directory", "eisdir"], "List a folder instead of reading it: check first whether a path is a file."),
    (
        &["file does not exist", "no such file or directory", "enoent", "cannot find the path", "path not found"],
        "Before you read, edit or run a path, list its folder or search for it; do not guess names, and mind the folder you are in.",
    ),
    (
        &["command not found", "not recognized as", "no such command"],
        "Use only programs that are installed here: check with `command -v NAME` before you first use one, and do not try the \
         same missing one again.",
    ),
    (
        &["modulenotfounderror", "no module named", "cannot find module", "cannot find package"],
        "Run code in the project's own environment, from its root, and look into its manifest for what is installed before you \
         import something.",
    ),
    (
        &["timed out", "timeout", "etimedout"],
        "Give commands that may hang or run long a time limit, and run what does not end (servers, watchers) in the background.",
    ),
    (
        &["address already in use", "eaddrinuse"],
        "Before you start a server, check whether it is running already, and stop those that you started.",
    ),
    (
        &["permission denied", "eacces", "operation not permitted"],
        "Do not work around missing permissions: say which file or command refuses, and ask.",
    ),
    (&["not a git repository"], "Run git in the project's folder: go there, or give it with `git -C DIR`."),
    (
        &["requested permissions", "was blocked", "not allowed", "haven't granted"],
        "Do not call tools that are not allowed here; take a way that is allowed, or ask for the permission once.",
    ),
    (
        &["inputvalidationerror", "invalid arguments", "missing required", "unexpected parameter"],
        "Check a tool's parameters against its description before you call it; after a refused call, correct it instead of \
         repeating it.",
    ),
];

pub(super) fn rule(case: &Case<'_>, tool: &str, error: &str) -> Filled {
    let lower = error.to_lowercase();
    let known = KNOWN.iter().find(|(parts, _)| parts.iter().any(|part| lower.contains(part)));
    if let Some((_, text)) = known {
        return (*text).to_owned().into();
    }
    let error = quoted(error, super::CALL + 40);
    let text = match failed_call(&case.pattern.description) {
        Some(call) => format!(
            "{} failed with “{error}” in {}, lastly as {}. Before such a call, see to what the message asks for; after it, \
             change something before you try again.",
            code(tool),
            case.sessions(),
            code(call)
        ),
        None => format!(
            "{} failed with “{error}” in {}. Before such a call, see to what the message asks for; after it, change something \
             before you try again.",
            code(tool),
            case.sessions()
        ),
    };
    text.into()
}

/// The call in a detail: `` Bash `cargo test` failed with exit code 101: … ``.
fn failed_call(detail: &str) -> Option<&str> {
    let (_, rest) = detail.split_once(" `")?;
    let (call, rest) = rest.split_once("` ")?;
    // What was shortened shows half a call.
    (rest.starts_with("failed") && !call.ends_with('…') && !call.is_empty()).then_some(call)
}
