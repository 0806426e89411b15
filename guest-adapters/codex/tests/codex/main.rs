//! The adapter against the fixtures.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read is a failed test")]

mod copies;
mod counts;
mod golden;
mod hostile;
mod shapes;
mod trail;
