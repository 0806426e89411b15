//! Every fixture's events, compared with the golden file beside its transcripts.

use totalrecall_aider::Aider;
use totalrecall_sdk::adapter::{Adapter as _, Source};

#[test]
fn events_are_as_they_were() {
    totalrecall_trail::events_are_as_they_were::<Aider>(3);
}

#[test]
fn every_record_is_known() {
    totalrecall_trail::every_record_is_known::<Aider>(&[]);
}

#[test]
fn transcripts_are_recognised() {
    totalrecall_trail::transcripts_are_recognised::<Aider>(&[
        "# A chat\n\n#### Prompt\n\nanswer",
        "Notes on `# aider chat started at 2026-04-01 09:00:00`",
        r#"{"sessionId":"1","projectHash":"2"}"#,
        "",
    ]);
}

/// There is no place to look at unasked.
#[test]
fn nothing_is_asked_for() {
    let sources = Aider::describe().sources;
    let [Source::Files(files)] = &sources[..] else { panic!("{sources:?}") };
    assert!(files.roots.is_empty());
}
