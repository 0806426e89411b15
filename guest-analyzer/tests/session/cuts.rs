//! However the events are cut into calls and wherever a checkpoint is taken, the signals are the same.

use proptest::prelude::*;
use totalrecall_sdk::types::*;
use totalrecall_sdk::{Analysis, Signal};

use totalrecall_analyzer::Friction;

const TEXTS: &[&str] = &[
    "",
    "no, that's wrong. use the other file instead",
    "Could we keep the old name?",
    "不对，应该用另一个文件",
    "まだ動かないです。戻してください",
    "non, pas comme ça",
    "continue",
    "Only touch the files under Settings, nothing else",
    "```\nerror: wrong\n```\nstill failing",
    "You're right, I'll revert that.",
    "Done. All tests pass.",
    "Shall I go on?",
    "\u{0}\u{FEFF}\u{202E}…’'\"`<a></b>",
    "Error: ENOENT: no such file, open '/a/b'\n    at Object.<anonymous> (/x.js:1:1)",
];

fn body() -> impl Strategy<Value = Body> {
    let text = || prop_oneof![3 => prop::sample::select(TEXTS).prop_map(str::to_owned), 1 => ".{0,40}"];
    let id = || (0..6u8).prop_map(|id| format!("c{id}"));
    let path = || prop::sample::select(&["a.rs", "/w/b.rs", "c d\\e.py"][..]).prop_map(str::to_owned);
    let piece =
        || prop::sample::select(&["", "let a = 1;", "let a = 2;", "x\ny\nlong line here"][..]).prop_map(str::to_owned);
    let edit = (path(), piece(), piece()).prop_map(|(path, removed, added)| Edit { path, removed, added });
    let command =
        prop::option::of(prop::sample::select(&["git reset --hard", "npm test", "rg x"][..]).prop_map(str::to_owned));
    let author = prop::sample::select(&[Author::Human, Author::Human, Author::Agent, Author::Harness][..]);
    let channel = prop::sample::select(
        &[Channel::Prompt, Channel::Steering, Channel::Comment, Channel::Answer, Channel::Command, Channel::Reply][..],
    );
    let kind =
        prop::sample::select(&[ToolKind::Edit, ToolKind::Create, ToolKind::Execute, ToolKind::Ask, ToolKind::Read][..]);
    let status = prop::sample::select(
        &[Status::Ok, Status::Error, Status::Error, Status::Denied, Status::Blocked, Status::Interrupted][..],
    );
    prop_oneof![
        4 => (author, channel, text()).prop_map(|(author, channel, text)| Body::Message(Message { author, channel, text, omitted: 0 })),
        4 => (id(), kind, command, prop::collection::vec(edit, 0..3), text()).prop_map(|(id, kind, command, edits, input)| {
            Body::ToolCall(ToolCall { id, name: format!("{kind:?}"), kind, paths: vec![], command, edits, input, omitted: 0 })
        }),
        4 => (id(), status, prop::option::of(0..3), text(), prop::option::of(text())).prop_map(|(call, status, exit_code, text, words)| {
            Body::ToolResult(ToolResult { call, status, exit_code, text, omitted: 0, words, amended: false })
        }),
        1 => any::<bool>().prop_map(|in_tool| Body::Interrupt(Interrupt { in_tool })),
        1 => any::<bool>().prop_map(|retried| Body::ApiError(ApiError { status: None, text: "x".into(), retried })),
        1 => Just(Body::Compaction(Compaction { manual: None, tokens_before: None })),
        1 => Just(Body::Rewind("k".into())),
        1 => (prop::option::of(id()), prop::option::of(id())).prop_map(|(id, parent)| {
            Body::Session(Session { id, cwd: Some("/w".into()), branch: None, title: None, version: None, parent })
        }),
    ]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let place = (
        prop::option::of(0..100_000i64),
        prop::option::weighted(0.2, Just("sub".to_owned())),
        prop::bool::weighted(0.1),
    );
    prop::collection::vec((place, body()), 0..60).prop_map(|events| {
        let event =
            |(line, ((at, thread, copied), body))| Event { line: line as u64 + 1, at, thread, key: None, copied, body };
        events.into_iter().enumerate().map(event).collect()
    })
}

fn at_once(events: &[Event]) -> Vec<Signal> {
    let mut analysis = Analysis::<Friction>::new(&[], None);
    let mut signals = analysis.observe(events).expect("no fault");
    signals.extend(analysis.conclude().expect("no fault"));
    signals
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn cuts_and_checkpoints_change_nothing(events in events(), cuts in prop::collection::vec((0..60usize, any::<bool>()), 0..5)) {
        let mut cuts: Vec<(usize, bool)> = cuts.into_iter().map(|(at, resume)| (at.min(events.len()), resume)).collect();
        cuts.sort_unstable();
        let mut analysis = Analysis::<Friction>::new(&[], None);
        let mut signals = Vec::new();
        let mut from = 0;
        for (at, resume) in cuts {
            signals.extend(analysis.observe(&events[from..at]).expect("no fault"));
            from = at;
            if resume {
                let state = analysis.checkpoint();
                // What concluding says must not leak into what follows.
                analysis.conclude().expect("no fault");
                analysis = Analysis::new(&[], Some(&state));
            }
        }
        signals.extend(analysis.observe(&events[from..]).expect("no fault"));
        signals.extend(analysis.conclude().expect("no fault"));
        prop_assert_eq!(signals, at_once(&events));
    }

    #[test]
    fn signals_rest_on_events_of_the_session(events in events()) {
        let lines: Vec<u64> = events.iter().map(|event| event.line).collect();
        for signal in at_once(&events) {
            prop_assert!(signal.evidence.contains(&signal.line));
            prop_assert!(signal.evidence.is_sorted());
            prop_assert!(signal.evidence.iter().all(|line| lines.contains(line)));
            prop_assert!((0.0..=1.0).contains(&signal.confidence));
            prop_assert!(!signal.subject.is_empty());
            prop_assert!(!signal.detail.contains('\n'));
        }
    }
}

#[test]
fn the_state_stays_small() {
    let mut analysis = Analysis::<Friction>::new(&[], None);
    let session = (0..2000).fold(crate::script::Script::new(), |script, turn| {
        script
            .human(&format!("please change module number {turn} so that it logs every call it makes to the store"))
            .edit(
                &format!("src/module{turn}.rs"),
                &format!("old line {turn}\n").repeat(30),
                &format!("new line {turn}\n").repeat(30),
            )
            .bash(&format!("cargo test module{turn}"), Status::Error, "error: failed")
            .agent("Done.")
    });
    analysis.observe(&session.events).expect("no fault");
    let size = analysis.checkpoint().len();
    assert!(size < 192 * 1024, "{size} bytes");
}
