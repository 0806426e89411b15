//! Hooks of Codex CLI: `hooks.json` in `$CODEX_HOME` (seen with 0.171.0), in Claude Code's form with lines for a shell.
//!
//! Codex runs no hook before the person has trusted it, which it asks about when its terminal interface starts; `codex exec`
//! leaves untrusted ones out without a word. What was trusted is in its `config.toml`, by the file, the event and the place in the
//! list; with our entries it goes, so that the same ones would be asked about anew.
//!
//! `notify` in `config.toml` is one place for one program, which may be taken: it is left alone. `Stop` tells the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{WiringError, entries::Client, hooks::At, jsonc::Document};
use crate::{paths, proposal::Edits};

/// Seconds that a call may take; Codex would wait for 600.
const TIMEOUT: u32 = 5;

/// The most that Codex gives to the end of a session.
const TIMEOUT_OF_END: u32 = 3;

const EVENTS: &[(&str, u32)] = &[
    ("SessionStart", TIMEOUT),
    ("SessionEnd", TIMEOUT_OF_END),
    ("PreCompact", TIMEOUT),
    ("Stop", TIMEOUT),
    ("SubagentStop", TIMEOUT),
];

/// None where there is no home directory.
pub(super) fn client() -> Option<Client> {
    let path = folder()?.join("hooks.json");
    let asks = "Codex asks you to trust these hooks when you start it next; before that it runs none, and `codex exec` does not say so";
    Some(Client { tool: "codex", path, events: EVENTS, asides: &[], shell: true, asks: Some(asks), notes, forget })
}

fn folder() -> Option<PathBuf> {
    paths::expand("${CODEX_HOME:-~/.codex}")
}

fn notes(document: &Document, path: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((line, what)) = document.beyond_json() {
        notes.push(format!("{} has {what} in line {line}, and Codex reads plain JSON only", path.display()));
    }
    let config = path.with_file_name("config.toml");
    let settings: toml::Table = fs::read_to_string(&config).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let is = |table: &str, name: &str, key: &str, value: bool| {
        let found = settings.get(table).and_then(|it| if name.is_empty() { Some(it) } else { it.get(name) });
        found.and_then(|it| it.get(key)).and_then(toml::Value::as_bool) == Some(value)
    };
    if is("features", "", "hooks", false) {
        notes.push(format!("`hooks` is switched off in `[features]` of {}, so none are run", config.display()));
    }
    let plugins = settings.get("plugins").and_then(toml::Value::as_table).into_iter().flatten();
    for (name, _) in
        plugins.filter(|(name, _)| name.starts_with("totalrecall@") && is("plugins", name, "enabled", true))
    {
        notes.push(format!(
            "the plugin {name} is enabled and has the same hooks, so all of them would be run twice: keep either, with \
             `totalrecall init --no-hooks` or `codex plugin remove {name}`"
        ));
    }
    notes
}

/// Takes out of `config.toml` that entries at these places were trusted.
fn forget(edits: &mut Edits, path: &Path, places: &[At]) -> Result<(), WiringError> {
    let config = path.with_file_name("config.toml");
    let edit = edits.file(&config)?;
    let Some(before) = edit.before.as_deref().and_then(|text| std::str::from_utf8(text).ok()) else { return Ok(()) };
    let names = [Some(path.to_path_buf()), path.canonicalize().ok()];
    let keys: Vec<String> = places
        .iter()
        .flat_map(|(event, group, handler)| {
            let at = format!("{}:{group}:{handler}", snake(event));
            names.iter().flatten().map(move |name| format!("{}:{at}", name.display()))
        })
        .collect();
    if let Some(left) = without(before, &keys) {
        edit.after = Some(left.into_bytes());
    }
    Ok(())
}

/// `SessionStart` as `session_start`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// The text without the tables of these keys in `hooks.state`, as Codex writes them. None where there are none, or where anything
/// else would change with them.
fn without(text: &str, keys: &[String]) -> Option<String> {
    let before: toml::Table = text.parse().ok()?;
    let mut wanted = before.clone();
    let state = wanted.get_mut("hooks")?.get_mut("state")?.as_table_mut()?;
    let is_there = state.len();
    state.retain(|key, _| !keys.iter().any(|known| known == key));
    if state.len() == is_there {
        return None;
    }
    let is_empty = state.is_empty();
    let header = |key: &str| format!("[hooks.state.{}]", toml::Value::from(key));
    let mut headers: Vec<String> = keys.iter().map(|key| header(key)).collect();
    if is_empty {
        headers.push("[hooks.state]".to_owned());
        let hooks = wanted.get_mut("hooks")?.as_table_mut()?;
        hooks.remove("state");
        if hooks.is_empty() && !text.lines().any(|line| line.trim() == "[hooks]") {
            wanted.remove("hooks");
        }
    }
    let mut left = String::new();
    let mut leaves_out = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            leaves_out = headers.iter().any(|header| line.trim() == header);
        }
        if !leaves_out {
            left.push_str(line);
        }
    }
    // Codex puts an empty line before each table.
    if leaves_out && left.ends_with("\n\n") {
        left.pop();
    }
    (left.parse::<toml::Table>().ok()? == wanted).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_trusted_is_forgotten_and_nothing_else() {
        let theirs =
            "model = \"gpt-5.5\" # mine\n\n[hooks.state.\"/h/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n";
        let ours = "\n[hooks.state.\"/h/hooks.json:stop:1:0\"]\ntrusted_hash = \"sha256:2\"\n";
        let rest = "\n[notice]\nx = 1\n";
        let key = ["/h/hooks.json:stop:1:0".to_owned()];
        assert_eq!(without(&format!("{theirs}{ours}{rest}"), &key), Some(format!("{theirs}\n[notice]\nx = 1\n")));
        assert_eq!(without(&format!("{theirs}{ours}"), &key).as_deref(), Some(theirs));
        assert_eq!(without(theirs, &key), None);
        let only = format!("a = 1\n\n[hooks.state]\n{ours}");
        assert_eq!(without(&only, &key).as_deref(), Some("a = 1\n"));
        // Written by a person in another way: it stays.
        let inline = "[hooks]\nstate = { \"/h/hooks.json:stop:1:0\" = { trusted_hash = \"x\" } }\n";
        assert_eq!(without(inline, &key), None);
        assert_eq!(without("broken = ", &key), None);
    }

    #[test]
    fn events_have_codex_names() {
        assert_eq!(
            EVENTS.iter().map(|it| snake(it.0)).collect::<Vec<_>>(),
            ["session_start", "session_end", "pre_compact", "stop", "subagent_stop"]
        );
    }
}
