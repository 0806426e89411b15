//! What a person counts in the fixtures by hand. The golden events are compared by `totalrecall adapters test`.

use std::path::Path;

use totalrecall_pi::Pi;
use totalrecall_sdk::Parser;
use totalrecall_sdk::adapter::{Adapter as _, Origin, Outcome};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Status, ToolKind};

const SESSION: &str = "0.73-session/transcripts/--home-dev-work-demo--/\
                       2026-11-29T19-46-04-271Z_01a228d7-d962-701c-bfe4-f6e1217e4e28.jsonl";
const BRANCHES: &str = "branches/transcripts/--home-dev-work-demo--/\
                        2026-11-29T20-00-00-000Z_01a228e0-0000-7000-8000-000000000001.jsonl";
const FORK: &str = "branches/transcripts/--home-dev-work-demo--/\
                    2026-11-29T20-00-40-000Z_01a228e0-0000-7000-8000-000000000002.jsonl";
const VERSION_1: &str = "version-1/transcripts/--home-dev-work-demo--/\
                         2025-12-09T00-53-29-825Z_ffae836b-0000-4000-8000-000000000003.jsonl";

fn bytes(fixture: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture)).unwrap()
}

fn parser(fixture: &str) -> Parser<Pi> {
    Parser::new(Origin { path: fixture.to_owned(), key: None, text_limit: 16384 }, None)
}

fn read(fixture: &str) -> Vec<Event> {
    let mut parser = parser(fixture);
    let mut events = parser.feed(&bytes(fixture)).unwrap();
    events.extend(parser.finish().unwrap());
    events
}

fn prompts(events: &[Event]) -> Vec<&str> {
    let typed = events.iter().filter_map(|event| match &event.body {
        Body::Message(message) if message.author == Author::Human => Some(message.text.as_str()),
        _ => None,
    });
    typed.collect()
}

#[test]
fn a_session_is_told_as_it_was() {
    let events = read(SESSION);
    assert_eq!(
        prompts(&events),
        [
            "Create a small calc module with add and mean, plus a test file.",
            "No, don't use assert scripts, use pytest for every check in this project.",
            "Print a very long output",
            "Trigger a server error now",
        ]
    );
    let failed: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) if result.status == Status::Error => {
                Some((event.line, result.exit_code, result.text.lines().last().unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    let not_found = "Could not find the exact text in /home/dev/work/demo/calc.py. The old text must match exactly \
                     including all whitespace and newlines.";
    assert_eq!(
        failed,
        [
            (12, Some(1), "AssertionError: -1"),
            (18, Some(1), "AssertionError"),
            (22, None, not_found),
            (24, Some(3), "cat: missing_file.txt: No such file or directory"),
        ]
    );
    let calls = events.iter().filter(|event| matches!(event.body, Body::ToolCall(_))).count();
    assert_eq!(calls, 12);
    let refused = events.iter().find_map(|event| match &event.body {
        Body::ApiError(error) => Some((error.status, error.text.as_str())),
        _ => None,
    });
    assert_eq!(refused, Some((Some(400), "400 mock: bad request")));
}

#[test]
fn a_branch_begins_with_a_rewind() {
    let events = read(BRANCHES);
    let key_of = |line| events.iter().find(|event| event.line == line).and_then(|event| event.key.clone()).unwrap();
    let rewinds: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Rewind(key) => Some((event.line, key.clone())),
            _ => None,
        })
        .collect();
    // The branch at line 7 abandons line 4 and what follows. Where the one at line 17 left is not known. The one at line
    // 20 goes back to before the first prompt.
    assert_eq!(rewinds, [(7, key_of(4)), (20, key_of(3))]);
}

#[test]
fn who_said_what_while_the_agent_was_at_work() {
    let events = read(BRANCHES);
    let said = |channel| {
        let of_channel = events.iter().filter_map(move |event| match &event.body {
            Body::Message(message) if message.channel == channel => Some((message.author, message.text.as_str())),
            _ => None,
        });
        of_channel.collect::<Vec<_>>()
    };
    assert_eq!(said(Channel::Steering), [(Author::Human, "and the tests")]);
    assert_eq!(said(Channel::Shell), [(Author::Human, "ls"), (Author::Harness, "calc.py\ntest_calc.py\n")]);
    assert_eq!(said(Channel::Summary), [(Author::Harness, "Tried sed in the wrong folder.")]);
    let stops: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Interrupt(interrupt) => Some((event.line, interrupt.in_tool)),
            _ => None,
        })
        .collect();
    assert_eq!(stops, [(15, true)]);
}

#[test]
fn a_fork_repeats_keys() {
    let (origin, fork) = (read(BRANCHES), read(FORK));
    let keys = |events: &[Event], line| {
        let of_line = events.iter().filter(|event| event.line == line).map(|event| event.key.clone());
        of_line.collect::<Vec<_>>()
    };
    assert_eq!(keys(&fork, 3), keys(&origin, 3));
    assert_ne!(keys(&fork, 4), keys(&origin, 4));
    let Body::Session(session) = &fork[0].body else { panic!("the header comes first") };
    assert_eq!(session.parent.as_deref(), Some("01a228e0-0000-7000-8000-000000000001"));
}

#[test]
fn version_1_has_no_ids() {
    let events = read(VERSION_1);
    assert_eq!(prompts(&events), ["As a string.", "ls"]);
    let kinds: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) => Some((call.kind, call.edits.len())),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [(ToolKind::Read, 0), (ToolKind::Edit, 1)]);
}

#[test]
fn keys_are_unique_in_a_file() {
    for fixture in [SESSION, BRANCHES, FORK, VERSION_1] {
        let events = read(fixture);
        let mut keys: Vec<_> = events.iter().map(|event| event.key.clone().unwrap()).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), events.len(), "{fixture}");
    }
}

#[test]
fn what_is_new_is_counted() {
    for (fixture, expected) in [(SESSION, None), (BRANCHES, None), (VERSION_1, Some("brand_new"))] {
        let mut parser = parser(fixture);
        parser.feed(&bytes(fixture)).unwrap();
        let tally = parser.tally();
        let unknown = tally.iter().find(|entry| entry.outcome == Outcome::Unknown).map(|entry| entry.what.as_str());
        assert_eq!(unknown, expected, "{fixture}");
        assert!(tally.iter().all(|entry| entry.outcome != Outcome::Broken), "{fixture}");
    }
}

#[test]
fn only_headers_are_recognised() {
    for fixture in [SESSION, BRANCHES, VERSION_1] {
        assert!(Pi::recognise(&bytes(fixture)), "{fixture}");
    }
    for other in ["", "{}", "{\"type\":\"session\"}", "{\"type\":\"user\",\"id\":\"1\",\"cwd\":\"/\"}", "\0\0\n"] {
        assert!(!Pi::recognise(other.as_bytes()), "{other}");
    }
}
