//! `totalrecall mcp`: the server that agents speak to.

use std::path::PathBuf;

use anyhow::Context as _;

use super::Outcome;
use crate::{mcp, paths::Home};

/// Serve agents over the Model Context Protocol on standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = "Clients start it; the plugin for Claude Code brings it along. For others, as in:
  claude mcp add totalrecall -- totalrecall mcp
  codex mcp add totalrecall -- totalrecall mcp

What is remembered belongs to the project of the folder that the client starts it in. It ends when standard input is closed.
docs/mcp.md has its tools.")]
pub(super) struct Mcp {}

impl Mcp {
    pub(super) fn run(self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        let home = Home::choose(home).context(
            "there is no home directory to keep anything in: give one with --home DIR or set TOTALRECALL_HOME",
        )?;
        let here = std::env::current_dir().context("the current folder is gone; go to another one")?;
        mcp::serve(home, here).context("the client could not be served")?;
        Ok(Outcome::Done)
    }
}
