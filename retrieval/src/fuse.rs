//! One ranking of several: of whole sessions by words, of passages by words, and of passages by meaning; then what it is worth ([`Evidence`]), what in it is the same ([`alike`]), and why each result is there ([`Why`]).
//!
//! Each *leg* is scaled by its best score, and they are summed with weights. Adding ranks instead of scores (reciprocal rank
//! fusion) would give the weakest leg as loud a voice as the best, which costs more than the weak leg brings.

mod alike;
mod evidence;
mod why;

pub use alike::alike;
pub use evidence::{Confidence, Evidence};
pub use why::Why;

use crate::Scored;
use std::collections::HashMap;

/// What was found, each best first. Scores of different legs are not compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Legs<'a> {
    /// Sessions, by the words of all their text; [`Scored::id`] is not looked at.
    pub sessions: &'a [Scored],
    /// Passages, by their words.
    pub passages: &'a [Scored],
    /// Passages, by their meaning: cosines.
    pub dense: &'a [Scored],
}

/// A number for each thing that makes a result a good one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// For the words of the session.
    pub session: f32,
    /// For the words of the passage.
    pub passage: f32,
    /// For its meaning.
    pub dense: f32,
    /// For being new.
    pub recency: f32,
}

impl Parts {
    /// What they add up to.
    pub fn sum(&self) -> f32 {
        self.session + self.passage + self.dense + self.recency
    }
}

/// What each counts while the words of a query are found. See [`Evidence::weights`].
///
/// The session counts most, since a question takes its words from all of a talk. Around these weights little depends on them: .38 to .45,
/// .30 to .38 and .22 to .26 move LoCoMo's nDCG by .002. Being new settles between results that are about as good.
pub const WEIGHTS: Parts = Parts { session: 0.40, passage: 0.35, dense: 0.25, recency: 0.03 };

/// Milliseconds after which being new counts half: 30 days.
const HALF_LIFE: f32 = 30.0 * 24.0 * 60.0 * 60.0 * 1000.0;

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
    let mut of_session = HashMap::new();
    for (found, score) in by_best(legs.sessions) {
        // The same session may be there twice, as it was and as it is now: the better one comes first.
        of_session.entry(found.session).or_insert(score);
    }
    let mut ranked = best(&Legs { sessions: &[], ..*legs }, weights, |found| found.id);
    for passage in &mut ranked {
        passage.parts.session = weights.session * of_session.get(&passage.session).copied().unwrap_or_default();
    }
    sort(&mut ranked);
    ranked
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
    sort(&mut ranked);
    ranked
}

/// Adds to each result what it is worth that it is new, and ranks them again. `age` is in milliseconds, if it is known.
pub fn prefer_recent(ranked: &mut [Ranked], weights: &Parts, age: impl Fn(&Ranked) -> Option<i64>) {
    for result in ranked.iter_mut() {
        let age = age(result).map(|age| age.max(0) as f32);
        result.parts.recency = age.map_or(0.0, |age| weights.recency * (-age / HALF_LIFE).exp2());
    }
    sort(ranked);
}

/// What is the same by `key`, with the best of each leg.
fn best(legs: &Legs<'_>, weights: &Parts, key: impl Fn(&Scored) -> u64) -> Vec<Ranked> {
    let mut ranked = HashMap::new();
    let mut add = |found: &Scored, share: f32, part: fn(&mut Parts) -> &mut f32| {
        let new = Ranked { id: found.id, session: found.session, score: 0.0, parts: Parts::default() };
        let part = part(&mut ranked.entry(key(found)).or_insert(new).parts);
        *part = part.max(share);
    };
    by_best(legs.sessions).for_each(|(found, share)| add(found, weights.session * share, |parts| &mut parts.session));
    by_best(legs.passages).for_each(|(found, share)| add(found, weights.passage * share, |parts| &mut parts.passage));
    by_range(legs.dense).for_each(|(found, share)| add(found, weights.dense * share, |parts| &mut parts.dense));
    ranked.into_values().collect()
}

/// Scores as shares of the best one: of words, none at all is 0.
fn by_best(leg: &[Scored]) -> impl Iterator<Item = (&Scored, f32)> {
    let best = leg.iter().map(|found| found.score).fold(f32::MIN_POSITIVE, f32::max);
    leg.iter().map(move |found| (found, (found.score / best).max(0.0)))
}

/// Scores between the worst and the best one: cosines have no 0 that means something, even texts that have nothing to do with
/// each other are somewhat alike.
fn by_range(leg: &[Scored]) -> impl Iterator<Item = (&Scored, f32)> {
    let best = leg.iter().map(|found| found.score).fold(f32::MIN, f32::max);
    let worst = leg.iter().map(|found| found.score).fold(best, f32::min);
    leg.iter().map(move |found| (found, if best > worst { (found.score - worst) / (best - worst) } else { 1.0 }))
}

fn sort(ranked: &mut [Ranked]) {
    for result in ranked.iter_mut() {
        result.score = result.parts.sum();
    }
    // Of equals the newer.
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then((b.session, b.id).cmp(&(a.session, a.id))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(id: u64, session: u64, score: f32) -> Scored {
        Scored { id, session, score }
    }

    #[test]
    fn every_leg_adds_its_share() {
        let legs = Legs {
            sessions: &[scored(1, 1, 20.0), scored(2, 2, 10.0)],
            passages: &[scored(21, 2, 4.0), scored(11, 1, 3.0), scored(12, 1, 1.0)],
            dense: &[scored(31, 3, 0.9), scored(11, 1, 0.6), scored(21, 2, 0.5)],
        };
        let weights = Parts { session: 0.4, passage: 0.3, dense: 0.1, recency: 0.5 };
        let found = passages(&legs, &weights);
        assert_eq!(found.iter().map(|ranked| ranked.id).collect::<Vec<_>>(), [11, 21, 12, 31]);
        let expected = Parts { session: 0.4, passage: 0.225, dense: 0.025, recency: 0.0 };
        assert!((found[0].score - expected.sum()).abs() < 1e-6, "{found:?}");

        let mut found = sessions(&legs, &weights);
        assert_eq!(
            found.iter().map(|ranked| (ranked.session, ranked.id)).collect::<Vec<_>>(),
            [(1, 11), (2, 21), (3, 31)]
        );
        prefer_recent(&mut found, &weights, |ranked| (ranked.session == 3).then_some(0));
        assert_eq!(found[1].session, 3);
        assert_eq!(found[1].parts.recency, 0.5);
    }

    #[test]
    fn a_session_that_is_there_twice_has_its_better_score() {
        let legs = Legs {
            sessions: &[scored(7, 1, 20.0), scored(3, 1, 5.0)],
            passages: &[scored(11, 1, 4.0)],
            ..Legs::default()
        };
        assert_eq!(passages(&legs, &WEIGHTS)[0].parts.session, WEIGHTS.session);
    }

    #[test]
    fn nothing_and_one_thing_are_ranked_too() {
        assert!(sessions(&Legs::default(), &WEIGHTS).is_empty());
        let legs = Legs { dense: &[scored(31, 3, -0.1)], ..Legs::default() };
        assert_eq!(passages(&legs, &WEIGHTS)[0].score, WEIGHTS.dense);
    }
}
