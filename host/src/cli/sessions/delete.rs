//! `sessions delete` and `undelete`.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::{
    clean::clean,
    cli::{Context, Outcome, Usage, ui, work},
    guests::Guests,
    store::{SessionRow, Store, WorkerLock},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall sessions delete s12 s13
  totalrecall sessions delete s12 --dry-run

What goes: everything that was said and done in it and in its sub-agents, copies of that in sessions that go on from it, its
signals, findings, reviews, tags, and snapshots that were saved by themselves. What stays: memories and chunks that were saved on
purpose (`forget` deletes them), and which transcripts these were, so that they are never read again, though they grow or are copied back.
The tool's own files are not touched. `sessions undelete` lets them be read again.")]
pub(super) struct Delete {
    /// The sessions
    #[arg(value_name = "REF", required = true)]
    sessions: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a path, the transcripts are listed that are not read because their sessions were deleted.
A path stands for its session, sub-agents included: all of it is read by the next `totalrecall worker`, as far as the files are still there."
)]
pub(super) struct Undelete {
    /// Transcripts
    paths: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Delete {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        let mut rows: Vec<SessionRow> = Vec::new();
        for asked in &self.sessions {
            let row = super::find(&store, asked)?;
            if !rows.iter().any(|known| known.id == row.id) {
                rows.push(row);
            }
        }
        if !self.json {
            for row in &rows {
                self.describe(&store, row)?;
            }
        }
        if self.dry_run {
            if self.json {
                let ids: Vec<String> = rows.iter().map(|row| format!("s{}", row.id.0)).collect();
                ui::print_json(&serde_json::json!({ "would_delete": ids }))?;
            }
            return Ok(Outcome::Done);
        }
        if !self.yes && !self.has_agreed(rows.len())? {
            ui::say("Nothing was deleted.");
            return Ok(Outcome::Done);
        }
        // A worker that is at it could be reading one of their transcripts.
        let _lock =
            WorkerLock::take(context.home.path()).context("nothing was deleted; try again when it has ended")?;
        let guests = Guests::load(&context.config, Some(&context.home))?;
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let (gone, is_clear) = work::pipeline(context, &guests)?.delete(&mut store, &ids)?;
        if self.json {
            ui::print_json(&gone)?;
        } else {
            let mut text = format!(
                "Deleted {} with {} and {}",
                ui::counted(rows.len() as u64, "session", "sessions"),
                ui::counted(gone.events, "event", "events"),
                ui::counted(gone.findings, "finding", "findings")
            );
            if gone.copies > 0 {
                text +=
                    &format!(", and {} in other sessions", ui::counted(gone.copies, "copy of them", "copies of them"));
            }
            ui::say(&format!(
                "{text}. {} left unread from now on; `totalrecall sessions undelete` lists and lifts that.",
                if gone.transcripts == 1 {
                    "Its transcript is".to_owned()
                } else {
                    format!("Their {} transcripts are", gone.transcripts)
                }
            ));
        }
        if !is_clear {
            ui::warn(
                "what was deleted may still stand in unused parts of the file, because another process uses the store or the \
                 disk is full: run `totalrecall retention run` when that is over",
            );
        }
        Ok(Outcome::Done)
    }

    fn describe(&self, store: &Store, row: &SessionRow) -> anyhow::Result<()> {
        let when = row.ended_at.map_or_else(|| "?".to_owned(), ui::local_time);
        ui::say(&format!(
            "{}, {}, {when}: {} messages, {} calls, {}",
            super::name(row),
            clean(&row.tool),
            row.messages,
            row.tool_calls,
            ui::counted(store.transcripts(row.id)?.len() as u64, "transcript", "transcripts")
        ));
        let (memories, chunks) = store.saved_in(&row.native_id)?;
        if memories + chunks > 0 {
            ui::say(&format!(
                "  {} and {} were saved in it; what was saved on purpose stays",
                ui::counted(memories, "memory", "memories"),
                ui::counted(chunks, "chunk", "chunks")
            ));
        }
        Ok(())
    }

    fn has_agreed(&self, count: usize) -> anyhow::Result<bool> {
        if self.json || !io::stdin().is_terminal() {
            return Err(Usage("deleting cannot be undone: say --yes, or run it in a terminal".to_owned()).into());
        }
        let what = if count == 1 { "this session" } else { "these sessions" };
        Ok(ui::ask(&format!("Delete {what} for good? [y/N] "))?)
    }
}

impl Undelete {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        if self.paths.is_empty() {
            let all = store.tombstones()?;
            if self.json {
                ui::print_json(&all)?;
            } else {
                let line = |it: &crate::store::Tombstone| {
                    let key = if it.key.is_empty() { String::new() } else { format!("  {}", ui::line(&it.key)) };
                    format!("{}  {}{key}\n", ui::local_time(it.at), ui::line(&it.path))
                };
                ui::print(&all.iter().map(line).collect::<String>())?;
            }
            return Ok(if all.is_empty() { Outcome::NothingFound } else { Outcome::Done });
        }
        let mut lifted = 0;
        for path in &self.paths {
            lifted += store.undelete(&ledger_name(path)?, context.now)?;
        }
        if self.json {
            ui::print_json(&serde_json::json!({ "lifted": lifted }))?;
        } else if lifted == 0 {
            ui::say("No session of these was deleted.");
        } else {
            let what = ui::counted(lifted, "transcript is", "transcripts are");
            ui::say(&format!("{what} read again by the next `totalrecall worker`"));
        }
        Ok(if lifted == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

/// A path as the ledger has it, also of a file that is gone.
fn ledger_name(path: &Path) -> anyhow::Result<String> {
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(_) => std::path::absolute(path)?,
    };
    Ok(path.to_string_lossy().into_owned())
}
