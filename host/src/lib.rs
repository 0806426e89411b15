//! TotalRecall learns from the transcripts that coding agents write.
//!
//! `pipeline` is the whole of it, top to bottom; `cli` is its front door. ARCHITECTURE.md has the words and the way of the
//! data.

pub mod added;
pub mod analyses;
pub mod check;
mod child;
pub mod chunk;
pub mod clean;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conformance;
pub mod event;
pub mod fence;
pub mod files;
pub mod finding;
pub mod gate;
pub mod grant;
pub mod guard;
pub mod guests;
pub mod hooked;
pub mod import;
pub mod inbox;
pub mod inject;
pub mod insights;
pub mod library;
pub mod locale;
pub mod memory;
pub mod model;
pub mod news;
pub mod passage;
pub mod paths;
pub mod pattern;
pub mod pause;
pub mod period;
pub mod pipeline;
pub mod project;
pub mod proposal;
pub mod reading;
pub mod redact;
pub mod report;
pub mod review;
pub mod sandbox;
pub mod saved;
pub mod scaffold;
pub mod search;
pub mod session;
pub mod store;
pub mod synth;
pub mod transcript;
pub mod unsaved;
pub mod verdict;
pub mod wiring;
