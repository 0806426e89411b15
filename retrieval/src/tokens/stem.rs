//! Words without their endings.

use super::{Form, Piece};
use rust_stemmers::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

/// Slots of the memory of stems. Words repeat: nine of ten are among the last few thousand.
const SLOTS: usize = 4096;

/// Stems English words (Porter2, <https://snowballstem.org/algorithms/english/stemmer.html>), and remembers what it stemmed.
///
/// French is not told apart: the same text may be stored by one language's rules and asked by the other's, and then not be
/// found. What the English rules do to French words (plural `s`, `-ation`) they do on both sides.
pub struct Stems {
    stemmer: Stemmer,
    /// Of as many slots once there is something in it: much is asked for that needs none.
    memory: Vec<(String, String)>,
}

impl Default for Stems {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), memory: Vec::new() }
    }
}

impl Clone for Stems {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Stems {
    /// The term for a piece: a stem if it is plain letters, else the piece itself. Wholes are stemmed too, so that who types
    /// `getusernames` in one word finds `getUserNames`.
    pub fn term<'a>(&'a mut self, piece: Piece<'a>) -> &'a str {
        let is_text = matches!(piece.form, Form::Word | Form::Whole);
        let is_plain = piece.text.len() > 2 && piece.text.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_text && is_plain { self.stem(piece.text) } else { piece.text }
    }

    fn stem(&mut self, word: &str) -> &str {
        if self.memory.is_empty() {
            self.memory.resize_with(SLOTS, Default::default);
        }
        let slot = &mut self.memory[xxh3_64(word.as_bytes()) as usize % SLOTS];
        if slot.0 != word {
            slot.0.clear();
            slot.0.push_str(word);
            slot.1.clear();
            slot.1.push_str(&self.stemmer.stem(word));
        }
        &slot.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_and_nothing_else() {
        let mut stems = Stems::default();
        let mut term = |text, form| stems.term(Piece { text, form, position: 0 }).to_owned();
        assert_eq!(term("retrieving", Form::Word), term("retrieved", Form::Word));
        assert_eq!(term("caches", Form::Word), "cach");
        assert_eq!(term("getcaches", Form::Whole), term("getcaches", Form::Word));
        assert_eq!(term("main.rs", Form::Whole), "main.rs");
        assert_eq!(term("0.27.1", Form::Word), "0.27.1");
    }
}
