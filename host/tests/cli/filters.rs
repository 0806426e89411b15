//! Every filter, and what it leaves of the same five things, wherever they are looked for.

use std::fs;

use serde_json::{Value, json};

use crate::support::{User, settle};

/// What a record of Claude Code has besides its message.
pub(crate) fn record(session: &str, number: usize, cwd: &str, at: &str, message: Value) -> Value {
    let parent = (number > 0).then(|| format!("{session}-{:04}", number - 1));
    json!({
        "type": message["role"], "uuid": format!("{session}-{number:04}"), "parentUuid": parent, "sessionId": session,
        "isSidechain": false, "cwd": cwd, "version": "2.1.332", "timestamp": at, "message": message,
    })
}

pub(crate) fn said(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// A call that changes a file, and what the agent says to it.
pub(crate) fn edits(path: &str) -> Value {
    json!({ "role": "assistant", "id": "msg_1", "model": "claude-opus-4-1", "stop_reason": null, "content": [
        { "type": "text", "text": "I change it now." },
        { "type": "tool_use", "id": format!("toolu_{}", path.len()), "name": "Edit",
          "input": { "file_path": path, "old_string": "a", "new_string": "b" } },
    ] })
}

/// A transcript of these records.
pub(crate) fn transcript(user: &User, name: &str, records: &[Value]) {
    let file = user.projects().join(format!("{name}.jsonl"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
    settle(&file);
}

/// One who has said the same word in three sessions of two tools, remembered it, and saved it.
fn user() -> User {
    let user = User::new();
    let (early, late) = ("2026-11-10T10:00:00.000Z", "2026-11-20T10:00:00.000Z");
    let [red, blue] = ["red", "blue"].map(|name| {
        let folder = user.folder().join(name);
        fs::create_dir(&folder).unwrap();
        folder.to_string_lossy().into_owned()
    });
    let edit = record("one", 1, &red, late, edits("/w/red/src/price.rs"));
    transcript(&user, "one", &[record("one", 0, &red, late, said("lapis one")), edit]);
    transcript(&user, "two", &[record("two", 0, &blue, early, said("lapis two"))]);
    let codex = user.home().join(".codex/sessions/2026/11/25");
    fs::create_dir_all(&codex).unwrap();
    let at = "2026-11-25T10:00:00.000Z";
    let id = "84868cb8-09d2-414b-97e9-96cf86361a67";
    let records = [
        json!({ "timestamp": at, "type": "session_meta", "payload": {
            "id": id, "timestamp": at, "cwd": blue, "originator": "codex_cli_rs", "cli_version": "0.34.0", "instructions": null } }),
        json!({ "timestamp": at, "type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "lapis three" }] } }),
        json!({ "timestamp": at, "type": "event_msg", "payload": { "type": "user_message", "message": "lapis three", "kind": "plain" } }),
    ];
    let file = codex.join(format!("rollout-2026-11-25T10-00-00-{id}.jsonl"));
    fs::write(&file, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
    settle(&file);
    user.ok(&["worker", "--reconcile"]);
    user.ok(&["sessions", "tag", "one", "+keep"]);
    let about = ["--project=red", "--tags", "keep", "--domain", "pricing"];
    user.ok(&[&["remember", "lapis memory"], &about[..]].concat());
    fs::write(user.folder().join("notes.txt"), "lapis chunk, of src/price.rs").unwrap();
    user.ok(&[&["chunk", "save", "--summary", "notes", "--session", "one", "notes.txt"], &about[..]].concat());
    user
}

const ALL: [&str; 5] = ["one", "two", "three", "memory", "chunk"];

/// Which of them are told.
fn told(user: &User, arguments: &[&str], of: &str, text: &str) -> Vec<&'static str> {
    let ran = user.run(arguments);
    assert!(matches!(ran.code, Some(0 | 3)), "{arguments:?}: {ran}");
    let json = ran.json();
    let texts: Vec<&str> = json[of].as_array().unwrap().iter().map(|it| it[text].as_str().unwrap()).collect();
    ALL.into_iter()
        .filter(|name| {
            texts.iter().any(|text| text.contains(&format!("lapis {name}")) || *name == "chunk" && *text == "notes")
        })
        .collect()
}

#[test]
fn every_filter_holds_wherever_it_is_asked_for() {
    let user = user();
    let session = user.ok(&["search", "lapis one", "--session", "one", "--kind", "prompt", "--json"]).json();
    let session = session["hits"][0]["source"]["session"].as_str().unwrap().to_owned();
    let table: &[(&[&str], &[&str])] = &[
        (&[], &ALL),
        (&["--project", "red"], &["one", "memory", "chunk"]),
        (&["--project", "blue"], &["two", "three"]),
        (&["--tool", "codex"], &["three"]),
        (&["--tool", "claude-code"], &["one", "two"]),
        (&["--session", "one"], &["one", "chunk"]),
        (&["--session", &session], &["one", "chunk"]),
        (&["--session", "none"], &[]),
        (&["--since", "2026-11-15"], &["one", "three", "memory", "chunk"]),
        (&["--until", "2026-11-15"], &["two"]),
        (&["--since", "2026-11-15", "--until", "2026-11-21"], &["one"]),
        (&["--kind", "prompt"], &["one", "two", "three"]),
        (&["--kind", "memory,chunk"], &["memory", "chunk"]),
        (&["--kind", "result"], &[]),
        (&["--tag", "KEEP"], &["one", "memory", "chunk"]),
        (&["--domain", "pricing"], &["memory", "chunk"]),
        (&["--entity", "src/price.rs"], &["chunk"]),
        (&["--path", "src/price.rs"], &["one"]),
        (&["--path", "src\\price.rs"], &["one"]),
        (&["--path", "/w/red/src/price.rs"], &["one"]),
        (&["--path", "rice.rs"], &[]),
        (&["--project", "red", "--kind", "chunk", "--tag", "keep"], &["chunk"]),
        (&["--project", "blue", "--tag", "keep"], &[]),
    ];
    // Indexed and not.
    for state in ["without an index of the newest", "indexed"] {
        for (filter, expected) in table {
            // Without a kind what was said is not of a timeline.
            let kinds: &[&str] = if filter.contains(&"--kind") { &[] } else { &["--kind", "prompt,memory,chunk"] };
            let searched = told(&user, &[&["search", "lapis", "--json"], *filter].concat(), "hits", "excerpt");
            let lines = told(&user, &[&["grep", "lapis", "--json"], *filter].concat(), "lines", "text");
            let moments = told(&user, &[&["timeline", "--json"], *filter, kinds].concat(), "moments", "text");
            assert_eq!(searched, *expected, "search {filter:?}, {state}");
            assert_eq!(lines, *expected, "grep {filter:?}");
            assert_eq!(moments, *expected, "timeline {filter:?}");
        }
        user.ok(&["worker"]);
    }
}

#[test]
fn memories_that_do_not_hold_are_left_out_unless_asked_for() {
    let user = User::new();
    let remember = |arguments: &[&str]| {
        let ran = user.ok(&[&["remember", "--json"], arguments].concat());
        ran.json()["id"].as_str().unwrap().to_owned()
    };
    let old = remember(&["the malachite key is on host a"]);
    let new = remember(&["the server is on host b", "--supersedes", &old]);
    for _ in ["from the tail", "indexed"] {
        for (arguments, of) in [
            (&["search", "malachite", "--json"][..], "hits"),
            (&["grep", "malachite", "--json"], "lines"),
            (&["timeline", "--kind", "memory", "--session", "none", "--json"], "moments"),
        ] {
            let ran = user.run(arguments);
            assert_eq!(ran.json()[of].as_array().unwrap().len(), 0, "{ran}");
        }
        let timeline = user.ok(&["timeline", "--json"]).json();
        assert_eq!(timeline["moments"].as_array().unwrap().len(), 1, "{timeline:#}");
        // Nothing that is left out speaks for there being an answer.
        assert_eq!(user.run(&["search", "malachite", "key", "host"]).code, Some(3));
        let all = user.ok(&["search", "malachite", "--outdated", "--json"]).json();
        assert_eq!(all["hits"][0]["outdated"], "superseded");
        assert!(user.ok(&["grep", "malachite", "--outdated"]).out.contains("host a"));
        assert_eq!(user.ok(&["timeline", "--outdated", "--json"]).json()["moments"].as_array().unwrap().len(), 2);
        user.ok(&["worker"]);
    }
    user.ok(&["forget", &new, "--yes"]);
    let all = user.ok(&["search", "malachite", "--outdated", "--json"]).json();
    assert_eq!(all["hits"][0]["outdated"], "superseded", "though what took its place is gone");
}

#[test]
fn a_timeline_has_all_kinds_and_grep_says_which_it_has_not() {
    let user = user();
    let moments = user.ok(&["timeline", "--kind", "reply,call", "--json"]).json();
    let kinds: Vec<&str> =
        moments["moments"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"reply") && kinds.contains(&"call"), "{moments:#}");
    let one = user.ok(&["timeline", "--kind", "prompt", "-n", "1", "--json"]).json();
    assert_eq!((one["moments"][0]["text"].as_str(), one["more"].as_u64()), (Some("lapis three"), Some(2)));
    let none = user.run(&["search", "lapis", "--session", "none"]);
    assert_eq!((none.code, none.err.as_str()), (Some(3), "Nothing was found.\n"));
    let ran = user.run(&["grep", "lapis", "--kind", "session"]);
    assert!(ran.code == Some(2) && ran.err.contains("search --kind session"), "{ran}");
}
