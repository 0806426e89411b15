//! `insights` and `patterns`: what has been learned.

use std::fmt::Write as _;

use super::{Context, Outcome, ui, work};
use crate::{
    clean::clean,
    guests::Guests,
    library::Library,
    pattern::Pattern,
    pipeline::Pipeline,
    store::{Store, StoreError},
};

/// Print insights.md
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall insights | less
  totalrecall insights --path     where the page lies")]
pub(super) struct Insights {
    /// Print the path of the page instead
    #[arg(long)]
    path: bool,
    /// Write the page anew from the store, without reading any transcript
    #[arg(long, conflicts_with = "path")]
    renew: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "path")]
    json: bool,
}

/// List the patterns of friction
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall patterns --recurring
  totalrecall patterns --kind tool-error --json | jq '.[].id'")]
pub(super) struct Patterns {
    /// Only those of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only those seen in more than one session
    #[arg(long)]
    recurring: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Insights {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let page = context.home.insights();
        if self.renew {
            let (guests, mut store) = (Guests::load(&context.config, Some(&context.home))?, work::open(context)?);
            Pipeline::new(&context.home, &context.config, &guests, context.now, &context.stop)?.renew(&mut store)?;
        }
        if self.json {
            let Some(library) = load(context)? else { return Ok(Outcome::NothingFound) };
            let kinds = Guests::load(&context.config, Some(&context.home))?.kinds().to_vec();
            ui::print_json(&library.insights(&kinds, &context.config.patterns, context.now))?;
            return Ok(Outcome::Done);
        }
        match std::fs::read_to_string(&page) {
            Ok(_) if self.path => ui::print(&format!("{}\n", page.display()))?,
            Ok(text) => ui::print(&text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                ui::say("There is no page yet. Run: totalrecall reconcile && totalrecall worker");
                return Ok(Outcome::NothingFound);
            }
            Err(error) => return Err(anyhow::anyhow!("could not read {}: {error}", page.display())),
        }
        Ok(Outcome::Done)
    }
}

impl Patterns {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(library) = load(context)? else { return Ok(Outcome::NothingFound) };
        let insights = library.insights(&[], &context.config.patterns, context.now);
        let matching: Vec<_> = insights
            .patterns
            .iter()
            .filter(|pattern| self.kind.as_ref().is_none_or(|kind| *kind == pattern.kind))
            .filter(|pattern| !self.recurring || pattern.recurs())
            .collect();
        let shown = &matching[..matching.len().min(self.limit)];
        if self.json {
            ui::print_json(&shown)?;
        } else {
            ui::print(&text(shown))?;
            if shown.len() < matching.len() {
                ui::say(&format!("{} of {} shown; --limit shows more", shown.len(), matching.len()));
            }
        }
        Ok(if shown.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn load(context: &Context) -> anyhow::Result<Option<Library>> {
    match Store::open_read_only(context.home.path()) {
        Ok(store) => Ok(Some(Library::load(&store)?)),
        Err(StoreError::Missing { .. }) => {
            ui::say("Nothing was read yet. Run: totalrecall reconcile && totalrecall worker");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn text(patterns: &[&Pattern]) -> String {
    let mut out = String::new();
    for pattern in patterns {
        let _ = writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{}{dim:#}",
            clean(&pattern.subject),
            clean(&pattern.id),
            bold = ui::BOLD,
            dim = ui::DIM
        );
        let _ = writeln!(
            out,
            "  {}, {}, last {}, strength {:.2}",
            pattern.kind,
            ui::counted(pattern.occurrences.into(), "session", "sessions"),
            ui::local_time(pattern.last_seen),
            pattern.strength
        );
    }
    out
}
