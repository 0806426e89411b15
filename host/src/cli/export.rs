//! `export`: what is known of a project, for whoever goes on with it.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Context, Outcome, library, search, sessions::Chosen, ui};
use crate::{
    export::{self, Handover, Part},
    files,
    guests::Guests,
    library::Library,
    pattern::View,
    search::{Filter, Request},
    store::Store,
};

/// Most hits of a search that are handed over.
const HITS: usize = 50;

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
  totalrecall export --query 'retry limit' --project     what search finds about it, with where it was said
  totalrecall export --format json --output backup.json  memories, chunks and sessions

Markdown has decisions, open todos, sessions with what they did, files changed, and friction that still comes up. JSON has all
memories and chunks with their texts; sessions in short (`sessions export` has what was said in one). With --query it is what `search`
finds: passages, and the memories, chunks and sessions that they are of; nothing where nothing relevant was found.")]
pub(super) struct Export {
    #[command(flatten)]
    chosen: Chosen,
    /// Only what is about these words
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
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
        let handover = match &self.query {
            Some(query) => about(context, &store, &part, query)?,
            None => whole(context, &store, &part)?,
        };
        let text = match self.format {
            Format::Markdown => context.shown_of(&handover, &handover.markdown())?,
            Format::Json => context.shown_json(&handover)?,
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

fn whole(context: &Context, store: &Store, part: &Part) -> anyhow::Result<Handover> {
    let mut view = View { since: part.since, until: part.until, ..View::default() };
    if let Some(project) = &part.project {
        (view.project, view.folders) = (Some(project.path.clone()), project.folders.clone());
    }
    let guests = Guests::load(&context.config, Some(&context.home))?;
    let library = Library::load(store)?;
    let patterns = library.insights_in(&view, guests.kinds(), &context.config.patterns, context.now).patterns;
    Ok(export::handover(store, part, patterns, context.now)?)
}

fn about(context: &Context, store: &Store, part: &Part, query: &str) -> anyhow::Result<Handover> {
    let filter = Filter { project: part.project.clone(), since: part.since, until: part.until, ..Filter::default() };
    let request = Request { query: query.to_owned(), filter, limit: HITS };
    let answer = search::ask(context, store, &request)?;
    search::tell_of(context, &answer);
    let handover = export::about(store, part, query, answer, context.now)?;
    if handover.is_empty() {
        ui::say("Nothing relevant was found: what is handed over is empty.");
    }
    Ok(handover)
}
