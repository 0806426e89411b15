//! Windows: what of one session a model is shown. A session may be a hundred times what fits, so excerpts are made around what
//! a model can judge and signals cannot: turns of the person with what the agent had done and said before and what came after,
//! and signals with their call and result.
//!
//! The session is read twice, page by page, and never held: first every event is only weighed (`weigh`), then the texts of the
//! heaviest windows are read and taken into the budget by their weight (`choose`). Every record that is shown has a number that
//! leads back to its place; a model answers with these numbers only.

mod choose;
mod record;
mod weigh;

use std::collections::HashMap;

use serde::Serialize;

use crate::{
    event::Event,
    finding::Evidence,
    model::tokens,
    redact::Redactor,
    sandbox::analyze::SignalKind,
    store::{Store, StoreError, StoredSignal, TranscriptId},
};

use record::Candidate;
pub(crate) use weigh::signal_weight;

/// Events read at once: at the longest text that is kept by default, 4 MiB.
const PAGE: usize = 256;

/// Signals told of apart from the records they rest on; what is beyond is many times the same.
const SIGNALS: usize = 12;

/// Part of the budget that the list of signals may take, and the most tokens: so many lines need no more.
const SIGNALS_SHARE: u32 = 10;
const SIGNALS_TOKENS: u32 = 600;

/// Characters of what a signal is about.
const SUBJECT: usize = 80;

/// Where events are read from, in pages.
pub trait Events {
    /// A transcript's events from an ordinal on, at most `limit`, and the ordinal to go on from; none: there are no more.
    ///
    /// # Errors
    /// Those of the store.
    fn page(&self, transcript: i64, from: u64, limit: usize) -> Result<(Vec<Event>, Option<u64>), StoreError>;
}

impl Events for Store {
    fn page(&self, transcript: i64, from: u64, limit: usize) -> Result<(Vec<Event>, Option<u64>), StoreError> {
        self.events(TranscriptId(transcript), from, limit)
    }
}

/// A session as far as windows are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Numbers of its transcripts, the main one first.
    pub transcripts: &'a [i64],
    /// Signals of all of them.
    pub signals: &'a [StoredSignal],
    /// What the analyzers say of the kinds.
    pub kinds: &'a [SignalKind],
}

/// What of a session is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excerpt {
    /// The records, each a JSON object, in the order in which things happened; sub-agents with transcripts of their own last.
    pub records: Vec<String>,
    /// What is known of them already, each a JSON object.
    pub signals: Vec<String>,
    /// Places of the records: number 1 is the first.
    pub places: Vec<Evidence>,
    /// What each record says, for those who keep snippets.
    pub texts: Vec<String>,
    /// Windows that did not fit.
    pub left_out: usize,
}

impl Excerpt {
    /// Nothing in the session can be shown.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Tells what is shown apart: a session that grew by nothing that matters has the same.
    pub fn hash(&self) -> String {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for line in self.signals.iter().chain(&self.records) {
            hasher.update(line.as_bytes());
            hasher.update(b"\n");
        }
        format!("{:016x}", hasher.digest())
    }

    /// Tokens of the records and the signals.
    pub fn tokens(&self) -> u32 {
        self.signals.iter().chain(&self.records).map(|line| line_tokens(line)).sum()
    }
}

/// What a line of the input costs: with its comma and its end.
pub(super) fn line_tokens(line: &str) -> u32 {
    tokens(line) + 1
}

/// What of a session is worth showing, in at most `budget` tokens.
///
/// # Errors
/// Those of reading events.
pub fn excerpt(
    events: &impl Events,
    subject: &Subject<'_>,
    redactor: &Redactor,
    budget: u32,
) -> Result<Excerpt, StoreError> {
    let weighed = weigh::session(events, subject)?;
    let windows = weigh::windows(&weighed, budget);
    let candidates = record::load(events, subject, &weighed, &windows, redactor)?;
    let for_signals = (budget / SIGNALS_SHARE).min(SIGNALS_TOKENS);
    let chosen = choose::choose(&windows, &candidates, budget - for_signals);
    let mut excerpt = assemble(subject, &weighed, &candidates, &chosen);
    excerpt.signals = signals(subject, &weighed, &chosen, redactor, for_signals);
    Ok(excerpt)
}

fn assemble(
    subject: &Subject<'_>,
    weighed: &weigh::Weighed,
    candidates: &HashMap<usize, Candidate>,
    chosen: &choose::Chosen,
) -> Excerpt {
    let mut excerpt = Excerpt { left_out: chosen.left_out, ..Excerpt::default() };
    let mut before: Option<usize> = None;
    for (&index, number) in chosen.records.iter().zip(1..) {
        let Some(candidate) = candidates.get(&index) else { continue };
        // What lies between two records is told, so that nobody takes them for neighbours.
        let gap = index - before.map_or(0, |before| before + 1);
        before = Some(index);
        let of = candidate.call.and_then(|call| chosen.records.binary_search(&call).ok()).map(|at| at + 1);
        let (line, text) = candidate.line(number, gap, of, chosen.generosity);
        let weight = &weighed.weights[index];
        excerpt.records.push(line);
        excerpt.texts.push(text);
        excerpt.places.push(Evidence {
            transcript: subject.transcripts[weight.transcript],
            line: weight.line,
            at: candidate.at,
            thread: candidate.thread.clone(),
        });
    }
    excerpt
}

/// A signal as the model is told of it.
#[derive(Serialize)]
struct Known {
    signal: String,
    about: String,
    times: usize,
    #[serde(rename = "refs", skip_serializing_if = "Vec::is_empty")]
    references: Vec<usize>,
}

/// Signals that are known, those that weigh most first, as many as fit.
fn signals(
    subject: &Subject<'_>,
    weighed: &weigh::Weighed,
    chosen: &choose::Chosen,
    redactor: &Redactor,
    budget: u32,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = budget;
    for group in weighed.signals.iter().take(SIGNALS) {
        let first = &subject.signals[group.members[0]];
        let mut references: Vec<usize> = chosen
            .records
            .iter()
            .enumerate()
            .filter(|(_, index)| {
                let weight = &weighed.weights[**index];
                group.members.iter().map(|member| &subject.signals[*member]).any(|signal| {
                    signal.line == weight.line && signal.transcript.0 == subject.transcripts[weight.transcript]
                })
            })
            .map(|(at, _)| at + 1)
            .collect();
        references.truncate(6);
        let about = redactor.redact(&first.subject).into_owned();
        let known = Known {
            signal: crate::insights::clean(&first.kind, SUBJECT),
            about: crate::insights::clean(&about, SUBJECT),
            times: group.members.len(),
            references,
        };
        let Ok(line) = serde_json::to_string(&known) else { continue };
        let Some(rest) = left.checked_sub(line_tokens(&line)) else { break };
        left = rest;
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests;
