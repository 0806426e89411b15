//! What happened in the fixtures, counted by hand in their transcripts.

use totalrecall_aider::Aider;
use totalrecall_sdk::types::{Body, Event, Status, ToolKind};
use totalrecall_trail::{case, told};

fn events(name: &str) -> Vec<Event> {
    let case = case::<Aider>(name);
    case.events(&case.transcripts()[0], 16384)
}

/// What the events of a transcript tell, with their lines.
fn story(name: &str) -> Vec<String> {
    events(name).iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

/// 0.86.2: three runs, a prompt or more in each.
#[test]
fn three_runs() {
    assert_eq!(
        story("0.86-mock"),
        [
            "13 human: Create a small calc module with add and mean, plus a test file.",
            "28 human: No, don't use assert scripts, use pytest for every check in this project.",
            "42 human, command: /add README.md",
            "45 human: Apply a patch to the notes",
            "51 human, shell: false",
            "55 human: What's wrong? Fix/undo",
            "61 human, command: /exit",
        ]
    );
    let events = events("0.86-mock");
    let at: Vec<Option<i64>> = [13, 28, 45].map(|line| events.iter().find(|it| it.line == line).unwrap().at).into();
    // 19:50:19, 19:50:26 and 19:50:33 on 2026-11-29, taken for UTC.
    assert_eq!(at, [Some(1_795_981_819_000), Some(1_795_981_826_000), Some(1_795_981_833_000)]);
    assert_eq!(events.iter().filter(|event| matches!(event.body, Body::Usage(_))).count(), 4);
}

#[test]
fn everything() {
    assert_eq!(
        story("everything"),
        [
            "11 human, command: /add price.py",
            "14 human: Make the prices cents.\nKeep the names.",
            "46 denied: -",
            "51 failed: price.py:1:9: F821 undefined name 'cents'",
            "63 failed: README.md: heading is not closed",
            "82 failed: SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in price.py",
            "114 denied: -",
            "116 human, command: /undo",
            "120 human, shell: false",
            "124 human: No, leave the price alone and run the tests",
            "125 api error Some(500), retried true",
            "128 api error Some(429), retried true",
            "135 interrupt",
            "139 human: go on",
            "169 human: Add tax.\n\nMind the rounding.",
            "178 agent: Add a `tax` function to price.py.",
            "192 failed: The tests failed.",
            "193 api error Some(400), retried false",
        ]
    );
    let events = events("everything");
    let applied: Vec<(u64, &str, &str)> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) if call.kind == ToolKind::Edit => {
                Some((event.line, call.edits[0].removed.as_str(), call.edits[0].added.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        applied,
        [
            (46, "Prices in dollars.", "#### Prices are cents"),
            (47, "price = 1.5", "price = 150"),
            (82, "price = cents", "price = 15"),
            (110, "price = 150", "price = 1.5"),
            (189, "", "price = 150\n\ndef tax(price):\n    return price // 5"),
        ]
    );
    let commands: Vec<(&str, Status)> = events
        .windows(2)
        .filter_map(|pair| match (&pair[0].body, &pair[1].body) {
            (Body::ToolCall(call), Body::ToolResult(result)) => Some((call.command.as_deref()?, result.status)),
            _ => None,
        })
        .collect();
    assert_eq!(
        commands,
        [
            ("python -m flake8 --select=E9 price.py", Status::Error),
            ("mdl README.md", Status::Error),
            ("pytest -q\nrm -rf build", Status::Denied),
            ("git checkout HEAD~1 -- price.py", Status::Ok),
            ("pytest -q", Status::Ok),
            ("test", Status::Error),
        ]
    );
}

/// Spaces at the lines' ends were stripped: headings and quotations of the model are not taken for others' words.
#[test]
fn stripped() {
    assert_eq!(
        story("stripped"),
        [
            "9 human: what is it?",
            "10 api error None, retried true",
            "26 human: explain it all",
            "29 interrupt",
            "33 human: shorter",
            "38 human, command: /exit",
        ]
    );
    let replies = events("stripped").into_iter().filter_map(|event| match event.body {
        Body::Message(message) if message.author == totalrecall_sdk::types::Author::Agent => Some(message.text),
        _ => None,
    });
    assert_eq!(replies.map(|reply| reply.lines().count()).collect::<Vec<_>>(), [10, 1, 1]);
}
