//! Finds passages: by their words ([`words`]), by their meaning ([`vectors`], [`embed`]), and by both ([`fuse`]).
//!
//! It knows nothing of transcripts or of the store: a passage is a number, a few fields to filter by, and a text.

pub mod embed;
pub mod filter;
pub mod vectors;

use serde::{Deserialize, Serialize};

/// How far an index has followed the store: it is derived, and what came after is still to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The last passage's id that is in the index; 0: none.
    pub passages: u64,
    /// The last removal's id that was followed; 0: none.
    pub removals: u64,
}
