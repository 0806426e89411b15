//! `tokenizer.json`, as the `tokenizers` library writes it: what of it our tokenizers can do is taken over, and the rest refused.

use std::{collections::HashMap, path::Path};

use serde::Deserialize;
use serde_json::Value;

use crate::embed::{
    normal::Step,
    pieces::{Kind, Tokenizer},
    unigram::Unigram,
    wordpiece::WordPiece,
};

use super::CompileError;

/// How much less probable an unknown character is than the least probable piece: what SentencePiece takes off its score.
const UNKNOWN: f32 = 10.0;

/// How texts are cut, and into what.
pub(super) struct Vocabulary {
    pub(super) tokenizer: Tokenizer,
    pub(super) pieces: Vec<Piece>,
}

/// An entry of the vocabulary that can occur in texts.
pub(super) struct Piece {
    pub(super) text: String,
    /// Its number in the folder's files.
    pub(super) number: usize,
    /// The logarithm of its probability; 0 where there are none.
    pub(super) score: f32,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<Added>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    model: Model,
}

#[derive(Deserialize)]
struct Added {
    id: usize,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Model {
    WordPiece {
        vocab: HashMap<String, usize>,
        continuing_subword_prefix: String,
        max_input_chars_per_word: usize,
        unk_token: String,
    },
    Unigram {
        vocab: Vec<(String, f32)>,
        unk_id: Option<usize>,
        #[serde(default)]
        byte_fallback: bool,
    },
    #[serde(other)]
    Other,
}

pub(super) fn read(file: &Path) -> Result<Vocabulary, CompileError> {
    let bytes = std::fs::read(file).map_err(|error| CompileError::Io(file.to_owned(), error))?;
    let json: File =
        serde_json::from_slice(&bytes).map_err(|error| CompileError::Malformed(file.to_owned(), error.to_string()))?;
    understand(json).map_err(|what| CompileError::Unsupported(file.to_owned(), what))
}

/// The error is what is not supported.
fn understand(File { added_tokens, normalizer, pre_tokenizer, model }: File) -> Result<Vocabulary, String> {
    let mut normal = Vec::new();
    steps(&normalizer, &mut normal)?;
    let mut words = Words::default();
    words.read(&pre_tokenizer)?;
    // Marks like `[PAD]` stand for no text.
    let special = |number: usize| added_tokens.iter().any(|added| added.special && added.id == number);
    let mut pieces: Vec<Piece>;
    let model = match model {
        Model::WordPiece { vocab, continuing_subword_prefix, max_input_chars_per_word, unk_token } => {
            let known = vocab.into_iter().filter(|(text, number)| *text != unk_token && !special(*number));
            pieces = known.map(|(text, number)| Piece { text, number, score: 0.0 }).collect();
            if words.before.is_some() {
                return Err("WordPiece with Metaspace".to_owned());
            }
            Kind::WordPiece(WordPiece { inside: continuing_subword_prefix, longest: max_input_chars_per_word })
        }
        Model::Unigram { byte_fallback: true, .. } => return Err("falling back to bytes".to_owned()),
        Model::Unigram { vocab, unk_id, .. } => {
            let least = vocab.iter().map(|(_, score)| *score).fold(0.0, f32::min);
            let known = vocab.into_iter().enumerate();
            pieces = known.map(|(number, (text, score))| Piece { text, number, score }).collect();
            pieces.retain(|piece| Some(piece.number) != unk_id && !special(piece.number));
            Kind::Unigram(Unigram { before: words.before.unwrap_or_default(), unknown: least - UNKNOWN })
        }
        Model::Other => return Err("a vocabulary that is neither WordPiece nor Unigram".to_owned()),
    };
    pieces.retain(|piece| !piece.text.is_empty());
    // A map has no order of its own, and the file must not depend on chance.
    pieces.sort_by_key(|piece| piece.number);
    Ok(Vocabulary { tokenizer: Tokenizer { normal, punctuation: words.punctuation, model }, pieces })
}

/// Translates a normalizer.
fn steps(normalizer: &Value, found: &mut Vec<Step>) -> Result<(), String> {
    let flag = |name: &str| normalizer[name].as_bool();
    match normalizer["type"].as_str() {
        None if normalizer.is_null() => {}
        Some("Sequence") => {
            for each in normalizer["normalizers"].as_array().into_iter().flatten() {
                steps(each, found)?;
            }
        }
        Some("NFC") => found.push(Step::Nfc),
        Some("NFD") => found.push(Step::Nfd),
        Some("NFKC") => found.push(Step::Nfkc),
        Some("NFKD") => found.push(Step::Nfkd),
        Some("Lowercase") => found.push(Step::Lowercase),
        Some("StripAccents") => found.push(Step::DropMarks),
        // A table of SentencePiece's. Those of the models that there are say NFKC, and that what is not seen is taken out.
        Some("Precompiled") => found.extend([Step::Clean, Step::Nfkc]),
        Some("BertNormalizer") => {
            let lowercase = flag("lowercase").unwrap_or(true);
            found.extend(flag("clean_text").unwrap_or(true).then_some(Step::Clean));
            found.extend(flag("handle_chinese_chars").unwrap_or(true).then_some(Step::PartChinese));
            if flag("strip_accents").unwrap_or(lowercase) {
                found.extend([Step::Nfd, Step::DropMarks]);
            }
            found.extend(lowercase.then_some(Step::Lowercase));
        }
        Some("Replace") => match (normalizer["pattern"]["String"].as_str(), normalizer["content"].as_str()) {
            (Some(from), Some(to)) if !from.is_empty() => found.push(Step::Replace(from.to_owned(), to.to_owned())),
            // Blanks only part words, so how many there are makes no difference.
            (None, Some(" " | "▁")) if is_blanks(&normalizer["pattern"]["Regex"]) => {}
            _ => return Err(format!("the normalizer {normalizer}")),
        },
        Some("Strip") => {}
        _ => return Err(format!("the normalizer {normalizer}")),
    }
    Ok(())
}

fn is_blanks(regex: &Value) -> bool {
    matches!(regex.as_str(), Some(r"\s+" | " +" | " {2,}" | r"\s{2,}"))
}

/// How a text is parted into words.
#[derive(Default)]
struct Words {
    punctuation: bool,
    before: Option<String>,
}

impl Words {
    /// Translates a pre-tokenizer.
    fn read(&mut self, pre_tokenizer: &Value) -> Result<(), String> {
        match pre_tokenizer["type"].as_str() {
            Some("Sequence") => {
                for each in pre_tokenizer["pretokenizers"].as_array().into_iter().flatten() {
                    self.read(each)?;
                }
            }
            Some("WhitespaceSplit") => {}
            Some("BertPreTokenizer") => self.punctuation = true,
            Some("Metaspace") if pre_tokenizer["prepend_scheme"] != "never" => {
                let replacement = pre_tokenizer["replacement"].as_str().unwrap_or("▁");
                self.before = Some(replacement.to_owned());
            }
            _ => return Err(format!("the pre-tokenizer {pre_tokenizer}")),
        }
        Ok(())
    }
}
