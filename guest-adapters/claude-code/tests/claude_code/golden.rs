//! Every fixture's events, compared with the golden file beside its transcripts.

use totalrecall_claude_code::ClaudeCode;

#[test]
fn events_are_as_they_were() {
    totalrecall_trail::events_are_as_they_were::<ClaudeCode>(12);
}

#[test]
fn every_record_is_known() {
    totalrecall_trail::every_record_is_known::<ClaudeCode>(&[]);
}

#[test]
fn transcripts_are_recognised() {
    totalrecall_trail::transcripts_are_recognised::<ClaudeCode>(&[
        r#"{"display":"/clear","pastedContents":{},"timestamp":1,"project":"/home/dev","sessionId":"1"}"#,
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"1"}}"#,
        r#"{"uuid":"1","parentUuid":null,"sessionId":"1","timestamp":"2026-01-01T00:00:00Z","type":"user","message":{"role":"user","parts":[]}}"#,
        r#"{"type":"message","id":"1","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[]}}"#,
        "",
    ]);
}
