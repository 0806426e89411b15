//! TotalRecall learns from the transcripts that coding agents write.

pub mod event;
pub mod sandbox;
