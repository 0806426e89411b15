//! `inject`: what agents are told of earlier sessions, prepared for hooks, or shown.

use std::{fmt::Write as _, path::PathBuf};

use anyhow::Context as _;

use super::{
    Context, Outcome,
    library::store,
    ui::{self, BOLD, DIM},
};
use crate::{
    inject::{self, Injection, Item},
    pipeline::PipelineError,
    project,
    store::Store,
};

/// Prepare what agents are told of earlier sessions when one begins, or show it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall inject                               prepare it now; the worker does so whenever it has read something
  totalrecall inject --dry-run                     show what a session in this folder would be told, and why
  totalrecall inject --dry-run --project billing   in a project of this name
  totalrecall inject --dry-run --json

`[inject]` in the configuration has the budget and the switch. docs/memory-in-sessions.md says what is told, and in which order.")]
pub(super) struct Inject {
    /// Write nothing: show what would be told, why, and what was left out
    #[arg(long)]
    dry_run: bool,
    /// In this project: a folder of it or what its folder is called; otherwise that of the current folder
    #[arg(long, value_name = "DIR|NAME", requires = "dry_run")]
    project: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Inject {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = store(context)? else { return Ok(Outcome::NothingFound) };
        if !self.dry_run {
            return self.prepare(context, &store);
        }
        let folder = self.folder(&store)?;
        let injection = inject::preview(&context.home, &store, &context.config, &folder, context.now)
            .map_err(PipelineError::from)?;
        if self.json {
            ui::print_json(&injection)?;
        } else {
            ui::print(&text(&injection))?;
        }
        if !context.config.inject.session {
            ui::say(
                "It is switched off: `session` in `[inject]` of the configuration, or the plugin's option session_memory.",
            );
        }
        Ok(if injection.text.is_none() { Outcome::NothingFound } else { Outcome::Done })
    }

    fn prepare(&self, context: &Context, store: &Store) -> anyhow::Result<Outcome> {
        let renewed =
            inject::renew(&context.home, store, &context.config, None, context.now).map_err(PipelineError::from)?;
        if self.json {
            ui::print_json(&renewed)?;
        } else if context.config.inject.session {
            let projects = ui::counted(renewed.projects as u64, "project", "projects");
            ui::say(&format!("Prepared for {projects}. `totalrecall inject --dry-run` shows it for one."));
        } else {
            ui::say("It is switched off, and what was prepared is gone.");
        }
        Ok(Outcome::Done)
    }

    /// The folder that is meant. One of which nothing is known is as good: then it is shown what is told everywhere.
    fn folder(&self, store: &Store) -> anyhow::Result<PathBuf> {
        let here = std::env::current_dir().context("the current folder is gone; go to another one")?;
        let Some(asked) = &self.project else { return Ok(here) };
        let folder = here.join(asked);
        if folder.is_dir() {
            return Ok(folder);
        }
        let known = store.sessions()?.into_iter().filter_map(|row| row.project).collect();
        Ok(project::find(Some(asked), &here, &known)?.path.into())
    }
}

fn text(injection: &Injection) -> String {
    let mut text = String::new();
    match &injection.text {
        Some(told) => {
            let _ = writeln!(text, "{told}\n");
        }
        None => text += "A session that begins here would be told nothing.\n\n",
    }
    let project = injection.project.as_deref().map_or_else(|| "no project".to_owned(), ui::line);
    let _ = writeln!(text, "{BOLD}{} of {} tokens, {project}{BOLD:#}", injection.tokens, injection.budget);
    for (heading, items) in [("told", &injection.told), ("left out: no room", &injection.left_out)] {
        if !items.is_empty() {
            let _ = writeln!(text, "\n{heading}\n{DIM}{:>5} {:>6}  source and why{DIM:#}", "rank", "tokens");
            items.iter().for_each(|item| line(&mut text, item));
        }
    }
    text
}

fn line(text: &mut String, item: &Item) {
    let _ = writeln!(text, "{:>5} {:>6}  {}: {}", item.rank, item.tokens, ui::line(&item.source), ui::line(&item.why));
}
