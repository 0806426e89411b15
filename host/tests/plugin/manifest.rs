//! The plugin's files and the program agree on versions, names, places and events.

use std::{fs, process::Command};

use serde_json::{Value, json};

use crate::{json, names, root, text};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The events that we want of the client.
const EVENTS: &[&str] = &[
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStop",
    "UserPromptExpansion",
    "UserPromptSubmit",
];

/// Of these, what only answers, and leaves no notice.
const ANSWERING: &[&str] = &["PreToolUse", "UserPromptExpansion", "UserPromptSubmit"];

#[test]
fn versions_are_cargos() {
    assert_eq!(json(".claude-plugin/plugin.json")["version"], VERSION);
    assert_eq!(text("plugin/bin/totalrecall").matches(&format!("\nversion={VERSION}\n")).count(), 1);
    let windows = text("plugin/bin/totalrecall.cmd");
    assert_eq!(windows.matches(&format!("\"TOTALRECALL_PLUGIN_VERSION={VERSION}\"\r\n")).count(), 1);
    // Two places could disagree; the client takes the plugin's.
    assert_eq!(json(".claude-plugin/marketplace.json")["plugins"][0]["version"], Value::Null);
}

#[test]
fn manifests_name_each_other_and_what_is_there() {
    let (plugin, market) = (json(".claude-plugin/plugin.json"), json(".claude-plugin/marketplace.json"));
    assert_eq!(plugin["name"], "totalrecall");
    assert_eq!((&market["name"], &market["plugins"][0]["name"]), (&json!("totalrecall"), &plugin["name"]));
    assert_eq!(market["plugins"][0]["source"], "./");
    assert_eq!(market["plugins"].as_array().unwrap().len(), 1);
    let hooks = plugin["hooks"].as_str().unwrap();
    assert!(root().join(hooks).is_file(), "{hooks}");
    let servers = plugin["mcpServers"].as_str().unwrap();
    assert!(root().join(servers).is_file(), "{servers}");
    // Defaults, which the manifest does not name.
    assert!(root().join("commands").is_dir() && root().join("skills").is_dir());
    // The client would run npm in its copy.
    assert!(!root().join("package.json").exists());
}

#[test]
fn options_are_those_that_are_read() {
    let plugin = json(".claude-plugin/plugin.json");
    let options = plugin["userConfig"].as_object().unwrap();
    assert_eq!(
        options.keys().collect::<Vec<_>>(),
        [
            "binary",
            "compact_guard",
            "file_memory",
            "home",
            "language",
            "prompt_memory",
            "session_line",
            "session_memory"
        ]
    );
    let page = text("docs/plugin.md");
    for (key, option) in options {
        assert!(option["title"].is_string() && option["description"].is_string(), "{key}");
        assert!(page.contains(&format!("| `{key}` |")), "docs/plugin.md does not explain {key}");
    }
}

/// The one hook of each event.
fn hooks() -> Vec<(String, Value, Value)> {
    let hooks = json("plugin/hooks.json");
    let of_event = |(event, groups): (&String, &Value)| {
        let [group] = &groups.as_array().unwrap()[..] else { panic!("{event}: {groups}") };
        let [hook] = &group["hooks"].as_array().unwrap()[..] else { panic!("{event}: {group}") };
        (event.clone(), group["matcher"].clone(), hook.clone())
    };
    hooks["hooks"].as_object().unwrap().iter().map(of_event).collect()
}

#[test]
fn hooks_are_in_exec_form_and_short() {
    let hooks = hooks();
    let mut events: Vec<_> = hooks.iter().map(|(event, ..)| event.as_str()).collect();
    events.sort_unstable();
    assert_eq!(events, EVENTS);
    for (event, matcher, hook) in &hooks {
        // Any other key would be a shell, a wait, or something that the client does in the background and kills.
        let timeout = if event == "UserPromptExpansion" { 10 } else { 5 };
        let expected = json!({
            "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/plugin/bin/totalrecall", "args": ["hook", event],
            "timeout": timeout,
        });
        assert_eq!(*hook, expected, "{event}");
        match event.as_str() {
            "UserPromptExpansion" => assert!(matcher.is_string()),
            // Other tools need not be told of, and there are many calls of them.
            "PreToolUse" => assert_eq!(matcher, "Read"),
            _ => assert!(matcher.is_null(), "{event}: {matcher}"),
        }
    }
}

#[test]
fn the_server_is_started_as_the_hooks_are() {
    // The client tells hooks of the options by itself, and a server only what is asked for.
    let expected = json!({
        "command": "${CLAUDE_PLUGIN_ROOT}/plugin/bin/totalrecall", "args": ["mcp"],
        "env": {
            "CLAUDE_PLUGIN_OPTION_BINARY": "${user_config.binary}", "CLAUDE_PLUGIN_OPTION_HOME": "${user_config.home}",
        },
    });
    assert_eq!(json("plugin/mcp.json"), json!({ "mcpServers": { "memory": expected } }));
}

#[test]
fn the_matcher_takes_our_commands_and_no_others() {
    let hooks = hooks();
    let of_commands = hooks.iter().find(|(event, ..)| event == "UserPromptExpansion");
    let matcher = of_commands.and_then(|(_, matcher, _)| matcher.as_str()).unwrap();
    let verbs = matcher.strip_prefix("^(totalrecall:)?recall-(").unwrap().strip_suffix(")$").unwrap();
    let mut commands: Vec<_> = verbs.split('|').map(|verb| format!("recall-{verb}.md")).collect();
    commands.sort();
    assert_eq!(commands, names("commands"));
}

/// Every event does something in the program: it leaves a notice, or answers.
#[test]
fn the_program_knows_the_events() {
    for event in EVENTS {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        // Were a worker to run it would take the notices away.
        let lock = fs::File::create(home.join("worker.lock")).unwrap();
        lock.lock().unwrap();
        let transcript = dir.path().join("transcript.jsonl");
        fs::write(&transcript, "").unwrap();
        let input = dir.path().join("event");
        let said = json!({
            "session_id": "s", "transcript_path": transcript, "cwd": dir.path(), "hook_event_name": event,
            "prompt": "Which database do we use for staging?", "tool_name": "Read", "tool_input": { "file_path": "/x" },
            "expansion_type": "slash_command", "command_name": "totalrecall:recall-status", "command_args": "",
        });
        fs::write(&input, said.to_string()).unwrap();
        let output = crate::run(
            Command::new(env!("CARGO_BIN_EXE_totalrecall"))
                .args(["hook", event])
                .env_clear()
                .env("HOME", dir.path())
                .env("TOTALRECALL_HOME", &home)
                .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
                .stdin(fs::File::open(&input).unwrap()),
        );
        assert!(output.status.success() && output.stderr.is_empty(), "{event}: {output:?}");
        let notices: Vec<_> = fs::read_dir(home.join("inbox")).into_iter().flatten().collect();
        if *event == "UserPromptExpansion" {
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(answer["hookSpecificOutput"]["additionalContext"].is_string(), "{answer}");
        } else {
            let expected = usize::from(!ANSWERING.contains(event));
            assert_eq!((notices.len(), output.stdout.len()), (expected, 0), "{event}: {output:?}");
        }
    }
}

/// The launcher looks for the files that the program leaves.
#[test]
fn the_launcher_knows_the_switches_of_asides() {
    use totalrecall::inject::{
        FOLDER,
        aside::{ON_FILE, ON_PROMPT},
    };
    let launcher = text("plugin/bin/totalrecall");
    assert!(launcher.contains(&format!("\"$home/{FOLDER}/$switch\"")));
    for (event, switch) in [("UserPromptSubmit", ON_PROMPT), ("PreToolUse", ON_FILE)] {
        assert!(launcher.contains(&format!("hook/{event}) switch={switch} ")), "{event}");
    }
}

/// Nothing here runs `cmd.exe`: this says that the file is one that it reads, and looks where the other launcher looks, in
/// the same order. It does not say that it works.
#[test]
fn the_launcher_for_windows_looks_in_the_same_order() {
    let windows = text("plugin/bin/totalrecall.cmd");
    assert!(windows.ends_with("\r\n") && windows.lines().count() == windows.matches("\r\n").count());
    assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
    assert!(text(".gitattributes").lines().any(|line| line == "*.cmd -text"), "git may change its line ends");
    let unix = text("plugin/bin/totalrecall");
    let order = |text: &str, places: &[&str]| {
        let found: Vec<_> = places.iter().map(|place| text.find(place).unwrap_or_else(|| panic!("{place}"))).collect();
        assert!(found.is_sorted(), "{places:?} at {found:?}");
    };
    order(
        &unix,
        &[
            "program=${CLAUDE_PLUGIN_OPTION_BINARY-}",
            "{CLAUDE_PLUGIN_DATA:-/nonexistent}/bin/totalrecall\"",
            "in ${PATH-}",
        ],
    );
    order(&windows, &["!CLAUDE_PLUGIN_OPTION_BINARY!", "!CLAUDE_PLUGIN_DATA!\\bin\\totalrecall.exe", "%%~$PATH:I"]);
    // It cannot find a launcher: it looks for nothing but programs.
    let looked_for = windows.lines().filter(|line| line.contains("totalrecall") && !line.starts_with("rem"));
    for line in looked_for.filter(|line| line.contains("exist \"") || line.starts_with("for ")) {
        assert!(line.contains("totalrecall.exe") || line.contains("\\setup\\told"), "{line}");
    }
    for file in ["totalrecall", "setup"] {
        assert!(!text(&format!("plugin/bin/{file}")).contains('\r'), "{file}");
    }
}
