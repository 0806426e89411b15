//! The fixtures of all versions, and what is read of them.

use serde_json::json;
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::adapter::Adapter as _;
use totalrecall_trail::{case, drift, golden};

use crate::trail::{cases, read};

/// Short texts keep the golden files readable, and show how long ones are cut.
const TEXT_LIMIT: u32 = 400;

#[test]
fn events_are_as_they_were() {
    let cases = cases();
    assert!(cases.len() >= 4, "fixtures are missing");
    for (name, sessions) in cases {
        let mut now = String::new();
        for session in sessions {
            for event in read(&session.key, &session.rows, TEXT_LIMIT).0 {
                let transcript = format!("{}#{}", session.place, session.key);
                now.push_str(&json!({"transcript": transcript, "event": event}).to_string());
                now.push('\n');
            }
        }
        golden(&case::<OpenCode>(&name).folder.join("events.jsonl"), &now);
    }
}

#[test]
fn every_row_is_known() {
    for (name, sessions) in cases() {
        assert!(!sessions.is_empty(), "{name}");
        for session in sessions {
            let (_, tally) = read(&session.key, &session.rows, TEXT_LIMIT);
            assert!(drift(&tally).is_empty(), "{name} {}: {:?}", session.key, drift(&tally));
        }
    }
}

#[test]
fn sessions_are_recognised() {
    for (name, sessions) in cases() {
        for session in sessions {
            assert!(OpenCode::recognise(&session.rows), "{name} {}", session.key);
        }
    }
    for other in [
        "",
        "{",
        "not json",
        r#"{"id":"1a","parentId":null,"type":"message"}"#,
        r#"{"type":"user","uuid":"1","message":{"content":"{\"id\":\"ses_1\"}"}}"#,
    ] {
        assert!(!OpenCode::recognise(other.as_bytes()), "{other}");
    }
}
