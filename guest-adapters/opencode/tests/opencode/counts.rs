//! What happened in some fixtures, checked by hand against their rows.

use totalrecall_sdk::types::{Body, Event, Status, ToolKind};

use crate::trail::{events, session, sessions, told};

/// What the events of a session tell, with the rows they are read from.
fn story(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

const MAIN: &str = "ses_dd7189ef8ffe";
const SUB_AGENT: &str = "ses_dd7183ce2ffe";
const ORIGINAL: &str = "ses_dd717b7e4ffe";
const FORK: &str = "ses_dd717844cffe";

/// 1.18.33: commands that fail are completed calls; an edit fails; `opencode run` was told the quotes.
#[test]
fn a_session_of_1_18() {
    let events = events(&session("1.18-fork-and-subagent", "opencode.db", MAIN));
    assert_eq!(
        story(&events),
        [
            "3 human: Create a small calc module with add and mean, plus a test file.",
            "24 failed: 1",
            "48 human: No, don't use assert scripts, use pytest for every check in this project.",
            "51 failed: Could not find oldString in the file. It must match exactly, including whitespace, indentation, \
             and line endings.",
            "55 failed: 3",
            "68 human: Delegate the review to a helper",
            "78 human: Print a very long output",
            "88 human: Wait while I think about it",
        ]
    );
    let failed: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) if result.status == Status::Error => Some(result.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(failed[2], "cat: missing_file.txt: No such file or directory");
    assert!(failed[0].ends_with("AssertionError: -1"), "{}", failed[0]);
}

/// 1.1.65: an error's class is packaging; a sub-agent of a kind that is not there fails.
#[test]
fn a_session_of_1_1() {
    let events = events(&session("1.1-tree-migrated-by-1.3", "storage", "ses_dd7272863ffe"));
    let story = story(&events);
    let failed: Vec<_> =
        story.iter().filter(|line| line.contains("failed")).map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(
        failed,
        [
            "failed: 1",
            "failed: You must read file /home/dev/work/demo/calc.py before overwriting it. Use the Read tool first",
            "failed: 3",
            "failed: Unknown agent type: general-purpose is not a valid agent type",
        ]
    );
    assert_eq!(story.iter().filter(|line| line.contains("human: ")).count(), 5);
}

/// The response failed, and no one but the person saw it.
#[test]
fn api_errors() {
    for (case, place, key) in [
        ("1.18-fork-and-subagent", "opencode.db", ORIGINAL),
        ("1.3-database", "opencode.db", "ses_dd7250845ffe"),
        ("1.1-tree-migrated-by-1.3", "storage", "ses_dd726100dffe"),
        ("0.5-tree", "project", "ses_dd726100dffe"),
    ] {
        let events = events(&session(case, place, key));
        assert_eq!(
            story(&events),
            ["3 human: Trigger a server error now", "4 api error Some(400), retried false"],
            "{case}"
        );
    }
}

/// A sub-agent belongs to the session that started it, in a thread of its own, and its prompt is the model's.
#[test]
fn sub_agents() {
    let sub_agent = session("1.18-fork-and-subagent", "opencode.db", SUB_AGENT);
    let parent = session("1.18-fork-and-subagent", "opencode.db", MAIN).key;
    let events = events(&sub_agent);
    let Body::Session(facts) = &events[0].body else { panic!("{:?}", events[0]) };
    assert_eq!((facts.id.as_ref(), facts.parent.as_ref()), (Some(&parent), Some(&parent)));
    assert_eq!(facts.title.as_deref(), Some("Review calc module (@general subagent)"));
    assert!(events.iter().all(|event| event.thread.as_ref() == Some(&sub_agent.key)));
    assert_eq!(story(&events), ["3 agent: HELPER: review calc.py and report problems"]);
}

/// A fork is a session of its own, which names no other.
#[test]
fn forks() {
    let fork = session("1.18-fork-and-subagent", "opencode.db", FORK);
    let events = events(&fork);
    let Body::Session(facts) = &events[0].body else { panic!("{:?}", events[0]) };
    assert_eq!((facts.id.as_ref(), facts.parent.as_ref()), (Some(&fork.key), None));
    assert_eq!((facts.cwd.as_deref(), facts.version.as_deref()), (Some("/home/dev/work/demo"), Some("1.18.33")));
    assert_eq!(
        story(&events),
        [
            "3 human: Trigger a server error now",
            "4 api error Some(400), retried false",
            "6 human: Create a small calc module again in the fork",
            "26 failed: 1",
        ]
    );
}

/// Tokens are told once a response, and are those that the tool's own sums have.
#[test]
fn usage_adds_up() {
    let main = session("1.18-fork-and-subagent", "opencode.db", MAIN);
    let mut sum = [0; 3];
    for event in events(&main) {
        if let Body::Usage(usage) = event.body {
            assert_eq!(usage.model, "mock-model");
            sum = [sum[0] + usage.input, sum[1] + usage.output, sum[2] + usage.cache_read];
        }
    }
    // `tokens_input`, `tokens_output`, `tokens_cache_read` of the session's row.
    assert_eq!(sum, [17178, 1020, 68000]);
}

/// Edits carry both sides, writes the whole; commands and paths are told apart.
#[test]
fn calls_say_what_they_do() {
    let events = events(&session("1.18-fork-and-subagent", "opencode.db", MAIN));
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect();
    let edit = calls.iter().find(|call| call.kind == ToolKind::Edit).unwrap();
    assert_eq!(edit.paths, ["/home/dev/work/demo/calc.py"]);
    let sides = (edit.edits[0].removed.as_str(), edit.edits[0].added.as_str());
    assert_eq!(sides, ("    return a - b", "    return a + b"));
    let write = calls.iter().find(|call| call.kind == ToolKind::Create).unwrap();
    assert!(write.edits[0].removed.is_empty() && write.edits[0].added.starts_with("def add(a, b):"));
    let run = calls.iter().find(|call| call.kind == ToolKind::Execute).unwrap();
    assert_eq!((run.command.as_deref(), run.input.as_str()), (Some("ls -la"), "command: ls -la"));
    assert_eq!(calls.iter().filter(|call| call.kind == ToolKind::Delegate).count(), 1);
}

/// Every result has its call, before it. One command was still running when the client was killed.
#[test]
fn results_have_calls() {
    let mut without = Vec::new();
    for case in ["1.18-fork-and-subagent", "1.3-database", "1.1-tree-migrated-by-1.3"] {
        for session in sessions(case) {
            let mut open = Vec::new();
            for event in events(&session) {
                match event.body {
                    Body::ToolCall(call) => open.push(call),
                    Body::ToolResult(result) => {
                        let at = open.iter().position(|call| call.id == result.call).unwrap();
                        open.remove(at);
                    }
                    _ => {}
                }
            }
            without.extend(open);
        }
    }
    // In 1.3, in the tree, and in what was migrated from it.
    let sleep = "python3 -c \"import time; time.sleep(60)\"; echo finished";
    let commands: Vec<_> = without.iter().map(|call| call.command.as_deref()).collect();
    assert_eq!(commands, [Some(sleep); 3]);
}
