use std::collections::BTreeSet;

use super::*;
use crate::{
    locale,
    pattern::{self, Pattern, View},
    verdict::Verdict,
};

/// A folder that is a home.
struct Place {
    _folder: tempfile::TempDir,
    home: Home,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::choose(Some(folder.path().to_owned())).unwrap();
    Place { _folder: folder, home }
}

fn pattern(id: &str, name: &str, occurrences: u32) -> Pattern {
    let none = serde_json::json!({ "with": 0, "of": 0 });
    serde_json::from_value(serde_json::json!({
        "id": id, "kind": "user-correction", "category": "repeated-correction", "project": null, "subject": name, "spoken": true,
        "description": "", "severity": 3, "occurrences": occurrences, "count": occurrences, "in_subagents": 0, "projects": 1,
        "first_seen": 0, "last_seen": 0, "strength": 1.0, "status": "active",
        "trend": { "weeks": [0, 0, 0, 0, 0, 0, 0, 0], "recent": none, "before": none, "direction": "steady" }, "evidence": [],
    }))
    .unwrap()
}

fn insights(sessions: usize, patterns: &[Pattern]) -> Insights {
    let settings = pattern::Settings::default();
    let mut insights = Insights::new(&View::default(), &[], &[], &pattern::Known::default(), &[], 0, &settings);
    insights.sessions = sessions;
    insights.patterns = patterns.to_vec();
    insights.recurring = patterns.iter().filter(|pattern| pattern.recurs()).count();
    insights
}

fn verdict(outcome: &str) -> Verdict {
    let none = serde_json::json!({ "opportunities": 0, "occurrences": 0, "from": 0, "to": 0 });
    serde_json::from_value(serde_json::json!({
        "proposal": "p-a", "pattern": "a", "text": "Use pnpm.", "subject": "use pnpm", "applied_at": 0, "outcome": outcome,
        "advice": "keep", "unit": "sessions", "before": none, "after": none, "since": none, "expected": 0.0, "ratio": null,
        "next_look": 0, "enough_at": null, "drift": null, "simple": "pending", "tokens": 10,
    }))
    .unwrap()
}

fn drafts(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn renewed(place: &Place, insights: &Insights, waiting: &[&str]) {
    renew(&place.home, insights, drafts(waiting), true, &locale::choose(Some("en"), None)).unwrap();
}

#[test]
fn news_adds_up_until_it_is_shown_and_is_shown_once() {
    let place = place();
    assert_eq!(claim(&place.home, false), None);
    renewed(&place, &insights(2, &[pattern("a", "use pnpm", 2), pattern("b", "once", 1)]), &[]);
    renewed(&place, &insights(5, &[pattern("c", "no mocks", 3), pattern("a", "use pnpm", 2)]), &["p-a"]);
    assert_eq!(
        claim(&place.home, false).as_deref(),
        Some(
            "5 sessions read. 2 new patterns, the strongest: “no mocks” (totalrecall insights). 1 drafted rule waits for your \
             decision (totalrecall proposals)."
        )
    );
    assert_eq!(claim(&place.home, false), None);
    renewed(&place, &insights(5, &[pattern("c", "no mocks", 3), pattern("a", "use pnpm", 2)]), &["p-a"]);
    assert_eq!(claim(&place.home, false), None, "all of it was told");
}

#[test]
fn that_sessions_were_read_is_told_once_and_then_only_with_what_was_learned() {
    let place = place();
    renewed(&place, &insights(1, &[]), &[]);
    assert_eq!(claim(&place.home, true).as_deref(), Some("1 session read."));
    renewed(&place, &insights(9, &[]), &[]);
    assert_eq!(claim(&place.home, true), None);
    renewed(&place, &insights(10, &[pattern("a", "use pnpm", 2)]), &[]);
    assert_eq!(
        claim(&place.home, true).as_deref(),
        Some("9 sessions read. New pattern: “use pnpm” (/recall-insights).")
    );
}

#[test]
fn what_was_dealt_with_is_no_news() {
    let place = place();
    renewed(&place, &insights(1, &[]), &[]);
    claim(&place.home, false).unwrap();
    renewed(&place, &insights(1, &[]), &["p-a", "p-b"]);
    renewed(&place, &insights(1, &[]), &[]);
    assert_eq!(claim(&place.home, false), None);
    // What is merged into a known pattern, or gets another id, is none either.
    renewed(&place, &insights(1, &[pattern("a", "x", 2)]), &[]);
    claim(&place.home, false).unwrap();
    let mut merged = pattern("z", "x", 4);
    merged.aliases = vec!["a".to_owned()];
    renewed(&place, &insights(1, &[merged]), &[]);
    assert_eq!(claim(&place.home, false), None);
}

#[test]
fn verdicts_are_told_when_they_change() {
    let place = place();
    let judged = |outcome: &str| {
        let mut insights = insights(3, &[]);
        insights.rules = vec![verdict(outcome)];
        insights
    };
    renewed(&place, &judged("too-early"), &[]);
    claim(&place.home, false).unwrap();
    renewed(&place, &judged("not-working"), &[]);
    assert_eq!(claim(&place.home, false).as_deref(), Some("The rule about “use pnpm” does not work."));
    assert_eq!(glance(&place.home).unwrap().failing, 1);
    renewed(&place, &judged("not-working"), &[]);
    assert_eq!(claim(&place.home, false), None);
    renewed(&place, &judged("working"), &[]);
    assert_eq!(claim(&place.home, false).as_deref(), Some("The rule about “use pnpm” works."));
}

#[test]
fn a_line_is_one_line_however_hostile_its_names_are() {
    let place = place();
    let hostile = format!("a\u{1b}]0;title\u{7}b\r\n\u{202e}{}", "字\u{1b}[2J\n".repeat(5_000));
    renewed(&place, &insights(usize::MAX, &[pattern("a", &hostile, 2)]), &[]);
    let line = claim(&place.home, false).unwrap();
    assert!(line.chars().count() <= MAX_LINE + 1 && line.contains("“ab"), "{line}");
    assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
}

#[test]
fn every_language_has_a_line_without_gaps() {
    for language in locale::languages() {
        let place = place();
        let mut insights = insights(3, &[pattern("a", "use pnpm", 2)]);
        insights.rules = vec![verdict("worse"), verdict("working")];
        renew(&place.home, &insights, drafts(&["p-a"]), true, &locale::choose(Some(language), None)).unwrap();
        let line = claim(&place.home, true).unwrap();
        assert!(!line.contains("news-") && !line.contains("  "), "{line}");
        assert_eq!(glance(&place.home).unwrap().language, language);
    }
}

#[test]
fn who_wants_no_line_gets_none_and_damage_is_no_end() {
    let place = place();
    let english = locale::choose(Some("en"), None);
    renewed(&place, &insights(1, &[]), &[]);
    renew(&place.home, &insights(1, &[]), drafts(&[]), false, &english).unwrap();
    assert_eq!(claim(&place.home, false), None);
    for file in FILES {
        std::fs::write(place.home.path().join(file), "{\"line\": 7").unwrap();
    }
    assert_eq!((claim(&place.home, false), glance(&place.home)), (None, None));
    renewed(&place, &insights(1, &[]), &[]);
    assert_eq!(claim(&place.home, false).as_deref(), Some("1 session read."));
}
