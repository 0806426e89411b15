//! `unsaved`: sessions that changed much and kept nothing.

use std::fmt::Write as _;

use anyhow::Context as _;

use super::{
    Context, Outcome, Usage,
    library::store,
    ui::{self, BOLD, DIM},
    work,
};
use crate::{
    inject,
    pipeline::PipelineError,
    project,
    unsaved::{self, AcknowledgeError},
};

/// List sessions that changed much and kept nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall unsaved
  totalrecall unsaved --project                 only of the project of this folder
  totalrecall unsaved --max 20 --json
  totalrecall unsaved --ack s12 \"tried out, thrown away\"

A session is listed if it changed files more than 5 times or ran a program such as ssh, scp, psql or terraform, was not gone on with for
2 hours, and neither a memory nor a chunk of it was saved. Of what it ran only the names of such programs are shown. `[unsaved]` in the
configuration has the figures.")]
pub(super) struct Unsaved {
    /// Say why nothing need be kept of a session: it is not listed any more, unless it is gone on with
    #[arg(long, num_args = 2, value_names = ["SESSION", "REASON"], conflicts_with_all = ["project", "max"])]
    ack: Option<Vec<String>>,
    /// Only one project: a folder of it or what its folder is called; without a value, that of the current folder
    #[arg(long, value_name = "DIR|NAME", num_args = 0..=1)]
    project: Option<Option<String>>,
    /// Most sessions to list; how many there are is told
    #[arg(long, value_name = "N", default_value_t = 5)]
    max: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Unsaved {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = store(context)? else { return Ok(Outcome::NothingFound) };
        if let Some([session, reason]) = self.ack.as_deref() {
            drop(store);
            return self.acknowledge(context, session, reason);
        }
        let project = match &self.project {
            None => None,
            Some(asked) => {
                let here = std::env::current_dir().context("the current folder is gone; go to another one")?;
                let known = store.sessions()?.into_iter().filter_map(|row| row.project).collect();
                Some(project::find(asked.as_deref(), &here, &known)?)
            }
        };
        let mut found = unsaved::list(&store, &context.config.unsaved, project.as_ref(), context.now)?;
        let total = found.len();
        found.truncate(self.max);
        if self.json {
            context.print_json(&serde_json::json!({ "total": total, "unsaved": found }))?;
        } else if total == 0 {
            ui::say("Of every session that changed much something was saved, or it was acknowledged.");
        } else {
            context.print_of(&found, &text(&found, total))?;
        }
        Ok(if total == 0 { Outcome::NothingFound } else { Outcome::Done })
    }

    fn acknowledge(&self, context: &Context, session: &str, reason: &str) -> anyhow::Result<Outcome> {
        let redactor = context.config.redactor();
        let mut store = work::open(context)?;
        let acknowledged =
            unsaved::acknowledge(&mut store, &redactor, session, reason, context.now).map_err(|error| match error {
                AcknowledgeError::Store(error) => error.into(),
                other => anyhow::Error::from(Usage(other.to_string())),
            })?;
        // What was prepared tells of it still.
        inject::renew(&context.home, &store, &context.config, None, context.now).map_err(PipelineError::from)?;
        if self.json {
            ui::print_json(&serde_json::json!({ "acknowledged": acknowledged }))?;
        } else {
            ui::say(&format!("Nothing need be kept of {acknowledged}: it is not listed any more."));
        }
        Ok(Outcome::Done)
    }
}

fn text(found: &[unsaved::Unsaved], total: usize) -> String {
    let mut text = String::new();
    for it in found {
        let title = it.title.as_deref().map_or_else(String::new, |title| format!("  {}", ui::line(title)));
        let _ = writeln!(
            text,
            "{BOLD}{}{BOLD:#}  {}  {}{title}",
            it.reference,
            ui::local_time(it.ended_at),
            ui::line(&it.tool)
        );
        let mut facts = Vec::new();
        if it.edits > 0 {
            let folders: Vec<_> = it.folders.iter().map(|folder| ui::line(folder)).collect();
            facts.push(format!(
                "{} of {} in {}",
                ui::counted(it.edits, "edit", "edits"),
                ui::counted(it.files, "file", "files"),
                folders.join(", ")
            ));
        }
        if !it.programs.is_empty() {
            facts.push(format!("ran {}", ui::line(&it.programs.join(", "))));
        }
        facts.extend(it.project.as_deref().map(|project| format!("project {}", ui::line(project))));
        let _ = writeln!(text, "    {}", facts.join("; "));
        if let Some(path) = &it.transcript {
            let when = it
                .deleted_at
                .map_or_else(String::new, |at| format!(", deleted by its tool after {}", ui::local_time(at)));
            let _ = writeln!(text, "    {DIM}{}{when}{DIM:#}", ui::line(path));
        }
    }
    if total > found.len() {
        let _ = writeln!(text, "{} of {total} shown; --max shows more.", found.len());
    }
    let _ = writeln!(text, "Keep what should outlast them, or: totalrecall unsaved --ack {} \"why not\"", first(found));
    text
}

fn first(found: &[unsaved::Unsaved]) -> String {
    found.first().map_or_else(|| "SESSION".to_owned(), |it| it.reference.to_string())
}
