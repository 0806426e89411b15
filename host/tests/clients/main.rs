//! TotalRecall with the real Claude Code, which asks an API of ours: what we believe of the client, and what becomes of
//! each kind of answer.
//!
//! The client comes from npm, once. Where it cannot be had the tests are skipped, loudly; with
//! `TOTALRECALL_REQUIRE_CLIENTS=1` in the environment, as in CI, that is a failure. Where the system lets us, clients run in
//! a network that has nothing but this machine's loopback.
#![cfg(unix)] // The network of its own, and the links to programs.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests start programs and are told by the environment what to do; they may fail, and say what they skip"
)]

mod api;
mod asker;
mod asking;
mod claude;
mod facts;
mod hooks;
mod learning;
mod network;
mod person;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    if asker::is_done() {
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let mut missing = false;
    if !arguments.list {
        match claude::install() {
            Ok(program) => {
                if let Some(code) = network::alone() {
                    return code;
                }
                person::CLAUDE.set(program).unwrap();
            }
            Err(why) if std::env::var_os("TOTALRECALL_REQUIRE_CLIENTS").is_some() => {
                eprintln!("error: {why}");
                return ExitCode::FAILURE;
            }
            Err(why) => {
                eprintln!("SKIPPED, all tests with real clients: {why}");
                missing = true;
            }
        }
    }
    let tests = [facts::TESTS, hooks::TESTS, asking::TESTS, learning::TESTS].concat();
    let trials = tests.into_iter().map(|(name, test)| {
        let name = name.trim_start_matches("clients::");
        Trial::test(name, move || run(test)).with_ignored_flag(missing)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// A test: its name and what it does, which panics where something is wrong.
type Test = (&'static str, fn());

/// The names of functions, with the functions.
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        pub(crate) const TESTS: &[crate::Test] =
            &[$((concat!(module_path!(), "::", stringify!($test)), $test)),+];
    };
}
use tests;

fn run(test: fn()) -> Result<(), Failed> {
    test();
    Ok(())
}
