//! The store, from outside.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod events;
mod files;
mod inbox;
mod ledger;
mod processes;
mod sessions;
mod support;
