//! Rules that are files of their own: those for paths, and the scaffold of a hook.

use serde_json::json;

use super::{Proposal, Step, apply::day, rules_file};

/// The whole file of a rule that has one.
pub(super) fn content(proposal: &Proposal) -> String {
    match proposal.step {
        Step::Hook => hook(proposal),
        Step::Rule | Step::PathRule => path_rule(proposal),
    }
}

/// Claude Code's frontmatter (seen with 2.1.332): a rule with `paths` reaches the model once a file that matches was read.
fn path_rule(proposal: &Proposal) -> String {
    let mut file = String::from("---\npaths:\n");
    for path in &proposal.paths {
        // JSON's quotes are YAML's.
        file += &format!("  - {}\n", json!(path));
    }
    file += "---\n\n";
    let inner = rules_file::inner(&proposal.text, proposal.occurrences, &day(proposal.last_seen));
    match rules_file::put(file.as_bytes(), &proposal.id, &inner) {
        Ok(put) => String::from_utf8_lossy(&put.file).into_owned(),
        Err(_) => unreachable!("there is no block in frontmatter"),
    }
}

/// What `totalrecall check` reads: the check, and what the agent is told.
fn hook(proposal: &Proposal) -> String {
    let scaffold = json!({ "id": proposal.id, "message": proposal.text, "check": proposal.check });
    format!("{scaffold:#}\n")
}

/// What the person puts into Claude Code's settings for a hook to be run: nobody else does.
pub fn settings(proposal: &Proposal, file: &str, program: &str) -> String {
    let matcher = match &proposal.check {
        Some(crate::check::Check::Path { .. }) => "Edit|Write|NotebookEdit",
        _ => "Bash",
    };
    let command = format!("{program} check {}", shell_word(file));
    format!(
        "{:#}\n",
        json!({ "hooks": { "PreToolUse": [{ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] }] } })
    )
}

/// A word of a shell's line.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:\\".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
