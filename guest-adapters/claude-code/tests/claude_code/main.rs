//! The adapter against the fixtures.

mod copies;
mod counts;
mod golden;
mod hostile;
mod trail;
