//! The plugin in the real client: installed from everywhere it can come from, used in sessions as a person has them, taken
//! away again.

#[expect(dead_code, reason = "the program does not answer commands yet")]
mod commands;
mod endings;
mod install;
mod installing;
#[expect(dead_code, reason = "the README does not promise it yet")]
mod newcomer;
mod seen;
mod sessions;
mod stored;

use install::{Source, tree};

pub(crate) const TESTS: &[&[(&str, crate::Test)]] = &[installing::TESTS, sessions::TESTS, endings::TESTS];
