//! Hooks of ours in the files of the person's tools: added, not added twice, taken back to the byte, whatever happens between.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    life::walk,
    support::{Ran, User},
};

const SETTINGS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";

/// Someone who has Claude Code with these settings.
fn user(settings: &str) -> User {
    let user = User::new();
    fs::create_dir_all(user.home().join(".claude")).unwrap();
    fs::write(settings_of(&user), settings).unwrap();
    user
}

fn settings_of(user: &User) -> PathBuf {
    user.home().join(".claude/settings.json")
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// Everything in the home directory but our own folder.
fn others(user: &User) -> Vec<(PathBuf, Vec<u8>)> {
    let files = walk(&user.home()).into_iter().filter(|file| !file.starts_with(user.state()));
    files.map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

fn calls(settings: &str, event: &str) -> usize {
    let settings: Value = serde_json::from_str(settings).unwrap();
    let groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
    groups.iter().filter(|group| group["hooks"][0]["args"] == json!(["hook", event])).count()
}

macro_rules! snapshot {
    ($name:literal, $shown:expr) => {
        insta::with_settings!({filters => vec![
            (env!("CARGO_BIN_EXE_totalrecall"), "[PROGRAM]"),
            (r"T\d\d-\d\d-\d\dZ-[0-9a-f]{8}-", "[TIME]-[HASH]-"),
            (r"totalrecall-plugin \S+ [0-9a-f]{64}", "totalrecall-plugin [VERSION] [HASH]"),
        ]}, { insta::assert_snapshot!($name, $shown) });
    };
}

#[test]
fn hooks_are_added_once_and_taken_back_to_the_byte() {
    let user = user(SETTINGS);
    let before = others(&user);
    snapshot!("hooks_dry_run", user.ok(&["init", "--hooks", "--dry-run"]));
    assert_eq!(others(&user), before);
    assert!(!user.state().exists(), "nothing was made");

    snapshot!("hooks", user.ok(&["init", "--hooks"]));
    let added = text(settings_of(&user));
    for event in ["SessionStart", "SessionEnd", "PreCompact", "Stop", "SubagentStop"] {
        assert_eq!(calls(&added, event), 1, "{added}");
    }
    snapshot!("hooks_again", user.ok(&["init", "--hooks"]));
    assert_eq!(text(settings_of(&user)), added);

    snapshot!("no_hooks", user.ok(&["init", "--no-hooks"]));
    assert_eq!(others(&user), before);
    assert!(!user.state().join("wiring.json").exists());
    let backups = walk(&user.state().join("backups"));
    assert!(backups.iter().any(|copy| fs::read_to_string(copy).unwrap() == SETTINGS), "{backups:?}");
    let ran = user.ok(&["init", "--no-hooks"]);
    assert!(ran.err.contains("No tool of yours has an entry of ours."), "{ran}");
    let hooks = user.ok(&["init", "--hooks", "--json"]).json();
    assert_eq!((&hooks["hooks"][0]["tool"], &hooks["hooks"][0]["changed"]), (&json!("claude-code"), &json!(true)));
}

#[test]
fn asides_are_asked_for_where_the_settings_want_them() {
    let user = user(SETTINGS);
    let before = others(&user);
    let wants = |settings: &str| {
        fs::create_dir_all(user.state()).unwrap();
        fs::write(user.state().join("config.toml"), settings).unwrap();
        user.ok(&["init", "--hooks"]);
        let text = text(settings_of(&user));
        (calls(&text, "UserPromptSubmit"), calls(&text, "PreToolUse"), text)
    };
    let (prompt, file, usual) = wants("");
    assert_eq!((prompt, file), (0, 0));
    assert!(matches!(wants("[inject]\nprompt = true\n"), (1, 0, _)));
    let (prompt, file, both) = wants("[inject]\nprompt = true\nfile = true\n");
    let settings: Value = serde_json::from_str(&both).unwrap();
    assert_eq!((prompt, file, &settings["hooks"]["PreToolUse"][0]["matcher"]), (1, 1, &json!("Read")));
    // They go when they are switched off, or with all others: also where it is not known any more what was done.
    assert_eq!(wants("").2, usual);
    wants("[inject]\nfile = true\n");
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(others(&user), before);
    wants("[inject]\nfile = true\n");
    fs::remove_file(user.state().join("wiring.json")).unwrap();
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(others(&user), before);
}

#[test]
fn what_was_made_for_hooks_goes_with_them() {
    let user = User::new();
    let ran = user.ok(&["init", "--hooks"]);
    assert!(ran.err.contains("None of your tools that could call us is there."), "{ran}");
    let before = others(&user);
    user.ok(&["init", "--hooks", "--tool", "claude-code,codex,opencode"]);
    assert_eq!(others(&user).len(), 3);
    user.ok(&["uninstall"]);
    assert_eq!(others(&user), before);
    assert!(fs::read_dir(user.home()).unwrap().count() == 1, "only our own folder is left");

    // A file that was made for us and that the person has put something into is theirs.
    user.ok(&["init", "--hooks", "--tool", "claude-code"]);
    let mut settings: Value = serde_json::from_str(&text(settings_of(&user))).unwrap();
    settings["model"] = json!("opus");
    fs::write(settings_of(&user), settings.to_string()).unwrap();
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(serde_json::from_str::<Value>(&text(settings_of(&user))).unwrap(), json!({ "model": "opus" }));
}

#[test]
fn what_the_person_changed_since_stays() {
    let user = user(SETTINGS);
    user.ok(&["init", "--hooks"]);
    let edit =
        |text: &str| text.replace("\"opus\"", "\"sonnet\", \"env\": { \"A\": \"b\" }").replace("say done", "date");
    fs::write(settings_of(&user), edit(&text(settings_of(&user)))).unwrap();
    let ran = user.ok(&["uninstall"]);
    assert_eq!(text(settings_of(&user)), edit(SETTINGS), "{ran}");
}

#[test]
fn a_file_that_is_not_what_it_should_be_is_left_alone() {
    for (settings, why) in [
        ("{ \"model\": \"opus\"\n  \"env\": {} }", "settings.json: line 1, column 18: Expected comma"),
        ("{ \"hooks\": [] }", "settings.json: line 1: `hooks` is not an object"),
        ("{\n\"hooks\": { \"Stop\": {} } }", "settings.json: line 2: `hooks.Stop` is not a list"),
    ] {
        let user = user(settings);
        let ran = user.run(&["init", "--hooks"]);
        assert_eq!((ran.code, text(settings_of(&user)).as_str()), (Some(1), settings), "{ran}");
        assert!(ran.err.contains(why) && ran.err.contains("nothing was changed"), "{ran}");
        assert!(!user.state().join("wiring.json").exists());
    }
    // One that was broken after we had been there keeps uninstall from saying that it is done.
    let user = user(SETTINGS);
    user.ok(&["init", "--hooks"]);
    let broken = text(settings_of(&user)).replacen(',', "", 1);
    fs::write(settings_of(&user), &broken).unwrap();
    let ran = user.run(&["uninstall", "--purge", "--yes"]);
    assert_eq!((ran.code, text(settings_of(&user))), (Some(1), broken), "{ran}");
    assert!(user.state().join("wiring.json").exists(), "it is still known what is ours");
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_read_only_files_as_they_are() {
    let user = user("");
    let real = user.home().join("dotfiles.json");
    fs::rename(settings_of(&user), &real).unwrap();
    fs::write(&real, SETTINGS).unwrap();
    std::os::unix::fs::symlink(&real, settings_of(&user)).unwrap();
    user.ok(&["init", "--hooks"]);
    assert_eq!(calls(&text(&real), "Stop"), 1);
    assert!(settings_of(&user).is_symlink());

    let mut permissions = fs::metadata(&real).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&real, permissions).unwrap();
    let ran = user.run(&["init", "--no-hooks"]);
    assert!(ran.code == Some(1) && ran.err.contains("is read-only"), "{ran}");
    assert_eq!(calls(&text(&real), "Stop"), 1);
    std::os::unix::fs::PermissionsExt::set_mode(&mut fs::metadata(&real).unwrap().permissions(), 0o600);
    fs::set_permissions(&real, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(text(&real), SETTINGS);
}

#[test]
fn what_was_cut_off_is_completed() {
    // Noted, and not written.
    let user = user(SETTINGS);
    user.ok(&["init", "--hooks"]);
    let added = text(settings_of(&user));
    fs::write(settings_of(&user), SETTINGS).unwrap();
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(text(settings_of(&user)), SETTINGS);
    assert!(!user.state().join("wiring.json").exists());
    // Written, and forgotten: of a home that was lost.
    fs::write(settings_of(&user), &added).unwrap();
    user.ok(&["init", "--hooks"]);
    assert_eq!(text(settings_of(&user)), added);
    fs::remove_dir_all(user.state()).unwrap();
    user.ok(&["uninstall"]);
    assert_eq!(text(settings_of(&user)), SETTINGS);
    // Of a program that was elsewhere: its entries are replaced.
    let elsewhere = added.replace(env!("CARGO_BIN_EXE_totalrecall"), "/opt/old/totalrecall");
    fs::write(settings_of(&user), elsewhere).unwrap();
    user.ok(&["init", "--hooks"]);
    assert_eq!(text(settings_of(&user)), added);
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(text(settings_of(&user)), SETTINGS);
}

#[test]
fn whoever_is_killed_on_the_way_leaves_what_can_be_taken_back() {
    let user = user(SETTINGS);
    user.ok(&["init"]);
    let before = others(&user);
    user.ok(&["init", "--hooks"]);
    let added = text(settings_of(&user));
    user.ok(&["init", "--no-hooks"]);
    let count = |folder: PathBuf| fs::read_dir(folder).map_or(0, Iterator::count);
    let backups = || count(user.state().join("backups"));
    fs::remove_dir_all(user.state().join("backups")).unwrap();
    let staged = || count(user.home().join(".claude")) > 1;
    let noted = || user.state().join("wiring.json").exists();
    // What is seen of each step, in their order.
    let steps: [(&str, &dyn Fn() -> bool); 6] = [
        ("--hooks", &staged),
        ("--hooks", &noted),
        ("--hooks", &|| backups() > 0),
        ("--hooks", &|| text(settings_of(&user)) != SETTINGS),
        ("--no-hooks", &staged),
        ("--no-hooks", &|| text(settings_of(&user)) == SETTINGS),
    ];
    for (number, (what, is_so)) in steps.into_iter().enumerate() {
        if what == "--no-hooks" {
            user.ok(&["init", "--hooks"]);
        }
        let mut child = user.command(&["init", what]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // It may be through before we have looked.
        while !is_so() && child.try_wait().unwrap().is_none() {}
        let _ = child.kill();
        child.wait().unwrap();
        let now = text(settings_of(&user));
        assert!(now == SETTINGS || now == added, "step {number}: in pieces:\n{now}");
        // What lay ready to be renamed is nobody's.
        for (file, _) in others(&user) {
            if file.file_name().unwrap().to_string_lossy().starts_with(".totalrecall-") {
                fs::remove_file(file).unwrap();
            }
        }
        user.ok(&["init", "--no-hooks"]);
        assert_eq!(others(&user), before, "killed at step {number}");
        assert!(!noted(), "step {number}");
        let _ = fs::remove_dir_all(user.state().join("backups"));
    }
}

#[test]
fn the_person_is_told_what_keeps_hooks_from_being_called() {
    let user = user(
        "{\n  // Mine.\n  \"disableAllHooks\": true,\n  \"enabledPlugins\": { \"totalrecall@totalrecall\": true },\n  \"hooks\": {\n    \
         \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"totalrecall hook Stop\" }] }]\n  }\n}\n",
    );
    let before = others(&user);
    snapshot!("hooks_warned", user.ok(&["init", "--hooks"]));
    let ran = user.ok(&["uninstall"]);
    assert_eq!(others(&user), before);
    assert!(ran.err.contains("settings.json still runs `totalrecall`; take that entry out."), "{ran}");
}

#[test]
fn another_home_is_named_to_the_hook() {
    let user = user(SETTINGS);
    let state = user.home().join("it's mine");
    let run = |arguments: &[&str]| {
        let ran = Ran::of(&user, user.command(arguments).arg("--home").arg(&state).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran}");
        ran
    };
    run(&["init", "--hooks", "--tool", "claude-code,codex"]);
    let settings: Value = serde_json::from_str(&text(settings_of(&user))).unwrap();
    assert_eq!(settings["hooks"]["SessionEnd"][0]["hooks"][0]["args"], json!(["hook", "SessionEnd", "--home", state]));
    let hooks: Value = serde_json::from_str(&text(user.home().join(".codex/hooks.json"))).unwrap();
    let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    // A shell takes it for what it is.
    let event = json!({ "transcript_path": "/nowhere/x.jsonl", "session_id": "s" }).to_string();
    let mut shell = user.command(&[]);
    shell = {
        let mut sh = std::process::Command::new("/bin/sh");
        sh.args(["-c", command]).env_clear().envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
        sh
    };
    let mut child = shell.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(state.join("inbox")).unwrap().count(), 1);
    // The other home's are not ours to take.
    user.ok(&["uninstall"]);
    assert_ne!(text(settings_of(&user)), SETTINGS);
    run(&["uninstall"]);
    assert_eq!(text(settings_of(&user)), SETTINGS);
}

#[test]
fn codex_forgets_what_it_was_told_to_trust() {
    let user = User::new();
    let codex = user.home().join(".codex");
    fs::create_dir(&codex).unwrap();
    let config = "model = \"gpt-5.5\" # mine\nnotify = [\"say\"]\n";
    fs::write(codex.join("config.toml"), config).unwrap();
    snapshot!("hooks_codex", user.ok(&["init", "--hooks"]));
    snapshot!("hooks_codex_file", text(codex.join("hooks.json")));
    assert_eq!(text(codex.join("config.toml")), config, "`notify` is theirs");
    // As Codex 0.171.0 writes it.
    let mut trusted = format!("{config}\n[hooks.state]\n");
    for event in ["session_start", "session_end", "pre_compact", "stop", "subagent_stop"] {
        let key = json!(format!("{}:{event}:0:0", codex.join("hooks.json").display()));
        trusted += &format!("\n[hooks.state.{key}]\ntrusted_hash = \"sha256:00\"\n");
    }
    fs::write(codex.join("config.toml"), trusted).unwrap();
    user.ok(&["init", "--no-hooks"]);
    assert_eq!(text(codex.join("config.toml")), config);
    assert!(!codex.join("hooks.json").exists());
}

#[test]
fn opencode_gets_a_plugin_that_is_taken_away_as_long_as_it_is_ours() {
    let user = User::new();
    let plugin = user.home().join(".config/opencode/plugin/totalrecall.js");
    fs::create_dir_all(user.home().join(".local/share/opencode")).unwrap();
    let ran = user.ok(&["init", "--hooks"]);
    assert!(ran.err.contains("@opencode-ai/plugin"), "{ran}");
    let written = text(&plugin);
    snapshot!("opencode_plugin", &written);
    // An older version's is replaced, one that somebody changed is not.
    user.ok(&["init", "--hooks"]);
    assert_eq!(text(&plugin), written);
    fs::write(&plugin, written.replace("detached: true", "detached: false")).unwrap();
    for arguments in [&["init", "--hooks"][..], &["init", "--no-hooks"], &["uninstall"]] {
        let ran = user.run(arguments);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.err.contains("totalrecall.js was changed by hand"), "{ran}");
    }
    fs::write(&plugin, &written).unwrap();
    user.ok(&["init", "--no-hooks"]);
    assert!(!user.home().join(".config").exists(), "with its folders");
    fs::create_dir_all(plugin.parent().unwrap()).unwrap();
    fs::write(&plugin, "export const Mine = async () => ({})\n").unwrap();
    let ran = user.run(&["init", "--hooks"]);
    assert!(ran.code == Some(1) && ran.err.contains("is not of ours"), "{ran}");
    user.ok(&["uninstall"]);
    assert_eq!(text(&plugin), "export const Mine = async () => ({})\n");
}

#[test]
fn a_notice_of_a_database_has_it_looked_at() {
    let user = User::with_tool("opencode", "1.18-fork-and-subagent");
    let database = user.home().join(".local/share/opencode/opencode.db");
    let inbox = user.state().join("inbox");
    fs::create_dir_all(&inbox).unwrap();
    let leave = |event: &str, name: &str| {
        let notice = json!({ "transcript_path": database, "session_id": "ses_x", "event": event, "at": 0 });
        fs::write(inbox.join(name), notice.to_string()).unwrap();
    };
    let sessions = || user.ok(&["status", "--json"]).json()["status"]["sessions"].clone();
    // A turn is no end: whoever looks for what is new finds it.
    leave("Stop", "1.json");
    let ran = user.ok(&["worker"]);
    assert!(!ran.err.contains("a hook named"), "{ran}");
    assert_eq!(sessions(), 0);
    leave("SessionEnd", "2.json");
    leave("SessionEnd", "3.json");
    user.ok(&["worker"]);
    let read = sessions();
    assert_ne!(read, 0);
    leave("SessionEnd", "4.json");
    let ran = user.ok(&["worker", "--json"]);
    assert_eq!(ran.json()["read"], 0, "nothing is new: {ran}");
    user.ok(&["worker", "--reconcile"]);
    assert_eq!(sessions(), read);
}

/// Claude Code before 2.1.139 leaves the arguments out.
#[test]
fn a_client_may_start_us_without_arguments() {
    let user = user(SETTINGS);
    let run = |input: &str| {
        let mut child =
            user.command(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Ran::of(&user, child.wait_with_output().unwrap())
    };
    let event = json!({ "hook_event_name": "Stop", "transcript_path": "/nowhere/x.jsonl", "session_id": "s" });
    let ran = run(&event.to_string());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let notices = walk(&user.state().join("inbox"));
    assert!(text(&notices[0]).contains("\"Stop\""), "{notices:?}");
    // Anything else is a call without a command.
    for input in ["", "{}", "hello"] {
        assert_eq!(run(input).code, Some(2), "{input:?}");
    }
}

#[test]
fn only_what_is_meant_is_understood() {
    let user = user(SETTINGS);
    for arguments in [
        &["init", "--hooks", "--no-hooks"][..],
        &["init", "--dry-run"],
        &["init", "--tool", "codex"],
        &["init", "--hooks", "--tool", "aider"],
    ] {
        let ran = user.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran}");
    }
    assert_eq!(text(settings_of(&user)), SETTINGS);
}
