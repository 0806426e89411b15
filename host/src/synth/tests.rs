//! What becomes one, and what of an answer is believed.

use super::*;
use crate::finding::{Category, Evidence, Finding, Judged};
use crate::pattern::{Incident, Known, Session, Settings, patterns};

fn candidates(said: &[(&str, &str)], ruled: &[usize]) -> Candidates {
    let sessions: Vec<Session> = (0..said.len())
        .map(|n| Session {
            tool: "claude-code".into(),
            id: format!("s{n}"),
            project: "/p".into(),
            started_at: n as i64,
            ended_at: n as i64,
        })
        .collect();
    let findings: Vec<Finding> = said
        .iter()
        .enumerate()
        .map(|(n, (subject, detail))| Finding {
            // Sorts that are told apart when findings are joined, so that there is something left to merge.
            kind: "rule-violation".into(),
            category: Category::RuleViolation,
            subject: (*subject).into(),
            words: None,
            severity: 3,
            confidence: 1.0,
            detail: (*detail).into(),
            count: 1,
            in_subagents: 0,
            first_at: None,
            last_at: None,
            evidence: vec![Evidence { transcript: 1, line: n as u64 + 1, at: None, thread: None }],
            judged: Some(Judged {
                form: None,
                hint: None,
                pattern: None,
                call: 1,
                prompt: String::new(),
                model: "m".into(),
                cost_usd: 0.0,
                snippets: Vec::new(),
            }),
        })
        .collect();
    // Each by itself, as patterns are that something refers to.
    let mut all = Vec::new();
    for (n, finding) in findings.iter().enumerate() {
        let incidents = [Incident { session: n, finding }];
        all.extend(patterns(&sessions, &incidents, &Known::default(), 10, &Settings::default()));
    }
    let ruled = ruled.iter().map(|&n| all[n].id.clone()).collect();
    Candidates { patterns: all, ruled }
}

const SAID: [(&str, &str); 3] = [
    ("package manager", "It ran npm install although the project uses pnpm."),
    ("package manager npm", "It ran npm install, although the project uses pnpm."),
    ("tests deleted", "It deleted the failing tests."),
];

#[test]
fn what_is_alike_becomes_what_has_a_rule() {
    let found = candidates(&SAID, &[1]).by_similarity();
    let ids: Vec<String> = candidates(&SAID, &[]).patterns.iter().map(|p| p.id.clone()).collect();
    assert_eq!(found.merges, [Merge { keep: ids[1].clone(), others: vec![ids[0].clone()] }]);
    assert_eq!(candidates(&SAID, &[0, 1]).by_similarity().merges, [], "two rules are two patterns");
    assert_eq!(candidates(&SAID, &[]).by_similarity().merges[0].keep, ids[0]);
}

#[test]
fn of_an_answer_only_what_was_asked_about_is_done() {
    let all = candidates(&SAID, &[2]);
    let id = |n: usize| all.patterns[n].id.clone();
    let answer = json!({ "groups": [
        { "keep": id(0), "others": [id(1), id(1), id(2), id(0), "../../x"] },
        { "keep": "made-up", "others": [id(1)] },
        { "keep": id(0), "others": [] },
        { "others": 3 },
        "nonsense",
    ] });
    let (merges, dropped) = all.validated(&answer, 3);
    assert_eq!(merges, [Merge { keep: id(0), others: vec![id(1)] }]);
    assert_eq!(dropped, 4 + 2 + 1 + 1 + 1);
    for garbage in [json!(null), json!({}), json!({ "groups": "x" }), json!([])] {
        assert_eq!(all.validated(&garbage, 3), (Vec::new(), 0));
    }
    // What did not fit into the call was not asked about.
    assert_eq!(all.validated(&json!({ "groups": [{ "keep": id(0), "others": [id(1)] }] }), 1).0, []);
}

#[test]
fn the_input_fits_into_a_call() {
    let all = candidates(&SAID, &[]);
    assert_eq!(all.input(20_000).0, 3);
    assert_eq!(all.input(100).0, 0);
}
