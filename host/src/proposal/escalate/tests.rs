use serde_json::json;

use super::*;
use crate::{
    check::{Check, CommandPattern},
    pattern::Pattern,
    proposal::{propose, template::tests::pattern},
};

/// A verdict with these counts; the fields that do not matter here are of no rule.
fn verdict(outcome: Outcome) -> Verdict {
    let exposure = |occurrences, opportunities| Exposure { occurrences, opportunities, from: 0, to: 0 };
    Verdict {
        outcome,
        before: exposure(12, 40),
        after: exposure(11, 35),
        ..serde_json::from_value(json!({
            "proposal": "p-x", "pattern": "x", "text": "", "subject": "", "applied_at": 0, "outcome": "working", "advice": "keep",
            "unit": "sessions", "before": exposure(0, 0), "after": exposure(0, 0), "since": exposure(0, 0), "expected": 0.0,
            "ratio": null, "next_look": 0, "enough_at": null, "drift": null, "simple": "pending", "tokens": 0,
        }))
        .unwrap()
    }
}

fn case(pattern: &Pattern) -> Case<'_> {
    Case { pattern, findings: Vec::new(), advice: "Mind it." }
}

fn applied(pattern: &Pattern, existing: &[Proposal]) -> Proposal {
    let mut rule = propose(&case(pattern)).unwrap().into_proposal(pattern, existing, 1);
    rule.status = Status::Applied;
    rule
}

#[test]
fn only_what_does_not_work_is_replaced_and_only_once() {
    let pattern = pattern("permission-denied", "Bash: npm install");
    let rule = applied(&pattern, &[]);
    for outcome in [Outcome::Working, Outcome::TooEarly, Outcome::NotEnoughData] {
        assert_eq!(escalate(&rule, &verdict(outcome), &case(&pattern), &[]), None);
    }
    for outcome in [Outcome::NotWorking, Outcome::Worse] {
        assert_eq!(escalate(&rule, &verdict(outcome), &case(&pattern), &[]), Some(Next::Redraft));
    }
    let mut rejected = rule.clone();
    (rejected.id, rejected.status, rejected.replaces) = ("p-x-2".into(), Status::Rejected, Some(rule.id.clone()));
    assert_eq!(escalate(&rule, &verdict(Outcome::Worse), &case(&pattern), &[rejected]), None, "the person said no");
}

#[test]
fn a_second_draft_says_what_has_happened() {
    let mut pattern = pattern("permission-denied", "Bash: npm install");
    pattern.description = "refused Bash `npm install left-pad` without a word".into();
    let rule = applied(&pattern, &[]);
    let again = redraft(propose(&case(&pattern)).unwrap(), &rule, &verdict(Outcome::NotWorking), &case(&pattern));
    assert!(
        again.text.contains("in 11 of 35 sessions since it is a rule, lastly as `npm install left-pad`"),
        "{}",
        again.text
    );
    assert_ne!(again.text, rule.text);
    assert!(again.rationale.contains("12 of 40 sessions before, 11 of 35 since"), "{}", again.rationale);
    assert_eq!(again.replaces.as_deref(), Some("p-x"));
}

#[test]
fn means_get_stronger_as_far_as_there_are_any() {
    let mut pattern = pattern("churn", "/home/dev/demo/src/a.rs");
    pattern.project = Some("/home/dev/demo".into());
    let mut rule = applied(&pattern, &[]);
    rule.replaces = Some("p-0".into());
    let next = |rule: &Proposal| match escalate(rule, &verdict(Outcome::NotWorking), &case(&pattern), &[]) {
        Some(Next::Stronger(draft)) => Some(draft.step),
        Some(Next::Redraft) => panic!("it was drafted anew before"),
        None => None,
    };
    assert_eq!(next(&rule), Some(Step::PathRule));
    rule.step = Step::PathRule;
    assert_eq!(next(&rule), None, "there is nothing that a hook could check");
    rule.check = Some(Check::Command { violations: vec![CommandPattern::default()], opportunities: Vec::new() });
    assert_eq!(next(&rule), Some(Step::Hook));
    (rule.step, rule.paths) = (Step::Rule, Vec::new());
    assert_eq!(next(&rule), Some(Step::Hook), "without paths there is no rule for them");
    rule.step = Step::Hook;
    assert_eq!(next(&rule), None);
}
