//! What must hold of patterns, whatever was found.

mod anchors;
mod decisions;
mod judged;

use proptest::prelude::*;

use super::*;
use crate::finding::Evidence;

const NOW: i64 = 20_000 * DAY;

fn session(number: usize, days_ago: i64) -> Session {
    let at = NOW - days_ago * DAY;
    Session {
        tool: "claude-code".into(),
        id: format!("session-{number}"),
        project: format!("/p/{}", number % 3),
        started_at: at,
        ended_at: at,
    }
}

fn finding(kind: &str, subject: &str, line: u64) -> Finding {
    let words = (kind == "user-correction").then(|| subject.to_owned());
    Finding {
        kind: kind.into(),
        category: Category::of(kind, false),
        subject: subject.into(),
        words,
        severity: 3,
        confidence: 1.0,
        detail: format!("detail of {subject}"),
        count: 1,
        in_subagents: 0,
        first_at: None,
        last_at: None,
        evidence: vec![Evidence { transcript: 1, line, at: None, thread: None }],
        judged: None,
    }
}

fn found(sessions: &[Session], findings: &[(usize, Finding)]) -> Vec<Pattern> {
    found_with(sessions, findings, &Known::default())
}

fn found_with(sessions: &[Session], findings: &[(usize, Finding)], known: &Known) -> Vec<Pattern> {
    let incidents: Vec<Incident<'_>> =
        findings.iter().map(|(session, finding)| Incident { session: *session, finding }).collect();
    patterns(sessions, &incidents, known, NOW, &Settings::default())
}

#[test]
fn after_a_half_life_a_pattern_weighs_exactly_half() {
    for half_life in [1.0, 9.7, 14.0, 90.0] {
        assert_eq!(strength(10, 0.0, 5, half_life), 10.0);
        assert_eq!(strength(10, half_life, 5, half_life), 5.0);
        assert_eq!(strength(10, 3.0 * half_life, 5, half_life), 1.25);
    }
    assert_eq!(strength(10, -3.0, 5, 14.0), 10.0, "a clock that was ahead makes nothing stronger");
}

#[test]
fn subjects_of_all_scripts_stay_apart_and_together() {
    let sessions: Vec<Session> = (0..4).map(|n| session(n, 1)).collect();
    let findings: Vec<(usize, Finding)> = ["编译失败", "测试失败", "ビルド失敗", "テスト失敗", "сбой", "Сбой"]
        .iter()
        .enumerate()
        .map(|(n, subject)| (n % 4, finding("tool-error", subject, 1)))
        .collect();
    let patterns = found(&sessions, &findings);
    assert_eq!(patterns.len(), 5);
    assert_eq!(patterns[0].occurrences, 2);
}

#[test]
fn files_are_their_projects_and_tools_are_everyones() {
    let sessions: Vec<Session> = (0..6).map(|n| session(n, 1)).collect();
    let churn: Vec<(usize, Finding)> = (0..6).map(|n| (n, finding("churn", "src/main.rs", 1))).collect();
    assert_eq!(found(&sessions, &churn).iter().map(|p| p.occurrences).collect::<Vec<_>>(), [2, 2, 2]);
    let errors: Vec<(usize, Finding)> = (0..6).map(|n| (n, finding("tool-error", "Bash: no such file", 1))).collect();
    assert_eq!(found(&sessions, &errors).iter().map(|p| p.occurrences).collect::<Vec<_>>(), [6]);
}

#[test]
fn one_session_is_one_occurrence_however_often_it_fails() {
    let sessions = [session(0, 1)];
    let findings = [(0, finding("interrupt", "reply", 1)), (0, finding("interrupt", "reply", 2))];
    let patterns = found(&sessions, &findings);
    assert_eq!((patterns.len(), patterns[0].occurrences, patterns[0].count), (1, 1, 2));
}

#[test]
fn refusals_join_the_words_that_others_said_too_or_else_the_refused_call() {
    let sessions: Vec<Session> = (0..4).map(|n| session(n, 1)).collect();
    let refusal = |subject: &str, words: Option<&str>| Finding {
        words: words.map(str::to_owned),
        ..finding("permission-denied", subject, 1)
    };
    let findings = [
        (0, refusal("Bash: npm install", Some("use pnpm, not npm"))),
        (1, finding("user-correction", "pnpm instead of npm", 1)),
        (2, refusal("Bash: git push", Some("let me look at the diff first"))),
        (3, refusal("Bash: git push", None)),
    ];
    let mut occurrences: Vec<(u32, bool)> =
        found(&sessions, &findings).iter().map(|p| (p.occurrences, p.spoken)).collect();
    occurrences.sort_unstable();
    assert_eq!(occurrences, [(2, false), (2, true)]);
}

#[test]
fn what_did_not_come_back_fades() {
    let sessions = [session(0, 30), session(1, 31)];
    let findings = [(0, finding("interrupt", "a", 1)), (1, finding("interrupt", "b", 1))];
    let patterns = found(&sessions, &findings);
    assert_eq!(patterns.iter().map(|p| p.status).collect::<Vec<_>>(), [Status::Active, Status::Fading]);
}

/// Pairwise precision and recall on phrases that were written for this, in four languages.
#[test]
fn paraphrases_come_together_and_near_misses_stay_apart() {
    let groups: Vec<Vec<&str>> = include_str!("paraphrases.txt")
        .split("\n\n")
        .map(|group| group.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect::<Vec<_>>())
        .filter(|group| !group.is_empty())
        .collect();
    let phrases: Vec<(usize, &str)> =
        groups.iter().enumerate().flat_map(|(group, phrases)| phrases.iter().map(move |p| (group, *p))).collect();
    let words: Vec<Words> = phrases.iter().map(|(_, phrase)| Words::of(phrase)).collect();
    let clusters = cluster(&words.iter().collect::<Vec<_>>());
    let (mut right, mut wrong, mut missed) = (0_u32, Vec::new(), Vec::new());
    for a in 0..phrases.len() {
        for b in 0..a {
            match (phrases[a].0 == phrases[b].0, clusters[a] == clusters[b]) {
                (true, true) => right += 1,
                (false, true) => wrong.push((phrases[a].1, phrases[b].1)),
                (true, false) => missed.push((phrases[a].1, words[a].tokens(), phrases[b].1, words[b].tokens())),
                (false, false) => {}
            }
        }
    }
    let precision = f64::from(right) / f64::from(right + wrong.len() as u32);
    let recall = f64::from(right) / f64::from(right + missed.len() as u32);
    assert!(
        precision >= 0.99 && recall >= 0.88,
        "precision {precision:.3}, recall {recall:.3}: {wrong:#?} {missed:#?}"
    );
}

#[test]
fn times_that_cannot_be_are_survived() {
    let sessions = [session(0, 1), Session { started_at: i64::MIN, ended_at: i64::MAX, ..session(1, 1) }];
    let odd = Finding { first_at: Some(i64::MIN), last_at: Some(i64::MIN), ..finding("interrupt", "a", 1) };
    let patterns = found(&sessions, &[(0, odd.clone()), (1, odd), (1, finding("interrupt", "b", 1))]);
    assert!(patterns.iter().all(|pattern| pattern.strength.is_finite()));
}

const SAID: [&str; 12] = [
    "use pnpm not npm",
    "pnpm, not npm",
    "run the tests first",
    "please run tests first!",
    "不要用 npm，用 pnpm",
    "先跑测试再提交",
    "提交前先跑测试",
    "テストを先に実行して",
    "lance les tests d'abord",
    "no",
    "",
    "src/main.rs",
];

fn any_finding() -> impl Strategy<Value = (usize, Finding)> {
    let kind = prop::sample::select(vec!["tool-error", "churn", "user-correction", "permission-denied", "strange"]);
    let seen = (0_usize..8, kind, prop::sample::select(&SAID[..]), 1_u64..5)
        .prop_map(|(session, kind, subject, line)| (session, finding(kind, subject, line)));
    let categories = [Category::ToolError, Category::RuleViolation, Category::MisunderstoodIntent, Category::Other];
    let said = prop::sample::select(&SAID[..]);
    let judged = (0_usize..8, prop::sample::select(categories.to_vec()), said.clone(), said)
        .prop_map(|(session, category, subject, detail)| (session, judged::judged(category, subject, detail, None)));
    prop_oneof![2 => seen, 1 => judged]
}

proptest! {
    #[test]
    fn the_order_in_which_it_was_read_does_not_matter(
        (findings, shuffled) in prop::collection::vec(any_finding(), 0..40)
            .prop_flat_map(|findings| (Just(findings.clone()), Just(findings).prop_shuffle())),
        turn in 0_usize..8,
    ) {
        let sessions: Vec<Session> = (0..8).map(|n| session(n, n as i64 * 9)).collect();
        let mut turned = sessions.clone();
        turned.rotate_left(turn);
        let turned_findings: Vec<(usize, Finding)> =
            shuffled.into_iter().map(|(session, finding)| ((session + 8 - turn) % 8, finding)).collect();
        // The same sessions have other indices.
        let named = |sessions: &[Session], mut patterns: Vec<Pattern>| {
            for pattern in &mut patterns {
                let ids: BTreeSet<_> = std::mem::take(&mut pattern.seen_in).into_iter().map(|s| &sessions[s].id).collect();
                assert_eq!(ids.len(), pattern.occurrences as usize);
            }
            patterns
        };
        prop_assert_eq!(
            named(&sessions, found(&sessions, &findings)),
            named(&turned, found(&turned, &turned_findings))
        );
    }

    #[test]
    fn nothing_is_lost_and_nothing_counted_twice(findings in prop::collection::vec(any_finding(), 0..40)) {
        let sessions: Vec<Session> = (0..8).map(|n| session(n, n as i64)).collect();
        let patterns = found(&sessions, &findings);
        prop_assert_eq!(patterns.iter().map(|p| p.count as usize).sum::<usize>(), findings.len());
        let ids: BTreeSet<&str> = patterns.iter().map(|p| p.id.as_str()).collect();
        prop_assert_eq!(ids.len(), patterns.len());
        for pattern in &patterns {
            prop_assert!(pattern.occurrences >= 1 && pattern.occurrences <= 8);
            prop_assert!(pattern.first_seen <= pattern.last_seen);
            prop_assert_eq!(pattern.trend.weeks.iter().sum::<u32>(), pattern.occurrences);
        }
    }

    #[test]
    fn any_words_can_be_read(text in any::<String>()) {
        let words = Words::of(&text);
        prop_assert!(words.tokens().is_sorted());
        prop_assert_eq!(cluster(&[&words, &words]), vec![0, 0]);
    }
}
