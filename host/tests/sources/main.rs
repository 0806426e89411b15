//! What is read for an adapter, and what is not: real SQLite files under a real writer, hostile SQL, damaged files.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod database;
mod grants;
mod sql;
