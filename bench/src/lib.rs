//! Synthetic transcripts whose truth is known, and the measurements that are made on them.

pub mod corpus;
pub mod dialogue;
#[cfg(feature = "host")]
pub mod history;
pub mod measure;
pub mod native;
pub mod questions;
pub mod simulation;
pub mod writer;
