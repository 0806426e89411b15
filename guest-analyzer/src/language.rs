//! Words of people: tokens, and a small language for describing constructions in any human language.
//!
//! A *construction* is a line such as `why did|have you|u` or `不是 ~8 而是`. Its elements, separated by spaces, are
//!
//! | element | matches |
//! | --- | --- |
//! | `stop` | this word, or this run of characters in scripts without spaces |
//! | `remov*` | a word that begins so |
//! | `a\|b_c` | `a`, or `b` followed by `c` |
//! | `?just\|also` | one of them, or nothing |
//! | `~3` | up to three words (characters) of the same sentence |
//! | `S`, `E` | the beginning, the end of a sentence; `E` may be one of several: `?\|!\|E` |
//! | `C` | the beginning of a clause: of a sentence, after a comma, or after a word such as "but" |
//! | `Q` | nothing, but only in a sentence that ends in a question mark |
//!
//! Texts and constructions go through the same folding: case, accents, apostrophes, full-width forms and the commonest
//! Traditional characters make no difference.

use crate::text::hash;

pub mod broad;
pub mod chinese;
pub mod english;
mod fold;
pub mod french;
pub mod japanese;
mod pattern;

pub use pattern::Patterns;

/// Tokens of a text. What a person writes by hand is shorter; of what is longer the beginning is judged.
const TOKENS: usize = 1500;

/// A word, a character of a script without spaces, or a punctuation mark.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The folded text.
    pub text: String,
    /// Its hash, for comparing.
    pub hash: u32,
    /// What kind of mark, if it is one.
    pub mark: Mark,
}

/// What a token does to the sentence it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is a word.
    Word,
    /// It ends a clause.
    Clause,
    /// It ends a sentence.
    Sentence,
}

/// A text cut into tokens.
#[derive(Debug, Clone, Default)]
pub struct Tokens(Vec<Token>);

/// Hash by which words are compared.
pub(crate) fn word_hash(word: &str) -> u32 {
    hash(word) as u32
}

/// Stands for words that are not the person's own: it matches no construction, but keeps the sentence's shape.
pub const PLACEHOLDER: char = '\u{FFFC}';

/// Letters of scripts that write without spaces.
pub fn is_wide(c: char) -> bool {
    matches!(c as u32, 0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Kana: the text is Japanese.
pub fn is_kana(c: char) -> bool {
    matches!(c as u32, 0x3041..=0x3096 | 0x30A1..=0x30FA)
}

impl Tokens {
    /// Cuts a text.
    pub fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let folded = fold::fold(text);
        let mut chars = folded.chars().peekable();
        let mut word = String::new();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            if tokens.len() >= TOKENS {
                break;
            }
            let next = chars.peek().copied().unwrap_or(' ');
            let inside = before.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
            if is_wide(c) || c == PLACEHOLDER || fold::speaks(c) {
                flush(&mut word, &mut tokens);
                push(&mut tokens, c.to_string(), Mark::Word);
            } else if c.is_alphanumeric() || (matches!(c, '.' | '/' | '_' | '@' | '#' | ':') && inside) {
                word.push(c);
            } else if c == '\'' {
                // English contractions are one word (`dont`), French elisions are two (`l`, `ai`).
                if fold::elides(&word) {
                    flush(&mut word, &mut tokens);
                }
            } else {
                flush(&mut word, &mut tokens);
                match c {
                    '.' | '?' | '!' | ';' | '\n' => push(&mut tokens, c.to_string(), Mark::Sentence),
                    ',' | ':' | '(' | ')' => push(&mut tokens, c.to_string(), Mark::Clause),
                    _ => {}
                }
            }
            before = c;
        }
        flush(&mut word, &mut tokens);
        Self(tokens)
    }

    /// All of them.
    pub fn all(&self) -> &[Token] {
        &self.0
    }

    /// How many words (or characters of scripts without spaces) there are.
    pub fn words(&self) -> usize {
        self.0.iter().filter(|token| token.mark == Mark::Word).count()
    }

    /// Leaves the first `head` and the last `tail` tokens.
    pub fn keep_ends(&mut self, head: usize, tail: usize) {
        if self.0.len() > head + tail {
            self.0.drain(head..self.0.len() - tail);
            self.0.insert(head, word("\n".into(), Mark::Sentence));
        }
    }

    /// The first sentence that has words, with its end.
    pub fn first_sentence(&self) -> Self {
        let from = self.0.iter().position(|token| token.mark == Mark::Word).unwrap_or(0);
        let to = self.0[from..].iter().position(|token| token.mark == Mark::Sentence);
        Self(self.0[from..].iter().take(to.map_or(usize::MAX, |to| to + 1)).cloned().collect())
    }

    /// Whether a sentence begins at `at`.
    fn begins_sentence(&self, at: usize) -> bool {
        at == 0 || self.0[at - 1].mark == Mark::Sentence
    }

    /// Whether a clause begins at `at`.
    fn begins_clause(&self, at: usize) -> bool {
        self.begins_sentence(at)
            || self.0[at - 1].mark == Mark::Clause
            || matches!(
                self.0[at - 1].text.as_str(),
                "but"
                    | "and"
                    | "so"
                    | "ok"
                    | "okay"
                    | "then"
                    | "wait"
                    | "well"
                    | "please"
                    | "pls"
                    | "mais"
                    | "et"
                    | "donc"
            )
    }

    /// Whether a sentence ends before `at`.
    fn ends_sentence(&self, at: usize) -> bool {
        self.0.get(at).is_none_or(|token| token.mark == Mark::Sentence)
    }

    /// Whether the sentence that `at` is in ends in a question mark.
    fn in_question(&self, at: usize) -> bool {
        self.0[at.min(self.0.len())..]
            .iter()
            .find(|token| token.mark == Mark::Sentence)
            .is_some_and(|token| token.text == "?")
    }

    /// Replaces what the constructions match by placeholders.
    pub fn mask(&mut self, patterns: &Patterns) {
        for (from, to) in patterns.matches(self) {
            for token in &mut self.0[from..to] {
                if token.mark == Mark::Word {
                    *token = word(PLACEHOLDER.to_string(), Mark::Word);
                }
            }
        }
    }
}

fn flush(text: &mut String, tokens: &mut Vec<Token>) {
    if !text.is_empty() {
        push(tokens, std::mem::take(text), Mark::Word);
    }
}

fn push(tokens: &mut Vec<Token>, text: String, mark: Mark) {
    tokens.push(word(text, mark));
}

fn word(text: String, mark: Mark) -> Token {
    Token { hash: word_hash(&text), text, mark }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        Tokens::new(text).all().iter().map(|token| token.text.clone()).collect()
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(cut("Don’t use l'API, it's src/a.rs."), ["dont", "use", "l", "api", ",", "its", "src/a.rs", "."]);
        assert_eq!(cut("Déjà vu…"), ["deja", "vu", "."]);
        assert_eq!(cut("不對！ＯＫ"), ["不", "对", "!", "ok"]);
    }
}
