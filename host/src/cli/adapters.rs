//! `totalrecall adapters`: the components that read transcripts, and those that look for signals in them.

mod add;
mod list;
mod new;
mod test;

use std::path::PathBuf;

use super::{Context, Outcome};

/// The components that read transcripts
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A component is a WebAssembly file. It cannot open anything: totalrecall reads for it what you agreed to,
and runs it with no files, no network, no clock and a limit on everything else. docs/cli.md and
guest-adapters/README.md say more."
)]
pub(super) struct Adapters {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them, with the folders and databases that each may have read
    List(list::List),
    /// Add an adapter or an analyzer that someone else made
    Add(add::Add),
    /// Forget an added component. What an adapter has read stays; an analyzer's signals go
    Remove(add::Remove),
    /// Hold a component to the contract, with fixtures of yours
    Test(test::Test),
    New(new::New),
}

impl Adapters {
    pub(super) fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        match &self.command {
            Command::List(command) => command.run(&Context::new(home)?),
            Command::Add(command) => command.run(&Context::new(home)?),
            Command::Remove(command) => command.run(&Context::new(home)?),
            // Where components are made there is no home.
            Command::New(command) => command.run(),
            Command::Test(command) => command.run(),
        }
    }
}
