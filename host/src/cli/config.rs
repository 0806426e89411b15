//! `totalrecall config`: the settings in force.

use std::path::PathBuf;

use super::{Context, Outcome, ui};

/// Print the settings that are in force
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall config            every setting as TOML
  totalrecall config --path     where to change them")]
pub(super) struct ShowConfig {
    /// Print the path of the settings file instead
    #[arg(long)]
    path: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "path")]
    json: bool,
}

impl ShowConfig {
    pub(super) fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        let context = Context::new(home)?;
        if self.path {
            ui::print(&format!("{}\n", context.home.config().display()))?;
        } else if self.json {
            ui::print_json(&context.config)?;
        } else {
            ui::print(&toml::to_string_pretty(&context.config)?)?;
        }
        Ok(Outcome::Done)
    }
}
