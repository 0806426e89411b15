//! What happened in some fixtures, checked by hand against their transcripts.

use totalrecall_sdk::types::{Body, Channel, Event, ToolCall, ToolKind};

use crate::trail::{events, story};

fn calls(events: &[Event]) -> Vec<&ToolCall> {
    let calls = events.iter().filter_map(|event| match &event.body {
        Body::ToolCall(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

/// Tokens in and out, those read from the cache among the former.
fn tokens(events: &[Event]) -> (usize, u64, u64) {
    let mut all = (0, 0, 0);
    for event in events {
        if let Body::Usage(usage) = &event.body {
            all = (all.0 + 1, all.1 + usage.input + usage.cache_read, all.2 + usage.output);
        }
    }
    all
}

/// Up to 0.2x: the item alone, without times.
#[test]
fn bare_items() {
    let events = events("0.20-bare", "9f47");
    assert_eq!(
        story(&events),
        [
            "3 human: Create a small calc module with add and mean, plus a test file.",
            "18 failed: 1",
            "23 failed: 1",
            "28 failed: 2",
            "32 failed: 1",
        ]
    );
    let commands: Vec<_> = calls(&events).iter().filter_map(|call| call.command.as_deref()).collect();
    assert_eq!(commands.len(), 6);
    assert_eq!(commands[0], "ls -la");
    assert_eq!(commands[4], "sed -i 's/    return a - b/    return a + b/' ./calc.py");
}

/// 0.47: patches are scripts; `codex exec resume` goes on in the same file, and counts tokens from nothing again.
#[test]
fn patches_within_scripts() {
    let events = events("0.47-heredoc-patches", "5ede");
    assert_eq!(
        story(&events),
        [
            "4 human: Create a small calc module with add and mean, plus a test file.",
            "32 failed: 1",
            "58 human: No, don't use assert scripts, use pytest for every check in this project.",
            "68 failed: 3",
            "84 human: Apply a patch to the notes",
            "106 failed: 7",
            "111 failed: apply_patch verification failed: Failed to read file to update \
             /home/dev/work/demo/absent.md: No such file or directory (os error 2)",
            "118 human: Print a very long output",
            "130 human: Run something slow",
            "134 interrupt",
        ]
    );
    let patches: Vec<_> = calls(&events).into_iter().filter(|call| !call.edits.is_empty()).collect();
    let kinds: Vec<_> = patches.iter().map(|call| (call.kind, call.paths[0].as_str())).collect();
    assert_eq!(kinds, [(ToolKind::Create, "notes.md"), (ToolKind::Edit, "notes.md"), (ToolKind::Edit, "absent.md")]);
    assert_eq!(patches[1].edits[0].removed, "# Notes\nfirst line\n");
    assert_eq!(patches[1].edits[0].added, "# Notes\nsecond line\n");
    assert!(patches[1].input.starts_with("*** Begin Patch\n*** Update File: notes.md"));
    // Each of 21 responses is told twice or thrice.
    assert_eq!(tokens(&events), (21, (5001..=5021).sum(), 21 * 60));
}

/// 0.140: interruptions, a prompt taken back, one sent at work, a command left in the background.
#[test]
fn a_conversation_in_the_terminal() {
    let events = events("0.140-tui-fork", "archived");
    assert_eq!(
        story(&events),
        [
            "7 human: Create a small calc module with add and mean, plus a test file.",
            "26 failed: 1",
            "39 failed: 1",
            "48 human: No, don't use assert scripts, use pytest for every check in this project.",
            "53 failed: 3",
            "69 human: Apply a patch to the notes",
            "84 failed: 7",
            "87 failed: apply_patch verification failed: Failed to read file to update \
             /home/dev/work/demo/absent.md: No such file or directory (os error 2)",
            "96 human: Wait while I think about it",
            "99 interrupt",
            "103 human: Run something slow please",
            "105 stopped",
            "108 interrupt of a tool",
            "110 rewind",
            "114 human: Run something slow please/compact",
            "119 human, at work: Print a very long output",
        ]
    );
    let taken_back = events.iter().find(|event| event.line == 103).unwrap();
    let rewind = events.iter().find(|event| event.line == 110).unwrap();
    assert_eq!(rewind.body, Body::Rewind(taken_back.key.clone().unwrap()));
}

/// 0.171 in code mode: what the scripts ran counts, the scripts do not; but for one that failed before it ran anything
/// (line 123), and one that was stopped (145), whose command ends when all else has (176).
#[test]
fn scripts_count_by_what_they_ran() {
    let events = events("0.171-code-mode-fork", "archived");
    assert_eq!(
        story(&events),
        [
            "13 human: Create a small calc module with add and mean, plus a test file.",
            "39 failed: 1",
            "70 human: No, don't use assert scripts, use pytest for every check in this project.",
            "78 failed: 3",
            "98 human: Apply a patch to the notes",
            "118 failed: 7",
            "123 failed: apply_patch verification failed: Failed to read file to update \
             /home/dev/work/demo/absent.md: No such file or directory (os error 2)",
            "134 human: Wait while I think about it",
            "137 interrupt",
            "142 human: Run something slow please",
            "145 stopped",
            "148 interrupt of a tool",
            "154 compaction, manual None",
            "165 human: Print a very long output",
        ]
    );
    let calls = calls(&events);
    let count = |name: &str| calls.iter().filter(|call| call.name == name).count();
    assert_eq!((count("exec_command"), count("apply_patch"), calls.len()), (15, 3, 18));
    assert!(calls.iter().all(|call| call.command.is_some() || !call.edits.is_empty()));
    // Two kinds of records tell the tokens of each response.
    assert_eq!(tokens(&events).0, 22);
}

/// 0.171 without code mode: items repeat what calls and outputs say.
#[test]
fn items_count_once() {
    let events = events("0.171-headless", "9831");
    assert_eq!(
        story(&events),
        [
            "9 human: Create a small calc module with add and mean, plus a test file.",
            "36 failed: 1",
            "66 human: No, don't use assert scripts, use pytest for every check in this project.",
            "75 failed: 3",
            "96 human: Apply a patch to the notes",
            "117 failed: 7",
            "121 failed: apply_patch verification failed: Failed to read file to update \
             /home/dev/work/demo/absent.md: No such file or directory (os error 2)",
            "132 human: Print a very long output",
            "147 human: Run something slow",
            "150 stopped",
            "153 interrupt of a tool",
        ]
    );
    let failed = crate::trail::events("0.171-headless", "1a49");
    assert_eq!(story(&failed), ["9 human: Trigger a server error now", "10 api error None, retried false"]);
}
/// 0.171, the person and the rules in turn: two commands and a patch that the person declined, one cancelled (which the
/// client tells like an interruption), a text sent at work; then a session where nobody is asked.
#[test]
fn refusals_by_the_person_and_by_rules() {
    assert_eq!(
        story(&events("0.171-refusals", "c801")),
        [
            "9 human: Clean up please",
            "14 denied: -",
            "19 denied: -",
            "23 denied: -",
            "27 failed: unsupported call: update_plan",
            "31 failed: unable to locate image at `/home/dev/work/demo/missing.png`: No such file or directory (os error 2)",
            "46 human: Try again",
            "51 denied: -",
            "54 interrupt of a tool",
            "58 human: wait",
            "65 human, at work: and use pytest",
            "68 stopped",
            "71 interrupt of a tool",
        ]
    );
    assert_eq!(
        story(&events("0.171-refusals", "f7a3")),
        [
            "9 human: Write a file",
            "12 failed: 1",
            "16 blocked",
            "20 blocked",
            "24 failed: unsupported call: no_such_tool",
            "28 failed: failed to parse function arguments: missing field `cmd` at line 1 column 22",
            "38 human: too fast",
        ]
    );
}

/// 0.171: a session, two sub-agents of it, one of which was given its history, and a fork made while it was at work.
#[test]
fn sub_agents_belong_to_their_session() {
    let session = events("0.171-sub-agents", "c54a");
    assert_eq!(
        story(&session),
        [
            "13 human: Have calc.py reviewed",
            "42 human, at work: do it yourself",
            "45 failed: 4",
            "50 denied: -",
            "54 denied: -",
            "64 human, shell: git status --short; exit 5",
            "71 compaction, manual None",
        ]
    );
    for (part, line) in [("c615", 13), ("c6d3", 31)] {
        let agent = events("0.171-sub-agents", part);
        let Body::Session(news) = &agent[0].body else { panic!() };
        assert_eq!(news.id.as_deref(), Some("01a229e8-c54a-7480-900b-f7dd4fc934d9"));
        assert_eq!(news.id, news.parent);
        assert!(agent.iter().all(|event| event.thread.as_ref().is_some_and(|thread| thread.contains(part))));
        let own: Vec<_> = agent.into_iter().filter(|event| !event.copied).collect();
        let given = format!("{line} agent: Message Type: NEW_TASK");
        let [first, ..] = &story(&own)[..] else { panic!() };
        assert!(first.starts_with(&given), "{first}");
        assert_eq!(story(&own).len(), 1);
    }
    let given = events("0.171-sub-agents", "c6d3");
    let copied: Vec<_> = given.iter().filter(|event| event.copied).collect();
    let known: Vec<_> = session.iter().filter_map(|event| event.key.as_deref()).collect();
    let (shared, other): (Vec<_>, Vec<_>) =
        copied.into_iter().partition(|event| known.contains(&event.key.as_deref().unwrap_or_default()));
    assert_eq!(shared.len(), 13);
    let notices =
        other.iter().filter(|event| matches!(&event.body, Body::Message(it) if it.channel == Channel::Notice));
    assert_eq!(notices.count(), other.len(), "only what the client told the sub-agent in its parent's turn is its own");
    // The fork says that the turn was interrupted; the session it was made from goes on.
    let fork = events("0.171-sub-agents", "ce7c");
    let interrupts: Vec<_> = fork.iter().filter(|event| matches!(event.body, Body::Interrupt(_))).collect();
    assert_eq!((interrupts.len(), interrupts[0].copied), (1, true));
}
