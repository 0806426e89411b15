//! What happened in some fixtures, checked by hand against their transcripts.

use totalrecall_sdk::types::{Body, Event, Status, ToolKind};

use crate::trail::{Case, case, told};

/// What the events of a transcript tell, with their lines.
fn story(name: &str, transcript: &str) -> Vec<String> {
    let events = case(name).read(transcript);
    events.iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

/// 2.0.30: refusals, interruptions of the response, a queued text taken back (`popAll`), a rewind.
#[test]
fn rejections_in_2_0() {
    assert_eq!(
        story("2.0-tui-rejections", "853a"),
        [
            "2 human: Create a small calc module with add and mean, plus a test file.\n\
             No, don't use assert scripts, use pytest for every check in this project.",
            "9 denied: -",
            "10 interrupt of a tool",
            "12 human: No, don't use assert scripts: I meant pytest, please go on.",
            "14 failed: File does not exist.",
            "16 failed: 3",
            "24 human: Wait while I think about it",
            "25 interrupt",
            "27 human: Run something slow please",
            "30 interrupt",
            "32 human: and a queued message while you work!echo from bash mode; false",
            "35 interrupt",
            "38 human, command: /context /compact keep the test decisions",
            "41 human: Delegate the review to a helper",
            "46 human: Try again: create the file extra.txt",
            "49 rewind",
            "49 human: This prompt was edited after a rewindTry again: create the file extra.txt",
        ]
    );
}

/// 2.1.120: an interrupted tool says so in its result; a compaction by the person.
#[test]
fn interruptions_in_2_1_120() {
    assert_eq!(
        story("2.1.120-tui", "3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl"),
        [
            "8 human: Create a small calc module with add and mean, plus a test file.",
            "22 failed: 1",
            "37 human: No, don't use assert scripts, use pytest for every check in this project.",
            "41 failed: String to replace not found in file.",
            "45 denied: -",
            "46 interrupt of a tool",
            "48 human: No, don't use assert scripts: I meant pytest, please go on.",
            "51 failed: String to replace not found in file.",
            "53 failed: 3",
            "66 human: Wait while I think about it",
            "70 interrupt",
            "72 human: Run something slow please",
            "77 stopped",
            "78 interrupt of a tool",
            "80 human: and a queued message while you work",
            "88 human, shell: echo from bash mode; false",
            "92 human, command: /context",
            "99 compaction, manual Some(true)",
            "102 human, command: /compact keep the test decisions",
            "108 human: Delegate the review to a helper",
            "117 human: Try again: create the file extra.txt",
            "124 rewind",
            "124 human: This prompt was edited after a rewind",
            "132 human, command: /rename calc session",
        ]
    );
}

/// 2.1.332: an interrupted tool (line 162) has the text of a refusal (line 102); only the marker tells them apart.
#[test]
fn interruptions_in_2_1_332() {
    assert_eq!(
        story("2.1.332-tui", "425e58b8-fa9f-429f-9845-87a4ffb243ec.jsonl"),
        [
            "8 human: Create a small calc module with add and mean, plus a test file.",
            "57 failed: 1",
            "90 human: No, don't use assert scripts, use pytest for every check in this project.",
            "97 failed: String to replace not found in file.",
            "102 denied: -",
            "103 interrupt of a tool",
            "105 human: No, don't use assert scripts: I meant pytest, please go on.",
            "111 failed: String to replace not found in file.",
            "117 failed: 3",
            "140 human: Wait while I think about it",
            "147 interrupt",
            "148 human: Run something slow please",
            "157 human, at work: and a queued message while you work",
            "162 stopped",
            "163 interrupt of a tool",
            "171 human, shell: echo from bash mode; false",
            "184 human, command: /context",
            "192 compaction, manual Some(true)",
            "195 human, command: /compact keep the test decisions",
            "210 human: Delegate the review to a helper",
            "253 human: Try again: create the file extra.txt",
            "262 rewind",
            "262 human: Try again: create the file extra.txtThis prompt was edited after a rewind",
            "275 human, command: /rename calc session",
        ]
    );
}

/// What the person says outside of prompts: at work, when refusing, with an approval.
#[test]
fn words_outside_of_prompts() {
    assert_eq!(
        story("2.1.332-steering-and-refusal", "075b"),
        [
            "6 human: Do two slow steps",
            "30 human, at work: please remember: never use sleep in this repository",
            "46 human: Create a small calc module with add and mean, plus a test file.",
            "60 denied: use a src directory instead",
        ]
    );
    assert_eq!(
        story("2.1.120-comment", "34a2"),
        [
            "3 human: Do two slow steps",
            "9 human, at work: please remember: never use sleep in this repository",
            "15 human: Create a small calc module with add and mean, plus a test file.",
            "23 human, with a result: use a src directory instead",
        ]
    );
}

/// One failed request that was tried again, and gave up.
#[test]
fn api_errors() {
    assert_eq!(
        story("2.1.332-api-error", "b5a6"),
        [
            "5 human: [[scenario:err500]] x",
            "24 api error Some(500), retried true",
            "28 api error Some(500), retried false",
        ]
    );
}

/// 1.0.60 has no record of a compaction: the answer to `/compact` tells.
#[test]
fn compaction_in_1_0() {
    let story = story("1.0-resume-chain", "d30e");
    assert_eq!(story[story.len() - 2..], ["38 human, command: /compact", "39 compaction, manual Some(true)"]);
}

fn all(case: &Case) -> impl Iterator<Item = (String, Event)> {
    let transcripts = case.transcripts().into_iter();
    transcripts.flat_map(|path| case.events(&path, 16384).into_iter().map(move |event| (path.clone(), event)))
}

/// Every result has its call, in the same thread; sub-agents' files are threads of their own.
#[test]
fn calls_and_threads() {
    for name in ["2.0-sidechain-files", "2.1.120-headless-fork", "2.1.332-headless", "2.1.332-parallel-calls"] {
        let case = case(name);
        let mut calls = Vec::new();
        for (path, event) in all(&case) {
            let agent = path.rsplit('/').next().unwrap().strip_prefix("agent-").map(|id| id.replace(".jsonl", ""));
            assert_eq!(event.thread, agent, "{name} {path}");
            match event.body {
                Body::ToolCall(call) => calls.push((path, call.id)),
                Body::ToolResult(result) => assert!(calls.contains(&(path, result.call.clone())), "{}", result.call),
                _ => {}
            }
        }
    }
}

/// Id and parent as they stand at the end of a transcript.
fn session(name: &str, transcript: &str) -> (Option<String>, Option<String>) {
    let (mut id, mut parent) = (None, None);
    for event in case(name).read(transcript) {
        if let Body::Session(session) = event.body {
            id = session.id.or(id);
            parent = session.parent.or(parent);
        }
    }
    (id, parent)
}

/// A session is its file; a sub-agent belongs to the session that started it; a fork begins with another's records.
#[test]
fn sessions_and_parents() {
    let main = "75cfddb7-cde0-43bf-b659-3d9b0c6ef79c";
    let name = "2.1.120-headless-fork";
    assert_eq!(session(name, &format!("{main}.jsonl")), (Some(main.into()), None));
    assert_eq!(session(name, &format!("{main}/subagents/")), (Some(main.into()), Some(main.into())));
    let (id, parent) = session("2.0-sidechain-files", "a281");
    assert_eq!(id.as_deref(), Some("a2817ce0-c6a9-4026-b845-48128521ecb4"));
    assert_eq!(parent.as_deref(), Some("eab20af7-b7bc-4bac-b097-d9470cbe57be"));
    let (id, parent) = session("2.0-sidechain-files", "agent-21687a19");
    assert_eq!((id.as_deref(), parent.as_deref()), (Some("eab20af7-b7bc-4bac-b097-d9470cbe57be"), id.as_deref()));
}

/// Inline sub-agents of 1.0.x get threads named after their first record.
#[test]
fn inline_sub_agents() {
    let events = case("1.0-resume-chain").read("8102");
    let lines: Vec<_> = events.iter().filter(|event| event.thread.is_some()).map(|event| event.line).collect();
    assert_eq!((lines.first(), lines.last()), (Some(&36), Some(&39)));
    let threads: Vec<_> = events.iter().filter_map(|event| event.thread.as_deref()).collect();
    assert!(threads.iter().all(|thread| *thread == threads[0]));
}

/// Edits carry both sides, writes the whole; commands and paths are told apart.
#[test]
fn calls_say_what_they_do() {
    let events = case("2.1.332-tui").read("425e58b8-fa9f-429f-9845-87a4ffb243ec.jsonl");
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect();
    let edit = calls.iter().find(|call| call.kind == ToolKind::Edit).unwrap();
    assert_eq!(edit.paths, ["/home/dev/work/demo/calc.py"]);
    assert_eq!(
        (edit.edits[0].removed.as_str(), edit.edits[0].added.as_str()),
        ("    return a - b", "    return a + b")
    );
    let run = calls.iter().find(|call| call.kind == ToolKind::Execute).unwrap();
    assert_eq!(
        (run.command.as_deref(), run.input.as_str()),
        (Some("ls -la"), "command: ls -la\ndescription: List files")
    );
    let write = calls.iter().find(|call| call.kind == ToolKind::Create).unwrap();
    assert!(write.edits[0].removed.is_empty() && write.edits[0].added.starts_with("def add(a, b):"));
}

/// One usage per response, the last one told having the largest figures.
#[test]
fn usage_is_told_once_per_response() {
    let events = case("2.1.332-headless").read("575d1415-67b1-46cb-b95c-3c05fb8944d5.jsonl");
    let mut output = std::collections::BTreeMap::new();
    for event in &events {
        if let Body::Usage(usage) = &event.body {
            let known = output.entry(event.key.clone()).or_insert(0);
            assert!(usage.output > *known);
            *known = usage.output;
        }
    }
    let responses = events.iter().filter_map(|event| event.key.as_deref()).filter_map(|key| key.split_once("/usage"));
    let responses: std::collections::BTreeSet<_> = responses.map(|(id, _)| id).collect();
    assert_eq!(output.len(), responses.len());
}

/// Parallel calls of one response: a refusal by a rule blocks, a failure fails, each matched by id.
#[test]
fn parallel_calls() {
    let events = case("2.1.332-parallel-calls").read("ad93");
    let statuses: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) if result.status != Status::Ok => Some((event.line, result.status)),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [(33, Status::Error), (59, Status::Error), (65, Status::Blocked)]);
}
