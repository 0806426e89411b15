//! `export`: what is known of a project, for whoever goes on with it.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Context, Outcome, library, sessions::Chosen, ui};
use crate::{export, files, guests::Guests, library::Library, pattern::View};

/// How something is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people, and for the agent that goes on
    #[default]
    Markdown,
    /// For programs
    Json,
}

/// Hand over what is known of a project, as Markdown or JSON
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall export --project --since 7d                a hand-over of this project's last week
  totalrecall export --format json --output backup.json  memories, chunks and sessions

Markdown has decisions, open todos, sessions with what they did, files changed, and friction that still comes up. JSON has all
memories and chunks with their texts; sessions in short (`sessions export` has what was said in one).")]
pub(super) struct Export {
    #[command(flatten)]
    chosen: Chosen,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write it to this file instead
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        let part = self.chosen.part(&store, context.now)?;
        let mut view = View { since: part.since, until: part.until, ..View::default() };
        if let Some(project) = &part.project {
            (view.project, view.folders) = (Some(project.path.clone()), project.folders.clone());
        }
        let guests = Guests::load(&context.config, Some(&context.home))?;
        let patterns =
            Library::load(&store)?.insights_in(&view, guests.kinds(), &context.config.patterns, context.now).patterns;
        let handover = export::handover(&store, &part, patterns, context.now)?;
        let text = match self.format {
            Format::Markdown => handover.markdown(),
            Format::Json => serde_json::to_string_pretty(&handover)? + "\n",
        };
        match &self.output {
            None => ui::print(&text)?,
            Some(file) => {
                let file = std::path::absolute(file)?;
                files::write_report(&file, text.as_bytes())
                    .with_context(|| format!("could not write {}", file.display()))?;
                ui::say(&format!("Written to {}", file.display()));
            }
        }
        Ok(if handover.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}
