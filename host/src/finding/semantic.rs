//! Findings from a model's answer. An answer is data of a stranger: what is not exactly as asked for is taken out and counted,
//! and references lead only to what was shown.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Finding, Form, Judged, prompt::CATEGORIES, prompt::Catalogue, window::Excerpt};
use crate::{
    insights::clean,
    model::Answer,
    pattern::{self, Anchor},
    redact::Redactor,
};

/// Confidence of what a model says: surer than a weak signal, less sure than what was counted.
const CONFIDENCE: f32 = 0.7;

/// Characters of what the model says, and of a snippet.
const SUBJECT: usize = 80;
const DESCRIPTION: usize = 240;
const SNIPPET: usize = 300;

/// References and findings of one answer that are looked at; the schema allows fewer.
const REFERENCES: usize = 20;
const FINDINGS: usize = 50;

/// What an answer gave.
#[derive(Debug, Default)]
pub struct Read {
    /// The findings.
    pub findings: Vec<Finding>,
    /// Known patterns that they name.
    pub cited: Vec<Anchor>,
    /// What was taken out, by what was wrong with it.
    pub dropped: BTreeMap<&'static str, u32>,
}

/// An answer that says nothing that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is not the object that was asked for.
    #[error("the answer is not of the form that was asked for")]
    Form,
    /// It has findings, and not one that can be used.
    #[error("none of its {count} findings can be used: {why}")]
    Findings {
        /// How many.
        count: usize,
        /// What is wrong with them.
        why: String,
    },
}

/// Reads an answer about what `excerpt` showed.
///
/// # Errors
/// When nothing of it can be used. An empty list of findings is an answer.
pub fn read(
    answer: &Answer,
    excerpt: &Excerpt,
    catalogue: &Catalogue,
    redactor: &Redactor,
    keep_snippets: bool,
) -> Result<Read, Unusable> {
    let given = answer.value.get("findings").and_then(Value::as_array).ok_or(Unusable::Form)?;
    let mut reader = Reader {
        excerpt,
        catalogue,
        redactor,
        answer,
        keep_snippets,
        dropped: BTreeMap::new(),
        cited: BTreeSet::new(),
    };
    let mut findings: Vec<Finding> = Vec::new();
    for value in given.iter().take(FINDINGS) {
        let Some(finding) = reader.finding(value) else { continue };
        let same = |known: &&mut Finding| {
            known.kind == finding.kind && pattern::normal(&known.subject) == pattern::normal(&finding.subject)
        };
        match findings.iter_mut().find(same) {
            Some(known) => join(known, finding),
            None => findings.push(finding),
        }
    }
    if findings.is_empty() && !given.is_empty() {
        let why: Vec<&str> = reader.dropped.keys().copied().collect();
        return Err(Unusable::Findings { count: given.len(), why: why.join(", ") });
    }
    Ok(Read { findings, cited: reader.cited.into_iter().collect(), dropped: reader.dropped })
}

struct Reader<'a> {
    excerpt: &'a Excerpt,
    catalogue: &'a Catalogue,
    redactor: &'a Redactor,
    answer: &'a Answer,
    keep_snippets: bool,
    dropped: BTreeMap<&'static str, u32>,
    cited: BTreeSet<Anchor>,
}

impl Reader<'_> {
    fn drop(&mut self, what: &'static str) {
        *self.dropped.entry(what).or_default() += 1;
    }

    fn finding(&mut self, value: &Value) -> Option<Finding> {
        let name = value.get("category").and_then(Value::as_str);
        let Some(category) = CATEGORIES.into_iter().find(|known| Some(known.name()) == name) else {
            self.drop("no such category");
            return None;
        };
        let references = self.references(value.get("references"));
        if references.is_empty() {
            self.drop("no reference to what was shown");
            return None;
        }
        let subject = self.text(value.get("subject"), SUBJECT).unwrap_or_default();
        let detail = self.text(value.get("description"), DESCRIPTION).unwrap_or_else(|| subject.clone());
        if pattern::normal(&subject).is_empty() {
            self.drop("no subject");
            return None;
        }
        let judged = Judged {
            form: self.form(value.get("form")),
            hint: self.text(value.get("hint"), DESCRIPTION),
            pattern: self.pattern(value.get("pattern")),
            call: self.answer.call,
            prompt: self.answer.prompt.clone(),
            model: clean(&self.answer.model, SUBJECT),
            cost_usd: self.answer.cost_usd,
            snippets: self.snippets(&references),
        };
        let evidence: Vec<_> = references.iter().map(|at| self.excerpt.places[*at].clone()).collect();
        Some(Finding {
            kind: category.name().to_owned(),
            category,
            subject,
            words: None,
            severity: severity(value.get("severity")),
            confidence: CONFIDENCE,
            detail,
            // One incident, however many records show it.
            count: 1,
            in_subagents: u32::from(evidence.iter().all(|place| place.thread.is_some())),
            first_at: evidence.iter().filter_map(|place| place.at).min(),
            last_at: evidence.iter().filter_map(|place| place.at).max(),
            evidence,
            judged: Some(judged),
        })
    }

    /// Indices of the records that it refers to, in its order, each once.
    fn references(&mut self, value: Option<&Value>) -> Vec<usize> {
        let mut references: Vec<usize> = Vec::new();
        for value in value.and_then(Value::as_array).into_iter().flatten().take(REFERENCES) {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            match number.and_then(|number| number.checked_sub(1)).filter(|at| *at < self.excerpt.places.len()) {
                Some(at) if references.contains(&at) => {}
                Some(at) => references.push(at),
                None => self.drop("a reference to nothing that was shown"),
            }
        }
        references
    }

    fn form(&mut self, value: Option<&Value>) -> Option<Form> {
        let name = value.filter(|value| !value.is_null())?;
        let form = Form::ALL.into_iter().find(|form| name.as_str() == Some(form.name()));
        if form.is_none() {
            self.drop("no such form");
        }
        form
    }

    fn pattern(&mut self, value: Option<&Value>) -> Option<String> {
        let id = value.filter(|value| !value.is_null())?;
        let anchor = id.as_str().and_then(|id| self.catalogue.anchor(id)).cloned();
        match anchor {
            Some(anchor) => {
                let id = anchor.id.clone();
                self.cited.insert(anchor);
                Some(id)
            }
            None => {
                self.drop("no such pattern");
                None
            }
        }
    }

    /// A text of the model: it may repeat what it was shown, and it is shown to people.
    fn text(&self, value: Option<&Value>, most: usize) -> Option<String> {
        let text = value?.as_str()?;
        Some(clean(&self.redactor.redact(text), most)).filter(|text| !text.is_empty())
    }

    fn snippets(&self, references: &[usize]) -> Vec<String> {
        let said = |at: &usize| clean(&self.redactor.redact(&self.excerpt.texts[*at]), SNIPPET);
        if !self.keep_snippets {
            return Vec::new();
        }
        references.iter().take(3).map(said).filter(|text| !text.is_empty()).collect()
    }
}

/// 1 to 5; a number besides is the nearest, and what is none is a 2: a correction was needed.
fn severity(value: Option<&Value>) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 1 to 5")]
    value.and_then(Value::as_f64).map_or(2, |number| number.round().clamp(1.0, 5.0) as u8)
}

/// Two findings of one subject are one that was seen twice.
fn join(known: &mut Finding, other: Finding) {
    known.severity = known.severity.max(other.severity);
    known.count += other.count;
    known.in_subagents += other.in_subagents;
    known.first_at = known.first_at.into_iter().chain(other.first_at).min();
    known.last_at = known.last_at.into_iter().chain(other.last_at).max();
    for place in other.evidence {
        if !known.evidence.contains(&place) {
            known.evidence.push(place);
        }
    }
    if let (Some(known), Some(other)) = (&mut known.judged, other.judged) {
        known.form = known.form.or(other.form);
        known.hint = known.hint.take().or(other.hint);
        known.pattern = known.pattern.take().or(other.pattern);
        known.snippets.extend(other.snippets);
    }
}

#[cfg(test)]
mod tests;
