//! Hooks in Claude Code's settings.
//!
//! The program and its arguments are written apart, so that no shell is involved (2.1.139 and newer). An older client leaves the
//! arguments out and starts the program alone, with the event on its standard input, which is as good (`cli.rs`).
//!
//! Claude Code reads plain JSON (seen with 2.0.30, 2.1.138 and 2.1.332): with a comment or a comma behind the last member it puts
//! the whole file aside, older versions without a word. Such a file is changed like any other, and the person is told.

use std::{fs, path::Path};

use super::{
    entries::{Aside, Client},
    jsonc::{Document, Kind, Node},
};
use crate::proposal::claude_folder;

/// Seconds that a call may take. It takes milliseconds; a machine that is asleep for a moment must not lose it.
const TIMEOUT: u32 = 5;

/// Sessions that begin and end, turns, and the moment before a conversation is compacted.
const EVENTS: &[(&str, u32)] = &[
    ("SessionStart", TIMEOUT),
    ("SessionEnd", TIMEOUT),
    ("PreCompact", TIMEOUT),
    ("Stop", TIMEOUT),
    ("SubagentStop", TIMEOUT),
];

/// When it is asked what earlier sessions say: of a prompt, and of a file that is about to be read.
const ASIDES: &[Aside] = &[
    Aside { event: "UserPromptSubmit", matcher: None, timeout: TIMEOUT, is_wanted: |inject| inject.prompt },
    Aside { event: "PreToolUse", matcher: Some("Read"), timeout: TIMEOUT, is_wanted: |inject| inject.file },
];

/// None where there is no home directory.
pub(super) fn client() -> Option<Client> {
    Some(Client {
        tool: "claude-code",
        path: claude_folder()?.join("settings.json"),
        events: EVENTS,
        asides: ASIDES,
        shell: false,
        asks: None,
        notes,
        forget: |_, _, _| Ok(()),
    })
}

/// What keeps our hooks from being called, or calls them twice.
fn notes(document: &Document, path: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((line, what)) = document.beyond_json() {
        notes.push(format!(
            "{} has {what} in line {line}, and Claude Code reads plain JSON only: nothing in that file is in effect, our hooks \
             neither, until that is gone",
            path.display()
        ));
    }
    if document.root().and_then(|root| root.get("disableAllHooks")).is_some_and(is_true) {
        notes.push(format!("`disableAllHooks` in {} keeps all hooks from being called", path.display()));
    }
    if let Some(plugin) = plugin(document, path) {
        notes.push(format!(
            "the plugin {plugin} is enabled and has the same hooks, so all of them would be called twice: keep either, with \
             `totalrecall init --no-hooks` or `claude plugin uninstall {plugin}`"
        ));
    }
    notes
}

/// Our plugin, where it is enabled.
fn plugin(settings: &Document, path: &Path) -> Option<String> {
    let enabled = |document: &Document| {
        let plugins = document.root()?.get("enabledPlugins")?;
        let is_ours = |name: &str| name == "totalrecall" || name.starts_with("totalrecall@");
        let found = plugins.members().iter().find(|it| is_ours(&it.name) && is_true(&it.value));
        found.map(|member| member.name.clone())
    };
    let local = || Document::parse(&fs::read(path.with_file_name("settings.local.json")).ok()?).ok();
    enabled(settings).or_else(|| enabled(&local()?))
}

fn is_true(node: &Node) -> bool {
    matches!(node.kind, Kind::True)
}
