//! Where a model's findings go.

use super::*;
use crate::finding::Judged;

pub(super) fn judged(category: Category, subject: &str, detail: &str, pattern: Option<&str>) -> Finding {
    Finding {
        category,
        detail: detail.into(),
        judged: Some(Judged {
            form: None,
            hint: Some(format!("hint of {subject}")),
            pattern: pattern.map(str::to_owned),
            call: 1,
            prompt: String::new(),
            model: "m".into(),
            cost_usd: 0.0,
            snippets: Vec::new(),
        }),
        ..finding(category.name(), subject, 1)
    }
}

fn sizes(patterns: &[Pattern]) -> Vec<u32> {
    let mut sizes: Vec<u32> = patterns.iter().map(|pattern| pattern.occurrences).collect();
    sizes.sort_unstable();
    sizes
}

#[test]
fn a_named_pattern_is_joined_if_it_is_known() {
    let sessions: Vec<Session> = (0..3).map(|n| session(n, 3 - n as i64)).collect();
    let error = found(&sessions, &[(0, finding("tool-error", "Edit: String to replace not found", 1))]);
    let known = Known { anchors: vec![error[0].anchor.clone()], decisions: Vec::new() };
    let findings = [
        (0, finding("tool-error", "Edit: String to replace not found", 1)),
        (1, judged(Category::RuleViolation, "Edits from memory", "It edits without looking.", Some(&error[0].id))),
        (2, judged(Category::RuleViolation, "Deploys on Fridays", "It deployed.", Some("tool-error-made-up"))),
    ];
    assert_eq!(sizes(&found_with(&sessions, &findings, &known)), [1, 2]);
    assert_eq!(sizes(&found(&sessions, &findings)), [1, 1, 1], "no id is trusted that is not known");
}

#[test]
fn an_exact_subject_joins_also_what_signals_found() {
    let sessions: Vec<Session> = (0..4).map(|n| session(n, 4 - n as i64)).collect();
    let findings = [
        (0, finding("tool-error", "Bash: No such file", 1)),
        (1, judged(Category::ToolError, "bash:  no such FILE", "It guessed a path.", None)),
        (2, finding("user-correction", "use pnpm, not npm", 1)),
        (3, judged(Category::RuleViolation, "Use pnpm, not npm", "Something else entirely.", None)),
    ];
    let patterns = found(&sessions, &findings);
    assert_eq!(sizes(&patterns), [2, 2]);
    assert_eq!(
        patterns.iter().map(|p| p.kind.as_str()).collect::<BTreeSet<_>>(),
        ["tool-error", "user-correction"].into()
    );
    let other = [findings[0].clone(), (1, judged(Category::Frustration, "Bash: No such file", "Anger.", None))];
    assert_eq!(sizes(&found(&sessions, &other)), [1, 1], "another sort of friction");
}

#[test]
fn what_is_worded_alike_is_joined_and_chinese_does_not_collapse() {
    let sessions: Vec<Session> = (0..6).map(|n| session(n, 6 - n as i64)).collect();
    let rule = Category::RuleViolation;
    let findings = [
        (
            0,
            judged(rule, "Used npm instead of pnpm", "The agent ran npm install although the project uses pnpm.", None),
        ),
        (1, judged(rule, "npm used instead of pnpm", "The agent used npm install, but the project uses pnpm.", None)),
        (2, judged(rule, "用英文写注释", "用户要求注释用中文写，代理却用英文写注释。", None)),
        (3, judged(rule, "注释写成英文", "用户要求注释用中文，代理却把注释写成英文。", None)),
        (4, judged(rule, "没有运行测试", "代理提交代码之前没有运行测试。", None)),
        (5, judged(rule, "提交信息格式不对", "提交信息没有按照约定的格式来写。", None)),
    ];
    assert_eq!(sizes(&found(&sessions, &findings)), [1, 1, 2, 2]);
}

#[test]
fn what_is_empty_is_not_the_same() {
    let sessions: Vec<Session> = (0..3).map(|n| session(n, 1)).collect();
    let nothing = Finding { evidence: Vec::new(), ..judged(Category::Frustration, "", "", None) };
    let findings: Vec<(usize, Finding)> = (0..3).map(|n| (n, nothing.clone())).collect();
    assert_eq!(sizes(&found(&sessions, &findings)), [1, 1, 1]);
    let said = Finding { evidence: Vec::new(), ..judged(Category::Frustration, "同样的话", "", None) };
    let findings: Vec<(usize, Finding)> = (0..3).map(|n| (n, said.clone())).collect();
    assert_eq!(sizes(&found(&sessions, &findings)), [3], "no reference is needed to be counted");
}

#[test]
fn no_id_is_a_path() {
    let sessions = [session(0, 1)];
    for subject in ["../../x", "/etc/passwd", "a/b\\c", "..", "\u{202e}x", ""] {
        let patterns = found(&sessions, &[(0, judged(Category::RuleViolation, subject, "../../y", Some("../../z")))]);
        let id = &patterns[0].id;
        assert!(id.chars().all(|c| c.is_alphanumeric() || c == '-') && id.chars().count() <= 64, "{id}");
    }
}
