//! Texts that stand where a prompt would, and who wrote them.
//!
//! Among the messages of role `user` are the client's own. Up to 0.2x nothing but how they begin tells them from a prompt;
//! later each prompt has an event as well.

use std::borrow::Cow;

/// How the client's texts begin.
const STARTS: [&str; 16] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<hook_prompt",
    "<user_action>",
    "<permissions instructions>",
    "<goal_context>",
    "<codex_internal_context",
    "<additional_context",
    "<extension_context",
    "<recommended_plugins>",
    "<model_switch>",
];

/// Warnings of the client to the model.
const WARNINGS: [&str; 3] =
    ["Warning: apply_patch was requested via ", "Warning: The maximum number of ", "Warning: Your account "];

/// Is the text the client's?
pub(crate) fn is_clients(text: &str) -> bool {
    let text = text.trim_start();
    STARTS.iter().chain(&WARNINGS).any(|start| text.starts_with(start))
}

/// The command that the person ran with `!`.
pub(crate) fn shell_command(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("<user_shell_command>")?;
    let (_, rest) = rest.split_once("<command>")?;
    Some(rest.split_once("</command>").map_or(rest, |(command, _)| command).trim())
}

/// What the person typed: extensions of editors put what is open before it.
pub(crate) fn typed(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.starts_with("# Context from my IDE setup:")
        && let Some((_, typed)) = text.split_once("## My request for Codex:")
    {
        return Cow::Borrowed(typed.trim());
    }
    // Tags around a picture.
    if !text.contains("<image") {
        return Cow::Borrowed(text);
    }
    let tag = |line: &&str| !(line.starts_with("<image") && line.ends_with('>')) && *line != "</image>";
    Cow::Owned(text.lines().filter(tag).collect::<Vec<_>>().join("\n"))
}

/// The folder that `<environment_context>` names. Up to 0.2x nothing else does.
pub(crate) fn folder(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix("<environment_context>")?;
    let named = text.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
    let written = || Some((text.split_once("Current working directory: ")?.1.lines().next()?, ""));
    named.or_else(written).map(|(folder, _)| folder.trim()).filter(|folder| !folder.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wrote_a_text() {
        assert!(is_clients("<environment_context>\n<cwd>/w</cwd>"));
        assert!(is_clients("# AGENTS.md instructions for /w\n"));
        assert!(!is_clients("<div> does not close, fix it"));
        let ran = "<user_shell_command>\n<command>\nls -l\n</command>\n<result>\nExit code: 0\n</result>\n";
        assert_eq!(shell_command(ran), Some("ls -l"));
        let wrapped = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(typed(wrapped), "fix it");
        assert_eq!(typed("<image name=[Image #1]>\n[image]\n</image>\nwhat is this?"), "[image]\nwhat is this?");
        assert_eq!(folder("<environment_context>\n  <cwd>/w x</cwd>"), Some("/w x"));
        assert_eq!(folder("<environment_context>\nCurrent working directory: /w\nApproval"), Some("/w"));
    }
}
