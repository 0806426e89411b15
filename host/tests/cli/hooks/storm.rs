//! Many hooks at once, and hooks that are killed.

use std::{fs, path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::{event, notices, said, settled, started, wait_for, write_session};
use crate::support::User;

#[test]
fn fifty_sessions_that_end_at_once_are_read_once_each() {
    let user = User::new();
    let paths: Vec<_> = (0..50).map(|number| write_session(&user, number)).collect();
    let ends = |path: &PathBuf| {
        let id = path.file_stem().unwrap().to_str();
        let input = event(path, &json!({ "session_id": id, "reason": "other" })).to_string();
        started(&user, "SessionEnd", input.as_bytes())
    };
    let all: Vec<_> = paths.iter().map(ends).collect();
    for child in all {
        assert_eq!(said(&child.wait_with_output().unwrap()), None);
    }
    wait_for("nobody reads them", || user.state().join("insights.md").exists() && notices(&user).is_empty());
    let status = settled(&user);
    let counts = ["sessions", "done", "failed", "given_up", "skipped", "queued"].map(|it| status[it].as_u64().unwrap());
    assert_eq!(counts, [50, 50, 0, 0, 0, 0], "{status}");
    assert_eq!(notices(&user), [] as [String; 0]);
    assert!(!user.state().join("inbox/rejected").exists());
    // Each was seen once: the same friction in fifty sessions, no more and no less.
    let patterns = user.ok(&["patterns", "--json"]).json();
    let most = patterns.as_array().unwrap().iter().map(|it| it["count"].as_u64().unwrap()).max();
    assert_eq!(most, Some(50), "{patterns:#}");
}

#[test]
fn a_killed_hook_leaves_a_whole_notice_or_none() {
    let user = User::new();
    let path = write_session(&user, 1);
    let input = event(&path, &json!({})).to_string();
    for round in 0..60_u64 {
        let mut child = started(&user, &format!("Stop{round}"), input.as_bytes());
        // Somewhere in start, reading, writing, renaming.
        std::thread::sleep(Duration::from_micros(round * 800));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    started(&user, "Stop", input.as_bytes()).wait().unwrap();
    let inbox = user.state().join("inbox");
    let mut whole = 0;
    for entry in fs::read_dir(&inbox).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "json") {
            assert!(serde_json::from_slice::<Value>(&fs::read(&path).unwrap()).unwrap()["event"].is_string());
            whole += 1;
        }
    }
    assert!(whole > 0, "the last one had time enough");
    user.ok(&["worker", "--no-model"]);
    assert_eq!(notices(&user), [] as [String; 0]);
    assert!(!inbox.join("rejected").exists());
}
