//! What a text is about, as hashes: for telling whether two texts speak of the same things.

use crate::language::is_wide;
use crate::text::hash;

/// Pieces kept of one text: the beginning says what is wanted, pasted material follows.
const PIECES: usize = 160;

/// Hashes of what a text is made of: words of scripts that separate them, pairs of characters of those that do not.
pub(crate) fn pieces(text: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    let mut word = String::new();
    let mut last = None;
    for c in text.chars().flat_map(char::to_lowercase).chain([' ']) {
        let wide = is_wide(c);
        if c.is_alphanumeric() && !wide {
            word.push(c);
        } else if !word.is_empty() {
            if !FILLERS.contains(&word.as_str()) && !is_id(&word) {
                pieces.push(hash(&word) as u32);
            }
            word.clear();
        }
        if wide && let Some(before) = last {
            pieces.push(hash(&[before, c].iter().collect::<String>()) as u32);
        }
        last = wide.then_some(c);
        if pieces.len() >= PIECES {
            break;
        }
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// Ids and times differ each time that the same thing is pasted.
fn is_id(word: &str) -> bool {
    word.len() >= 4 && word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Words that every instruction may hold, in the languages that separate words.
const FILLERS: &[&str] = &[
    "a", "an", "the", "to", "of", "in", "on", "and", "is", "it", "i", "you", "we", "can", "please", "this", "that",
    "me", "for", "with", "be", "do", "le", "la", "les", "de", "du", "des", "un", "une", "et", "en", "que", "qui", "je",
    "tu", "il", "est", "pour", "dans", "sur", "ce", "se", "stp", "again",
];

/// Share of the pieces that both have (Jaccard).
pub(crate) fn likeness(a: &[u32], b: &[u32]) -> f32 {
    let shared = shared(a, b);
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}

/// How many pieces both have.
pub(crate) fn shared(a: &[u32], b: &[u32]) -> usize {
    a.iter().filter(|piece| b.binary_search(piece).is_ok()).count()
}
