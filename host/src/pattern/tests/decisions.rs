//! What was decided holds, can be taken back, and loses nothing.

use super::*;

fn decision(pattern: &str, act: Act) -> Decision {
    Decision { id: 0, at: 0, by: By::Person, run: None, pattern: pattern.into(), act, undone_at: None }
}

fn merge(kept: &str, others: &[&str]) -> Decision {
    decision(kept, Act::Merge { others: others.iter().map(|other| (*other).to_owned()).collect() })
}

/// Four patterns in a session each, and one in all of them.
fn history() -> (Vec<Session>, Vec<(usize, Finding)>, Vec<Pattern>) {
    let sessions: Vec<Session> = (0..4).map(|n| session(n, 4 - n as i64)).collect();
    let mut findings: Vec<(usize, Finding)> =
        ["a", "b", "c", "d"].iter().enumerate().map(|(n, subject)| (n, finding("interrupt", subject, 1))).collect();
    findings.extend((0..4).map(|n| (n, finding("tool-error", "Bash: everywhere", 2))));
    let mut patterns = found(&sessions, &findings);
    patterns.sort_by_key(|pattern| pattern.subject.to_lowercase());
    (sessions, findings, patterns)
}

fn known(patterns: &[Pattern], decisions: Vec<Decision>) -> Known {
    Known { anchors: patterns.iter().map(|pattern| pattern.anchor.clone()).collect(), decisions }
}

#[test]
fn chains_and_cycles_of_merges_end_where_they_began() {
    let (sessions, findings, p) = history();
    let (a, b, c) = (p[0].id.as_str(), p[1].id.as_str(), p[3].id.as_str());
    for decisions in [
        vec![merge(a, &[b]), merge(b, &[c])],
        vec![merge(b, &[c]), merge(a, &[b])],
        vec![merge(a, &[b]), merge(b, &[a]), merge(a, &[c])],
        vec![merge(a, &[b, c, a, b])],
    ] {
        let patterns = found_with(&sessions, &findings, &known(&p, decisions.clone()));
        let one = find(&patterns, a).unwrap();
        assert_eq!((patterns.len(), one.id.as_str(), one.occurrences), (3, a, 3), "{decisions:#?}");
        assert_eq!(one.subject, "a", "what it is about stays");
        assert_eq!(one.evidence.len(), 3);
        assert_eq!((find(&patterns, b).unwrap(), find(&patterns, c).unwrap()), (one, one));
    }
}

#[test]
fn a_merge_holds_across_kinds_and_for_patterns_that_vanished() {
    let (sessions, findings, p) = history();
    let (a, everywhere) = (p[0].id.as_str(), p[2].id.as_str());
    assert_eq!(p[2].kind, "tool-error");
    let across = known(&p, vec![merge(a, &[everywhere])]);
    let patterns = found_with(&sessions, &findings, &across);
    let one = find(&patterns, everywhere).unwrap();
    assert_eq!((one.id.as_str(), one.occurrences, one.count, one.kind.as_str()), (a, 4, 5, "interrupt"));

    // Nothing is found any more of the kept side: what was merged into it is still there, under its id.
    let rest: Vec<_> = findings.iter().filter(|(_, finding)| finding.subject != "a").cloned().collect();
    let patterns = found_with(&sessions, &rest, &across);
    let one = find(&patterns, everywhere).unwrap();
    assert_eq!((one.id.as_str(), one.occurrences, one.subject.as_str()), (a, 4, "Bash: everywhere"));
    // Nor of the other: the decision waits.
    let rest: Vec<_> = findings.iter().filter(|(_, finding)| finding.kind != "tool-error").cloned().collect();
    assert_eq!(find(&found_with(&sessions, &rest, &across), everywhere).unwrap().id, a);
}

#[test]
fn a_split_takes_sessions_or_subjects_out_and_can_be_merged_back() {
    let (sessions, findings, p) = history();
    let everywhere = &p[2];
    let names = [SessionName { tool: "claude-code".into(), session: "session-1".into() }];
    let new = split_off(everywhere, &names, &[]);
    let split =
        decision(&everywhere.id, Act::Split { into: new.id.clone(), sessions: names.to_vec(), subjects: Vec::new() });
    let mut with = known(&p, vec![split]);
    with.anchors.push(new.clone());
    let patterns = found_with(&sessions, &findings, &with);
    let (rest, taken) = (find(&patterns, &everywhere.id).unwrap(), find(&patterns, &new.id).unwrap());
    assert_eq!((rest.occurrences, taken.occurrences, taken.evidence[0].session.as_str()), (3, 1, "session-1"));
    assert_eq!(taken.anchor, new);
    with.decisions.push(merge(&everywhere.id, &[&new.id]));
    let patterns = found_with(&sessions, &findings, &with);
    assert_eq!(find(&patterns, &new.id).unwrap().occurrences, 4);

    // By subject: what was merged by mistake comes apart again.
    let (a, b) = (&p[0], &p[1]);
    let mut with = known(&p, vec![merge(&a.id, &[&b.id])]);
    let new = split_off(a, &[], &["b".to_owned()]);
    with.anchors.push(new.clone());
    let act = Act::Split { into: new.id.clone(), sessions: Vec::new(), subjects: vec!["b".to_owned()] };
    with.decisions.push(decision(&a.id, act));
    let patterns = found_with(&sessions, &findings, &with);
    assert_eq!(find(&patterns, &a.id).unwrap().occurrences, 1);
    assert_eq!(find(&patterns, &new.id).unwrap().subject, "b");
}

#[test]
fn titles_and_silence_follow_the_pattern() {
    let (sessions, findings, p) = history();
    let (a, b) = (p[0].id.as_str(), p[1].id.as_str());
    let rename = |id: &str, title: &str| decision(id, Act::Rename { title: title.into() });
    let named = |decisions: Vec<Decision>| {
        let patterns = found_with(&sessions, &findings, &known(&p, decisions));
        let one = find(&patterns, a).unwrap();
        (one.id.clone(), one.name().to_owned(), one.muted)
    };
    assert_eq!(named(vec![rename(a, "First"), rename(a, "Second")]), (a.to_owned(), "Second".into(), false));
    assert_eq!(named(vec![rename(a, "First"), rename(a, "")]), (a.to_owned(), "a".into(), false));
    assert_eq!(named(vec![rename(b, "Other"), merge(a, &[b])]), (a.to_owned(), "Other".into(), false));
    assert_eq!(named(vec![merge(a, &[b]), decision(b, Act::Mute)]), (a.to_owned(), "a".into(), true));
    assert_eq!(named(vec![decision(a, Act::Mute), decision(a, Act::Unmute)]), (a.to_owned(), "a".into(), false));
    assert_eq!(named(vec![decision(b, Act::Mute), merge(a, &[b])]), (a.to_owned(), "a".into(), false), "a is not");
}

fn any_act() -> impl Strategy<Value = (usize, usize, u8)> {
    (0_usize..6, 0_usize..6, 0_u8..5)
}

proptest! {
    #[test]
    fn no_decision_loses_or_doubles_anything_and_undoing_all_gives_what_was(
        findings in prop::collection::vec(any_finding(), 1..30),
        acts in prop::collection::vec(any_act(), 0..12),
    ) {
        let sessions: Vec<Session> = (0..8).map(|n| session(n, n as i64)).collect();
        let plain = found(&sessions, &findings);
        let mut with = known(&plain, Vec::new());
        for (one, other, what) in acts {
            let (one, other) = (&plain[one % plain.len()], &plain[other % plain.len()]);
            let act = match what {
                0 | 1 => Act::Merge { others: vec![other.id.clone()] },
                2 => {
                    let names = [SessionName { tool: "claude-code".into(), session: format!("session-{}", other.seen_in[0]) }];
                    let new = split_off(one, &names, &[]);
                    let into = new.id.clone();
                    with.anchors.push(new);
                    Act::Split { into, sessions: names.to_vec(), subjects: Vec::new() }
                }
                3 => Act::Rename { title: "t".into() },
                _ => Act::Mute,
            };
            with.decisions.push(decision(&one.id, act));
        }
        let decided = found_with(&sessions, &findings, &with);
        prop_assert_eq!(decided.iter().map(|p| p.count as usize).sum::<usize>(), findings.len());
        let ids: BTreeSet<&str> = decided.iter().map(|p| p.id.as_str()).collect();
        prop_assert_eq!(ids.len(), decided.len());
        for pattern in &decided {
            prop_assert_eq!(pattern.occurrences as usize, pattern.seen_in.len());
            prop_assert!(pattern.aliases.iter().all(|alias| !ids.contains(alias.as_str())));
        }
        for decision in &mut with.decisions {
            decision.undone_at = Some(1);
        }
        prop_assert_eq!(found_with(&sessions, &findings, &with), found_with(&sessions, &findings, &known(&plain, Vec::new())));
    }
}
