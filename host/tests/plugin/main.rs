//! The Claude Code plugin without Claude Code: what its launcher starts, what it says when there is nothing to start, and
//! whether its files agree with each other and with the program. `tests/clients` has the real client.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests start programs, and may fail")]

#[cfg(unix)]
mod desk;
#[cfg(unix)]
mod launcher;
mod manifest;
mod release;
#[cfg(unix)]
mod setup;
mod triggers;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The repository, which is the plugin's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn json(file: &str) -> serde_json::Value {
    serde_json::from_str(&text(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The names in a folder of the repository, sorted.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
