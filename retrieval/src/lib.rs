//! Finds passages: by their words ([`words`]), by their meaning ([`vectors`], [`embed`]), and by both ([`fuse`]).
//!
//! It knows nothing of transcripts or of the store: a passage is a number, a few fields to filter by, and a text.

pub mod tokens;
pub mod words;
