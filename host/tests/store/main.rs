//! The store, from outside.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests may fail, look into the database, and start themselves as a child"
)]

mod calls;
mod events;
mod files;
mod inbox;
mod ledger;
mod patterns;
mod processes;
mod sessions;
mod support;
mod toolcalls;
