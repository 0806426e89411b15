//! Every fixture's events, compared with the golden file beside its transcripts.

use totalrecall_gemini_cli::GeminiCli;

#[test]
fn events_are_as_they_were() {
    totalrecall_trail::events_are_as_they_were::<GeminiCli>(3);
}

#[test]
fn every_record_is_known() {
    totalrecall_trail::every_record_is_known::<GeminiCli>(&[]);
}

#[test]
fn transcripts_are_recognised() {
    totalrecall_trail::transcripts_are_recognised::<GeminiCli>(&[
        r#"{"sessionId":"1","messageId":0,"type":"user","message":"hi","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"sessionId":"1","projectHash":"2","messages":[{"id":"3","type": "qwen"}]}"#,
        r#"{"uuid":"1","parentUuid":null,"sessionId":"1","type":"user","message":{"role":"user","parts":[]}}"#,
        "# aider chat started at 2026-01-01 00:00:00",
        "",
    ]);
}
