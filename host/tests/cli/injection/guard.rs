//! Before a conversation is compacted.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;
use totalrecall::{memory::NewMemory, saved, store::WorkerLock};

use super::{Script, call, now, repository, stored, told};
use crate::support::{User, touch};

/// Asks for a compaction; whether it was refused. A refusal gives its reason, and nothing else is ever said.
fn is_refused(user: &User, session: &str, trigger: &str, environment: &[(&str, &str)]) -> bool {
    // Without a transcript no worker is started, which would set the switch behind our back.
    let input = json!({
        "session_id": session, "cwd": "/", "hook_event_name": "PreCompact", "trigger": trigger, "custom_instructions": null,
    });
    let output = call(user, "PreCompact", &input, environment);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    match output.status.code() {
        Some(0) => assert_eq!(said, ""),
        Some(2) => assert!(said.contains("type /compact again") && said.contains("`remember`"), "{said}"),
        other => panic!("{other:?}: {said}"),
    }
    output.status.code() == Some(2)
}

/// One whose settings say so.
fn guarded() -> User {
    let user = User::new();
    fs::create_dir_all(user.state()).unwrap();
    fs::write(user.state().join("config.toml"), "[guard]\nmanual = true\n").unwrap();
    user.ok(&["worker"]);
    user
}

#[test]
fn nothing_is_refused_unless_it_is_wanted() {
    let user = User::new();
    user.ok(&["worker"]);
    assert!(!is_refused(&user, "a", "manual", &[]) && !is_refused(&user, "a", "manual", &[]));
    let option = |value| [("CLAUDE_PLUGIN_OPTION_COMPACT_GUARD", value)];
    assert!(!is_refused(&user, "a", "manual", &option("false")));
    assert!(is_refused(&user, "a", "manual", &option("true")));
    let user = guarded();
    assert!(!is_refused(&user, "a", "manual", &option("false")));
    assert!(!is_refused(&user, "a", "manual", &[("TOTALRECALL_ANALYSIS", "1")]));
    // It is switched off again.
    assert!(is_refused(&user, "a", "manual", &[]));
    fs::write(user.state().join("config.toml"), "").unwrap();
    user.ok(&["insights", "--renew"]);
    assert!(!is_refused(&user, "b", "manual", &[]));
}

#[test]
fn a_manual_compaction_is_refused_once_and_only_where_nothing_was_saved() {
    let user = guarded();
    for _ in 0..3 {
        assert!(!is_refused(&user, "auto", "auto", &[]), "a compaction that the client begins is never held up");
    }
    assert!(is_refused(&user, "a", "manual", &[]));
    assert!(is_refused(&user, "b", "manual", &[]), "each session for itself");
    assert!(!is_refused(&user, "a", "manual", &[]));
    // Typed again when somebody has read it, with two hooks that ask, as where there are the plugin and an entry in the settings.
    for (at, expected) in [("12:01", [false, false]), ("12:05", [true, false]), ("12:06", [false, false])] {
        let now = format!("2026-12-01T{at}:00Z");
        let ask = || is_refused(&user, "a", "manual", &[("TOTALRECALL_NOW", &now)]);
        assert_eq!([ask(), ask()], expected, "{at}");
    }
    // Nobody is there who would type it again.
    for script in ["sdk-cli", "sdk-ts"] {
        assert!(!is_refused(&user, script, "manual", &[("CLAUDE_CODE_ENTRYPOINT", script)]));
    }
    // Saved in this session, a quarter of an hour ago at most.
    saved::note(&user.state(), "c", now() - 15 * 60_000).unwrap();
    saved::note(&user.state(), "d", now() - 15 * 60_000 - 1).unwrap();
    assert!(!is_refused(&user, "c", "manual", &[]));
    assert!(is_refused(&user, "d", "manual", &[]));
    // A home in which nothing can be noted, and an event that says nothing.
    fs::remove_dir_all(user.state().join("guard")).unwrap();
    fs::write(user.state().join("guard"), "").unwrap();
    assert!(!is_refused(&user, "e", "manual", &[("CLAUDE_PLUGIN_OPTION_COMPACT_GUARD", "true")]));
    let user = guarded();
    assert!(call(&user, "PreCompact", &json!({ "trigger": "manual" }), &[]).status.success());
}

/// Waits for the worker that a hook has started.
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_stood_in_a_conversation_is_kept_and_told_when_it_goes_on() {
    let user = User::new();
    let [app, ..] = repository(&user);
    user.ok(&["worker"]);
    let script = Script::new(7, &app, 30)
        .says("Move the store to SQLite.")
        .edits("src/store.rs")
        .says("Now the tests, please.")
        .fails("cargo test", "error: store::tests failed");
    let path = script.write(&user);
    // It is being written to: no other event would have it read now.
    touch(&path, Duration::ZERO);
    let input = json!({
        "session_id": script.id, "transcript_path": path, "cwd": app, "hook_event_name": "PreCompact", "trigger": "auto",
    });
    assert!(call(&user, "PreCompact", &input, &[]).status.success());
    wait_for("nobody read it", || {
        fs::read_dir(user.state().join("inject/compacted")).is_ok_and(|all| all.count() == 1)
    });
    wait_for("a worker does not end", || WorkerLock::take(&user.state()).is_ok());
    assert!(stored(&user).contains("Now the tests, please."));
    let text = told(&user, &app, &script.id, "compact").unwrap();
    for part in [
        "This conversation, before it was compacted:",
        "the user asked: \"Move the store to SQLite.\"",
        "the user asked: \"Now the tests, please.\"",
        "changed src/store.rs; left unresolved:",
        "is kept and can be searched.",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // The next compaction is about what stands there then.
    let snapshot = user.state().join("inject/compacted");
    let again = json!({ "session_id": script.id, "cwd": app, "hook_event_name": "PreCompact", "trigger": "auto" });
    assert!(call(&user, "PreCompact", &again, &[]).status.success());
    assert_eq!(fs::read_dir(snapshot).unwrap().count(), 0);
    assert_eq!(told(&user, &app, &script.id, "compact"), None, "nothing of its own, and there is no other");
    // Another session of the project is told of it as of any other.
    let other = told(&user, &app, "other", "compact").unwrap();
    assert!(!other.contains("This conversation") && other.contains("began with \"Move the store"), "{other}");
    assert_eq!(told(&user, Path::new("/"), "x", "compact"), None);
}

/// A worker whose indexes take long reads it before they are done.
#[cfg(unix)]
#[test]
fn a_conversation_that_is_compacted_does_not_wait_for_the_indexes() {
    use rustix::process::{Pid, Signal, kill_process};

    let user = User::new();
    let [app, ..] = repository(&user);
    Script::new(1, &app, 20).says("Colour the buttons.").write(&user);
    user.ok(&["worker"]);
    let mut store = totalrecall::store::Store::open(&user.state()).unwrap();
    for number in 0..6_000 {
        let content = format!("Note number {number} of very many that take their time");
        store.add_memory(&NewMemory { content, ..NewMemory::default() }, 1_000).unwrap();
    }
    drop(store);
    let index = user.state().join("index");
    fs::remove_dir_all(&index).unwrap();
    let mut worker = user.command(&["worker", "--quiet"]).spawn().unwrap();
    let signal = |signal| kill_process(Pid::from_child(&worker), signal).unwrap();
    wait_for("no index was begun", || index.join("words").exists());
    signal(Signal::STOP);
    let script = Script::new(7, &app, 30).says("Move the store to SQLite.").edits("src/store.rs");
    let path = script.write(&user);
    let notice = json!({ "transcript_path": path, "session_id": script.id, "event": "PreCompact", "at": now() });
    fs::create_dir_all(user.state().join("inbox")).unwrap();
    fs::write(user.state().join("inbox/000000000000-0.json"), notice.to_string()).unwrap();
    signal(Signal::CONT);
    let kept = user.state().join("inject/compacted");
    wait_for("nobody read it", || fs::read_dir(&kept).is_ok_and(|all| all.count() == 1));
    assert!(!index.join("vectors/commit").exists(), "the indexes were done before");
    assert!(worker.wait().unwrap().success());
    assert!(index.join("vectors/commit").exists());
    assert!(user.ok(&["search", "move the store"]).out.contains("SQLite"));
}

/// A worker that has much to read prepares what stood in a conversation before the rest.
#[test]
fn a_conversation_that_is_compacted_is_read_before_all_others() {
    for is_queued in [false, true] {
        is_read_first(is_queued);
    }
}

/// `is_queued`: it waits behind the others already.
fn is_read_first(is_queued: bool) {
    let user = User::new();
    let [app, ..] = repository(&user);
    for number in 10..30 {
        Script::new(number, &app, 20).says(&format!("Question {number}")).write(&user);
    }
    user.ok(&["reconcile"]);
    let script = Script::new(7, &app, 30).says("Move the store to SQLite.").edits("src/store.rs");
    let path = script.write(&user);
    if is_queued {
        user.ok(&["reconcile"]);
    }
    let inbox = user.state().join("inbox");
    fs::create_dir_all(&inbox).unwrap();
    let notice = json!({ "transcript_path": path, "session_id": script.id, "event": "PreCompact", "at": now() });
    fs::write(inbox.join("000000000000-0.json"), notice.to_string()).unwrap();
    user.ok(&["worker"]);
    assert_eq!(fs::read_dir(user.state().join("inject/compacted")).unwrap().count(), 1);
    let order = totalrecall::store::Store::open_read_only(&user.state()).unwrap().sessions().unwrap();
    let first = order.iter().min_by_key(|row| row.id);
    assert_eq!(first.map(|row| row.native_id.as_str()), Some(script.id.as_str()));
    assert_eq!(order.len(), 21);
}
