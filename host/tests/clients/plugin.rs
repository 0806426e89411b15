//! The plugin in the real client: installed from everywhere it can come from, used in sessions as a person has them, taken
//! away again.

mod commands;
mod endings;
mod install;
mod installing;
mod memory;
mod newcomer;
mod seen;
mod server;
mod sessions;
mod stored;

use install::{Source, tree};

pub(crate) const TESTS: &[&[(&str, crate::Test)]] = &[
    installing::TESTS,
    sessions::TESTS,
    endings::TESTS,
    commands::TESTS,
    newcomer::TESTS,
    memory::TESTS,
    server::TESTS,
];
