//! Results that say the same: files that are read again, plans that are copied, messages that are quoted.

use crate::tokens::{self, Form};
use std::hash::Hasher;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64_with_seed};

/// Bits of two sketches that may differ. Three is what web pages are told apart by (G. Manku and others, *Detecting
/// Near-Duplicates for Web Crawling*, 2007), of which there are billions; among tens of results chance does less.
const MOST_BITS: u32 = 6;

/// Words from which on a sketch says something. Shorter texts are the same or are not.
const LEAST_WORDS: u32 = 24;

/// For each text the first of those before it that says the same, if there is one.
pub fn alike(texts: &[&str]) -> Vec<Option<usize>> {
    let sketches: Vec<Sketch> = texts.iter().map(|text| Sketch::new(text)).collect();
    let first = |(i, sketch): (usize, &Sketch)| sketches[..i].iter().position(|before| sketch.is_like(before));
    sketches.iter().enumerate().map(first).collect()
}

/// What is kept of a text to compare it.
struct Sketch {
    words: u32,
    /// Of all words and numbers in their order.
    exact: u64,
    /// Each bit is the majority of that of all pairs of neighbouring words (M. Charikar, *Similarity Estimation Techniques from
    /// Rounding Algorithms*, 2002). Numbers are left out: times and ports differ from one run to the next.
    rough: u64,
}

impl Sketch {
    fn new(text: &str) -> Self {
        let (mut words, mut last) = (0, 0);
        let mut exact = Xxh3Default::new();
        let mut votes = [0_i32; 64];
        tokens::pieces(text, |piece| {
            if matches!(piece.form, Form::Whole | Form::Pair) {
                return;
            }
            exact.write(piece.text.as_bytes());
            exact.write_u8(0);
            if !piece.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
                words += 1;
                let pair = xxh3_64_with_seed(piece.text.as_bytes(), last);
                last = xxh3_64_with_seed(piece.text.as_bytes(), 0);
                for (bit, vote) in votes.iter_mut().enumerate() {
                    *vote += if pair >> bit & 1 == 1 { 1 } else { -1 };
                }
            }
        });
        let rough = votes.iter().enumerate().fold(0, |rough, (bit, vote)| rough | u64::from(*vote > 0) << bit);
        Self { words, exact: exact.finish(), rough }
    }

    fn is_like(&self, other: &Self) -> bool {
        let is_long = self.words.min(other.words) >= LEAST_WORDS;
        self.exact == other.exact || is_long && (self.rough ^ other.rough).count_ones() <= MOST_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seed: u64, words: usize) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..words).map(|_| format!("w{}x ", random.u32(..500))).collect()
    }

    #[test]
    fn what_says_the_same_is_found() {
        let long = text(1, 100);
        let edited = format!("Edited. {}", long.replace("w7x", "other"));
        let other = text(2, 100);
        let found = alike(&[&long, "Yes, do 3", &other, &edited, "yes: do 3!", "Yes, do 4"]);
        assert_eq!(found, [None, None, None, Some(0), Some(1), None]);
    }

    #[test]
    fn different_texts_are_kept_apart() {
        let texts: Vec<String> = (0..300).map(|seed| text(seed, 40)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(alike(&texts).iter().all(Option::is_none));
    }

    #[test]
    fn runs_of_the_same_command_are_alike() {
        let run = |n: u32| -> String {
            (0..30).map(|i| format!("12:0{n}:{i} test part_{i} passed in {n}.{i} s\n")).collect()
        };
        assert_eq!(alike(&[&run(1), &run(2)]), [None, Some(0)]);
    }
}
