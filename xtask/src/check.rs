//! What CI looks at besides the tests.

use std::path::Path;

use crate::command;

pub(crate) fn run(root: &Path, _: &[String]) -> anyhow::Result<()> {
    command::run(command::cargo(root).args(["fmt", "--all", "--check"]))?;
    command::run(command::cargo(root).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-Dwarnings",
    ]))
}
