//! The ledger of calls as its user sees it, and sessions that programs we asked have kept.

use std::{fs, path::Path};

use totalrecall::{
    config::Config,
    model::{self, Purpose},
    store::{Begun, CallEnd, NewCall, Store},
};

use crate::{
    life::walk,
    support::{NOW, User, settle},
};

fn now() -> i64 {
    NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn call(store: &mut Store, at: i64, purpose: Purpose, subject: &str, end: Option<&CallEnd>) -> i64 {
    let call = NewCall { at, purpose, subject, command: "claude", model: "sonnet", prompt: "0", reserved_usd: 0.15 };
    let Begun::Call(id) = store.begin_call(&call, 1.0).unwrap() else { panic!("it was refused") };
    if let Some(end) = end {
        store.end_call(id, end).unwrap();
    }
    id
}

#[test]
fn nothing_was_spent_without_a_store() {
    let user = User::new();
    let ran = user.run(&["spend"]);
    assert_eq!(ran.code, Some(3), "{ran}");
    assert!(!user.state().exists());
}

#[test]
fn every_call_is_shown_with_what_became_of_it() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    insta::assert_snapshot!("spend_nothing", user.ok(&["spend"]));
    let mut store = Store::open(&user.state()).unwrap();
    model::agree(&mut store, &Config::default().model, now()).unwrap();
    let said =
        CallEnd { input_tokens: Some(12_345), output_tokens: Some(678), cost_usd: Some(0.05), ..CallEnd::default() };
    let estimated = CallEnd { estimated_usd: Some(0.07), ..CallEnd::default() };
    let failed = |kind, backs_off, why: &str| CallEnd {
        at: now(),
        failure: Some((kind, why.to_owned())),
        backs_off,
        ..CallEnd::default()
    };
    call(&mut store, now() - 86_400_000, Purpose::Draft, "a pattern", Some(&said));
    call(&mut store, now() - 3000, Purpose::Findings, "claude-code one", Some(&said));
    let empty = call(&mut store, now() - 2500, Purpose::Findings, "claude-code two", Some(&estimated));
    store.mark_call_empty(empty).unwrap();
    call(
        &mut store,
        now() - 2000,
        Purpose::Findings,
        "claude-code three",
        Some(&failed("garbage", false, "claude: no JSON\u{1b}[31m")),
    );
    call(&mut store, now() - 1500, Purpose::Findings, "claude-code four", None);
    call(
        &mut store,
        now() - 1000,
        Purpose::Findings,
        "claude-code five",
        Some(&failed("overloaded", true, "claude: 529")),
    );
    store.finish().unwrap();
    insta::assert_snapshot!("spend", user.ok(&["spend"]));
    let json = user.ok(&["spend", "--days", "1", "--json"]).json();
    assert_eq!(json["sums"].as_array().unwrap().len(), 1);
    assert_eq!(json["sums"][0]["calls"], 5);
    assert_eq!(json["failures"].as_array().unwrap().len(), 2);
    let status = user.ok(&["status"]).out;
    assert!(status.contains("USD 0.570 of 1.00 spent today in 5 calls, 2 failed"), "{status}");
}

/// A session as it is kept, somewhere else.
fn moved(folder: &Path, to: &str) {
    for file in walk(folder) {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let mut moved = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("\"cwd\":\"") {
            let (before, after) = rest.split_at(at + 7);
            moved += before;
            moved += to;
            rest = &after[after.find('"').unwrap()..];
        }
        fs::write(&file, moved + rest).unwrap();
        settle(&file);
    }
}

#[test]
fn sessions_held_in_our_own_folder_are_not_read() {
    for (tool, case) in [("claude-code", "2.1.120-tui"), ("codex", "0.171-headless")] {
        let user = User::with_tool(tool, case);
        user.ok(&["init"]);
        moved(
            &user.home().join(crate::support::kept(tool)),
            user.state().canonicalize().unwrap().join("analysis").to_str().unwrap(),
        );
        user.ok(&["worker", "--reconcile"]);
        let status = user.ok(&["status", "--json"]).json();
        assert_eq!(
            (&status["status"]["sessions"], &status["status"]["done"]),
            (&0.into(), &0.into()),
            "{tool}: {status}"
        );
        assert!(status["status"]["skipped"].as_u64() > Some(0), "{tool}: {status}");
    }
}

#[test]
fn sessions_that_begin_with_our_mark_are_not_read() {
    let user = User::new();
    let file = user.projects().join("-home-dev-x/11111111-1111-4111-8111-111111111111.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let line = |prompt: &str| {
        serde_json::json!({"type": "user", "uuid": "u1", "sessionId": "11111111-1111-4111-8111-111111111111",
            "timestamp": "2026-11-30T10:00:00.000Z", "cwd": "/home/dev/x", "version": "2.1.332",
            "message": {"role": "user", "content": prompt}})
        .to_string()
            + "\n"
    };
    let count = |what: &str| user.ok(&["status", "--json"]).json()["status"][what].clone();
    fs::write(&file, line(&format!("{}\n\nJudge this.", model::MARKER))).unwrap();
    settle(&file);
    user.ok(&["worker", "--reconcile"]);
    assert_eq!((count("sessions"), count("skipped")), (0.into(), 1.into()));
    fs::write(&file, line("Judge this, and that.")).unwrap();
    settle(&file);
    user.ok(&["worker", "--reconcile"]);
    assert_eq!((count("sessions"), count("skipped")), (1.into(), 0.into()));
}

#[test]
#[cfg(unix)]
fn doctor_finds_the_program_and_its_version() {
    let user = User::new();
    let program = user.folder().join("bin/claude");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\necho \"9.9.9 ($1, $TOTALRECALL_ANALYSIS)\"\n").unwrap();
    fs::set_permissions(&program, <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755)).unwrap();
    let output = user.command(&["doctor"]).env("PATH", user.folder().join("bin")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("bin/claude 9.9.9 (--version, 1)"), "{text}");
}
