//! `patterns`: what came up, and what the person says about it.

mod decide;
mod show;
mod undo;

use std::fmt::Write as _;

pub(super) use decide::renew;

use super::{Context, Outcome, library, ui};
use crate::{clean::clean, pattern::Pattern};

/// The patterns of friction, and what you say about them
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Without a command, `list`. Wherever a pattern is meant, the beginning of its id is enough, and ids that it had before do.

Examples:
  totalrecall patterns --recurring
  totalrecall patterns --kind tool-error --json | jq '.[].id'
  totalrecall patterns show tool-error-edit
  totalrecall patterns merge correction-use-pnpm rule-violation-package-manager"
)]
pub(super) struct Patterns {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them, strongest first
    List(List),
    /// Print everything about one
    Show(show::Show),
    /// Say that they are the same: the others become the first one
    Merge(decide::Merge),
    /// Say that some of its sessions or subjects are another friction
    Split(decide::Split),
    /// Call it something; an empty title takes that back
    Rename(decide::Rename),
    /// Leave it out of the page and of proposals
    Mute(decide::Mute),
    /// Take it in again
    Unmute(decide::Unmute),
    /// List what was decided, or take it back
    Undo(undo::Undo),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only those of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only those seen in more than one session
    #[arg(long)]
    recurring: bool,
    /// Only those that are muted
    #[arg(long)]
    muted: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Patterns {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        match &self.command {
            None => self.list.run(context),
            Some(Command::List(command)) => command.run(context),
            Some(Command::Show(command)) => command.run(context),
            Some(Command::Merge(command)) => command.run(context),
            Some(Command::Split(command)) => command.run(context),
            Some(Command::Rename(command)) => command.run(context),
            Some(Command::Mute(command)) => command.run(context),
            Some(Command::Unmute(command)) => command.run(context),
            Some(Command::Undo(command)) => command.run(context),
        }
    }
}

impl List {
    fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(library) = library::load(context)? else { return Ok(Outcome::NothingFound) };
        let patterns = library.patterns(&context.config.patterns, context.now);
        let matching: Vec<_> = patterns
            .iter()
            .filter(|pattern| self.kind.as_ref().is_none_or(|kind| *kind == pattern.kind))
            .filter(|pattern| !self.recurring || pattern.recurs())
            .filter(|pattern| self.muted == pattern.muted)
            .collect();
        let shown = &matching[..matching.len().min(self.limit)];
        if self.json {
            context.print_json(&shown)?;
        } else {
            context.print(&text(shown))?;
            if shown.len() < matching.len() {
                ui::say(&format!("{} of {} shown; --limit shows more", shown.len(), matching.len()));
            }
        }
        Ok(if shown.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn text(patterns: &[&Pattern]) -> String {
    let mut out = String::new();
    for pattern in patterns {
        let _ = writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{}{dim:#}",
            clean(pattern.name()),
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
