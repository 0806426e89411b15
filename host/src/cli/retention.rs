//! `retention` and `restore`: what is put away and thrown away, and back.

use std::fmt::Write as _;

use super::{Context, Outcome, Usage, library, ui, work};
use crate::{
    retention::{self, Candidate, Done, Plan, Reason, RestoreError, Retention as Keeper, What},
    store::WorkerLock,
};

/// Candidates shown of each sort; the rest is counted.
const SHOWN: usize = 10;

/// Put away what is old, throw away what was put away long ago
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall retention preview
  totalrecall retention run
  totalrecall retention run --archive --purge

What is old (sessions: a year, chunks: 30 days) and was not looked at is compressed and leaves the search by words; its title, tags and summary
are still found, what was learned from it stays, and `totalrecall restore` brings it back. This happens by itself once a day.
Nothing is thrown away because of its age unless you say so; the size of the store is kept under `retention.store-bytes`.
docs/retention.md has the rules.")]
pub(super) struct Retention {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say what a run would do
    Preview(Options),
    /// Do it
    Run(Options),
}

#[derive(Debug, clap::Args)]
struct Options {
    /// Only put away, unless --purge is said, too
    #[arg(long)]
    archive: bool,
    /// Throw away for good what was put away long ago
    #[arg(long)]
    purge: bool,
    /// Print JSON, with every candidate
    #[arg(long)]
    json: bool,
}

/// Bring a session or chunk back that was put away
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall restore s12
  totalrecall restore 2026-08-03_ledger_001")]
pub(super) struct Restore {
    /// A session or a chunk
    #[arg(value_name = "REF")]
    what: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    /// Without a word, that what is old is put away.
    fn what(&self) -> What {
        What { archive: self.archive || !self.purge, purge: self.purge }
    }
}

impl Retention {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let keeper = Keeper::new(&context.config.retention, context.now);
        match &self.command {
            Command::Preview(options) => {
                let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
                let plan = keeper.plan(&store, options.what())?;
                if options.json {
                    context.print_json(&plan)?;
                } else {
                    context.print_of(&plan, &text(&plan))?;
                }
                Ok(if plan.archive.is_empty() && plan.purge.is_empty() { Outcome::NothingFound } else { Outcome::Done })
            }
            Command::Run(options) => {
                context.stop_on_ctrl_c();
                let mut store = work::open(context)?;
                let lock = WorkerLock::take(context.home.path())?;
                let done = keeper.run(&mut store, options.what(), None, &context.stop)?;
                store.finish()?;
                if options.json {
                    ui::print_json(&done)?;
                }
                tell(&done, options.json);
                drop(lock);
                if done.purged > 0 {
                    work::take_out_of_indexes(context, &mut store);
                }
                anyhow::ensure!(!done.unfinished, "interrupted: run it again to go on");
                Ok(if done.archived + done.purged == 0 { Outcome::NothingFound } else { Outcome::Done })
            }
        }
    }
}

fn tell(done: &Done, quiet: bool) {
    if done.over > 0 {
        ui::warn(&format!(
            "the store is still {} over `retention.store-bytes`: what is left is kept on purpose, or of today",
            ui::bytes(done.over)
        ));
    }
    if done.loose {
        ui::warn("another process was writing: the file is made smaller by the next run");
    }
    if !quiet {
        ui::say(&format!(
            "{} put away, {} thrown away; the store has {}, it had {}",
            done.archived,
            done.purged,
            ui::bytes(done.after),
            ui::bytes(done.before)
        ));
    }
}

fn text(plan: &Plan) -> String {
    let mut text = String::new();
    let cap = plan.cap.map_or_else(|| "no limit".to_owned(), ui::bytes);
    let _ = writeln!(text, "store        {} used, at most {cap}", ui::bytes(plan.used));
    for (list, what) in [(&plan.archive, "put away"), (&plan.purge, "thrown away")] {
        let bytes: u64 = list.iter().map(|it| it.bytes).sum();
        let _ = writeln!(text, "{what:<12} {} ({})", list.len(), ui::bytes(bytes));
        for candidate in list.iter().take(SHOWN) {
            let _ = writeln!(text, "             {}", line(candidate));
        }
        if list.len() > SHOWN {
            let _ = writeln!(text, "             and {} more: --json lists them", list.len() - SHOWN);
        }
    }
    let _ = writeln!(text, "kept         {} marked as important, {} looked at lately", plan.immune, plan.looked_at);
    text
}

fn line(candidate: &Candidate) -> String {
    let reason = match candidate.reason {
        Reason::Age => "old",
        Reason::Size => "for room",
    };
    format!(
        "{} {} {} ({}, {reason})",
        ui::line(&candidate.id),
        ui::local_time(candidate.at),
        ui::line(&candidate.title),
        ui::bytes(candidate.bytes)
    )
}

impl Restore {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        let (name, restored) =
            retention::restore(&mut store, &self.what, context.now).map_err(|error| match error {
                RestoreError::Store(error) => anyhow::Error::from(error),
                error @ RestoreError::Purged { .. } => error.into(),
                error @ RestoreError::Unknown(_) => Usage(error.to_string()).into(),
            })?;
        if self.json {
            ui::print_json(&serde_json::json!({ "id": name, "restored": restored }))?;
        } else if restored {
            ui::say(&format!("{name} is back"));
        } else {
            ui::say(&format!("{name} was not put away"));
        }
        Ok(Outcome::Done)
    }
}
