use super::*;
use crate::{
    check::Check,
    finding::Category,
    pattern::Session,
    proposal::{Author, Place, Step},
};

/// When the rules here are applied: some day in 2026.
const APPLIED: i64 = 1_790_000_000_000;

fn session(tool: &str, project: &str, started_at: i64) -> Session {
    Session {
        tool: tool.into(),
        id: started_at.to_string(),
        project: project.into(),
        started_at,
        ended_at: started_at + 60_000,
    }
}

/// Two sessions a day, so many before and since.
fn sessions(tool: &str, project: &str, before: i64, since: i64) -> Vec<Session> {
    (-before..since).map(|index| session(tool, project, APPLIED + index * DAY / 2 + 3_600_000)).collect()
}

fn proposal() -> Proposal {
    Proposal {
        id: "p-x".into(),
        pattern: "x".into(),
        status: Status::Applied,
        step: Step::Rule,
        text: "Read a file before editing it.".into(),
        rationale: String::new(),
        paths: Vec::new(),
        check: None::<Check>,
        author: Author::Template,
        replaces: None,
        tokens: 8,
        occurrences: 20,
        last_seen: APPLIED - DAY,
        created_at: APPLIED - 3_600_000,
        applied_at: Some(APPLIED),
        ended_at: None,
        places: vec![Place { tool: "claude-code".into(), file: "rules.md".into(), project: None }],
    }
}

fn pattern(library: &Library, seen_in: impl Fn(usize) -> bool) -> Pattern {
    // Made of nothing but what a verdict looks at.
    let mut pattern: Pattern = serde_json::from_value(serde_json::json!({
        "id": "x", "kind": "tool-error", "category": "tool-error", "project": null, "subject": "Edit: not read", "spoken": false,
        "description": "", "severity": 2, "occurrences": 0, "count": 0, "in_subagents": 0, "projects": 1, "first_seen": 0,
        "last_seen": 0, "strength": 1.0, "status": "active", "evidence": [],
        "trend": crate::pattern::Trend::default(),
    }))
    .unwrap();
    pattern.seen_in = (0..library.sessions().len()).filter(|&index| seen_in(index)).collect();
    pattern
}

/// The verdict on one rule, `days` after it was applied.
fn after(days: i64, proposal: &Proposal, library: &Library, pattern: Pattern, settings: &config::Rules) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let anchor =
        Anchor { id: "x".into(), kind: "tool-error".into(), category: Category::ToolError, ..Anchor::default() };
    store.put_anchor(&anchor, 0).unwrap();
    store.put_proposal(proposal).unwrap();
    let mut verdicts = of_patterns(&store, library, || vec![pattern], settings, APPLIED + days * DAY).unwrap();
    assert_eq!(verdicts.len(), 1);
    verdicts.remove(0)
}

#[test]
fn a_friction_that_was_often_there_and_is_gone_makes_a_working_rule() {
    let library = Library::of(sessions("claude-code", "/w", 80, 70));
    let gone = pattern(&library, |index| index < 80 && index % 2 == 0);
    let verdict = after(36, &proposal(), &library, gone, &config::Rules::default());
    assert_eq!((verdict.outcome, verdict.advice, verdict.simple), (Outcome::Working, Advice::Keep, Simple::Resolved));
    assert_eq!((verdict.after.occurrences, verdict.after.opportunities, verdict.since.opportunities), (0, 60, 70));
    assert!(verdict.ratio.unwrap().high < 0.5);
}

#[test]
fn a_friction_that_stays_makes_one_that_is_drafted_anew() {
    let library = Library::of(sessions("claude-code", "/w", 200, 220));
    let stays = pattern(&library, |index| index % 2 == 0);
    let verdict = after(112, &proposal(), &library, stays, &config::Rules::default());
    assert_eq!(
        (verdict.outcome, verdict.advice, verdict.simple),
        (Outcome::NotWorking, Advice::Redraft, Simple::Ineffective)
    );
}

#[test]
fn a_week_is_too_early_and_a_rare_friction_never_enough() {
    let library = Library::of(sessions("claude-code", "/w", 80, 14));
    let verdict = after(7, &proposal(), &library, pattern(&library, |i| i % 4 == 0), &config::Rules::default());
    assert_eq!(verdict.outcome, Outcome::TooEarly);
    let library = Library::of(sessions("claude-code", "/w", 80, 200));
    let verdict =
        after(100, &proposal(), &library, pattern(&library, |i| i == 20 || i == 60), &config::Rules::default());
    assert_eq!((verdict.outcome, verdict.advice), (Outcome::NotEnoughData, Advice::Consider));
}

#[test]
fn days_until_the_simple_reading_says_resolved_are_a_setting() {
    let library = Library::of(sessions("claude-code", "/w", 40, 20));
    let simple = |days| {
        let settings = config::Rules { resolved_after_days: days, ..config::Rules::default() };
        after(10, &proposal(), &library, pattern(&library, |i| i < 40 && i % 4 == 0), &settings).simple
    };
    assert_eq!((simple(10), simple(11)), (Simple::Resolved, Simple::Pending));
}

#[test]
fn only_sessions_that_read_the_rule_count() {
    let mut all = sessions("claude-code", "/w", 40, 40);
    all.extend(sessions("codex", "/w", 40, 40));
    all.extend(sessions("claude-code", "/other", 40, 40));
    all.push(Session { ended_at: APPLIED + 1, ..session("claude-code", "/w", APPLIED - 1) });
    let library = Library::of(all);
    let mut proposal = proposal();
    let count = |proposal: &Proposal| {
        let verdict = after(30, proposal, &library, pattern(&library, |_| true), &config::Rules::default());
        verdict.since.opportunities
    };
    assert_eq!(count(&proposal), 80, "all projects, one tool");
    proposal.places[0].project = Some("/w".into());
    assert_eq!(count(&proposal), 40, "one project, and not the session that was going on");
}

#[test]
fn without_its_pattern_a_rule_has_not_enough_data() {
    let library = Library::of(sessions("claude-code", "/w", 40, 40));
    let mut lost = pattern(&library, |_| true);
    lost.id = "y".into();
    let verdict = after(30, &proposal(), &library, lost, &config::Rules::default());
    assert_eq!((verdict.outcome, verdict.since.opportunities), (Outcome::NotEnoughData, 40));
}
