//! The store, from outside.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod events;
mod ledger;
mod sessions;
mod support;
