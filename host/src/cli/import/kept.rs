//! `totalrecall import rlm`, `claude-mem` and `json`: memories and chunks.

use std::{fmt::Write as _, path::PathBuf};

use super::{Context, Outcome, list, matter, ui, work};
use crate::{
    import::{self, Counts, Kept, Source},
    store::{Store, StoreError},
};

/// What to take over, and how.
#[derive(Debug, clap::Args)]
pub(super) struct What {
    /// Where it is
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Write nothing, only say what would be taken over
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl What {
    pub(super) fn run(&self, source: Source, context: &Context) -> anyhow::Result<Outcome> {
        let redactor = context.config.redactor();
        // Before the store is opened: for what cannot be read, none is made.
        let read = import::read(source, &self.path)?;
        let kept = if self.dry_run {
            match Store::open_read_only(context.home.path()) {
                Ok(store) => read.rehearse(Some(&store), &redactor, context.now)?,
                Err(StoreError::Missing { .. }) => read.rehearse(None, &redactor, context.now)?,
                Err(error) => return Err(error.into()),
            }
        } else {
            let mut store = work::open(context)?;
            let kept = read.run(&mut store, &redactor, context.now)?;
            store.finish()?;
            kept
        };
        if self.json {
            let mut value = serde_json::to_value(&kept)?;
            value["dry_run"] = self.dry_run.into();
            ui::print_json(&value)?;
        } else {
            ui::print(&text(&kept))?;
            let changed = [kept.memories, kept.chunks].iter().map(|it| it.new + it.changed).sum::<usize>();
            ui::say(match (self.dry_run, changed) {
                (true, _) => "Nothing was written: --dry-run.",
                (false, 0) => "Nothing new was taken over.",
                (false, _) => "Kept. `totalrecall recall` and `totalrecall chunk list` show it.",
            });
        }
        Ok(if kept.memories.found + kept.chunks.found == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn text(kept: &Kept) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{bold}{}{bold:#}", ui::line(&kept.folder), bold = ui::BOLD);
    let _ = writeln!(out, "memories     {}", counts(&kept.memories));
    let _ = writeln!(out, "chunks       {}", counts(&kept.chunks));
    if kept.redacted > 0 {
        let _ = writeln!(out, "secrets      {} taken out", kept.redacted);
    }
    list(&mut out, "Notes", kept.notes.iter().map(matter));
    list(&mut out, "Not taken over", kept.skipped.iter().map(matter));
    out
}

fn counts(counts: &Counts) -> String {
    let mut text = format!("{}: {} new", counts.found, counts.new);
    for (count, what) in [
        (counts.changed, "changed there since"),
        (counts.known, "known already"),
        (counts.forgotten, "forgotten here, and left so"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
}
