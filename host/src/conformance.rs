//! The conformance kit: what `totalrecall adapters test` holds an adapter to.

mod fixtures;

pub use fixtures::{Case, FixtureError, LaidOut, cases, lay_out};
