//! Looking into texts for the words of a query.

use super::plan::Plan;
use crate::tokens::{self, Stems};
use rustc_hash::FxHashMap;

/// What of a query is in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    /// The terms that are there, words stemmed.
    pub terms: Vec<String>,
    /// What share of all that the query's words say is there: 0 (nothing) to 1 (every word). A rare word says more, one
    /// that no text holds the most.
    pub share: f32,
}

/// How often a text holds each term of one plan.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Number of a term, and how often it is there. Beginnings of words are numbered after the terms.
    pub(super) of_terms: Vec<(usize, u32)>,
    /// Terms in all.
    pub(super) length: u32,
}

/// A plan, made ready to look into many texts.
pub struct Matcher<'p> {
    plan: &'p Plan,
    numbers: FxHashMap<&'p str, usize>,
    starts: Starts,
    stems: Stems,
}

/// How terms begin that are looked for. Most words of a text begin otherwise, and need not be stemmed to be known as others.
struct Starts(Box<[u64; 1024]>);

impl Starts {
    fn of<'t>(terms: impl Iterator<Item = &'t str>) -> Self {
        let mut starts = Self(Box::new([0; 1024]));
        terms.for_each(|term| match *term.as_bytes() {
            [] => {}
            // Any word may have been stemmed to it that begins so.
            [first] => (0..=u8::MAX).for_each(|second| starts.add(first, second)),
            [first, second, ..] => {
                starts.add(first, second);
                // `dying` to `die`: in no other way does a word lose its second letter.
                if second == b'i' {
                    starts.add(first, b'y');
                }
            }
        });
        starts
    }

    fn add(&mut self, first: u8, second: u8) {
        let place = usize::from(u16::from_be_bytes([first, second]));
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// May the term of a piece be one of them?
    fn may_be(&self, piece: &str) -> bool {
        let [first, second, ..] = *piece.as_bytes() else { return true };
        let place = usize::from(u16::from_be_bytes([first, second]));
        self.0[place / 64] >> (place % 64) & 1 == 1
    }
}

impl<'p> Matcher<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        let numbers = plan.terms.iter().enumerate().map(|(number, planned)| (planned.term.as_str(), number)).collect();
        let begun = plan.prefixes.iter().map(|prefix| prefix.text.as_str());
        let starts = Starts::of(plan.terms.iter().map(|planned| planned.term.as_str()).chain(begun));
        Self { plan, numbers, starts, stems: Stems::default() }
    }

    /// What is asked for.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// What of the query is in `text`.
    pub fn matched(&mut self, text: &str) -> Match {
        let mut completions = Vec::new();
        let counts = self.read(text, |term| {
            if !completions.iter().any(|other| other == term) {
                completions.push(term.to_owned());
            }
        });
        let mut numbers: Vec<usize> = counts.of_terms.iter().map(|(number, _)| *number).collect();
        let share = self.share(&[counts]);
        numbers.sort_unstable();
        let planned = numbers.into_iter().filter_map(|number| self.plan.terms.get(number));
        completions.extend(planned.map(|planned| planned.term.clone()));
        Match { terms: completions, share }
    }

    /// How often `text` holds what.
    pub fn counts(&mut self, text: &str) -> Counts {
        self.read(text, |_| {})
    }

    /// [`Match::share`] of texts that are read as one, such as a passage between its neighbours.
    pub fn share(&self, texts: &[Counts]) -> f32 {
        let words = &self.plan.words;
        let mut shares = vec![0.0_f32; words.len()];
        for (number, _) in texts.iter().flat_map(|counts| &counts.of_terms) {
            let (word, share) = match self.plan.terms.get(*number) {
                Some(planned) => (planned.word, planned.share()),
                None => (self.plan.prefixes[number - self.plan.terms.len()].word, 1.0),
            };
            shares[word] = shares[word].max(share);
        }
        let all: f32 = words.iter().map(|(_, mass)| mass).sum();
        let covered: f32 = words.iter().zip(shares).map(|((_, mass), share)| mass * share).sum();
        if all > 0.0 { covered / all } else { 0.0 }
    }

    /// Counts, and tells each word that begins as one of the query, and is none of its terms.
    fn read(&mut self, text: &str, mut begun: impl FnMut(&str)) -> Counts {
        let Self { plan, numbers, starts, stems } = self;
        let mut counts = Counts::default();
        tokens::pieces(text, |piece| {
            counts.length = counts.length.saturating_add(1);
            if !starts.may_be(piece.text) {
                return;
            }
            let term = stems.term(piece);
            let number = numbers.get(term).copied().or_else(|| {
                let prefix = plan.prefixes.iter().position(|prefix| term.starts_with(prefix.text.as_str()))?;
                begun(term);
                Some(plan.terms.len() + prefix)
            });
            let Some(number) = number else { return };
            match counts.of_terms.iter_mut().find(|(other, _)| *other == number) {
                Some((_, count)) => *count += 1,
                None => counts.of_terms.push((number, 1)),
            }
        });
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn how_a_word_begins_tells_whether_it_may_be_a_term(words in proptest::collection::vec("[a-z]{1,4}(ing|ies|ied|es|s|ed|y|ly|ation)?|\\PC{1,4}", 1..9)) {
            let mut stems = Stems::default();
            let mut all = Vec::new();
            tokens::pieces(&words.join(" "), |piece| all.push((piece.text.to_owned(), stems.term(piece).to_owned())));
            let starts = Starts::of(all.iter().map(|(_, term)| term.as_str()));
            for (piece, term) in &all {
                prop_assert!(Starts::of([term.as_str()].into_iter()).may_be(piece) && starts.may_be(piece), "{} {}", piece, term);
            }
        }
    }
}
