//! The adapter against the fixtures.

mod counts;
mod golden;
mod hostile;
