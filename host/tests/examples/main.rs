//! The adapters in `examples/`, as a stranger would write and build them, and the projects that `adapters new` writes: each
//! with its own toolchain, run in the sandbox.
//!
//! They are built once for each state of their sources; what was built, and the tools that were installed for it, are kept
//! in cargo's target folder.
#![cfg(unix)] // The recipes are scripts of `sh`.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "toolchains are started and told by the environment where things are; what cannot be built has failed"
)]

mod built;
mod kit;
mod tools;

use totalrecall::scaffold::Language;

fn example_passes(name: &str) {
    kit::passes(&built::example(name), &built::root().join("examples").join(name).join("fixtures"));
}

/// All languages make the same events of the same diary.
fn new_passes(language: Language) {
    kit::passes(&built::new(language), &built::root().join("host/templates/fixtures"));
}

#[test]
fn pi_in_rust() {
    example_passes("pi-rust");
}

#[test]
fn copilot_cli_in_javascript() {
    example_passes("copilot-cli-js");
}

#[test]
fn qwen_code_in_python() {
    example_passes("qwen-code-python");
}

#[test]
fn new_in_rust() {
    new_passes(Language::Rust);
}

#[test]
fn new_in_javascript() {
    new_passes(Language::JavaScript);
}

#[test]
fn new_in_python() {
    new_passes(Language::Python);
}
