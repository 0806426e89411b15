//! What is proposed where a rule in force does not work: the rule once more with what was learned, then a stronger means.
//!
//! Rule → the rule made concrete → a rule for the paths it is about → a hook that refuses the call. What cannot be had (no paths, no
//! check) is passed over.

use super::{Author, Case, Draft, Proposal, Status, Step, text};
use crate::verdict::{Exposure, Outcome, Unit, Verdict};

/// Characters of an example in a rule.
const EXAMPLE: usize = 120;

/// What to do about a rule in force.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Draft it anew, from what the signals or a model say, knowing what became of it.
    Redraft,
    /// Take this in its place.
    Stronger(Box<Draft>),
}

/// Whether a rule is to be replaced, and by what. None: it works, it is too early to say, something is proposed or was rejected
/// already, or nothing stronger can be had.
pub fn escalate(rule: &Proposal, verdict: &Verdict, case: &Case<'_>, existing: &[Proposal]) -> Option<Next> {
    if !matches!(verdict.outcome, Outcome::NotWorking | Outcome::Worse) || rule.status != Status::Applied {
        return None;
    }
    if existing.iter().any(|it| it.replaces.as_deref() == Some(&rule.id) && it.status != Status::Stale) {
        return None;
    }
    let is_first = rule.step == Step::Rule && rule.replaces.is_none();
    if is_first {
        return Some(Next::Redraft);
    }
    let has_paths = !rule.paths.is_empty() && case.pattern.project.is_some();
    let step = match rule.step {
        Step::Rule if has_paths => Step::PathRule,
        Step::Rule | Step::PathRule if rule.check.is_some() => Step::Hook,
        Step::Rule | Step::PathRule | Step::Hook => return None,
    };
    Some(Next::Stronger(Box::new(Draft {
        text: rule.text.clone(),
        rationale: format!("As a rule it did not work: {}.", counts(verdict)),
        paths: rule.paths.clone(),
        check: rule.check.clone(),
        author: rule.author.clone(),
        step,
        replaces: Some(rule.id.clone()),
    })))
}

/// A new draft that takes the place of a rule: what a template says again is said with what has happened since.
pub fn redraft(draft: Draft, rule: &Proposal, verdict: &Verdict, case: &Case<'_>) -> Draft {
    let mut new = Draft {
        rationale: format!("The rule in force did not work: {}. {}", counts(verdict), draft.rationale),
        check: draft.check.clone().or_else(|| rule.check.clone()),
        replaces: Some(rule.id.clone()),
        ..draft
    };
    if new.author == Author::Template {
        let first = text::sentences(&rule.text, 1).trim_end_matches(['.', ' ']).to_owned();
        let lately = format!("This was not kept {} since it is a rule", times(verdict));
        let example = match example(case) {
            Some(example) => format!(", lastly as {example}"),
            None => String::new(),
        };
        new.text =
            text::rule(&format!("{first}. {lately}{example}: look at each such step once more before you take it."));
    }
    new
}

/// `12 of 40 sessions before, 11 of 35 since`.
pub fn counts(verdict: &Verdict) -> String {
    let of = |exposure: Exposure| format!("{} of {}", exposure.occurrences, exposure.opportunities);
    format!("{} {} before, {} since", of(verdict.before), unit(verdict), of(verdict.after))
}

fn times(verdict: &Verdict) -> String {
    format!("in {} of {} {}", verdict.after.occurrences, verdict.after.opportunities, unit(verdict))
}

fn unit(verdict: &Verdict) -> &'static str {
    match verdict.unit {
        Unit::Sessions => "sessions",
        Unit::Calls => "calls",
    }
}

/// The call of the newest case, or what it was about.
fn example(case: &Case<'_>) -> Option<String> {
    let detail = case.findings.first().map_or(case.pattern.description.as_str(), |finding| finding.detail.as_str());
    let quoted = detail.split('`').nth(1).map(|call| call.trim_end_matches('…').trim()).filter(|call| !call.is_empty());
    let shorten = |words: &str| crate::insights::clean(words, EXAMPLE);
    match quoted {
        Some(call) => Some(format!("`{}`", shorten(call))),
        None if detail.trim().is_empty() => None,
        None => Some(format!("“{}”", shorten(detail).replace(['“', '”'], "\""))),
    }
}

#[cfg(test)]
mod tests;
