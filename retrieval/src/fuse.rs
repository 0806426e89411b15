//! One ranking of several: of whole sessions by words, of passages by words, alone and among their neighbours, and of passages
//! by meaning.
//!
//! Each *leg* is scaled by its best score, and they are summed with weights. Adding ranks instead of scores (reciprocal rank
//! fusion) would give the weakest leg as loud a voice as the best, which costs more than the weak leg brings.

use crate::Scored;
use std::collections::HashMap;

/// What was found, each best first. Scores of different legs are not compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Legs<'a> {
    /// Sessions, by the words of all their text; [`Scored::id`] is not looked at.
    pub sessions: &'a [Scored],
    /// Passages, by their words.
    pub passages: &'a [Scored],
    /// Passages, by their words and those of the passages before and after
    /// ([`Scorer::score`](crate::words::Scorer::score)); so far as somebody has read them.
    pub contexts: &'a [Scored],
    /// Passages, by their meaning: cosines.
    pub dense: &'a [Scored],
}

/// A number for each leg.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// For the words of the session.
    pub session: f32,
    /// For the words of the passage.
    pub passage: f32,
    /// For the words around it.
    pub context: f32,
    /// For its meaning.
    pub dense: f32,
}

/// What each leg counts.
pub const WEIGHTS: Parts = Parts { session: 0.25, passage: 0.25, context: 0.30, dense: 0.20 };

/// A result, with what made it one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The passage; of a session its best one, or 0 if it was found only as a whole.
    pub id: u64,
    /// Its session.
    pub session: u64,
    /// From 0 to the sum of the weights.
    pub score: f32,
    /// What the score is the sum of.
    pub parts: Parts,
}

/// Ranks passages, best first. Sessions of which no passage was found are not among them.
pub fn passages(legs: &Legs<'_>, weights: &Parts) -> Vec<Ranked> {
    let of_session: HashMap<u64, f32> = scaled(legs.sessions).map(|(found, score)| (found.session, score)).collect();
    let mut ranked = best(&Legs { sessions: &[], ..*legs }, weights, |found| found.id);
    for passage in &mut ranked {
        passage.parts.session = weights.session * of_session.get(&passage.session).copied().unwrap_or_default();
    }
    sorted(ranked)
}

/// Ranks sessions by their best passage in each leg, best first.
pub fn sessions(legs: &Legs<'_>, weights: &Parts) -> Vec<Ranked> {
    let mut best_passage = HashMap::new();
    for passage in passages(legs, weights) {
        best_passage.entry(passage.session).or_insert(passage.id);
    }
    let mut ranked = best(legs, weights, |found| found.session);
    for session in &mut ranked {
        session.id = best_passage.get(&session.session).copied().unwrap_or_default();
    }
    sorted(ranked)
}

/// What is the same by `key`, with the best of each leg.
fn best(legs: &Legs<'_>, weights: &Parts, key: impl Fn(&Scored) -> u64) -> Vec<Ranked> {
    type Part = fn(&mut Parts) -> &mut f32;
    let each: [(&[Scored], f32, Part); 4] = [
        (legs.sessions, weights.session, |parts| &mut parts.session),
        (legs.passages, weights.passage, |parts| &mut parts.passage),
        (legs.contexts, weights.context, |parts| &mut parts.context),
        (legs.dense, weights.dense, |parts| &mut parts.dense),
    ];
    let mut ranked = HashMap::new();
    for (leg, weight, part) in each {
        for (found, score) in scaled(leg) {
            let new = Ranked { id: found.id, session: found.session, score: 0.0, parts: Parts::default() };
            let part = part(&mut ranked.entry(key(found)).or_insert(new).parts);
            *part = part.max(weight * score);
        }
    }
    ranked.into_values().collect()
}

/// Scores as shares of the best one.
fn scaled(leg: &[Scored]) -> impl Iterator<Item = (&Scored, f32)> {
    let best = leg.iter().map(|found| found.score).fold(0.0, f32::max);
    leg.iter().map(move |found| (found, if best > 0.0 { (found.score / best).max(0.0) } else { 0.0 }))
}

fn sorted(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    for Ranked { score, parts, .. } in &mut ranked {
        *score = parts.session + parts.passage + parts.context + parts.dense;
    }
    // Of equals the newer.
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then((b.session, b.id).cmp(&(a.session, a.id))));
    ranked
}
