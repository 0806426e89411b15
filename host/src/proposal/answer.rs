//! Drafts by a model: what it is told, and what of its answer is taken.
//!
//! An answer is data of a program that has read transcripts, which may hold orders of others. So it is held to what a rule of
//! this pattern can be, and nothing of it is in force before the person has seen it.

use serde_json::{Value, json};

use super::{Author, Case, Draft, Step, apply::day, text};
use crate::{
    check::{Check, CommandPattern},
    model::Answer,
    redact::Redactor,
};

/// What the model is to do.
pub const INSTRUCTIONS: &str = include_str!("../../prompts/draft.md");

/// Cases shown, and characters of each text of them.
const CASES: usize = 6;
const TEXT: usize = 400;

/// Characters of rules and instructions that are there.
const EXISTING: usize = 6_000;

/// Characters of the reason.
const RATIONALE: usize = 300;

/// Most globs and patterns, and characters of each.
const GLOBS: usize = 5;
const GLOB: usize = 120;

/// A rule for the pattern that did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier<'a> {
    /// What it said.
    pub rule: &'a str,
    /// `12 of 40 sessions before, 11 of 35 since`.
    pub counts: &'a str,
}

/// What came of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// A draft.
    Draft(Box<Draft>),
    /// A rule that is there says it already.
    Covered(String),
    /// It is no rule; the words say why.
    Unusable(&'static str),
}

/// JSON Schema of the answer.
pub fn schema() -> Value {
    let command = json!({
        "type": "object",
        "properties": { "program": { "type": "string" }, "words": { "type": "array", "items": { "type": "string" } } },
        "required": ["program", "words"],
        "additionalProperties": false,
    });
    let commands = json!({ "type": "array", "items": command, "maxItems": GLOBS });
    json!({
        "type": "object",
        "properties": {
            "covered": { "type": ["string", "null"] },
            "rule": { "type": "string" },
            "rationale": { "type": "string" },
            "paths": { "type": "array", "items": { "type": "string" }, "maxItems": GLOBS },
            "check": {
                "type": ["object", "null"],
                "properties": { "violations": commands, "opportunities": commands },
                "required": ["violations", "opportunities"],
                "additionalProperties": false,
            },
        },
        "required": ["covered", "rule", "rationale", "paths", "check"],
        "additionalProperties": false,
    })
}

/// What the model is shown, redacted. `existing` are files of rules and instructions, the ones that matter most first.
pub fn input(case: &Case<'_>, existing: &[String], earlier: Option<&Earlier<'_>>, redactor: &Redactor) -> String {
    let shown = |text: &str| crate::insights::clean(&redactor.redact(text), TEXT);
    let pattern = case.pattern;
    let evidence: Vec<Value> = case
        .findings
        .iter()
        .take(CASES)
        .map(|finding| {
            let judged = finding.judged.as_ref();
            json!({
                "what": shown(&finding.detail),
                "person_said": finding.words.as_deref().map(shown),
                "hint": judged.and_then(|judged| judged.hint.as_deref()).map(shown),
                "quotes": judged.map(|judged| judged.snippets.iter().map(|it| shown(it)).collect::<Vec<_>>()),
            })
        })
        .collect();
    let mut left = EXISTING;
    let existing: Vec<String> = existing
        .iter()
        .map(|file| {
            let text: String = redactor.redact(file).chars().take(left).collect();
            left -= text.chars().count();
            text
        })
        .filter(|text| !text.trim().is_empty())
        .collect();
    let mut input = json!({
        "pattern": {
            "about": shown(&pattern.subject),
            "said_by_a_person": pattern.spoken,
            "kind": pattern.kind,
            "category": pattern.category.name(),
            "description": shown(&pattern.description),
            "sessions": pattern.occurrences,
            "projects": pattern.projects,
            "last": day(pattern.last_seen),
            "usual_advice": case.advice,
        },
        "evidence": evidence,
        "existing": existing,
    });
    if let Some(earlier) = earlier {
        input["earlier"] = json!({ "rule": shown(earlier.rule), "counts": earlier.counts });
    }
    input.to_string()
}

/// Takes what can be taken of an answer.
pub fn read(answer: &Answer, case: &Case<'_>, redactor: &Redactor) -> Answered {
    let text_of = |name: &str| answer.value[name].as_str().unwrap_or_default();
    let rule = redactor.redact(text_of("rule"));
    let rule = text::sentences(&text::rule(&rule), text::SENTENCES).to_owned();
    // The cut may have gone through code.
    let rule = text::rule(&rule);
    if rule.chars().filter(|c| c.is_alphanumeric()).count() < 4 {
        let covered = crate::insights::clean(&redactor.redact(text_of("covered")), RATIONALE);
        return if covered.is_empty() {
            Answered::Unusable("it has no rule in it")
        } else {
            Answered::Covered(covered)
        };
    }
    if rule.contains("://") {
        return Answered::Unusable("the rule names an address");
    }
    let rationale = crate::insights::clean(&redactor.redact(text_of("rationale")), RATIONALE);
    Answered::Draft(Box::new(Draft {
        text: rule,
        rationale,
        paths: paths(&answer.value["paths"]),
        check: check(&answer.value["check"], case),
        author: Author::Model(crate::insights::clean(&answer.model, 60)),
        step: Step::Rule,
        replaces: None,
    }))
}

/// Globs that stay within a project and do not match everything.
fn paths(value: &Value) -> Vec<String> {
    let globs = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let is_narrow = |glob: &str| glob.chars().any(char::is_alphanumeric);
    let stays = |glob: &str| {
        !glob.starts_with(['/', '~', '\\', '!']) && !glob.contains(':') && !glob.split('/').any(|it| it == "..")
    };
    let is_short = |glob: &str| glob.len() <= GLOB && !glob.chars().any(char::is_control);
    globs
        .filter(|glob| is_short(glob) && stays(glob) && is_narrow(glob) && globset::Glob::new(glob).is_ok())
        .take(GLOBS)
        .map(str::to_owned)
        .collect()
}

/// A check whose violations are of a program that the evidence names.
fn check(value: &Value, case: &Case<'_>) -> Option<Check> {
    let violations = commands(&value["violations"]);
    let is_seen = |violation: &CommandPattern| {
        let has = |text: &str| text.contains(&violation.program);
        has(&case.pattern.subject)
            || has(&case.pattern.description)
            || case.findings.iter().any(|finding| has(&finding.detail) || finding.words.as_deref().is_some_and(has))
    };
    if violations.is_empty() || !violations.iter().all(is_seen) {
        return None;
    }
    Some(Check::Command { violations, opportunities: commands(&value["opportunities"]) })
}

fn commands(value: &Value) -> Vec<CommandPattern> {
    let is_word = |word: &&str| {
        !word.is_empty() && word.len() <= 40 && !word.chars().any(|c| c.is_whitespace() || c.is_control())
    };
    let command = |value: &Value| {
        let program = value["program"].as_str().filter(is_word)?;
        let words: Vec<&str> = value["words"].as_array()?.iter().filter_map(Value::as_str).collect();
        let is_named = program.chars().any(char::is_alphanumeric) && words.len() <= 4 && words.iter().all(is_word);
        is_named.then(|| CommandPattern {
            program: program.to_owned(),
            words: words.into_iter().map(str::to_owned).collect(),
            without: Vec::new(),
        })
    };
    value.as_array().into_iter().flatten().filter_map(command).take(GLOBS).collect()
}

#[cfg(test)]
mod tests;
