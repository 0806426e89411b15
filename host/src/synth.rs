//! Synthesis: patterns that are the same friction in other words become one.
//!
//! A model says which are, or, without one, their likeness does. What it comes to are decisions like a person's, of one run,
//! so that all of it can be taken back. A pattern with a rule in force keeps its name: others may be merged into it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    config::Config,
    library::Library,
    model::{Kind, Model, ModelError, Purpose, Request, tokens},
    pattern::{self, Act, Anchor, By, Decision, Pattern},
    proposal,
    store::{Store, StoreError},
};

/// What a model is told to do.
const INSTRUCTIONS: &str = include_str!("../prompts/synth.md");

/// Likeness from which two patterns are taken for the same without a model: nobody looks at each merge, so it is well
/// above [`pattern::ALIKE`].
const SURE: f64 = 0.75;

/// Patterns looked at, the strongest: of more no answer fits into a call.
const MOST: usize = 1_000;

/// Characters of a description that a model is shown.
const DESCRIPTION: usize = 240;

/// What of a call's input is left for the patterns: the rest is instructions, schema and doubt.
const SHARE: f64 = 0.8;

/// When near-duplicates were last looked for; milliseconds since the Unix epoch.
const LAST: &str = "synth.at";

/// What shall become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merge {
    /// Id of the pattern that stays.
    pub keep: String,
    /// Ids of those that become it.
    pub others: Vec<String>,
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Who says so.
    pub by: By,
    /// Patterns that were looked at.
    pub compared: usize,
    /// What shall become one.
    pub merges: Vec<Merge>,
    /// Ids in a model's answer that were not asked about, twice there, or not to be merged away.
    pub dropped: usize,
}

/// Patterns as synthesis needs them.
#[derive(Debug)]
pub struct Candidates {
    /// Strongest first, without muted ones.
    patterns: Vec<Pattern>,
    /// Ids of those with a rule in force.
    ruled: BTreeSet<String>,
}

impl Candidates {
    /// Reads them.
    ///
    /// # Errors
    /// Those of the store.
    pub fn load(store: &Store, config: &Config, now: i64) -> Result<Self, StoreError> {
        let mut patterns = Library::load(store)?.patterns(&config.patterns, now);
        let ruled = store
            .proposals()?
            .iter()
            .filter(|proposal| proposal.status == proposal::Status::Applied)
            .filter_map(|proposal| Some(pattern::find(&patterns, &proposal.pattern).ok()?.id.clone()))
            .collect();
        patterns.retain(|pattern| !pattern.muted);
        patterns.truncate(MOST);
        Ok(Self { patterns, ruled })
    }

    /// What is alike without doubt. What only signals found is compared by them already, and so is what only people said.
    pub fn by_similarity(&self) -> Found {
        let mut order: Vec<&Pattern> = self.patterns.iter().collect();
        // Who has a rule comes first, because it must be kept. The sort is stable: then the strongest.
        order.sort_by_key(|pattern| !self.ruled.contains(&pattern.id));
        let mut merges = Vec::new();
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        for (index, &keep) in order.iter().enumerate() {
            if gone.contains(keep.id.as_str()) {
                continue;
            }
            let others: Vec<&Pattern> = order[index + 1..]
                .iter()
                .copied()
                .filter(|other| !gone.contains(other.id.as_str()) && !self.ruled.contains(&other.id))
                .filter(|other| (keep.judged || other.judged) && keep.project == other.project)
                .filter(|other| pattern::compatible(keep.category, other.category))
                .filter(|other| {
                    pattern::alikeness((&keep.subject, &keep.description), (&other.subject, &other.description)) >= SURE
                })
                .collect();
            gone.extend(others.iter().map(|other| other.id.as_str()));
            if !others.is_empty() {
                let others = others.into_iter().map(|other| other.id.clone()).collect();
                merges.push(Merge { keep: keep.id.clone(), others });
            }
        }
        Found { by: By::Similarity, compared: self.patterns.len(), merges, dropped: 0 }
    }

    /// What a model takes for the same.
    ///
    /// # Errors
    /// Those of the model; nothing has changed then but its ledger.
    pub fn by_model(&self, store: &mut Store, model: &mut Model<'_>, config: &Config) -> Result<Found, ModelError> {
        let (shown, input) = self.input(config.model.input_tokens);
        let nothing = Found { by: By::Model, compared: shown, merges: Vec::new(), dropped: 0 };
        if shown < 2 {
            return Ok(nothing);
        }
        let request = Request {
            purpose: Purpose::Synth,
            subject: "patterns",
            instructions: INSTRUCTIONS,
            input: &input,
            schema: &schema(),
        };
        let answer = model.ask(store, &request)?;
        let (merges, dropped) = self.validated(&answer.value, shown);
        let has_form = answer.value.get("groups").is_some_and(Value::is_array);
        if !has_form || merges.is_empty() && dropped > 0 {
            let why = "the answer names nothing that was asked about, in the form that was asked for".to_owned();
            store.mark_call_unusable(answer.call, &why)?;
            return Err(ModelError::Failed { kind: Kind::NoAnswer, why, call: answer.call });
        }
        if merges.is_empty() {
            store.mark_call_empty(answer.call)?;
        }
        Ok(Found { merges, dropped, ..nothing })
    }

    /// As many patterns as fit into a call, and how many these are.
    fn input(&self, most: u32) -> (usize, String) {
        let room = (f64::from(most) * SHARE) as u32;
        let mut used = tokens(INSTRUCTIONS) + tokens(&schema().to_string());
        let mut shown = Vec::new();
        for pattern in &self.patterns {
            let one = json!({
                "id": pattern.id,
                "title": pattern.name().chars().take(DESCRIPTION).collect::<String>(),
                "description": pattern.description.chars().take(DESCRIPTION).collect::<String>(),
                "category": pattern.category.name(),
                "sessions": pattern.occurrences,
                "rule": self.ruled.contains(&pattern.id),
            });
            used += tokens(&one.to_string());
            if used > room {
                break;
            }
            shown.push(one);
        }
        (shown.len(), json!({ "patterns": shown }).to_string())
    }

    /// What of an answer can be done, and how many ids of it cannot.
    fn validated(&self, answer: &Value, shown: usize) -> (Vec<Merge>, usize) {
        #[derive(Deserialize)]
        struct Group {
            keep: String,
            others: Vec<String>,
        }
        let known: BTreeMap<&str, &Pattern> = self.patterns[..shown].iter().map(|p| (p.id.as_str(), p)).collect();
        let mut used: BTreeSet<String> = BTreeSet::new();
        let (mut merges, mut dropped) = (Vec::new(), 0);
        for group in answer.get("groups").and_then(Value::as_array).into_iter().flatten() {
            let Ok(Group { keep, others }) = serde_json::from_value(group.clone()) else {
                dropped += 1;
                continue;
            };
            let Some(kept) = known.get(keep.as_str()).filter(|_| used.insert(keep.clone())) else {
                dropped += 1 + others.len();
                continue;
            };
            let asked = others.len();
            let others: Vec<String> = others
                .into_iter()
                .filter(|other| known.get(other.as_str()).is_some_and(|other| same_place(kept, other)))
                .filter(|other| !self.ruled.contains(other) && used.insert(other.clone()))
                .collect();
            dropped += asked - others.len();
            if !others.is_empty() {
                merges.push(Merge { keep, others });
            }
        }
        (merges, dropped)
    }

    /// Takes the decisions. Gives the run's name, by which they are undone together.
    ///
    /// # Errors
    /// As for any write; nothing is decided then.
    pub fn decide(&self, store: &mut Store, found: &Found, now: i64) -> Result<Option<String>, StoreError> {
        if found.merges.is_empty() {
            return Ok(None);
        }
        let run = format!("synth-{now}");
        let by_id: HashMap<&str, &Pattern> = self.patterns.iter().map(|p| (p.id.as_str(), p)).collect();
        let ids = found.merges.iter().flat_map(|merge| std::iter::once(&merge.keep).chain(&merge.others));
        let anchors: Vec<Anchor> = ids.filter_map(|id| Some(by_id.get(id.as_str())?.anchor.clone())).collect();
        let decisions: Vec<Decision> = found
            .merges
            .iter()
            .map(|merge| Decision {
                id: 0,
                at: now,
                by: found.by,
                run: Some(run.clone()),
                pattern: merge.keep.clone(),
                act: Act::Merge { others: merge.others.clone() },
                undone_at: None,
            })
            .collect();
        store.decide(&anchors, &decisions, now)?;
        Ok(Some(run))
    }

    /// One of the patterns.
    pub fn pattern(&self, id: &str) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.id == id)
    }
}

fn same_place(a: &Pattern, b: &Pattern) -> bool {
    a.project.is_none() || b.project.is_none() || a.project == b.project
}

fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["groups"],
        "properties": { "groups": { "type": "array", "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["keep", "others"],
            "properties": {
                "keep": { "type": "string" },
                "others": { "type": "array", "items": { "type": "string" } },
            },
        } } },
    })
}

/// Whether so many sessions were reviewed since near-duplicates were last looked for, over all runs, that it is time again.
///
/// # Errors
/// Those of the store.
pub fn is_due(store: &Store, every: u32) -> Result<bool, StoreError> {
    let since = store.meta(LAST)?.and_then(|at| at.parse().ok()).unwrap_or(i64::MIN);
    Ok(every > 0 && store.reviews_since(since)? >= u64::from(every))
}

/// Counts from now on.
///
/// # Errors
/// As for any write.
pub fn looked(store: &mut Store, now: i64) -> Result<(), StoreError> {
    store.set_meta(LAST, &now.to_string())
}

#[cfg(test)]
mod tests;
