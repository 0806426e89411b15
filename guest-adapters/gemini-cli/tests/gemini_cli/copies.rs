//! Keys are unique in a transcript, and the same wherever a happening is written again.

use std::collections::HashSet;

use totalrecall_gemini_cli::GeminiCli;
use totalrecall_sdk::types::{Body, Event};
use totalrecall_trail::{case, cases, read_in_pieces};

fn keys(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| event.key.as_deref()).collect()
}

#[test]
fn nothing_has_the_key_of_something_else() {
    for case in cases::<GeminiCli>() {
        for transcript in case.transcripts() {
            let events = case.events(&transcript, 16384);
            let mut seen = HashSet::new();
            for key in keys(&events) {
                assert!(seen.insert(key), "{} {transcript}: {key}", case.name);
            }
            let counted = |event: &&Event| !matches!(event.body, Body::Session(_) | Body::Rewind(_));
            assert!(events.iter().filter(counted).all(|event| event.key.is_some()), "{} {transcript}", case.name);
        }
    }
}

/// Everything a second time, as a client might write it when it resumes, adds nothing but what was taken back.
#[test]
fn what_is_written_again_is_told_once() {
    let case = case::<GeminiCli>("0.61-resume");
    let path = case.transcripts().remove(0);
    let once = case.bytes(&path);
    let twice = [once.as_slice(), once.as_slice()].concat();
    assert_eq!(read_in_pieces::<GeminiCli>(&path, &twice, &[]), read_in_pieces::<GeminiCli>(&path, &once, &[]));
}

/// Ids that the client makes up are equal in many sessions: their keys are not.
#[test]
fn made_up_ids_differ_by_session() {
    let chat = |session: &str| {
        let line = format!(
            "{{\"sessionId\":\"{session}\",\"projectHash\":\"1\"}}\n{{\"id\":\"d049\",\"type\":\"user\",\"content\":\
             \"<session_context>\"}}\n"
        );
        read_in_pieces::<GeminiCli>("1.jsonl", line.as_bytes(), &[])
    };
    assert_eq!(keys(&chat("a")), ["a/d049"]);
    assert_eq!(keys(&chat("b")), ["b/d049"]);
}
