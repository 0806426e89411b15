//! Every fixture's events, compared with the golden file beside its transcripts.
//!
//! `BLESS=1 cargo test -p totalrecall-claude-code` writes the golden files anew: read the difference before committing it.

use std::fs;

use serde_json::json;

use crate::trail::{cases, drift, events, parser};

/// Short texts keep the golden files readable, and show how long ones are cut.
const TEXT_LIMIT: u32 = 400;

/// Are golden files to be written anew?
#[expect(clippy::disallowed_methods, reason = "no settings of the product: a switch of this test")]
fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

#[test]
fn events_are_as_they_were() {
    let cases = cases();
    assert!(cases.len() >= 12, "fixtures are missing");
    for case in cases {
        let mut now = String::new();
        for transcript in case.transcripts() {
            for event in events(&case, &transcript, TEXT_LIMIT) {
                now.push_str(&json!({"transcript": transcript, "event": event}).to_string());
                now.push('\n');
            }
        }
        let golden = case.folder.join("events.jsonl");
        if bless() {
            fs::write(&golden, &now).unwrap();
        }
        let before = fs::read_to_string(&golden).unwrap_or_default();
        for (number, (now, before)) in now.lines().zip(before.lines()).enumerate() {
            assert_eq!(now, before, "line {} of {}", number + 1, golden.display());
        }
        assert_eq!(now.lines().count(), before.lines().count(), "{}", golden.display());
    }
}

#[test]
fn every_record_is_known() {
    for case in cases() {
        for transcript in case.transcripts() {
            let mut parser = parser(&transcript, TEXT_LIMIT, None);
            parser.feed(&case.bytes(&transcript)).unwrap();
            let tally = parser.tally();
            assert!(drift(&tally).is_empty(), "{} {transcript}: {:?}", case.name, drift(&tally));
        }
    }
}

#[test]
fn transcripts_are_recognised() {
    use totalrecall_claude_code::ClaudeCode;
    use totalrecall_sdk::Adapter;
    for case in cases() {
        for transcript in case.transcripts() {
            let bytes = case.bytes(&transcript);
            let head = &bytes[..bytes.len().min(64 << 10)];
            assert_eq!(ClaudeCode::recognise(head), !bytes.is_empty(), "{} {transcript}", case.name);
        }
    }
    for other in [
        r#"{"display":"/clear","pastedContents":{},"timestamp":1,"project":"/home/dev","sessionId":"1"}"#,
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"1"}}"#,
        r#"{"uuid":"1","parentUuid":null,"sessionId":"1","timestamp":"2026-01-01T00:00:00Z","type":"user","message":{"role":"user","parts":[]}}"#,
        r#"{"type":"message","id":"1","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[]}}"#,
        "",
    ] {
        assert!(!ClaudeCode::recognise(other.as_bytes()), "{other}");
    }
}
