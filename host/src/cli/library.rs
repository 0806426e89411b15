//! `insights`: what has been learned.

use super::{Context, Outcome, ui, work};
use crate::{
    guests::Guests,
    library::Library,
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

pub(super) fn load(context: &Context) -> anyhow::Result<Option<Library>> {
    match Store::open_read_only(context.home.path()) {
        Ok(store) => Ok(Some(Library::load(&store)?)),
        Err(StoreError::Missing { .. }) => {
            ui::say("Nothing was read yet. Run: totalrecall reconcile && totalrecall worker");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
