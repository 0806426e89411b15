//! TotalRecall with the real Claude Code, Codex and OpenCode, which ask an API of ours: what we believe of the client, and what becomes of
//! each kind of answer. And its MCP server with the client of the protocol's own SDK.
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
mod codex;
mod facts;
mod hooks;
mod learning;
mod mcp;
mod network;
mod npm;
mod opencode;
mod person;
mod plugin;
mod project;
mod terminal;

use std::process::ExitCode;

use claude::Claude;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    if asker::is_done() {
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let mut missing = false;
    if !arguments.list {
        match claude::install()
            .and_then(|()| codex::install())
            .and_then(|()| opencode::install())
            .and_then(|()| mcp::install())
        {
            Ok(()) => {
                if let Some(code) = network::alone() {
                    return code;
                }
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
    let tests = [
        facts::TESTS,
        hooks::TESTS,
        asking::TESTS,
        learning::TESTS,
        mcp::TESTS,
        codex::TESTS,
        opencode::TESTS,
        plugin::TESTS.concat().as_slice(),
    ]
    .concat();
    let trials = tests.into_iter().flat_map(|(name, test)| {
        let name = name.trim_start_matches("clients::");
        match test {
            Test::Newest(test) => vec![Trial::test(name, move || run(test)).with_ignored_flag(missing)],
            Test::Each(test) => {
                let trial = |claude: Claude| {
                    let skipped = missing || (!arguments.list && claude.is_double());
                    Trial::test(format!("{name}::{}", claude.name()), move || run(|| test(claude)))
                        .with_ignored_flag(skipped)
                };
                Claude::ALL.into_iter().map(trial).collect()
            }
        }
    });
    let trials = trials.collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What a test does. It panics where something is wrong.
#[derive(Clone, Copy)]
enum Test {
    /// With the newest client only.
    Newest(fn()),
    /// With each.
    Each(fn(Claude)),
}

/// The names of functions, with the functions.
macro_rules! tests {
    ($($test:ident),* $(,)? $(; each: $($each:ident),+ $(,)?)?) => {
        pub(crate) const TESTS: &[(&str, crate::Test)] = &[
            $((concat!(module_path!(), "::", stringify!($test)), crate::Test::Newest($test)),)*
            $($((concat!(module_path!(), "::", stringify!($each)), crate::Test::Each($each)),)+)?
        ];
    };
}
use tests;

fn run(test: impl FnOnce()) -> Result<(), Failed> {
    test();
    Ok(())
}
