//! Sessions that changed much and kept nothing.

use std::path::Path;

use totalrecall::memory::NewMemory;

use super::{Script, remember};
use crate::support::User;

fn edits(mut script: Script, count: usize) -> Script {
    for number in 0..count {
        script = script.edits(if number % 3 == 0 { "src/a.rs" } else { "docs/b.md" });
    }
    script
}

/// One with sessions of all sorts.
fn worked() -> User {
    let user = User::new();
    let app = Path::new("/work/app");
    edits(Script::new(1, app, 20).says("Six edits."), 6).write(&user);
    edits(Script::new(2, app, 21).says("Five edits."), 5).write(&user);
    Script::new(3, Path::new("/work/ops"), 22)
        .says("Deploy.")
        .runs("cd /srv && sudo -u deploy env TOKEN=hunter2secret /usr/bin/ssh prod 'systemctl restart x'; echo \"psql is no program here\"")
        .runs("time kubectl --token=abcdef get pods | grep terraform")
        .write(&user);
    edits(Script::new(4, app, 23).says("Saved."), 9).write(&user);
    edits(Script::new(5, app, 1).says("A month ago."), 9).write(&user);
    user.ok(&["worker", "--reconcile"]);
    remember(
        &user,
        NewMemory {
            content: "kept".to_owned(),
            session: Some("00000004-0000-4000-8000-000000000000".to_owned()),
            ..NewMemory::default()
        },
    );
    user
}

fn listed(user: &User, more: &[&str]) -> Vec<String> {
    let ran = user.run(&[&["unsaved", "--json"], more].concat());
    let found = ran.json();
    let session = |it: &serde_json::Value| it["session"].as_str().unwrap()[7..8].to_owned();
    found["unsaved"].as_array().unwrap().iter().map(session).collect()
}

#[test]
fn what_changed_much_and_kept_nothing_is_listed() {
    let user = worked();
    assert_eq!(listed(&user, &[]), ["3", "1"]);
    let found = user.ok(&["unsaved", "--json"]).json();
    assert_eq!(found["total"], 2);
    let [ops, six] = &found["unsaved"].as_array().unwrap()[..] else { panic!("{found:#}") };
    assert_eq!(ops["programs"], serde_json::json!(["kubectl", "ssh"]));
    assert_eq!((&six["edits"], &six["files"]), (&6.into(), &2.into()));
    assert_eq!(six["folders"], serde_json::json!(["docs", "src"]));
    // Claude Code deletes it 30 days after it was last written to.
    assert_eq!(six["deleted_at"].as_i64().unwrap() - six["ended_at"].as_i64().unwrap(), 30 * 86_400_000);
    let printed = user.ok(&["unsaved"]).out;
    assert!(printed.contains("ran kubectl, ssh") && printed.contains("6 edits of 2 files in docs, src"), "{printed}");
    for secret in ["hunter2secret", "abcdef", "systemctl", "prod", "get pods"] {
        assert!(!printed.contains(secret) && !found.to_string().contains(secret), "{secret}");
    }
    assert_eq!(listed(&user, &["--project", "ops"]), ["3"]);
    assert_eq!(listed(&user, &["--max", "1"]), ["3"]);
    assert!(user.ok(&["unsaved", "--max", "1"]).out.contains("1 of 2 shown"));
    // The figures are the person's.
    std::fs::write(user.state().join("config.toml"), "[unsaved]\nedits = 4\nprograms = [\"grep\"]\ndays = 60\n")
        .unwrap();
    assert_eq!(listed(&user, &[]), ["3", "2", "1", "5"]);
    std::fs::write(user.state().join("config.toml"), "[unsaved]\nidle-hours = 240\n").unwrap();
    assert_eq!(listed(&user, &[]), ["1"]);
}

#[test]
fn one_that_is_acknowledged_is_not_listed_unless_it_goes_on() {
    let user = worked();
    let six = edits(Script::new(1, Path::new("/work/app"), 20).says("Six edits."), 6);
    let reference = {
        let found = user.ok(&["unsaved", "--json"]).json();
        found["unsaved"][1]["reference"].as_str().unwrap().to_owned()
    };
    user.ok(&["unsaved", "--ack", &reference, "thrown away,\npassword=Tr0ub4dor&3xyzzy"]);
    assert_eq!(listed(&user, &[]), ["3"]);
    user.ok(&["unsaved", "--ack", "00000003-0000-4000-8000-000000000000", "routine"]);
    let ran = user.run(&["unsaved"]);
    assert_eq!(ran.code, Some(3), "{ran}");
    for wrong in [["s99", "x"], ["nonsense", "x"], ["s1", " "]] {
        assert_eq!(user.run(&["unsaved", "--ack", wrong[0], wrong[1]]).code, Some(2), "{wrong:?}");
    }
    // It is gone on with after that.
    let mut again = six;
    again.day = 30;
    let path = edits(again, 1).write(&user);
    let text = std::fs::read_to_string(&path).unwrap().replace("2026-11-30", "2026-12-01").replace("T09:", "T13:");
    std::fs::write(&path, text).unwrap();
    crate::support::settle(&path);
    let mut worker = user.command(&["worker", "--reconcile"]);
    assert!(worker.env("TOTALRECALL_NOW", "2026-12-02T12:00:00Z").output().unwrap().status.success());
    let output = user.command(&["unsaved", "--json"]).env("TOTALRECALL_NOW", "2026-12-02T12:00:00Z").output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["total"], 1, "{found:#}");
}

#[test]
fn the_next_session_is_told_of_it_and_of_the_agents_own_memory() {
    let user = User::new();
    let app = user.folder().canonicalize().unwrap().join("app");
    std::fs::create_dir(&app).unwrap();
    let memory = user.home().join(".claude/projects/-app/memory/MEMORY.md");
    let input = serde_json::json!({ "file_path": memory, "content": "x" });
    edits(Script::new(1, &app, 20).says("Much."), 9).calls("Write", &input, "ok", false).write(&user);
    user.ok(&["worker", "--reconcile"]);
    let text = super::told(&user, &app, "a", "startup").unwrap();
    assert!(text.contains("nothing was saved (ask the user") && text.contains("10 edits of 3 files"), "{text}");
    assert!(text.contains("saved with `remember`"), "{text}");
    let reference = user.ok(&["unsaved", "--json"]).json()["unsaved"][0]["reference"].as_str().unwrap().to_owned();
    user.ok(&["unsaved", "--ack", &reference, "nothing in it"]);
    let text = super::told(&user, &app, "a", "resume").unwrap();
    assert!(!text.contains("nothing was saved"), "{text}");
}
