//! What a client's hooks call: every event, whatever the client writes, however many come at once.

mod news;
mod slash;
mod storm;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{User, settle};

/// Starts a hook that nothing was written to yet.
fn start(user: &User, event: &str, environment: &[(&str, &str)]) -> Child {
    user.command(&["hook", event])
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a hook says; it must say it in one line, without complaint, and end well.
fn said(output: &Output) -> Option<Value> {
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "a hook's complaints reach the person");
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.is_empty() || text.ends_with('\n') && text.lines().count() == 1, "{text}");
    (!text.is_empty()).then(|| serde_json::from_str(text).unwrap())
}

/// Starts a hook and writes to it, as clients do.
fn started(user: &User, event: &str, input: &[u8]) -> Child {
    let mut child = start(user, event, &[]);
    let _ = child.stdin.take().unwrap().write_all(input);
    child
}

fn hook_with(user: &User, event: &str, input: &[u8], environment: &[(&str, &str)]) -> Option<Value> {
    let mut child = start(user, event, environment);
    // It may be gone before it was given everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    said(&child.wait_with_output().unwrap())
}

fn hook(user: &User, event: &str, input: &Value) -> Option<Value> {
    hook_with(user, event, input.to_string().as_bytes(), &[])
}

/// What a client writes at an event of a session.
fn event(transcript: &Path, more: &Value) -> Value {
    let mut event =
        json!({ "session_id": "s", "transcript_path": transcript, "cwd": "/", "permission_mode": "default" });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

/// Notices that wait, by event.
fn notices(user: &User) -> Vec<String> {
    let Ok(entries) = fs::read_dir(user.state().join("inbox")) else { return Vec::new() };
    let names =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "json"));
    let read = |path: PathBuf| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap();
    let mut events: Vec<_> = names.map(|path| read(path)["event"].as_str().unwrap().to_owned()).collect();
    events.sort();
    events
}

/// A short session of its own, in which a person corrects the agent and a tool fails.
fn write_session(user: &User, number: usize) -> PathBuf {
    let path = user.projects().join(format!("p/{number:08}-0000-4000-8000-000000000000.jsonl"));
    let id = path.file_stem().unwrap().to_str().unwrap();
    let base = |kind: &str, step: usize, parent: Option<usize>| {
        json!({
            "type": kind, "uuid": format!("{number}-{step}"), "parentUuid": parent.map(|it| format!("{number}-{it}")),
            "sessionId": id, "timestamp": format!("2026-11-29T00:{:02}:{step:02}.000Z", number % 60), "cwd": "/work/p",
            "version": "2.1.332", "isSidechain": false, "userType": "external",
        })
    };
    let with = |mut record: Value, message: Value| {
        record["message"] = message;
        record
    };
    let call =
        json!([{ "type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": { "command": "npm i" } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": format!("t{number}"), "is_error": true,
        "content": "Exit code 1\nnpm error code EPNPM: this project uses pnpm" }]);
    let lines = [
        with(
            base("user", 0, None),
            json!({ "role": "user", "content": format!("Install what is needed ({number}).") }),
        ),
        with(
            base("assistant", 1, Some(0)),
            json!({ "role": "assistant", "id": format!("m{number}"), "content": call }),
        ),
        with(base("user", 2, Some(1)), json!({ "role": "user", "content": result })),
        with(
            base("user", 3, Some(2)),
            json!({ "role": "user", "content": "No, that is wrong, use pnpm instead of npm." }),
        ),
    ];
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    settle(&path);
    path
}

fn status(user: &User) -> Value {
    user.ok(&["status", "--json"]).json()["status"].take()
}

/// Waits for what a worker that a hook has started will do, if it does it at all.
fn wait_for(what: &str, is_done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until no worker is at it any more, and gives what is known then.
fn settled(user: &User) -> Value {
    wait_for("the worker does not end", || user.ok(&["worker", "--no-model"]).err.contains("transcripts read"));
    status(user)
}

#[test]
fn every_event_leaves_word_and_says_nothing() {
    let user = User::new();
    let path = write_session(&user, 1);
    let all = ["PreCompact", "SessionStart", "Stop", "SubagentStop"];
    for name in all {
        assert_eq!(
            hook(&user, name, &event(&path, &json!({ "hook_event_name": name, "source": "startup" }))),
            None,
            "{name}"
        );
    }
    // The first SessionStart found others waiting, and started a worker that may have taken them away.
    wait_for("nobody reads it", || user.state().join("insights.md").exists());
    assert_eq!(settled(&user)["sessions"], 1);
    assert_eq!(notices(&user), [] as [String; 0]);
}

#[test]
fn a_session_that_goes_on_leaves_one_notice_however_long_it_is() {
    let user = User::new();
    let path = write_session(&user, 1);
    for second in 0..5 {
        let now = format!("2026-12-01T12:00:0{second}Z");
        let input = event(&path, &json!({})).to_string();
        hook_with(&user, "Stop", input.as_bytes(), &[("TOTALRECALL_NOW", &now)]);
        hook_with(&user, "SubagentStop", input.as_bytes(), &[("TOTALRECALL_NOW", &now)]);
    }
    assert_eq!(notices(&user), ["Stop", "SubagentStop"]);
}

#[test]
fn an_inbox_that_nobody_empties_ends_to_grow() {
    let user = User::new();
    let path = write_session(&user, 1);
    hook(&user, "Stop", &event(&path, &json!({})));
    let inbox = user.state().join("inbox");
    for number in 0..totalrecall::inbox::MAX_WAITING {
        fs::write(inbox.join(format!("{number:012}-0.json")), "{}").unwrap();
    }
    let count = || fs::read_dir(&inbox).unwrap().count();
    let full = count();
    assert_eq!(hook(&user, "Stop", &event(&path, &json!({ "session_id": "another" }))), None);
    assert_eq!(count(), full);
    // The end of a session starts a worker all the same, which reads it and empties the inbox.
    assert_eq!(hook(&user, "SessionEnd", &event(&path, &json!({}))), None);
    wait_for("the inbox stays full", || notices_left(&inbox) == 0);
    assert_eq!(settled(&user)["sessions"], 1);
}

fn notices_left(inbox: &Path) -> usize {
    fs::read_dir(inbox).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file()).count()
}

#[test]
fn whatever_the_client_writes_a_hook_ends_well() {
    let user = User::new();
    let path = write_session(&user, 1);
    let good = event(&path, &json!({})).to_string();
    let huge = event(&path, &json!({ "last_assistant_message": "x".repeat(5 << 20) })).to_string();
    let deep = format!("{{\"tool_input\":{}{},{}", "[".repeat(100_000), "]".repeat(100_000), &good[1..]);
    let unclosed = "[".repeat(1_000_000);
    let latin = [&good.as_bytes()[..good.len() - 1], b",\"x\":\"\xff\xfe\"}"].concat();
    let bytes: Vec<u8> = (0..100_000_u32).map(|it| (it * 7 % 251) as u8).collect();
    for name in ["Stop", "SessionStart", "UserPromptExpansion", "PreCompact", "NoSuchEvent", ""] {
        for input in
            [&b""[..], b"null", b"not json", b"{\"transcript_path\": 7}", b"{\"transcript_path\":\"a\\u0000b\"}"]
        {
            assert_eq!(hook_with(&user, name, input, &[]), None);
        }
        for input in [unclosed.as_bytes(), &bytes, &vec![b'x'; 20 << 20], &vec![b' '; 20 << 20]] {
            assert_eq!(hook_with(&user, name, input, &[]), None);
        }
    }
    assert_eq!(user.run(&["hook"]).code, Some(0));
    assert!(!user.state().join("totalrecall.db").exists(), "it never opens the store");
    let mut left = 0;
    for input in
        [huge.as_bytes(), deep.as_bytes(), format!("{good}{good}").as_bytes(), format!("\n {good} garbage").as_bytes()]
    {
        left += 1;
        let name = format!("Event{left}");
        assert_eq!(hook_with(&user, &name, input, &[]), None);
        assert!(notices(&user).contains(&name), "{name}");
    }
    // Text that is none is no event.
    assert_eq!(hook_with(&user, "Latin", &latin, &[]), None);
}

#[test]
fn a_pipe_that_stays_open_keeps_no_hook() {
    let user = User::new();
    let path = write_session(&user, 1);
    let input = event(&path, &json!({})).to_string();
    for written in [input.as_bytes(), &input.as_bytes()[..20], b""] {
        let mut child = start(&user, "Stop", &[]);
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(written).unwrap();
        // Held until it has ended.
        assert_eq!(child.wait().unwrap().code(), Some(0));
        drop(pipe);
    }
    assert_eq!(notices(&user), ["Stop"]);
}

#[test]
fn what_a_killed_session_left_is_read_when_the_next_one_begins() {
    let user = User::new();
    let (killed, next) = (write_session(&user, 1), write_session(&user, 2));
    assert_eq!(hook(&user, "Stop", &event(&killed, &json!({}))), None);
    assert!(!user.state().join("worker.lock").exists(), "a turn's end starts nothing");
    assert_eq!(hook(&user, "SessionStart", &event(&next, &json!({ "source": "startup" }))), None);
    wait_for("nobody reads it", || user.state().join("insights.md").exists());
    assert_eq!(settled(&user)["sessions"], 2);
}
