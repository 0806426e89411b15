//! Synthetic transcripts whose truth is known, and the measurements that are made on them.

pub mod corpus;
#[cfg(feature = "host")]
pub mod history;
pub mod measure;
pub mod native;
pub mod simulation;
pub mod writer;
