//! What tools were told to do, in all sessions.

use totalrecall::{
    event::{Body, Event, ToolCall, ToolKind},
    store::{Begin, Role, Told, ToldCall},
};

use crate::support::{Home, facts, home, says};

fn call(line: u64, key: &str, kind: ToolKind, command: Option<&str>, paths: &[&str]) -> Event {
    let call = ToolCall {
        id: format!("call-{key}"),
        name: "Bash".into(),
        kind,
        paths: paths.iter().map(|&path| path.into()).collect(),
        command: command.map(Into::into),
        edits: Vec::new(),
        input: command.map_or_else(String::new, |command| format!("{{\"command\":\"{command}\"}}")),
        omitted: 0,
    };
    Event { body: Body::ToolCall(call), ..says(line, key, "") }
}

fn told(home: &Home, what: Told) -> Vec<ToldCall> {
    let mut calls = Vec::new();
    home.store.told_calls(what, |call| calls.push(call.clone())).unwrap();
    calls
}

#[test]
fn each_call_is_told_once_with_its_session() {
    let mut home = home();
    let events = [
        says(1, "k1", "install it"),
        call(2, "k2", ToolKind::Execute, Some("npm install left-pad"), &[]),
        call(3, "k3", ToolKind::Edit, None, &["/p/a.rs"]),
        call(4, "k4", ToolKind::Delete, None, &["/p/b.rs", "/p/c.rs"]),
        call(5, "k5", ToolKind::Read, None, &["/p/d.rs"]),
    ];
    home.put("/p/a.jsonl", 10, Begin::Anew, &events, &[], Some(facts("a", Role::Main)));
    // A session that goes on from it brings its history along.
    let mut resumed = events.to_vec();
    resumed.push(call(6, "k6", ToolKind::Execute, Some("ls"), &[]));
    home.put("/p/b.jsonl", 20, Begin::Anew, &resumed, &[], Some(facts("b", Role::Main)));

    let shell = told(&home, Told::Shell);
    let of: Vec<_> = shell.iter().map(|call| (call.session.as_str(), call.command.as_deref().unwrap())).collect();
    assert_eq!(of, [("a", "npm install left-pad"), ("b", "ls")]);
    assert_eq!((shell[0].tool.as_str(), shell[0].project.as_deref()), ("claude-code", Some("/p")));
    assert!(shell[0].started_at.is_some());
    let files: Vec<_> = told(&home, Told::Files).into_iter().map(|call| call.paths).collect();
    assert_eq!(files, [vec!["/p/a.rs"], vec!["/p/b.rs", "/p/c.rs"]]);
}
