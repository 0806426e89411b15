//! History that resuming and forking copies has the same keys in every file.

use std::collections::{HashMap, HashSet};

use totalrecall_sdk::types::{Body, Event};

use crate::trail::{case, cases, parser};

fn keys(events: &[Event]) -> Vec<&str> {
    // Usage is told again whenever it has grown.
    let counted = events.iter().filter(|event| !matches!(event.body, Body::Usage(_)));
    counted.filter_map(|event| event.key.as_deref()).collect()
}

#[test]
fn nothing_has_the_key_of_something_else_in_its_transcript() {
    for case in cases() {
        for transcript in case.transcripts() {
            let events = case.read(&transcript);
            let mut seen = HashSet::new();
            for key in keys(&events) {
                assert!(seen.insert(key), "{} {transcript}: {key}", case.name);
            }
        }
    }
}

/// 1.0.60: each of five steps resumed the one before, into a new file with all history under new uuids. The client was
/// asked once per step, and every step adds just its own.
#[test]
fn a_resume_chain_counts_once() {
    let case = case("1.0-resume-chain");
    let mut seen = HashSet::new();
    let mut prompts = Vec::new();
    // In the order in which they were written.
    for start in ["36da", "c06f", "d30e", "8102", "4bd6"] {
        let events = case.read(start);
        for event in &events {
            let Some(key) = &event.key else { continue };
            if seen.insert(key.clone())
                && let Body::Message(message) = &event.body
                && message.author == totalrecall_sdk::types::Author::Human
            {
                prompts.push((start, message.text.clone()));
            }
        }
    }
    let prompts: Vec<(&str, &str)> = prompts.iter().map(|(start, text)| (*start, text.as_str())).collect();
    assert_eq!(
        prompts,
        [
            ("36da", "Create a small calc module with add and mean, plus a test file."),
            ("c06f", "No, don't use assert scripts, use pytest for every check in this project."),
            ("d30e", "Print a very long output please"),
            ("d30e", "Delegate the review to a helper"),
            ("d30e", "/compact"),
        ]
    );
}

/// Since 2.0 a fork keeps the uuids, from the last compaction on.
#[test]
fn forks_share_the_keys_of_what_they_copied() {
    for (name, parent, fork) in [
        ("2.0-sidechain-files", "eab2", "a281"),
        ("2.1.120-headless-fork", "75cfddb7-cde0-43bf-b659-3d9b0c6ef79c.jsonl", "2f29"),
        ("2.1.332-fork-and-clear", "2a85", "e91a"),
    ] {
        let (parent, fork) = (case(name).read(parent), case(name).read(fork));
        let known: HashMap<&str, &Event> =
            parent.iter().filter_map(|event| Some((event.key.as_deref()?, event))).collect();
        let shared: Vec<_> = fork.iter().filter_map(|event| Some((known.get(event.key.as_deref()?)?, event))).collect();
        assert!(shared.len() >= 4, "{name}: {}", shared.len());
        assert!(shared.len() < fork.len(), "{name}: nothing new");
        for (original, copy) in shared {
            assert_eq!(original.body, copy.body, "{name}");
            assert_eq!(original.at, copy.at, "{name}");
        }
    }
}

fn prompt(uuid: u32, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"00000000-0000-0000-0000-{uuid:012}","parentUuid":{parent},"version":"1.0.60","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

fn reply(uuid: u32, id: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"00000000-0000-0000-0000-{uuid:012}","version":"1.0.60","message":{{"id":"{id}","content":[{{"type":"text","text":"Done."}}]}}}}"#
    ) + "\n"
}

fn read(text: &str) -> Vec<Event> {
    let mut parser = parser("1.jsonl", 16384, None);
    let mut events = parser.feed(text.as_bytes()).unwrap();
    events.extend(parser.finish().unwrap());
    events
}

/// The same words typed twice are two messages, whatever stands between them.
#[test]
fn equal_prompts_are_not_merged() {
    let typed = [
        prompt(1, "null", "go on"),
        prompt(2, "null", "go on"),
        reply(3, "msg_1"),
        prompt(4, "null", "go on"),
        prompt(5, "null", "go on"),
        reply(6, "msg_2"),
        prompt(7, "null", "go on"),
    ];
    let original = read(&typed.concat());
    assert_eq!(keys(&original).iter().collect::<HashSet<_>>().len(), 7);
    // The copies have other uuids, and the same keys.
    let copied = typed.concat().replace("-0000-0000-0000-", "-1111-0000-0000-");
    assert_eq!(keys(&read(&copied)), keys(&original));
    // Another session that begins with the same words is another session.
    let other = read(&typed.concat().replace("msg_", "msg_x"));
    assert!(keys(&other).iter().all(|key| !keys(&original).contains(key)));
}

#[test]
fn a_record_written_twice_is_read_once() {
    let line = reply(1, "msg_1");
    assert_eq!(read(&(line.clone() + &line)).len(), read(&line).len());
}
