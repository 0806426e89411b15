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
    process::{Child, Command, Output, Stdio},
    sync::{PoisonError, RwLock},
};

/// A file that is open for writing cannot be run, and a child has its parent's files open until it has become another
/// program. So that no test's child holds another test's program, none is started while one is written.
static WRITING: RwLock<()> = RwLock::new(());

fn start(command: &mut Command) -> Child {
    let _nobody_writes = WRITING.read().unwrap_or_else(PoisonError::into_inner);
    command.spawn().unwrap()
}

fn run(command: &mut Command) -> Output {
    start(command.stdout(Stdio::piped()).stderr(Stdio::piped())).wait_with_output().unwrap()
}

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
