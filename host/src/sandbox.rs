//! Runs guest components, which are never trusted.

mod latest;

pub use latest::{adapter::exports::totalrecall::guest::parse, analyzer::exports::totalrecall::guest::analyze, types};
