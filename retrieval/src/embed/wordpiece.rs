//! WordPiece: a word is the longest piece it begins with, then the longest that goes on from there, and so on
//! (Schuster and Nakajima, “Japanese and Korean voice search”, 2012; as BERT does it).

use serde::{Deserialize, Serialize};

use super::pieces::Pieces;

/// What differs between vocabularies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WordPiece {
    /// What pieces begin with that are not the first of a word: `##`.
    pub(super) inside: String,
    /// Longer words are not known; in characters.
    pub(super) longest: usize,
}

/// Adds the pieces of the word; none, if it cannot be made of pieces wholly.
pub(super) fn cut(word: &str, model: &WordPiece, pieces: &Pieces<'_>, found: &mut Vec<u32>) {
    if word.chars().nth(model.longest).is_some() {
        return;
    }
    let before = found.len();
    let (mut rest, mut from) = (word, Some(pieces.start()));
    while !rest.is_empty() {
        let longest = from.and_then(|from| pieces.beginning(from, rest).last());
        // A piece is whole characters; the check is for vocabularies that are damaged.
        let Some((length, piece)) = longest.filter(|(length, _)| rest.is_char_boundary(*length)) else {
            return found.truncate(before);
        };
        found.push(piece);
        rest = &rest[length..];
        from = pieces.after(&model.inside);
    }
}
