//! Verdicts: whether a rule in force works, from what happened before and since.
//!
//! What is counted is decided here: which sessions the friction could have come up in, or which calls a check is about. What the counts
//! say is `totalrecall-evidence`'s matter; `docs/verdicts.md` has the method and what it was measured to be worth.

mod counting;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use totalrecall_evidence::{Case, Other, judge};

use crate::{
    config,
    library::Library,
    pattern::{Anchor, Pattern},
    proposal::{Proposal, Status},
    store::{Store, StoreError},
};
use counting::{Calls, Opportunities};

pub use totalrecall_evidence::{Exposure, Interval, Outcome};

/// What the sessions since say of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The proposal that is in force.
    pub proposal: String,
    /// Its pattern's id.
    pub pattern: String,
    /// The rule's text.
    pub text: String,
    /// What the pattern is about.
    pub subject: String,
    /// Since when it is in force; milliseconds since the Unix epoch.
    pub applied_at: i64,
    /// What can be said.
    pub outcome: Outcome,
    /// What to do about it.
    pub advice: Advice,
    /// What is counted.
    pub unit: Unit,
    /// The earlier period that is compared with.
    pub before: Exposure,
    /// The time since that the outcome rests on: up to the last look.
    pub after: Exposure,
    /// All the time since.
    pub since: Exposure,
    /// Occurrences to be expected in `after` if the rule did nothing; 0 before the first look.
    pub expected: f64,
    /// Rate after ÷ rate expected without the rule; none where nothing can be said.
    pub ratio: Option<Interval>,
    /// Opportunities since the rule at which the next look is taken: the outcome does not change before.
    pub next_look: u32,
    /// Opportunities since the rule at which not a single occurrence would be enough to call it working. None: the time before says too
    /// little for that.
    pub enough_at: Option<u32>,
    /// How the rate of the patterns without rules changed in the same sessions; none: there are too few.
    pub drift: Option<f64>,
    /// The predecessor's simple reading, beside it.
    pub simple: Simple,
    /// What the rule costs in every session.
    pub tokens: u32,
}

/// What opportunities and occurrences are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Sessions of the tools that read the rule, in the same project if it or the pattern is bound to one.
    Sessions,
    /// Calls that a check is about.
    Calls,
}

/// What to do about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// Nothing: it works, or time will tell.
    Keep,
    /// `propose` drafts it anew, or a stronger means.
    Redraft,
    /// `revert` takes it back: it harms.
    Revert,
    /// `revert` takes it back, if its tokens are not worth it: the friction is so rare that it cannot be shown to do anything.
    Consider,
}

/// The predecessor's reading: any occurrence since is a failure, none in `rules.resolved-after-days` a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Simple {
    /// No occurrence since, long enough ago.
    Resolved,
    /// No occurrence since, not long enough ago.
    Pending,
    /// It came up since.
    Ineffective,
}

impl Simple {
    /// As it is shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Pending => "pending",
            Self::Ineffective => "ineffective",
        }
    }
}

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Days after which a rule of which nothing can be said is offered for removal.
const IDLE_DAYS: i64 = 90;

/// Verdicts on all rules in force, the oldest rule first.
///
/// # Errors
/// Those of the store.
pub fn of(
    store: &Store,
    library: &Library,
    ageing: &config::Patterns,
    settings: &config::Rules,
    now: i64,
) -> Result<Vec<Verdict>, StoreError> {
    of_patterns(store, library, || library.patterns(ageing, now), settings, now)
}

/// The patterns are made only if there is a rule.
fn of_patterns(
    store: &Store,
    library: &Library,
    patterns: impl FnOnce() -> Vec<Pattern>,
    settings: &config::Rules,
    now: i64,
) -> Result<Vec<Verdict>, StoreError> {
    let proposals = store.proposals()?;
    let in_force: Vec<&Proposal> = proposals.iter().filter(|proposal| proposal.status == Status::Applied).collect();
    if in_force.is_empty() {
        return Ok(Vec::new());
    }
    let (anchors, patterns) = (store.anchors()?, patterns());
    let mut ruled: HashMap<&str, i64> = HashMap::new();
    for proposal in &proposals {
        if let Some(at) = proposal.applied_at {
            let first = ruled.entry(&proposal.pattern).or_insert(at);
            *first = at.min(*first);
        }
    }
    let calls = Calls::read(store, &in_force)?;
    let mut verdicts = Vec::with_capacity(in_force.len());
    for proposal in in_force {
        // A pattern that was merged into another one goes on as that.
        let is_its = |pattern: &Pattern| pattern.id == proposal.pattern || pattern.aliases.contains(&proposal.pattern);
        let pattern = patterns.iter().find(|pattern| is_its(pattern));
        let anchor = anchors.iter().find(|anchor| anchor.id == proposal.pattern);
        let counted = Opportunities::of(library, proposal, pattern, anchor, &calls);
        let others: Vec<Other> = patterns
            .iter()
            .filter(|other| !is_its(other))
            .map(|other| Other {
                seen_in: counted.among(&other.seen_in),
                ruled_at: [&other.id]
                    .into_iter()
                    .chain(&other.aliases)
                    .filter_map(|id| ruled.get(id.as_str()))
                    .min()
                    .copied(),
            })
            .filter(|other| !other.seen_in.is_empty())
            .collect();
        verdicts.push(verdict(proposal, pattern, anchor, &counted, &others, settings, now));
    }
    verdicts.sort_by(|a, b| (a.applied_at, &a.proposal).cmp(&(b.applied_at, &b.proposal)));
    Ok(verdicts)
}

fn verdict(
    proposal: &Proposal,
    pattern: Option<&Pattern>,
    anchor: Option<&Anchor>,
    counted: &Opportunities,
    others: &[Other],
    settings: &config::Rules,
    now: i64,
) -> Verdict {
    let applied_at = proposal.applied_at.unwrap_or(now);
    let case = Case { visits: &counted.visits, others, drafted_at: proposal.created_at, applied_at, now };
    let judgement = judge(&case);
    // Of a session that began earlier, the time of the occurrence is not known here; it is no evidence against the rule.
    let since = judgement.since.occurrences;
    let simple = match (since, now - applied_at >= i64::from(settings.resolved_after_days) * DAY) {
        (0, true) => Simple::Resolved,
        (0, false) => Simple::Pending,
        _ => Simple::Ineffective,
    };
    let advice = match judgement.outcome {
        Outcome::NotWorking => Advice::Redraft,
        Outcome::Worse => Advice::Revert,
        Outcome::NotEnoughData if now - applied_at >= IDLE_DAYS * DAY => Advice::Consider,
        Outcome::Working | Outcome::TooEarly | Outcome::NotEnoughData => Advice::Keep,
    };
    let subject = pattern.map(|pattern| pattern.subject.clone());
    Verdict {
        proposal: proposal.id.clone(),
        pattern: proposal.pattern.clone(),
        text: proposal.text.clone(),
        subject: subject.or_else(|| anchor.map(|anchor| anchor.subject.clone())).unwrap_or_default(),
        applied_at,
        outcome: judgement.outcome,
        advice,
        unit: counted.unit,
        before: judgement.before,
        after: judgement.after,
        since: judgement.since,
        expected: judgement.expected,
        ratio: judgement.ratio,
        next_look: judgement.next_look,
        enough_at: judgement.enough_at,
        drift: judgement.drift,
        simple,
        tokens: proposal.tokens,
    }
}

#[cfg(test)]
mod tests;
