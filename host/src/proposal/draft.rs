//! Which patterns a rule is drafted for, and the draft.

use std::collections::BTreeMap;

use super::{Author, Proposal, Status, Step, apply::day, template, text};
use crate::{
    check::Check,
    config,
    finding::Finding,
    model::tokens,
    pattern::{self, Pattern},
};

/// A pattern with what is known of it.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Its findings, the newest first; those that the pattern names as evidence.
    pub findings: Vec<&'a Finding>,
    /// What the analyzer advises for its kind; empty if nothing.
    pub advice: &'a str,
}

impl Case<'_> {
    /// `7 sessions`.
    pub(super) fn sessions(&self) -> String {
        match self.pattern.occurrences {
            1 => "1 session".to_owned(),
            n => format!("{n} sessions"),
        }
    }

    /// What people said about it most often, if they said anything.
    pub(super) fn words(&self) -> Option<String> {
        let mut said: BTreeMap<String, (usize, &str)> = BTreeMap::new();
        for words in self.findings.iter().filter_map(|finding| finding.words.as_deref()) {
            said.entry(pattern::normal(words)).or_insert((0, words)).0 += 1;
        }
        said.into_values().max_by_key(|(count, _)| *count).map(|(_, words)| words.to_owned())
    }
}

/// A rule that nobody has looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What the agent will read.
    pub text: String,
    /// Why, for the person.
    pub rationale: String,
    /// Files it is about, relative to the project; globs.
    pub paths: Vec<String>,
    /// By what it can be told whether it is kept.
    pub check: Option<Check>,
    /// Who wrote it.
    pub author: Author,
    /// How strong a means it is.
    pub step: Step,
    /// The rule in force that it is to take the place of.
    pub replaces: Option<String>,
}

/// Why there is no draft for a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skip {
    /// It came up in too few sessions.
    TooFew,
    /// It has not come up for a while.
    Fading,
    /// There is a draft already, or a rule in force, or the person rejected one or took one back.
    HasProposal,
    /// The person muted it.
    Muted,
    /// Nothing an agent does would help.
    NothingToTell,
    /// A rule that is in force says it already.
    Covered,
}

impl Skip {
    /// For a person.
    pub fn why(self) -> &'static str {
        match self {
            Self::TooFew => "it came up in too few sessions",
            Self::Fading => "it has not come up for a while",
            Self::HasProposal => "there is, or was, a proposal for it",
            Self::Muted => "it is muted",
            Self::NothingToTell => "nothing an agent does would help: it is the service's or the conversation's length",
            Self::Covered => "a rule that is there says it already",
        }
    }
}

/// The patterns to draft for, strongest first, and why the others are left out. `patterns` are strongest first.
pub fn candidates<'a>(
    patterns: &'a [Pattern],
    proposals: &[Proposal],
    min_occurrences: u32,
) -> (Vec<&'a Pattern>, Vec<(&'a Pattern, Skip)>) {
    let (mut wanted, mut left) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let has = |proposal: &Proposal| proposal.is_for(pattern) && proposal.status != Status::Stale;
        let skip = if pattern.muted {
            Some(Skip::Muted)
        } else if pattern.occurrences < min_occurrences {
            Some(Skip::TooFew)
        } else if proposals.iter().any(has) {
            Some(Skip::HasProposal)
        } else if pattern.status == pattern::Status::Fading {
            Some(Skip::Fading)
        } else if is_of_the_service(pattern) {
            Some(Skip::NothingToTell)
        } else {
            None
        };
        match skip {
            Some(skip) => left.push((pattern, skip)),
            None => wanted.push(pattern),
        }
    }
    (wanted, left)
}

fn is_of_the_service(pattern: &Pattern) -> bool {
    matches!(pattern.kind.as_str(), "api-error" | "compaction")
}

/// A draft without a model.
pub fn propose(case: &Case<'_>) -> Result<Draft, Skip> {
    let filled = template::rule(case).ok_or(Skip::NothingToTell)?;
    let text = text::rule(&filled.text);
    if text.is_empty() {
        return Err(Skip::NothingToTell);
    }
    Ok(Draft {
        text,
        rationale: rationale(case),
        paths: filled.paths,
        check: filled.check,
        author: Author::Template,
        step: Step::Rule,
        replaces: None,
    })
}

/// Where it was seen, and what its kind advises.
fn rationale(case: &Case<'_>) -> String {
    let pattern = case.pattern;
    let projects = match pattern.projects {
        0 | 1 => String::new(),
        n => format!(" of {n} projects"),
    };
    let seen = format!("It came up in {}{projects}, lastly on {}.", case.sessions(), day(pattern.last_seen));
    if case.advice.is_empty() { seen } else { format!("{seen} {}", case.advice) }
}

impl Draft {
    /// The proposal, with an id that is not taken.
    pub fn into_proposal(self, pattern: &Pattern, existing: &[Proposal], now: i64) -> Proposal {
        let first = format!("p-{}", pattern.id);
        let is_free = |id: &String| existing.iter().all(|proposal| proposal.id != *id);
        let mut later = (2_u32..).map(|n| format!("{first}-{n}"));
        let id = Some(first.clone()).filter(is_free).or_else(|| later.find(is_free)).unwrap_or(first);
        Proposal {
            id,
            pattern: pattern.id.clone(),
            status: Status::Drafted,
            step: self.step,
            tokens: cost(&self.text),
            text: self.text,
            rationale: self.rationale,
            paths: self.paths,
            check: self.check,
            author: self.author,
            replaces: self.replaces,
            occurrences: pattern.occurrences,
            created_at: now,
            last_seen: pattern.last_seen,
            applied_at: None,
            ended_at: None,
            places: Vec::new(),
        }
    }
}

impl Proposal {
    /// Whether it was drafted for this pattern, or for one that is part of it now.
    pub fn is_for(&self, pattern: &Pattern) -> bool {
        self.pattern == pattern.id || pattern.aliases.contains(&self.pattern)
    }

    /// The person wrote another text.
    pub fn rewrite(&mut self, text: &str) {
        self.text = text::rule_within(text, 2 * text::LONGEST);
        self.tokens = cost(&self.text);
        self.author = Author::Person;
    }
}

/// Tokens of a rule where it stands.
pub fn cost(text: &str) -> u32 {
    tokens(&format!("- {text}"))
}

/// Most proposals and least occurrences of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most that are drafted.
    pub top: usize,
    /// Sessions in which a pattern must have come up.
    pub min_occurrences: u32,
}

impl Limits {
    /// What was asked for, else what is set.
    pub fn new(top: Option<usize>, min_occurrences: Option<u32>, settings: &config::Rules) -> Self {
        Self {
            top: top.unwrap_or(settings.top),
            min_occurrences: min_occurrences.unwrap_or(settings.min_occurrences).max(1),
        }
    }
}
