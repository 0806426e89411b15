//! Finds passages: by their words ([`words`]), by their meaning ([`vectors`], [`embed`]), and by both ([`fuse`]).
//!
//! It knows nothing of transcripts or of the store: a passage is a number, a few fields to filter by, and a text.

pub mod embed;
pub mod filter;
pub mod fuse;
pub mod tokens;
pub mod vectors;
pub mod words;

use serde::{Deserialize, Serialize};

/// Passages that are taken from each ranking before they are put together, at least.
pub const CANDIDATES: usize = 300;
/// The best passages by their words, which are asked together with their neighbours how much of the query they have.
pub const ASKED: usize = 10;

/// How far an index has followed the store: it is derived, and what came after is still to be read. Kept in the index's own
/// commit, so that it is true of what is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The last passage's id that is in the index; 0: none.
    pub passages: u64,
    /// The last removal's id that was followed; 0: none.
    pub removals: u64,
    /// A number that whoever keeps the passages drew for this commit, and by which they know their own index; 0: none.
    pub seal: u64,
}

/// A passage that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The passage; of a whole session the session.
    pub id: u64,
    /// The session it is of; 0 if none.
    pub session: u64,
    /// By words: BM25, above 0, comparable within one query. By meaning: the cosine of its vector, as it is stored, and the
    /// query's, -1 to 1.
    pub score: f32,
}
