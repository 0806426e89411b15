//! Every command: what it prints and how it ends.

use std::fs;

use crate::support::{User, fixture};

#[test]
fn the_main_job() {
    let user = User::with("2.1.120-tui");
    insta::assert_snapshot!("init", user.ok(&["init"]));
    insta::assert_snapshot!("init_again", user.ok(&["init"]));
    insta::assert_snapshot!("reconcile", user.ok(&["reconcile"]));
    insta::assert_snapshot!("worker", user.ok(&["worker"]));
    insta::assert_snapshot!("insights", user.ok(&["insights"]));
    insta::assert_snapshot!("patterns", user.ok(&["patterns", "--limit", "3"]));
    insta::with_settings!({filters => vec![(r"\d+(\.\d+)? [kM]?B\)", "[SIZE])")]}, {
        insta::assert_snapshot!("status", user.ok(&["status"]));
    });
    insta::with_settings!({filters => vec![(r"[0-9a-f]{64}", "[SHA256]")]}, {
        insta::assert_snapshot!("doctor", user.ok(&["doctor"]));
        insta::assert_snapshot!("adapters", user.ok(&["adapters", "list"]));
    });
    assert_eq!(user.ok(&["insights", "--path"]).out, "[DIR]/home/.totalrecall/insights.md\n");
    // A second run has nothing to do.
    insta::assert_snapshot!("reconcile_again", user.ok(&["reconcile"]));
    insta::assert_snapshot!("worker_again", user.ok(&["worker", "--reconcile"]));
}

#[test]
fn insights_speak_the_language_of_the_system_or_the_setting() {
    let user = User::with("2.1.332-steering-and-refusal");
    let chinese = |user: &User| {
        let output = user.command(&["insights", "--renew"]).env("LANG", "zh_CN.UTF-8").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    user.ok(&["worker", "--reconcile"]);
    insta::assert_snapshot!("insights_zh", chinese(&user));
    fs::write(user.state().join("config.toml"), "language = \"en\"\n").unwrap();
    assert!(chinese(&user).starts_with("# What gets in the way"));
}

#[test]
fn analyze_needs_no_home_and_leaves_none() {
    let user = User::with("2.1.332-steering-and-refusal");
    insta::assert_snapshot!("analyze", user.ok(&["analyze", "home/.claude/projects"]));
    assert!(!user.state().exists());
    let lines = user.ok(&["analyze", "--format", "json", "home/.claude/projects"]).json_lines();
    insta::assert_json_snapshot!("analyze_json", lines);
}

#[test]
fn demo_shows_your_transcripts_or_bundled_ones_and_keeps_nothing() {
    let user = User::with("2.1.332-steering-and-refusal");
    let yours = user.ok(&["demo", "--output", "home/page.md"]);
    assert!(yours.err.contains("of your transcripts"), "{yours}");
    assert_eq!(fs::read_to_string(user.home().join("page.md")).unwrap(), yours.out);
    let bundled = User::new().ok(&["demo"]);
    assert!(bundled.err.contains("bundled"), "{bundled}");
    assert!(
        bundled.out.starts_with("# What gets in the way") && bundled.out.contains("String to replace not found"),
        "{bundled}"
    );
    assert!(!user.state().exists());
}

#[test]
fn nothing_found_is_told_apart_from_failure() {
    let user = User::new();
    fs::write(user.home().join("notes.txt"), "hello").unwrap();
    for arguments in [
        &["status"][..],
        &["insights"],
        &["patterns"],
        &["reconcile"],
        &["retry"],
        &["analyze", "home"],
        &["ingest", "home"],
    ] {
        let ran = user.run(arguments);
        assert_eq!(ran.code, Some(3), "{arguments:?}:\n{ran}");
        assert!(!ran.err.is_empty(), "{arguments:?} says why");
    }
    assert_eq!(user.run(&["analyze", "home/absent.jsonl"]).code, Some(1));
    assert_eq!(user.run(&["analyze", "home/notes.txt"]).code, Some(1));
    assert_eq!(user.run(&["analyze", "--tool", "nonesuch", "home"]).code, Some(2));
    assert_eq!(user.run(&["analyze"]).code, Some(2));
    assert_eq!(user.run(&["nonesuch"]).code, Some(2));
}

#[test]
fn json_is_json_everywhere() {
    let user = User::with("2.1.120-tui");
    for arguments in [
        &["init", "--json"][..],
        &["reconcile", "--json"],
        &["worker", "--json"],
        &["insights", "--json"],
        &["patterns", "--json"],
        &["status", "--json"],
        &["spend", "--json"],
        &["doctor", "--json"],
        &["adapters", "list", "--json"],
        &["config", "--json"],
    ] {
        assert!(!user.ok(arguments).json().is_null(), "{arguments:?}");
    }
    assert_eq!(user.run(&["retry", "--json"]).json()["queued"], 0);
}

#[test]
fn a_setting_that_makes_no_sense_is_named_with_its_place() {
    let user = User::with("2.1.120-tui");
    user.ok(&["init"]);
    let config = user.state().join("config.toml");
    fs::write(&config, "[patterns]\nhalf-live-days = 3\n").unwrap();
    insta::assert_snapshot!("config_unknown_key", user.run(&["worker"]));
    fs::write(&config, "[signals]\nchurn-edit = 3\n").unwrap();
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("no analyzer has the setting `churn-edit`"), "{ran}");
    fs::write(&config, "[signals]\nchurn-edits = \"many\"\n").unwrap();
    insta::assert_snapshot!("config_bad_value", user.run(&["analyze", "home/.claude/projects"]));
}

#[test]
fn settings_reach_the_analyzer_and_old_signals_follow() {
    let user = User::with("2.1.332-tui");
    let signals = |user: &User| user.ok(&["status", "--json"]).json()["status"]["signals"].as_u64().unwrap();
    user.ok(&["worker", "--reconcile"]);
    let before = signals(&user);
    fs::write(user.state().join("config.toml"), "[signals]\nchurn-edits = 2\n").unwrap();
    let ran = user.ok(&["worker"]);
    assert!(ran.err.contains("2 analysed again"), "{ran}");
    assert!(signals(&user) > before, "two edits of a file are churn now");
    fs::remove_file(user.state().join("config.toml")).unwrap();
    user.ok(&["worker"]);
    assert_eq!(signals(&user), before);
}

#[test]
fn completions_and_help_exist_for_every_command() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(user.ok(&["completions", shell]).out.contains("totalrecall"), "{shell}");
    }
    let help = user.ok(&["--help"]);
    insta::assert_snapshot!("help", help);
    let commands = help.out.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<_> = commands.map_while(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(user.ok(&[name, "--help"]).out.contains("Usage: totalrecall"), "{name}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let user = User::with("2.1.120-tui");
    let path = fixture("2.1.120-tui");
    let path = path.to_str().unwrap();
    assert!(!user.ok(&["analyze", path]).out.contains('\u{1b}'));
    assert!(user.ok(&["--color", "always", "analyze", path]).out.contains('\u{1b}'));
    let mut plain = user.command(&["--color", "auto", "analyze", path]);
    assert!(!String::from_utf8(plain.env("NO_COLOR", "1").output().unwrap().stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let user = User::with("2.1.120-tui");
    let mut child = user
        .command(&["analyze", "home/.claude/projects"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
