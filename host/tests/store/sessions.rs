//! Which session a transcript belongs to, and what is derived from sessions.

use totalrecall::{
    finding::{Category, Evidence, Finding},
    passage::{Group, Kind},
    store::{Begin, Origin, Role, StoreError},
};

use crate::support::{Home, facts, home, says};

fn main(home: &mut Home, path: &str, id: &str) -> i64 {
    home.put(path, 10, Begin::Anew, &[says(1, path, "hello")], &[], Some(facts(id, Role::Main))).unwrap().0
}

fn agent(home: &mut Home, path: &str, id: &str) -> i64 {
    let mut event = says(1, path, "do it");
    event.thread = Some("agent-1".into());
    home.put(path, 10, Begin::Anew, &[event], &[], Some(facts(id, Role::Agent))).unwrap().0
}

#[test]
fn two_main_files_with_one_id_are_two_sessions() {
    let mut home = home();
    let a = main(&mut home, "/projects/p/s1.jsonl", "s1");
    let b = main(&mut home, "/projects/p-copy/s1.jsonl", "s1");
    assert_ne!(a, b);
    for _ in 0..2 {
        assert_eq!(main(&mut home, "/projects/p/s1.jsonl", "s1"), a);
        assert_eq!(main(&mut home, "/projects/p-copy/s1.jsonl", "s1"), b);
    }
    assert_eq!(agent(&mut home, "/projects/p/agent-0a.jsonl", "s1"), a);
    assert_eq!(agent(&mut home, "/projects/p-copy/s1/subagents/agent-0b.jsonl", "s1"), b);
    assert_eq!(agent(&mut home, "/projects/p-copy/s1/subagents/workflows/w/agent-0c.jsonl", "s1"), b);
}

#[test]
fn sub_agents_that_come_first_are_joined_by_their_main_transcript() {
    let mut home = home();
    let agents = agent(&mut home, "/projects/p/s1/subagents/agent-1.jsonl", "s1");
    let row = home.store.sessions().unwrap().remove(0);
    assert_eq!((row.path, row.events, row.agent_events), (None, 0, 1));
    assert_eq!(main(&mut home, "/projects/p/s1.jsonl", "s1"), agents);
    let row = home.store.sessions().unwrap().remove(0);
    assert_eq!((row.path.as_deref(), row.events, row.agent_events), (Some("/projects/p/s1.jsonl"), 1, 1));
    assert_eq!(home.store.transcripts(row.id).unwrap().len(), 2);
}

/// Codex files sub-agents by date, not by session.
#[test]
fn a_sub_agent_elsewhere_joins_the_only_session_of_its_id() {
    let mut home = home();
    let session = main(&mut home, "/sessions/2026/11/28/rollout-s1.jsonl", "s1");
    assert_eq!(agent(&mut home, "/sessions/2026/11/29/rollout-s2.jsonl", "s1"), session);
}

#[test]
fn a_session_goes_when_its_transcript_becomes_another_one() {
    let mut home = home();
    main(&mut home, "/projects/p/s1.jsonl", "s1");
    let stale = home.store.stale_sessions().unwrap();
    home.store.replace_findings(stale[0], &[finding("Bash")]).unwrap();

    main(&mut home, "/projects/p/s1.jsonl", "s2");
    let ids: Vec<_> = home.store.sessions().unwrap().into_iter().map(|session| session.native_id).collect();
    assert_eq!(ids, ["s2"]);
    assert_eq!(home.store.findings().unwrap(), []);

    home.put("/projects/p/s1.jsonl", 0, Begin::Anew, &[], &[], None);
    assert_eq!(home.store.sessions().unwrap(), []);
}

#[test]
fn later_facts_add_to_earlier_ones_unless_the_transcript_was_replaced() {
    let mut home = home();
    let mut first = facts("s1", Role::Main);
    first.title = Some("First".into());
    home.put("/p/s1.jsonl", 10, Begin::Anew, &[], &[], Some(first));
    let mut later = facts("s1", Role::Main);
    later.branch = Some("main".into());
    home.put("/p/s1.jsonl", 20, Begin::Onward, &[], &[], Some(later.clone()));
    let row = home.store.sessions().unwrap().remove(0);
    assert_eq!((row.title.as_deref(), row.branch.as_deref()), (Some("First"), Some("main")));
    home.put("/p/s1.jsonl", 5, Begin::Anew, &[], &[], Some(later));
    assert_eq!(home.store.sessions().unwrap().remove(0).title, None);
}

fn finding(subject: &str) -> Finding {
    Finding {
        kind: "tool-error".into(),
        category: Category::of("tool-error", false),
        subject: subject.into(),
        words: None,
        severity: 3,
        confidence: 0.75,
        detail: "it failed".into(),
        count: 2,
        in_subagents: 1,
        first_at: Some(7),
        last_at: Some(9),
        evidence: vec![Evidence { transcript: 1, line: 2, at: Some(7), thread: Some("agent-1".into()) }],
        judged: None,
    }
}

#[test]
fn findings_are_replaced_as_a_whole_when_signals_changed() {
    let mut home = home();
    main(&mut home, "/p/s1.jsonl", "s1");
    let session = home.store.stale_sessions().unwrap()[0];
    home.store.replace_findings(session, &[finding("Bash"), finding("命令")]).unwrap();
    assert_eq!(home.store.stale_sessions().unwrap(), []);
    home.store.replace_findings(session, &[finding("命令")]).unwrap();
    let findings = home.store.findings().unwrap();
    assert_eq!(findings, [(session, finding("命令"))]);

    main(&mut home, "/p/s1.jsonl", "s1");
    assert_eq!(home.store.stale_sessions().unwrap(), [session]);
}

#[test]
fn of_a_session_no_more_is_read_than_is_asked_for() {
    let mut home = home();
    let said = "word ".repeat(60_000);
    let events: Vec<_> = (1..=6).map(|line| says(line, &format!("k{line}"), &said)).collect();
    let facts = facts("s1", Role::Main);
    let session = home.put("/p/a.jsonl", 9, Begin::Anew, &events, &[], Some(facts)).unwrap();
    let count = |kinds: &[Kind], most: usize| {
        let mut count = 0;
        let read = home.store.each_passage_of::<StoreError>(session, kinds, &mut |_| {
            count += 1;
            if count < most { Ok(()) } else { Err(StoreError::Busy) }
        });
        (count, read.is_ok())
    };
    assert_eq!(count(&[Kind::Prompt, Kind::Call], 9), (6, true));
    assert_eq!(count(&[Kind::Reply, Kind::Call, Kind::Result, Kind::Session], 9), (0, true));
    assert_eq!(count(&[], 9), (0, true));
    assert_eq!(count(&Kind::ALL, 2), (2, false));
    // An index of whole sessions takes a megabyte.
    let text = home.store.group_text(Group { origin: Origin::Session, row: session.0 }).unwrap();
    assert_eq!(text.matches('\n').count(), 4, "of {} bytes each", said.len());
}
