//! `totalrecall secrets scan`: what is stored and would not be stored today.

use std::fmt::Write as _;

use anyhow::Context as _;

use super::{Context, Outcome, patterns, ui, work};
use crate::{
    inject, leftovers,
    secrets::{self, Scan},
    store::{Store, StoreError},
};

/// Places of one kind that are shown; --json has more.
const SHOWN: usize = 8;

/// Look through what is stored for secrets
#[derive(Debug, clap::Args)]
pub(super) struct Secrets {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show where secrets are stored, and what you named in [privacy] since; never they themselves
    Scan(ScanCommand),
}

/// Show where secrets are stored, and what you named in [privacy] since; never they themselves
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall secrets scan
  totalrecall secrets scan --fix          take them out, after asking

Secrets are taken out before anything is stored. This finds what a newer version, or a change of
[privacy] in the settings, would take out as well. --fix replaces it by a marker in events, titles,
findings, memories and chunks, overwrites the database file where it stood, writes insights.md and
what sessions are told anew, and removes the indexes, which the next worker makes anew. What was
archived is looked at, too, and comes back where something was taken out. Transcripts of your tools,
rules and pages that were written elsewhere stay as they are.")]
struct ScanCommand {
    /// Take out what is found
    #[arg(long)]
    fix: bool,
    /// Do not ask before that
    #[arg(long, short, requires = "fix")]
    yes: bool,
    /// Print JSON; takes nothing out without --yes
    #[arg(long)]
    json: bool,
}

impl Secrets {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Command::Scan(command) = &self.command;
        command.run(context)
    }
}

impl ScanCommand {
    fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let redactor = context.config.redactor();
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => {
                ui::say("Nothing is stored yet.");
                return Ok(Outcome::NothingFound);
            }
            Err(error) => return Err(error.into()),
        };
        let mut scan = secrets::scan(&store, &redactor)?;
        let is_stale = secrets::is_stale(&store, &redactor.fingerprint())?;
        drop(store);
        if !self.json {
            ui::print(&text(&scan))?;
        }
        let total = scan.total();
        if total == 0 {
            // So that `status` need not ask for this any more. A home that cannot be written to is asked again.
            if is_stale && let Ok(mut store) = Store::open(context.home.path()) {
                secrets::note_clean(&mut store, &redactor)?;
            }
        } else if self.fix {
            let question = format!(
                "Take out {}, for good? [y/N] ",
                if total == 1 { "this".to_owned() } else { format!("these {total}") }
            );
            if self.yes || (!self.json && ui::ask(&question)?) {
                let Some(_lock) = work::lock(context, false)? else {
                    anyhow::bail!("a worker is at it; try again when it has ended");
                };
                let mut store = work::open(context)?;
                scan = secrets::fix(&mut store, &redactor)?;
                clear(context, &mut store)?;
                store.finish()?;
            }
        }
        if self.json {
            ui::print_json(&scan)?;
        }
        ui::say(&match (total, scan.fixed) {
            (0, _) => "Nothing is stored that would not be stored today.".to_owned(),
            (_, true) => {
                format!("{} taken out. `totalrecall reindex` makes the indexes anew.", ui::counted(total, "is", "are"))
            }
            (_, false) if self.fix => "Nothing was taken out.".to_owned(),
            (_, false) => "`totalrecall secrets scan --fix` takes them out.".to_owned(),
        });
        Ok(Outcome::Done)
    }
}

/// Takes it out of what was made of the store, too.
fn clear(context: &Context, store: &mut Store) -> anyhow::Result<()> {
    // Their files hold words for a while after they are told to forget them.
    leftovers::remove(&context.home, store)?;
    inject::drop_snapshots(&context.home).context("could not drop what was prepared for compacted conversations")?;
    inject::renew(&context.home, store, &context.config, None, context.now)?;
    // It was made for one look.
    let page = context.home.insights_html();
    if let Err(error) = std::fs::remove_file(&page)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(error).with_context(|| format!("could not remove {}", page.display()));
    }
    patterns::renew(context, store)
}

fn text(scan: &Scan) -> String {
    let mut out = String::new();
    let texts = ui::counted(scan.texts, "text", "texts");
    let _ = writeln!(out, "{bold}{} found in {texts}{bold:#}", scan.total(), bold = ui::BOLD);
    for (kind, found) in &scan.found {
        let places: Vec<String> = found.places.iter().take(SHOWN).map(|place| ui::line(place)).collect();
        let more = if found.places.len() > SHOWN { ", …" } else { "" };
        let _ = writeln!(
            out,
            "{kind:<20} {} in {}: {}{more}",
            found.count,
            ui::counted(found.texts, "text", "texts"),
            places.join(", ")
        );
    }
    out
}
