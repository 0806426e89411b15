//! `totalrecall adapters`: the components that read transcripts.

use std::fmt::Write as _;

use super::{Context, Outcome, ui};
use crate::{
    guests::Guests,
    paths,
    sandbox::{Adapter, parse::Source},
};

/// The components that read transcripts
#[derive(Debug, clap::Args)]
pub(super) struct Adapters {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them, with the folders that each may read
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, serde::Serialize)]
struct Row {
    name: String,
    version: String,
    tool: String,
    sha256: String,
    imports: &'static str,
    reads: Vec<Place>,
}

#[derive(Debug, serde::Serialize)]
struct Place {
    root: String,
    globs: Vec<String>,
    exists: bool,
}

impl Adapters {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Command::List { json } = self.command;
        let guests = Guests::load(&context.config)?;
        let rows: Vec<_> = guests.adapters.iter().map(row).collect();
        if json {
            ui::print_json(&rows)?;
            return Ok(Outcome::Done);
        }
        let mut text = String::new();
        for row in &rows {
            let _ = writeln!(
                text,
                "{bold}{}{bold:#} {}  reads transcripts of {}",
                row.name,
                row.version,
                row.tool,
                bold = ui::BOLD
            );
            let _ = writeln!(text, "  sha256   {}", row.sha256);
            let _ = writeln!(text, "  imports  {}", row.imports);
            for place in &row.reads {
                let missing = if place.exists { "" } else { "  (not there)" };
                let _ = writeln!(text, "  reads    {}/{}{missing}", place.root, place.globs.join(", "));
            }
        }
        ui::print(&text)?;
        Ok(Outcome::Done)
    }
}

fn row(adapter: &Adapter) -> Row {
    let descriptor = adapter.descriptor();
    let reads = descriptor
        .sources
        .iter()
        .flat_map(|source| match source {
            Source::Files(files) => files.roots.iter().map(|root| place(root, &files.globs)).collect::<Vec<_>>(),
            Source::Tree(tree) => tree.roots.iter().map(|root| place(root, &tree.levels)).collect(),
            Source::Database(database) => database.paths.iter().map(|path| place(path, &[])).collect(),
        })
        .collect();
    Row {
        name: descriptor.name.clone(),
        version: descriptor.version.clone(),
        tool: descriptor.tool.clone(),
        sha256: adapter.hash().to_string(),
        imports: if adapter.imports_wasi() { "WASI, with nothing behind it" } else { "nothing" },
        reads,
    }
}

fn place(declared: &str, globs: &[String]) -> Place {
    let path = paths::expand(declared);
    let exists = path.as_ref().is_some_and(|path| path.exists());
    let root = path.map_or_else(|| declared.to_owned(), |path| path.display().to_string());
    Place { root, globs: globs.to_vec(), exists }
}
