//! The file of a model:
//!
//! | bytes | |
//! | --- | --- |
//! | 8 | [`MAGIC`] |
//! | 4 | [`FORMAT`] |
//! | 4 | length of the header |
//! | 8 | xxh3 of all that follows |
//! | … | header: JSON, [`Header`] |
//! | … | for each part: its vocabulary, scores of pieces, scales of rows, rows ([`Layout`]) |
//!
//! Numbers are little-endian, and nothing is aligned: it is all read in bytes.

use std::{ops::Range, path::PathBuf};

use fst::raw::Fst;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    pieces::{Pieces, Tokenizer},
    rows::{Bits, Table},
};

const MAGIC: &[u8; 8] = b"trmodel\0";
const FORMAT: u32 = 1;

/// Bytes before the header.
const PREAMBLE: usize = 24;

/// Why a file cannot be used as a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It is something else.
    #[error("This is not a compiled model.")]
    NotAModel,
    /// It was compiled by another version of this program.
    #[error("The model is in the format {0}, which this version does not read: compile it again.")]
    OtherFormat(u32),
    /// It is not as it was written.
    #[error("The model is damaged: {0}.")]
    Damaged(&'static str),
    /// The system refused.
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] std::io::Error),
}

/// What a model is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// A short name: `static-multilingual`.
    pub name: String,
    /// Under which licence it may be passed on, as an SPDX expression.
    pub licence: String,
    /// Of what it was made, by whom and how.
    pub provenance: String,
}

/// What is needed to make sense of the rest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(flatten)]
    pub(super) about: About,
    pub(super) dims: usize,
    pub(super) parts: Vec<PartHeader>,
}

/// The same of a part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PartHeader {
    pub(super) tokenizer: Tokenizer,
    pub(super) bits: Bits,
    /// How many pieces are in the vocabulary, which is a map from each to its number.
    pub(super) pieces: usize,
    /// How many of them have a row: those of lower numbers. The others are known, and mean nothing.
    pub(super) rows: usize,
    /// Length of the vocabulary, in bytes.
    pub(super) vocabulary: usize,
}

/// Where in the file the sections of a part are.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// A finite-state transducer: piece → number.
    vocabulary: Range<usize>,
    /// f32 for each piece: the logarithm of its probability. Empty where the tokenizer needs none.
    scores: Range<usize>,
    /// f32 for each row.
    scales: Range<usize>,
    /// [`Bits`] for each number of each row.
    rows: Range<usize>,
}

impl Layout {
    pub(super) fn pieces<'a>(&self, bytes: &'a [u8]) -> Result<Pieces<'a>, ModelError> {
        let vocabulary = Fst::new(&bytes[self.vocabulary.clone()]);
        let vocabulary = vocabulary.map_err(|_| ModelError::Damaged("a vocabulary cannot be read"))?;
        Ok(Pieces { vocabulary, scores: bytes[self.scores.clone()].as_chunks().0 })
    }

    pub(super) fn table<'a>(&self, bytes: &'a [u8], dims: usize, bits: Bits) -> Table<'a> {
        Table { dims, bits, scales: bytes[self.scales.clone()].as_chunks().0, rows: &bytes[self.rows.clone()] }
    }
}

/// The header, where everything is, and the model's id.
pub(super) fn read(bytes: &[u8]) -> Result<(Header, Vec<Layout>, String), ModelError> {
    let damaged = || ModelError::Damaged("it is too short");
    let preamble =
        bytes.first_chunk::<PREAMBLE>().filter(|bytes| bytes.starts_with(MAGIC)).ok_or(ModelError::NotAModel)?;
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| preamble[at + i]));
    let (format, length) = (word(8), word(12));
    if format != FORMAT {
        return Err(ModelError::OtherFormat(format));
    }
    let mut at = PREAMBLE;
    let mut section = |bytes: Option<usize>| {
        let start = at;
        at = bytes.and_then(|bytes| at.checked_add(bytes)).ok_or_else(damaged)?;
        Ok(start..at)
    };
    let header = section(Some(length as usize))?;
    let header: Header = serde_json::from_slice(bytes.get(header).ok_or_else(damaged)?)
        .map_err(|_| ModelError::Damaged("its header cannot be read"))?;
    let mut layout = Vec::new();
    for part in &header.parts {
        let scores = if part.tokenizer.has_scores() { part.pieces } else { 0 };
        layout.push(Layout {
            vocabulary: section(Some(part.vocabulary))?,
            scores: section(scores.checked_mul(4))?,
            scales: section(part.rows.checked_mul(4))?,
            rows: section(part.rows.checked_mul(part.bits.bytes(header.dims)))?,
        });
    }
    if at != bytes.len() || header.dims == 0 {
        return Err(damaged());
    }
    layout.iter().try_for_each(|layout| layout.pieces(bytes).map(drop))?;
    let id = format!("{}@{:016x}", header.about.name, hash(bytes));
    Ok((header, layout, id))
}

/// The hash that the file carries. It must have a preamble.
fn hash(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[PREAMBLE - 8 + i]))
}

/// Whether the contents have the hash that the file carries.
pub(super) fn verify(bytes: &[u8]) -> Result<(), ModelError> {
    if bytes.len() >= PREAMBLE && xxh3_64(&bytes[PREAMBLE..]) == hash(bytes) {
        return Ok(());
    }
    Err(ModelError::Damaged("its contents are not what was compiled"))
}

/// The whole file of a header and what follows it.
pub(super) fn write(header: &Header, sections: &[u8]) -> serde_json::Result<Vec<u8>> {
    let contents = [&serde_json::to_vec(header)?, sections].concat();
    let length = (contents.len() - sections.len()) as u32;
    let preamble = [&FORMAT.to_le_bytes()[..], &length.to_le_bytes(), &xxh3_64(&contents).to_le_bytes()];
    Ok([&MAGIC[..], &preamble.concat(), &contents].concat())
}
