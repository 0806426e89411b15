//! Findings: the friction incidents of one session. Most are made from its signals, without a model; a model that was asked
//! about the session may add others (`judged`).
//!
//! Many signals may tell of one incident: a tool that fails twelve times with the same error is one finding that was
//! seen twelve times. What a finding keeps of each signal is where it was seen, so that everything said later about
//! the session can be looked up in its transcript.

mod kind;
pub mod prompt;
pub mod semantic;
pub mod window;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::pattern::{self, Words};
use crate::sandbox::analyze::{Signal, SignalKind};

pub use kind::{Category, Form, Scope, scope_of};

/// Places kept of one finding. A session that fails the same way more often than this is proven by the first ones.
const EVIDENCE: usize = 20;

/// Severity of a signal whose kind no descriptor names (an analyzer that was removed since): between a nuisance and a
/// loss of work.
const UNKNOWN_SEVERITY: u8 = 2;

/// One friction incident of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Kind of the signals it was made from: `tool-error`.
    pub kind: String,
    /// The sort of friction that kind stands for.
    pub category: Category,
    /// What it is about, as the first signal says it.
    pub subject: String,
    /// What the person said, if the kind rests on that and they said anything.
    pub words: Option<String>,
    /// 1 (a nuisance) to 5 (work is lost).
    pub severity: u8,
    /// Of the surest signal; 0 to 1.
    pub confidence: f32,
    /// One line for a person, of the surest signal.
    pub detail: String,
    /// Signals that tell of it.
    pub count: u32,
    /// Those of them that a sub-agent gave rise to.
    pub in_subagents: u32,
    /// Time of the first signal that has one; milliseconds since the Unix epoch.
    pub first_at: Option<i64>,
    /// Time of the last signal that has one.
    pub last_at: Option<i64>,
    /// Where it was seen: the main thread first, then by transcript and line; the first 20 places.
    pub evidence: Vec<Evidence>,
    /// What only a model says; none: it was made from signals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

/// What a finding has that a model made. Its `kind` is its category's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The part of the work that went another way.
    pub form: Option<Form>,
    /// What to do about it, in one sentence.
    pub hint: Option<String>,
    /// Id of the known pattern that it is another case of. It was in the catalogue that the model was shown.
    pub pattern: Option<String>,
    /// Row of the ledger of calls; 0: of another program's library.
    pub call: i64,
    /// Hash of the instructions and the schema it was asked with.
    pub prompt: String,
    /// The model, as it names itself.
    pub model: String,
    /// Cost of the call, in USD, all of its findings together.
    pub cost_usd: f64,
    /// What was said, redacted, where the settings allow that it is kept (`model.store-snippets`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snippets: Vec<String>,
}

/// A place in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The store's number of the transcript; 0: of another program's library, which has no such places.
    pub transcript: i64,
    /// 1-based line of the file, or ordinal of the database row; 0, likewise.
    pub line: u64,
    /// Milliseconds since the Unix epoch.
    pub at: Option<i64>,
    /// The sub-agent it happened in; none is the main conversation.
    pub thread: Option<String>,
}

/// A signal with the transcript it was seen in.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'a> {
    /// The store's number of the transcript.
    pub transcript: i64,
    /// What the analyzer said.
    pub signal: &'a Signal,
}

/// The findings of one session, most severe first. `sightings` are the signals of all its transcripts, in any order;
/// `kinds` is what the analyzers say of the kinds they give.
pub fn from_signals(sightings: &[Sighting<'_>], kinds: &[SignalKind]) -> Vec<Finding> {
    let refused: BTreeSet<(i64, u64)> =
        sightings.iter().filter(|s| s.signal.kind == REFUSAL).map(|s| (s.transcript, s.signal.line)).collect();
    // What a person says when refusing is a refusal and a correction, and one incident.
    let is_told = |s: &Sighting<'_>| s.signal.kind == CORRECTION && refused.contains(&(s.transcript, s.signal.line));
    let mut ordered: Vec<Sighting<'_>> = sightings.iter().copied().filter(|s| !is_told(s)).collect();
    ordered.sort_by(|a, b| place(a).cmp(&place(b)));

    let mut clusters: BTreeMap<(&str, Key), Vec<Sighting<'_>>> = BTreeMap::new();
    let mut spoken: BTreeMap<&str, Vec<(Words, Sighting<'_>)>> = BTreeMap::new();
    for seen in ordered {
        let kind = seen.signal.kind.as_str();
        match words_of(seen.signal) {
            Some(words) => spoken.entry(kind).or_default().push((Words::of(words), seen)),
            None => clusters.entry((kind, Key::Subject(pattern::normal(&seen.signal.subject)))).or_default().push(seen),
        }
    }
    for (kind, said) in spoken {
        let numbers = pattern::cluster(&said.iter().map(|(words, _)| words).collect::<Vec<_>>());
        for ((_, seen), number) in said.into_iter().zip(numbers) {
            clusters.entry((kind, Key::Words(number))).or_default().push(seen);
        }
    }

    let mut findings: Vec<Finding> = clusters.into_values().filter_map(|seen| incident(&seen, kinds)).collect();
    findings.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then_with(|| (&a.kind, first_line(a), &a.subject).cmp(&(&b.kind, first_line(b), &b.subject)))
    });
    findings
}

/// Main thread first, then the order of the transcript; the rest only makes the order total.
fn place<'a>(seen: &Sighting<'a>) -> (bool, i64, u64, &'a str, &'a str, &'a str) {
    let signal = seen.signal;
    (signal.thread.is_some(), seen.transcript, signal.line, &signal.kind, &signal.subject, &signal.detail)
}

fn first_line(finding: &Finding) -> u64 {
    finding.evidence.first().map_or(0, |place| place.line)
}

/// What makes signals of one kind and one session one incident.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Subject(String),
    Words(usize),
}

const REFUSAL: &str = "permission-denied";
const CORRECTION: &str = "user-correction";

/// What stands before the person's words in the detail of a refusal.
const SAYING: &str = ", saying: ";

/// What the person said, for kinds that rest on it: the subject of a correction, and what a refusal quotes.
fn words_of(signal: &Signal) -> Option<&str> {
    let words = match signal.kind.as_str() {
        CORRECTION | "repeated-instruction" => signal.subject.as_str(),
        REFUSAL => signal.detail.split_once(SAYING)?.1,
        _ => return None,
    };
    Some(words.trim()).filter(|words| !words.is_empty())
}

fn incident(seen: &[Sighting<'_>], kinds: &[SignalKind]) -> Option<Finding> {
    let first = seen.first()?.signal;
    let surest = seen
        .iter()
        .map(|s| s.signal)
        .reduce(|best, next| if next.confidence > best.confidence { next } else { best })?;
    let count = u32::try_from(seen.len()).unwrap_or(u32::MAX);
    let in_subagents = seen.iter().filter(|s| s.signal.thread.is_some()).count();
    Some(Finding {
        category: Category::of(&first.kind, count > 1),
        kind: first.kind.clone(),
        subject: first.subject.clone(),
        words: words_of(surest).map(str::to_owned),
        severity: kinds.iter().find(|k| k.name == first.kind).map_or(UNKNOWN_SEVERITY, |k| k.severity).clamp(1, 5),
        confidence: surest.confidence,
        detail: surest.detail.clone(),
        count,
        in_subagents: u32::try_from(in_subagents).unwrap_or(u32::MAX),
        first_at: seen.iter().filter_map(|s| s.signal.at).min(),
        last_at: seen.iter().filter_map(|s| s.signal.at).max(),
        evidence: seen.iter().take(EVIDENCE).map(evidence).collect(),
        judged: None,
    })
}

fn evidence(seen: &Sighting<'_>) -> Evidence {
    Evidence {
        transcript: seen.transcript,
        line: seen.signal.line,
        at: seen.signal.at,
        thread: seen.signal.thread.clone(),
    }
}

#[cfg(test)]
mod tests;
