//! Every fixture's events, compared with the golden file beside its transcripts.

use totalrecall_claude_code::ClaudeCode;
use totalrecall_codex::Codex;
use totalrecall_sdk::Adapter;

use crate::trail::cases;

#[test]
fn events_are_as_they_were() {
    totalrecall_trail::events_are_as_they_were::<Codex>(10);
}

#[test]
fn every_record_is_known() {
    totalrecall_trail::every_record_is_known::<Codex>(&[]);
}

#[test]
fn transcripts_are_recognised() {
    totalrecall_trail::transcripts_are_recognised::<Codex>(&[
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"x"},"uuid":"1","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"type":"message","id":"1","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[]}}"#,
        r#"{"type":"session","version":3,"id":"1","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}"#,
        r#"{"session_id":"1","ts":1795982073,"text":"history of prompts"}"#,
        r#"{"id":"1","thread_name":"index of sessions","updated_at":"2026-01-01T00:00:00Z"}"#,
        r#"{"sessionId":"1","projectHash":"2","messages":[]}"#,
        "{\"session\": 1}",
        "# aider chat started",
        "",
    ]);
}

#[test]
fn no_other_adapter_takes_them() {
    for case in cases() {
        for transcript in case.transcripts() {
            let bytes = case.bytes(&transcript);
            assert!(!ClaudeCode::recognise(&bytes[..bytes.len().min(64 << 10)]), "{transcript}");
        }
    }
}
