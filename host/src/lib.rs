//! TotalRecall learns from the transcripts that coding agents write.

pub mod clean;
pub mod event;
pub mod finding;
pub mod inbox;
pub mod insights;
pub mod locale;
pub mod pattern;
pub mod redact;
pub mod sandbox;
pub mod store;
