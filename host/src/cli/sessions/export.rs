//! `sessions export`: what was said in one.

use crate::{
    cli::{Context, Outcome, export::Format, library},
    export,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  totalrecall sessions export s12 > session.md

Secrets were taken out before it was stored. JSON has every event; Markdown has the beginning and end of long results.")]
pub(super) struct Export {
    /// The session
    #[arg(value_name = "REF")]
    session: String,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Export {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        let row = super::find(&store, &self.session)?;
        let conversation = export::conversation(&store, &row)?;
        match self.format {
            Format::Markdown => context.print_of(&conversation, &conversation.markdown())?,
            Format::Json => context.print_json(&conversation)?,
        }
        drop(store);
        super::show::note(context, &row);
        Ok(Outcome::Done)
    }
}
