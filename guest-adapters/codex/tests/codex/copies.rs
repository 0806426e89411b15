//! History that forking copies has the same keys in every file, wherever the file lies.

use std::collections::{HashMap, HashSet};

use totalrecall_sdk::types::{Body, Event};

use crate::trail::{case, cases, events, path, read};

fn keys(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| event.key.as_deref()).collect()
}

/// Usage, too: the tool repeats it, the adapter does not.
#[test]
fn nothing_has_the_key_of_something_else_in_its_transcript() {
    for case in cases() {
        for transcript in case.transcripts() {
            let events = case.events(&transcript, 16384);
            let mut seen = HashSet::new();
            for key in keys(&events) {
                assert!(seen.insert(key), "{} {transcript}: {key}", case.name);
            }
        }
    }
}

#[test]
fn everything_that_counts_has_a_key() {
    for case in cases() {
        for transcript in case.transcripts() {
            for event in case.events(&transcript, 16384) {
                let needs_none = matches!(event.body, Body::Session(_));
                assert!(needs_none || event.key.is_some(), "{} {transcript}: {event:?}", case.name);
            }
        }
    }
}

/// 0.140: all records of the session are written again, under new times.
#[test]
fn a_fork_shares_the_keys_of_what_it_copied() {
    let (parent, fork) = (events("0.140-tui-fork", "archived"), events("0.140-tui-fork", "2026/"));
    let known: HashMap<&str, &Event> = parent.iter().filter_map(|event| Some((event.key.as_deref()?, event))).collect();
    let (shared, own): (Vec<_>, Vec<_>) = fork
        .iter()
        .filter(|event| event.key.is_some())
        .partition(|event| known.contains_key(event.key.as_deref().unwrap()));
    assert_eq!(shared.len(), known.len(), "all of the parent is in the fork");
    for copy in shared {
        assert_eq!(copy.body, known[copy.key.as_deref().unwrap()].body);
        assert!(copy.copied);
    }
    assert_eq!(own.first().unwrap().line, 131, "its own records begin");
    assert!(own.iter().all(|event| !event.copied));
}

/// 0.171: a fork refers to the session it was made from, and copies nothing.
#[test]
fn a_fork_by_reference_shares_nothing() {
    let (parent, fork) = (events("0.171-code-mode-fork", "archived"), events("0.171-code-mode-fork", "2026/"));
    let known: HashSet<&str> = keys(&parent).into_iter().collect();
    assert!(keys(&fork).iter().all(|key| !known.contains(key)));
    assert!(fork.iter().all(|event| !event.copied));
    let Body::Session(session) = &fork[0].body else { panic!() };
    assert_eq!(session.parent.as_deref(), Some("01a228e6-12f2-7392-ac93-cd9e2006e298"));
}

/// `codex migrate-rollouts` writes a session anew, as 0.171 would have; turns that were taken back it leaves out.
#[test]
fn migrating_keeps_the_keys() {
    for (name, part, taken_back) in [("0.140-tui-fork", "archived", 8), ("0.87-unified-exec", "3eea", 0)] {
        let (before, after) =
            (events(name, part), events("0.171-migrated", if part == "3eea" { part } else { "83d7" }));
        let known: HashMap<&str, &Event> =
            before.iter().filter_map(|event| Some((event.key.as_deref()?, event))).collect();
        let migrated = after.iter().filter(|event| event.key.is_some());
        let mut count = 0;
        for event in migrated {
            let original = known.get(event.key.as_deref().unwrap()).unwrap_or_else(|| panic!("{name}: {event:?}"));
            assert_eq!(event.body, original.body, "{name}");
            count += 1;
        }
        assert_eq!(known.len() - count, taken_back, "{name}");
    }
}

/// Archiving moves the file, and the client may compress it.
#[test]
fn the_path_means_nothing() {
    let case = case("0.140-tui-fork");
    let bytes = case.bytes(&path(&case, "archived"));
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let here = read("/home/dev/.codex/sessions/2026/11/29/rollout-2026-11-29T19-54-26-01a228df.jsonl", &lines);
    for there in ["/home/dev/.codex/archived_sessions/rollout-1.jsonl", "/x/rollout-1.jsonl.zst"] {
        assert_eq!(read(there, &lines), here);
    }
}

fn line(second: u32, rest: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:{second:02}.000Z",{rest}}}"#)
}

fn typed(second: u32, text: &str) -> String {
    line(second, &format!(r#""type":"event_msg","payload":{{"type":"user_message","message":"{text}"}}"#))
}

fn meta(second: u32, id: &str) -> String {
    line(second, &format!(r#""type":"session_meta","payload":{{"id":"{id}","timestamp":"x","cwd":"/w"}}"#))
}

fn said(second: u32, text: &str) -> String {
    line(
        second,
        &format!(
            r#""type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
        ),
    )
}

fn read_all(lines: &[String]) -> Vec<Event> {
    read("rollout-1.jsonl", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Up to 0.8x turns have no ids.
#[test]
fn copies_without_turn_ids() {
    let parent =
        [meta(0, "p"), typed(1, "go on"), said(2, "Done."), typed(3, "go on"), said(4, "Done."), typed(9, "stop")];
    let fork = [
        meta(20, "f"),
        meta(20, "p"),
        typed(20, "go on"),
        said(20, "Done."),
        typed(20, "go on"),
        said(20, "Done."),
        typed(30, "something else"),
        said(31, "Done."),
    ];
    let (parent, fork) = (read_all(&parent), read_all(&fork));
    assert_eq!(keys(&parent).iter().collect::<HashSet<_>>().len(), 5);
    let (copied, own): (Vec<_>, Vec<_>) = fork.iter().skip(1).partition(|event| event.copied);
    assert_eq!(copied.len(), 4);
    assert_eq!(copied.iter().map(|event| event.key.as_deref().unwrap()).collect::<Vec<_>>(), keys(&parent)[..4]);
    assert!(own.iter().all(|event| !keys(&parent).contains(&event.key.as_deref().unwrap())));
    // Another session that begins with the same words is another session.
    let other = read_all(&[meta(0, "q"), typed(1, "go on"), said(2, "Done.")]);
    assert!(keys(&other).iter().all(|key| !keys(&parent).contains(key)));
}

/// The oldest client wrote the whole conversation under a new name and id each time it paused.
#[test]
fn documents_repeat_each_other() {
    let item = |role: &str, id: &str, text: &str| {
        format!(r#"{{"type":"message","role":"{role}","id":{id},"content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    };
    let items = [
        item("user", "null", "hello"),
        item("assistant", r#""msg_1""#, "Hello."),
        item("user", "null", "go on"),
        item("assistant", r#""msg_2""#, "Done."),
    ];
    let document = |id: &str, items: &[String]| {
        format!(
            r#"{{"session":{{"timestamp":"2025-04-20T10:00:00.000Z","id":"{id}","instructions":""}},"items":[{}]}}"#,
            items.join(",")
        )
    };
    let early = read("rollout-1.json", &[&document("a", &items[..2])]);
    let late = read("rollout-1.json", &[&document("b", &items)]);
    assert_eq!(keys(&early), keys(&late)[..2]);
    assert_eq!(keys(&late).iter().collect::<HashSet<_>>().len(), 4);
    let other = read("rollout-1.json", &[&document("c", &items).replace("msg_", "msg_x")]);
    assert!(keys(&other).iter().all(|key| !keys(&late).contains(key)));
}
