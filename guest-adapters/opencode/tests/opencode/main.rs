//! The adapter against its fixtures: databases as SQL text, and trees of files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod copies;
mod counts;
mod golden;
mod hostile;
mod queries;
mod shapes;
mod store;
mod trail;
