//! `doctor` shows whatever keeps hooks from doing their work.

use std::{fs, path::Path};

use crate::support::{NOW, User};

/// What it says of everything besides what is read, without the hash of anything.
fn doctor(user: &User) -> String {
    let lines = user.run(&["doctor"]).out;
    let mut shown = String::new();
    let mut is_shown = false;
    for line in lines.lines() {
        let what = line.get(6..18).unwrap_or_default().trim();
        if !what.is_empty() {
            is_shown = ["home", "inbox", "worker", "paused", "hooks", "plugin", "program"].contains(&what);
        }
        if is_shown {
            shown += &format!("{line}\n");
        }
    }
    shown
}

fn write(file: &Path, value: &serde_json::Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, value.to_string()).unwrap();
}

#[cfg(unix)]
fn program(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Installs the plugin as Claude Code does: from a folder of this machine, and switched on.
fn install(user: &User, version: &str) -> std::path::PathBuf {
    let (claude, source) = (user.home().join(".claude"), user.folder().join("source"));
    write(
        &source.join(".claude-plugin/plugin.json"),
        &serde_json::json!({ "name": "totalrecall", "version": version }),
    );
    write(
        &claude.join("plugins/installed_plugins.json"),
        &serde_json::json!({ "version": 2, "plugins": {
            "other@market": [{ "scope": "user", "installPath": "/x" }],
            "totalrecall@totalrecall": [{ "scope": "user", "installPath": claude.join("plugins/cache/x"), "version": "0.0.1" }],
        } }),
    );
    settings(user, |settings| {
        settings["enabledPlugins"] = serde_json::json!({ "totalrecall@totalrecall": true, "other@market": false });
        settings["extraKnownMarketplaces"] =
            serde_json::json!({ "totalrecall": { "source": { "source": "directory", "path": source } } });
    });
    claude.join("plugins/data/totalrecall-totalrecall/bin/totalrecall")
}

fn settings(user: &User, change: impl FnOnce(&mut serde_json::Value)) {
    let file = user.home().join(".claude/settings.json");
    let mut value = fs::read(&file).map_or(serde_json::json!({}), |text| serde_json::from_slice(&text).unwrap());
    change(&mut value);
    write(&file, &value);
}

#[test]
#[cfg(unix)]
fn how_claude_code_calls_us_is_told() {
    let user = User::with("2.1.120-tui");
    user.ok(&["init"]);
    let version = env!("CARGO_PKG_VERSION");
    let mut said = String::new();
    let mut say = |what: &str| said += &format!("# {what}\n{}\n", doctor(&user));
    say("nothing");
    let own = install(&user, version);
    say("the plugin, and no program");
    let notice = serde_json::json!({
        "transcript_path": "/x.jsonl", "session_id": "s", "event": "Stop", "at": 1_780_000_000_000_i64,
    });
    write(&user.state().join("inbox/000000000000-x.json"), &notice);
    user.ok(&["worker"]);
    program(&own, &format!("echo totalrecall {version}"));
    say("the plugin");
    program(&own, "echo totalrecall 0.0.9");
    say("a program of another version");
    program(&own, "exit 3");
    say("a program that does not run");
    settings(&user, |it| {
        it["pluginConfigs"]["totalrecall@totalrecall"]["options"]["binary"] = "/nowhere/totalrecall".into()
    });
    say("a program that was named and is not there");
    settings(&user, |it| {
        it["pluginConfigs"]["totalrecall@totalrecall"]["options"]["binary"] = env!("CARGO_BIN_EXE_totalrecall").into()
    });
    let handler = serde_json::json!([{ "hooks": [{ "type": "command", "command": "totalrecall hook SessionEnd", "timeout": 5 }] }]);
    settings(
        &user,
        |it| it["hooks"] = serde_json::json!({ "SessionEnd": handler, "Stop": [{ "hooks": [{ "type": "command", "command": "make lint" }] }] }),
    );
    say("the plugin and entries");
    settings(&user, |it| it["enabledPlugins"]["totalrecall@totalrecall"] = false.into());
    let exact = serde_json::json!([{ "hooks": [{ "type": "command", "command": env!("CARGO_BIN_EXE_totalrecall"), "args": ["hook", "Stop"] }] }]);
    settings(
        &user,
        |it| it["hooks"] = serde_json::json!({ "Stop": exact, "PreCompact": exact, "PreToolUse": [{ "hooks": [{ "type": "command", "command": "totalrecall check x.toml" }] }] }),
    );
    say("the plugin is switched off, entries");
    settings(&user, |it| it["disableAllHooks"] = true.into());
    say("all hooks are switched off");
    fs::write(user.home().join(".claude/settings.json"), "][").unwrap();
    say("settings that cannot be read");
    let said = said.replace(env!("CARGO_BIN_EXE_totalrecall"), "[PROGRAM]").replace(version, "[VERSION]");
    insta::assert_snapshot!("doctor_calls", said);
}

#[test]
fn what_hooks_leave_and_nobody_takes_is_told() {
    let user = User::with("2.1.120-tui");
    user.ok(&["init"]);
    let inbox = user.state().join("inbox");
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let notice = |event: &str, minutes: i64| {
        let at = now - minutes * 60_000;
        write(
            &inbox.join(format!("{:012}-{event}.json", at / 1000)),
            &serde_json::json!({ "transcript_path": "/x.jsonl", "session_id": "s", "event": event, "at": at }),
        );
    };
    let mut said = String::new();
    let mut say = |what: &str| said += &format!("# {what}\n{}\n", doctor(&user));
    notice("Stop", 20);
    notice("SessionEnd", 10);
    say("just left");
    notice("Stop", 90);
    say("of a session that goes on");
    notice("SessionEnd", 61);
    fs::create_dir(inbox.join("rejected")).unwrap();
    fs::write(inbox.join("rejected/x.json"), "").unwrap();
    fs::write(inbox.join("y.json"), "").unwrap();
    say("of a session that has ended an hour ago, and what is none");
    let _lock = totalrecall::store::WorkerLock::take(&user.state()).unwrap();
    let lock = fs::File::options().write(true).open(user.state().join("worker.lock")).unwrap();
    let hour_ago = std::time::UNIX_EPOCH + std::time::Duration::from_millis((now - 3_600_000).unsigned_abs());
    lock.set_modified(hour_ago).unwrap();
    say("a worker that is at it for long");
    user.ok(&["pause"]);
    fs::create_dir(user.folder().join("app")).unwrap();
    user.ok(&["pause", "--project", "app"]);
    say("paused");
    let said = said.replace(&std::process::id().to_string(), "[PID]");
    insta::assert_snapshot!("doctor_inbox", said);
}

#[test]
fn it_shows_what_other_tools_were_given() {
    let user = User::new();
    let file = user.home().join(".codex/hooks.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    assert!(!doctor(&user).contains("Codex"));
    user.ok(&["init", "--hooks", "--tool", "codex"]);
    let said = doctor(&user);
    assert!(said.contains("ok    hooks        [DIR]/home/.codex/hooks.json has Codex call this program"), "{said}");

    // The person took one out, then all of them.
    let text = fs::read_to_string(&file).unwrap();
    for left in [text.replace("hook Stop", "hook Other"), "{}".to_owned()] {
        fs::write(&file, left).unwrap();
        let said = doctor(&user);
        assert!(said.contains("Codex does not call this program at every event any more"), "{said}");
        assert!(said.contains("`totalrecall init --hooks --tool codex`"), "{said}");
    }
    fs::write(&file, "{").unwrap();
    assert!(doctor(&user).contains("bad   hooks        cannot change"), "{}", doctor(&user));
}
