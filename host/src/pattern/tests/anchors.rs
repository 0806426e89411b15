//! What is referred to keeps its id.

use super::*;

fn anchored(patterns: &[Pattern]) -> Known {
    Known { anchors: patterns.iter().map(|pattern| pattern.anchor.clone()).collect(), decisions: Vec::new() }
}

#[test]
fn an_anchored_pattern_keeps_its_id_when_older_findings_arrive() {
    let sessions = [session(0, 9), session(1, 1)];
    let later = (1, finding("user-correction", "use pnpm, not npm", 1));
    let before = found(&sessions, std::slice::from_ref(&later));
    let older = (0, finding("user-correction", "please use pnpm here instead of npm", 1));
    let findings = [later, older];
    let (unknown, known) = (found(&sessions, &findings), found_with(&sessions, &findings, &anchored(&before)));
    assert_ne!(unknown[0].id, before[0].id, "the id follows the oldest words");
    assert_eq!((known.len(), known[0].occurrences), (1, 2));
    assert_eq!(known[0].id, before[0].id);
    assert_eq!(known[0].anchor, before[0].anchor);
}

#[test]
fn two_anchors_that_turn_out_to_be_one_friction_lead_to_the_older() {
    let sessions = [session(0, 3), session(1, 2), session(2, 1)];
    let first = found(&sessions, &[(0, finding("user-correction", "never force push", 1))]);
    let second = found(&sessions, &[(1, finding("user-correction", "don't force push to shared branches", 1))]);
    let known = anchored(&[first.clone(), second.clone()].concat());
    let bridge = [
        (0, finding("user-correction", "never force push", 1)),
        (1, finding("user-correction", "don't force push to shared branches", 1)),
        (2, finding("user-correction", "don't force push to branches", 1)),
    ];
    let patterns = found_with(&sessions, &bridge, &known);
    assert_eq!(patterns.len(), 1, "{patterns:#?}");
    assert_eq!(patterns[0].id, first[0].id);
    assert_eq!(patterns[0].aliases, [second[0].id.clone()]);
    for id in [&first[0].id, &second[0].id] {
        assert_eq!(find(&patterns, id).unwrap().id, first[0].id);
        assert_eq!(find(&patterns, &id[..id.len() - 3]).unwrap().id, first[0].id);
    }
}

#[test]
fn ids_are_found_by_what_begins_them_alone() {
    let sessions = [session(0, 1)];
    let patterns = found(&sessions, &[(0, finding("interrupt", "a", 1)), (0, finding("interrupt", "b", 1))]);
    assert!(matches!(find(&patterns, "interrupt"), Err(FindError::Ambiguous { count: 2, .. })));
    assert!(matches!(find(&patterns, "churn"), Err(FindError::Unknown(_))));
    assert!(matches!(find(&patterns, ""), Err(FindError::Unknown(_))));
    assert_eq!(find(&patterns, "interrupt-a").unwrap().subject, "a");
}

#[test]
fn a_refusal_that_a_rule_is_about_stays_with_the_refused_call() {
    let sessions = [session(0, 3), session(1, 1)];
    let refusal = Finding {
        words: Some("let me read the diff first".into()),
        ..finding("permission-denied", "Bash: git push", 1)
    };
    let alone = found(&sessions, &[(0, refusal.clone())]);
    assert!(!alone[0].spoken);
    let findings = [(0, refusal), (1, finding("user-correction", "let me read the diff first", 1))];
    let patterns = found_with(&sessions, &findings, &anchored(&alone));
    assert_eq!(patterns.iter().filter(|pattern| pattern.id == alone[0].id).count(), 1);
    assert_eq!(patterns.len(), 2);
}

proptest! {
    /// Whatever is anchored and whatever is found later: the id stays, and leads to what its findings are in now.
    #[test]
    fn anchors_hold(
        findings in prop::collection::vec(any_finding(), 1..20),
        later in prop::collection::vec(any_finding(), 0..20),
        pick in any::<prop::sample::Index>(),
    ) {
        let sessions: Vec<Session> = (0..8).map(|n| session(n, 20 - n as i64)).collect();
        let before = found(&sessions, &findings);
        let anchor = &before[pick.index(before.len())];
        let known = Known { anchors: vec![anchor.anchor.clone()], decisions: Vec::new() };
        let all = [findings.clone(), later].concat();
        let after = found_with(&sessions, &all, &known);
        let again = find(&after, &anchor.id);
        prop_assert!(again.is_ok_and(|again| again.id == anchor.id), "{:?} {:#?}", anchor.id, after);
        prop_assert_eq!(after.iter().map(|p| p.count as usize).sum::<usize>(), all.len());
    }
}
