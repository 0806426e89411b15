//! TotalRecall learns from the transcripts that coding agents write.

pub mod clean;
pub mod event;
pub mod redact;
pub mod sandbox;
pub mod store;
