//! Chores of the repository: `cargo xtask <chore>`.
#![expect(
    clippy::disallowed_methods,
    reason = "chores are told by their environment which cargo runs them, and start it"
)]

mod bless;
mod check;
mod command;
mod components;
mod model;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// A chore: its name, what it does, and the function that does it with the arguments that follow.
type Chore = (&'static str, &'static str, fn(&Path, &[String]) -> anyhow::Result<()>);

const CHORES: &[Chore] = &[
    ("bless", "take what the golden tests get as what they expect; arguments go to `cargo test`", bless::run),
    ("check", "formatting, lints and generated files, as CI does", check::run),
    ("component", "build a crate of a workspace of its own: FOLDER [FILE]", components::run_one),
    ("components", "build components: [FOLDER [PACKAGE …]], by default ours into target/components", components::run),
    ("model", "compile an embedding model: FOLDER FILE", model::run),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    let Some((_, _, run)) = CHORES.iter().find(|(chore, ..)| *chore == name) else {
        for (chore, what, _) in CHORES {
            say(&format!("cargo xtask {chore:<12} {what}"));
        }
        return ExitCode::from(2);
    };
    match run(&root(), &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("cargo xtask {name}: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// The workspace.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

#[expect(clippy::print_stderr, reason = "this is what xtask says to the person who ran it")]
fn say(line: &str) {
    eprintln!("{line}");
}
