//! `totalrecall`, the program. See the library for everything it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    totalrecall::cli::run(std::env::args_os())
}
