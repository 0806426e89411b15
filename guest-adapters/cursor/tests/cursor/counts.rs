//! What happened in the fixture, counted by hand.

use totalrecall_sdk::types::{Author, Body, Event, Status};
use totalrecall_trail::told;

use crate::store::{MAIN, OLD, SUB_AGENT, TRY, database, read, rows};

fn events(key: &str) -> Vec<Event> {
    read(key, &rows(&database(), key), 16384).0
}

fn story(key: &str) -> Vec<String> {
    events(key).iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

/// Row 1 is the composer, so message n is row n + 1, and one more from the ninth on: before it stands one that is null. (A
/// message that the list names and the table does not have is no row.)
#[test]
fn an_agent_at_work() {
    assert_eq!(
        story(MAIN),
        [
            "2 human: Make the totals cents, and test it.",
            "6 failed: 1",
            "7 failed: The string to replace was not found in the file.",
            "8 denied: -",
            "9 human: No, keep node_modules. Run only the one test.",
            "11 stopped",
            "12 human: without --watch",
            "15 failed: not signed in",
            "18 human: [image]",
            "19 api error None, retried false",
        ]
    );
    let events = events(MAIN);
    let count = |test: fn(&Body) -> bool| events.iter().filter(|event| test(&event.body)).count();
    assert_eq!(count(|body| matches!(body, Body::ToolCall(_))), 11);
    // The last one was still running.
    assert_eq!(count(|body| matches!(body, Body::ToolResult(_))), 10);
    assert_eq!(count(|body| matches!(body, Body::ToolResult(result) if result.status == Status::Ok)), 5);
    assert_eq!(count(|body| matches!(body, Body::Usage(_))), 1);
    assert_eq!(count(|body| matches!(body, Body::Message(it) if it.author == Author::Harness)), 1);
    let Body::Session(session) = &events[0].body else { panic!("{:?}", events[0]) };
    assert_eq!((session.id.as_deref(), session.title.as_deref()), (Some(MAIN), Some("Cents")));
    assert_eq!((session.cwd.as_deref(), session.branch.as_deref()), (Some("/home/dev/work/shop"), Some("cents")));
    let edits: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) if !call.edits.is_empty() => {
                Some((event.line, call.edits[0].removed.as_str(), call.edits[0].added.as_str()))
            }
            _ => None,
        })
        .collect();
    // A sketch of an edit (row 16) is none.
    assert_eq!(edits, [(5, "total = 1.5", "total = 150"), (7, "nowhere", "x")]);
}

#[test]
fn a_sub_agent() {
    assert_eq!(story(SUB_AGENT), ["2 agent: Review the change", "3 failed: src is no folder"]);
    let events = events(SUB_AGENT);
    assert!(events.iter().all(|event| event.thread.as_deref() == Some(SUB_AGENT)));
    let Body::Session(session) = &events[0].body else { panic!("{:?}", events[0]) };
    assert_eq!((session.id.as_deref(), session.parent.as_deref()), (Some(MAIN), Some(MAIN)));
}

/// One of several tries at a prompt is no sub-agent: its prompt is the person's.
#[test]
fn one_of_several_tries() {
    assert_eq!(story(TRY), ["2 human: Rename it"]);
    let events = events(TRY);
    let sessions: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Session(session) => Some((session.id.as_deref(), session.parent.as_deref(), session.cwd.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(sessions, [(Some(TRY), Some(MAIN), None), (None, None, Some("/home/dev/work/a shop"))]);
    assert_eq!((events[2].thread.as_deref(), events[2].at), (None, Some(1_777_885_301_000)));
}

/// Up to 0.4x the messages stand in the composer.
#[test]
fn an_old_composer() {
    assert_eq!(story(OLD), ["2 human: why is it slow?", "4 failed: 2"]);
    let keys: Vec<_> = events(OLD).into_iter().filter_map(|event| event.key).collect();
    assert_eq!(keys[0], format!("{OLD}/user-1"));
    assert_eq!(keys.len(), 5);
}
