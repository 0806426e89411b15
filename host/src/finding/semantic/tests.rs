//! What is taken from an answer, and what is not.

use serde_json::json;

use super::*;
use crate::{
    finding::{Category, Evidence, prompt::schema},
    pattern::Pattern,
    redact::Settings,
};

fn excerpt() -> Excerpt {
    let place = |line| Evidence { transcript: 7, line, at: Some(line as i64 * 1_000), thread: None };
    Excerpt {
        records: vec!["{}".into(); 3],
        places: vec![place(10), place(20), place(30)],
        texts: vec!["add it".into(), "npm install".into(), "no, pnpm".into()],
        ..Excerpt::default()
    }
}

fn catalogue(ids: &[&str]) -> Catalogue {
    let patterns: Vec<Pattern> = ids.iter().map(|id| pattern(id)).collect();
    Catalogue::new(&patterns, |_| false, 10, 20_000, &Redactor::new(&Settings::default()))
}

fn pattern(id: &str) -> Pattern {
    use crate::pattern::{Incident, Known, Session, Settings, patterns};
    let session = Session { tool: "t".into(), id: "s".into(), project: String::new(), started_at: 0, ended_at: 0 };
    let finding = found(json!({ "findings": [one(json!({}))] })).unwrap().findings.remove(0);
    let mut pattern =
        patterns(&[session], &[Incident { session: 0, finding: &finding }], &Known::default(), 0, &Settings::default())
            .remove(0);
    pattern.id = id.into();
    pattern.anchor.id = id.into();
    pattern
}

fn one(changes: Value) -> Value {
    let mut finding = json!({
        "category": "repeated-correction", "form": "rule-following", "subject": "package manager",
        "description": "npm was used where pnpm is", "severity": 2, "references": [3, 2], "pattern": null,
        "hint": "Use pnpm."
    });
    for (name, value) in changes.as_object().unwrap() {
        finding[name] = value.clone();
    }
    finding
}

fn answer(value: Value) -> Answer {
    Answer { value, call: 5, model: "m".into(), cost_usd: 0.1, prompt: "p".into() }
}

fn found(value: Value) -> Result<Read, Unusable> {
    read(&answer(value), &excerpt(), &Catalogue::default(), &Redactor::new(&Settings::default()), false)
}

#[test]
fn a_finding_keeps_where_it_was_seen_and_what_it_cost() {
    let read = found(json!({ "findings": [one(json!({}))] })).unwrap();
    let finding = &read.findings[0];
    assert_eq!((finding.kind.as_str(), finding.category), ("repeated-correction", Category::RepeatedCorrection));
    assert_eq!((finding.severity, finding.count, finding.words.as_deref()), (2, 1, None));
    assert_eq!(finding.evidence.iter().map(|place| place.line).collect::<Vec<_>>(), [30, 20]);
    assert_eq!((finding.first_at, finding.last_at), (Some(20_000), Some(30_000)));
    let judged = finding.judged.as_ref().unwrap();
    assert_eq!((judged.form, judged.hint.as_deref()), (Some(Form::RuleFollowing), Some("Use pnpm.")));
    assert_eq!((judged.call, judged.prompt.as_str(), judged.model.as_str()), (5, "p", "m"));
    assert!(judged.snippets.is_empty(), "only where the settings say so");
    assert!(read.dropped.is_empty());
}

#[test]
fn what_was_not_asked_for_is_taken_out_and_counted() {
    let read = found(json!({ "findings": [
        one(json!({ "references": [1, 1, 0, 4, -1, "2", 2.5] })),
        one(json!({ "category": "laziness" })),
        one(json!({ "subject": "x", "form": "vibes", "pattern": "never-shown", "severity": 99 })),
        one(json!({ "subject": " \u{200b} " })),
        one(json!({ "references": [] })),
        one(json!({ "references": null })),
        "no object",
    ] }))
    .unwrap();
    let dropped: Vec<(&str, u32)> = read.dropped.iter().map(|(what, count)| (*what, *count)).collect();
    assert_eq!(
        dropped,
        [
            ("a reference to nothing that was shown", 5),
            ("no reference to what was shown", 2),
            ("no subject", 1),
            ("no such category", 2),
            ("no such form", 1),
            ("no such pattern", 1),
        ]
    );
    let subjects: Vec<&str> = read.findings.iter().map(|finding| finding.subject.as_str()).collect();
    assert_eq!(subjects, ["package manager", "x"]);
    assert_eq!(read.findings[1].severity, 5);
    assert!(read.cited.is_empty());
}

#[test]
fn no_answer_is_not_an_empty_one() {
    assert!(found(json!({ "findings": [] })).unwrap().findings.is_empty());
    for value in [json!({}), json!([]), json!(null), json!({ "findings": "none" }), json!({ "findings": {} })] {
        assert_eq!(found(value).unwrap_err(), Unusable::Form);
    }
    let useless = found(json!({ "findings": [one(json!({ "references": [9] }))] })).unwrap_err();
    assert!(useless.to_string().contains("no reference to what was shown"), "{useless}");
}

#[test]
fn texts_are_cleaned_redacted_and_short() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let finding = one(json!({
        "subject": format!("a\u{1b}[31m {}", "long ".repeat(60)),
        "description": format!("it printed\n{secret}"),
        "hint": "\u{202e}",
    }));
    let read = found(json!({ "findings": [finding] })).unwrap();
    let finding = &read.findings[0];
    assert!(finding.subject.chars().count() <= SUBJECT + 1 && !finding.subject.contains('\u{1b}'));
    assert!(finding.detail.starts_with("it printed [redacted:"), "{}", finding.detail);
    assert_eq!(finding.judged.as_ref().unwrap().hint, None);
}

#[test]
fn a_known_pattern_is_cited_once_it_was_shown() {
    let known = catalogue(&["known-1", "known-2"]);
    let value =
        json!({ "findings": [one(json!({ "pattern": "known-2" })), one(json!({ "subject": "y", "pattern": "K" }))] });
    let read = read(&answer(value), &excerpt(), &known, &Redactor::new(&Settings::default()), true).unwrap();
    assert_eq!(read.cited.iter().map(|anchor| anchor.id.as_str()).collect::<Vec<_>>(), ["known-2"]);
    let judged = read.findings[0].judged.as_ref().unwrap();
    assert_eq!(judged.pattern.as_deref(), Some("known-2"));
    assert_eq!(judged.snippets, ["no, pnpm", "npm install"]);
    assert_eq!(read.findings[1].judged.as_ref().unwrap().pattern, None);
}

#[test]
fn findings_of_one_subject_are_one() {
    let value = json!({ "findings": [
        one(json!({ "references": [3], "hint": null })),
        one(json!({ "subject": "Package  Manager", "references": [1], "severity": 4 })),
    ] });
    let read = found(value).unwrap();
    assert_eq!(read.findings.len(), 1);
    let finding = &read.findings[0];
    assert_eq!((finding.count, finding.severity, finding.evidence.len()), (2, 4, 2));
    assert_eq!(finding.judged.as_ref().unwrap().hint.as_deref(), Some("Use pnpm."));
}

#[test]
fn the_schema_has_what_is_read() {
    let schema = schema();
    let items = &schema["properties"]["findings"]["items"];
    let properties: BTreeSet<&str> = items["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let sample = one(json!({}));
    assert_eq!(properties, sample.as_object().unwrap().keys().map(String::as_str).collect());
    assert_eq!(items["properties"]["category"]["enum"].as_array().unwrap().len(), 6);
    assert_eq!(items["properties"]["form"]["enum"].as_array().unwrap().len(), Form::ALL.len() + 1);
    for form in Form::ALL {
        assert!(crate::finding::prompt::INSTRUCTIONS.contains(&format!("`{}`", form.name())), "{form:?}");
    }
    for category in CATEGORIES {
        assert!(crate::finding::prompt::INSTRUCTIONS.contains(&format!("`{}`", category.name())), "{category:?}");
    }
}
