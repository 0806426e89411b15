//! Cuts a text into the pieces that a part of a model knows.

use fst::raw::{CompiledAddr, Fst, Output};
use serde::{Deserialize, Serialize};

use super::{
    normal::{self, Step},
    unigram::{self, Unigram},
    wordpiece::{self, WordPiece},
};

/// The vocabulary of a part, as it lies in the file.
pub(super) struct Pieces<'a> {
    pub(super) vocabulary: Fst<&'a [u8]>,
    /// Of each piece: f32.
    pub(super) scores: &'a [[u8; 4]],
}

impl Pieces<'_> {
    /// All pieces that `text` begins with, shorter ones first: how many bytes they are, and their numbers. `after` is where reading
    /// begins; [`Pieces::start`] is the beginning of a piece.
    pub(super) fn beginning(&self, after: (CompiledAddr, Output), text: &str) -> impl Iterator<Item = (usize, u32)> {
        let mut node = self.vocabulary.node(after.0);
        let mut output = after.1;
        let mut bytes = text.bytes().enumerate();
        std::iter::from_fn(move || {
            loop {
                let (at, byte) = bytes.next()?;
                let transition = node.transition(node.find_input(byte)?);
                output = output.cat(transition.out);
                node = self.vocabulary.node(transition.addr);
                if node.is_final() {
                    return Some((at + 1, output.cat(node.final_output()).value() as u32));
                }
            }
        })
    }

    pub(super) fn start(&self) -> (CompiledAddr, Output) {
        (self.vocabulary.root().addr(), Output::zero())
    }

    /// Where reading is after `prefix`; none if no piece begins with it.
    pub(super) fn after(&self, prefix: &str) -> Option<(CompiledAddr, Output)> {
        let (mut address, mut output) = self.start();
        for byte in prefix.bytes() {
            let node = self.vocabulary.node(address);
            let transition = node.transition(node.find_input(byte)?);
            (address, output) = (transition.addr, output.cat(transition.out));
        }
        Some((address, output))
    }
}

/// How a part cuts texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tokenizer {
    /// What is done to the text first, in this order.
    pub(super) normal: Vec<Step>,
    /// Whether each punctuation mark is a word. Blanks part words in any case.
    pub(super) punctuation: bool,
    pub(super) model: Kind,
}

/// How words are cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    WordPiece(WordPiece),
    Unigram(Unigram),
}

impl Tokenizer {
    pub(super) fn has_scores(&self) -> bool {
        matches!(self.model, Kind::Unigram(_))
    }

    /// The numbers of the first `most` known pieces of the text, in order. What is not known is left out.
    pub(super) fn cut(&self, text: &str, pieces: &Pieces<'_>, most: usize) -> Vec<u32> {
        let text = normal::normalise(text, &self.normal);
        let mut found = Vec::new();
        let mut word = |word: &str| {
            match &self.model {
                Kind::WordPiece(model) => wordpiece::cut(word, model, pieces, &mut found),
                Kind::Unigram(model) => unigram::cut(word, model, pieces, &mut found),
            }
            found.len() < most
        };
        'text: for part in text.split_whitespace() {
            if !self.punctuation {
                if !word(part) {
                    break;
                }
                continue;
            }
            let marks = part.match_indices(normal::is_punctuation);
            let mut from = 0;
            for (at, mark) in marks.chain([(part.len(), "")]) {
                for piece in [&part[from..at], mark] {
                    if !piece.is_empty() && !word(piece) {
                        break 'text;
                    }
                }
                from = at + mark.len();
            }
        }
        found.truncate(most);
        found
    }
}
