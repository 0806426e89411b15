//! `totalrecall adapters new`

use std::path::Path;

use super::super::{Outcome, ui};
use crate::scaffold::{self, Language};

/// Start a project for an adapter of your own
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes a folder of that name with an adapter that reads a made-up diary, a fixture for it, and the recipe that
builds it. guest-adapters/README.md goes on from there.

Example:
  totalrecall adapters new my-tool --lang python
  cd my-tool && ./build && totalrecall adapters test my-tool.wasm --fixtures fixtures"
)]
pub(super) struct New {
    /// What the adapter is called: usually as its tool, like `my-tool`
    name: String,
    /// What it is written in
    #[arg(long, value_enum)]
    lang: Lang,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Lang {
    Rust,
    Js,
    Python,
}

impl New {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let name = &self.name;
        let (language, needs) = match self.lang {
            Lang::Rust => (Language::Rust, "cargo, and once: rustup target add wasm32-wasip2"),
            Lang::Js => (Language::JavaScript, "node and npm"),
            Lang::Python => (Language::Python, "python3 with venv and pip"),
        };
        scaffold::write(name, language, Path::new(name))?;
        ui::print(&format!(
            "{name}/ is written. Next:
  cd {name}
  ./build                  makes {name}.wasm; needs {needs}
  totalrecall adapters test {name}.wasm --fixtures fixtures
  totalrecall adapters add {name}.wasm
"
        ))?;
        Ok(Outcome::Done)
    }
}
