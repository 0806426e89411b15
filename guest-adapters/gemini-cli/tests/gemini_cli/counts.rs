//! What happened in the fixtures, counted by hand in their transcripts.

use totalrecall_gemini_cli::GeminiCli;
use totalrecall_sdk::types::{Body, Event, Status, ToolKind};
use totalrecall_trail::{case, told};

/// What the events of a transcript tell, with their lines.
fn story(name: &str, start: &str) -> Vec<String> {
    let events = case::<GeminiCli>(name).read(start);
    events.iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

/// 0.61, resumed twice: three prompts, three failures, and nothing told again by the copies in `$set`.
#[test]
fn a_session_resumed_twice() {
    assert_eq!(
        story("0.61-resume", "demo"),
        [
            "3 human: Create a small calc module with add and mean, plus a test file.",
            "22 failed: 1",
            "46 human: No, don't use assert scripts, use pytest for every check in this project.",
            "50 failed: Could not find an exact match for 'old_string' in '/home/dev/work/demo/calc.py'. If previous \
             edits modified the file or you are modifying lines outside your recent read window, please use ReadFile to \
             inspect the target lines before retrying with an exact 'old_string'.",
            "55 failed: 3",
            "69 human: Print a very long output",
        ]
    );
    let events = case::<GeminiCli>("0.61-resume").read("demo");
    let count = |test: fn(&Body) -> bool| events.iter().filter(|event| test(&event.body)).count();
    assert_eq!(count(|body| matches!(body, Body::ToolCall(_))), 12);
    assert_eq!(count(|body| matches!(body, Body::ToolResult(_))), 12);
    assert_eq!(count(|body| matches!(body, Body::ToolResult(result) if result.status == Status::Error)), 3);
    // One for each response, whatever repeats it.
    assert_eq!(count(|body| matches!(body, Body::Usage(_))), 14);
    let folder = events.iter().find_map(|event| match &event.body {
        Body::Session(session) => session.cwd.clone(),
        _ => None,
    });
    assert_eq!(folder.as_deref(), Some("/home/dev/work/demo"));
}

/// Everything that a log may say.
#[test]
fn a_log_of_everything() {
    assert_eq!(
        story("log-of-everything", "shop/chats/session"),
        [
            "3 human: Rename the price column in @schema.sql",
            "7 failed: 2",
            "9 denied: -",
            "9 stopped",
            "10 human: Never drop a database. Start the server in docker instead.",
            "13 stopped",
            "12 interrupt of a tool",
            "14 human: In the background, please",
            "15 api error Some(503), retried false",
            "16 rewind",
            "17 human: Use docker compose up -d",
            "18 human, asked: compose.dev.yml",
            "18 blocked",
            "18 failed: File not found: /home/dev/work/shop/none.yml",
            "19 human, shell: docker ps",
            "20 compaction, manual Some(false)",
            "24 human: Good, commit it",
        ]
    );
    let events = case::<GeminiCli>("log-of-everything").read("shop/chats/session");
    let amended: Vec<u64> = lines(&events, |body| matches!(body, Body::ToolResult(result) if result.amended));
    assert_eq!(amended, [7]);
    let called: Vec<u64> = lines(&events, |body| matches!(body, Body::ToolCall(_)));
    assert_eq!(called, [6, 7, 9, 9, 13, 18, 18, 18, 25]);
    let prompt = events.iter().find(|event| event.line == 14).and_then(|event| event.key.clone());
    let rewound = events.iter().find_map(|event| match &event.body {
        Body::Rewind(key) => Some(key.clone()),
        _ => None,
    });
    assert_eq!(rewound, prompt);
}

/// A sub-agent is a thread of its session; its prompt is the model's.
#[test]
fn a_sub_agent() {
    let start = "shop/chats/9d3f8f7e-1111-4aaa-8bbb-0123456789ab/";
    assert_eq!(story("log-of-everything", start), ["2 agent: Commit the staged changes", "3 failed: 1"]);
    let events = case::<GeminiCli>("log-of-everything").read(start);
    assert!(events.iter().all(|event| event.thread.as_deref() == Some("c0ffee00-2222-4aaa-8bbb-0123456789ab")));
    let Body::Session(session) = &events[0].body else { panic!("{:?}", events[0]) };
    let id = Some("9d3f8f7e-1111-4aaa-8bbb-0123456789ab");
    assert_eq!((session.id.as_deref(), session.parent.as_deref()), (id, id));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/work/shop"));
}

/// A document of old: the same words, all on the one line.
#[test]
fn a_document() {
    assert_eq!(
        story("document", "64891c1f78d3"),
        [
            "1 human: why does the build fail?",
            "1 failed: 2",
            "1 denied: -",
            "1 stopped",
            "1 human: no, move the file instead",
            "1 compaction, manual Some(true)",
            "1 api error Some(429), retried false",
        ]
    );
    let events = case::<GeminiCli>("document").read("64891c1f78d3");
    let edit = events.iter().find_map(|event| match &event.body {
        Body::ToolCall(call) if call.kind == ToolKind::Edit => Some(&call.edits[0]),
        _ => None,
    });
    let edit = edit.unwrap();
    assert_eq!((edit.path.as_str(), edit.removed.as_str(), edit.added.as_str()), ("Makefile", "main.c", "src/main.c"));
}

fn lines(events: &[Event], test: impl Fn(&Body) -> bool) -> Vec<u64> {
    events.iter().filter(|event| test(&event.body)).map(|event| event.line).collect()
}
