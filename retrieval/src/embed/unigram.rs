//! Unigram: of all ways to make a word of pieces, the one that is most probable (Kudo, “Subword regularization”, 2018; as
//! SentencePiece does it). Viterbi's algorithm finds it in time that grows with the length of the word.

use serde::{Deserialize, Serialize};

use super::pieces::Pieces;

/// What differs between vocabularies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Unigram {
    /// What each word is given as its beginning: `▁`.
    pub(super) before: String,
    /// The score of a character that is no piece, which is far below that of any piece.
    pub(super) unknown: f32,
}

/// The best way to get somewhere.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    from: usize,
    /// None: an unknown character.
    piece: Option<u32>,
}

/// Adds the pieces of the word.
pub(super) fn cut(word: &str, model: &Unigram, pieces: &Pieces<'_>, found: &mut Vec<u32>) {
    let word = format!("{}{word}", model.before);
    // For each byte of the word and its end: how it is reached best. Only boundaries of characters ever are.
    let mut best: Vec<Option<Step>> = vec![None; word.len() + 1];
    for (at, character) in word.char_indices() {
        let so_far = if at == 0 { 0.0 } else { best[at].map_or(0.0, |step| step.score) };
        let mut reach = |length: usize, score: f32, piece: Option<u32>| {
            let step = Step { score: so_far + f64::from(score), from: at, piece };
            match &mut best[at + length] {
                Some(known) if known.score >= step.score => {}
                slot => *slot = Some(step),
            }
        };
        let mut single = false;
        for (length, piece) in pieces.beginning(pieces.start(), &word[at..]) {
            let Some(score) = pieces.scores.get(piece as usize) else { continue };
            if word.is_char_boundary(at + length) {
                reach(length, f32::from_le_bytes(*score), Some(piece));
                single |= length == character.len_utf8();
            }
        }
        if !single {
            reach(character.len_utf8(), model.unknown, None);
        }
    }
    let before = found.len();
    let mut at = word.len();
    while let Some(step) = best[at] {
        found.extend(step.piece);
        at = step.from;
    }
    found[before..].reverse();
}
