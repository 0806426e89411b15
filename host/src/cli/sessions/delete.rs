//! `sessions delete` and `undelete`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal as _},
    path::Path,
};

use anyhow::Context as _;

use crate::{
    clean::clean,
    cli::{Context, Outcome, Usage, ui, work},
    guests::Guests,
    store::{SessionRow, Store, Tombstone, WorkerLock},
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
#[command(after_help = "Examples:
  totalrecall sessions undelete                          list what is not read because its session was deleted
  totalrecall sessions undelete opencode:ses_4f2a
  totalrecall sessions undelete ~/.claude/projects/app/3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl

A session is meant by its tool's id or the beginning of that, with or without `tool:` before it, or by a transcript's path or file name.
All of it is read by the next `totalrecall worker`, sub-agents included, as far as the tool still has it.")]
pub(super) struct Undelete {
    /// Sessions
    #[arg(value_name = "SESSION|PATH")]
    sessions: Vec<String>,
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
                describe(context, &store, row)?;
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
        let (gone, left) = work::pipeline(context, &guests)?.delete(&mut store, &ids)?;
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
        if left.in_indexes {
            work::tell_of_leftovers();
        }
        if left.in_file {
            ui::warn(
                "what was deleted may still stand in unused parts of the file, because another process uses the store or the \
                 disk is full: run `totalrecall retention run` when that is over",
            );
        }
        Ok(Outcome::Done)
    }

    fn has_agreed(&self, count: usize) -> anyhow::Result<bool> {
        if self.json || !io::stdin().is_terminal() {
            return Err(Usage("deleting cannot be undone: say --yes, or run it in a terminal".to_owned()).into());
        }
        let what = if count == 1 { "this session" } else { "these sessions" };
        Ok(ui::ask(&format!("Delete {what} for good? [y/N] "))?)
    }
}

fn describe(context: &Context, store: &Store, row: &SessionRow) -> anyhow::Result<()> {
    let when = row.ended_at.map_or_else(|| "?".to_owned(), ui::local_time);
    let text = format!(
        "{}, {}, {when}: {} messages, {} calls, {}",
        super::name(row),
        clean(&row.tool),
        row.messages,
        row.tool_calls,
        ui::counted(store.transcripts(row.id)?.len() as u64, "transcript", "transcripts")
    );
    ui::say(&context.shown_of(&serde_json::json!({ "id": format!("s{}", row.id.0) }), &text)?);
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

impl Undelete {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        let all = store.tombstones()?;
        if self.sessions.is_empty() {
            if self.json {
                context.print_json(&all)?;
            } else {
                let line = |it: &Tombstone| {
                    format!("{}  {}  {}\n", ui::local_time(it.at), ui::line(&name(it)), ui::line(&it.path))
                };
                context.print_of(&all, &all.iter().map(line).collect::<String>())?;
            }
            return Ok(if all.is_empty() { Outcome::NothingFound } else { Outcome::Done });
        }
        // All of them are known before any is let in.
        let mut meant = BTreeSet::new();
        for asked in &self.sessions {
            let found = matching(&all, asked);
            if found.len() > 1 {
                return Err(Usage(several(asked, &found)).into());
            }
            match found.values().next() {
                Some(one) => drop(meant.insert((one.tool.clone(), one.session.clone()))),
                None => ui::warn(&format!("no deleted session is called `{}`", ui::line(asked))),
            }
        }
        let mut lifted = 0;
        for (tool, session) in &meant {
            lifted += store.undelete(tool, session, context.now)?;
        }
        if self.json {
            ui::print_json(&serde_json::json!({ "lifted": lifted }))?;
        } else if lifted > 0 {
            let what = ui::counted(lifted, "transcript is", "transcripts are");
            ui::say(&format!("{what} read again by the next `totalrecall worker`"));
        }
        Ok(if lifted == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

/// Fewest characters of an id that stand for all of it.
const BEGINNING: usize = 4;

/// A deleted session as it is called: `opencode:ses_4f2a`.
fn name(tombstone: &Tombstone) -> String {
    format!("{}:{}", tombstone.tool, tombstone.session)
}

/// The deleted sessions that are called so, by name.
fn matching<'a>(all: &'a [Tombstone], asked: &str) -> BTreeMap<String, &'a Tombstone> {
    let path = ledger_name(Path::new(asked));
    let is_it = |it: &Tombstone| {
        path.as_ref().is_ok_and(|path| it.path == *path)
            || it.session == asked
            || name(it) == asked
            || Path::new(&it.path).file_name().is_some_and(|file| file == asked)
    };
    let begins_so = |it: &Tombstone| {
        asked.chars().count() >= BEGINNING && (it.session.starts_with(asked) || name(it).starts_with(asked))
    };
    let find = |is_it: &dyn Fn(&Tombstone) -> bool| -> BTreeMap<String, &'a Tombstone> {
        all.iter().filter(|it| is_it(it)).map(|it| (name(it), it)).collect()
    };
    let found = find(&is_it);
    if found.is_empty() { find(&begins_so) } else { found }
}

/// Sessions that are named of those that could be meant.
const NAMED: usize = 10;

fn several(asked: &str, found: &BTreeMap<String, &Tombstone>) -> String {
    let line = |(name, it): (&String, &&Tombstone)| format!("{} (deleted {})", ui::line(name), ui::local_time(it.at));
    let mut named: Vec<String> = found.iter().take(NAMED).map(line).collect();
    if found.len() > NAMED {
        named.push(format!("and {} more", found.len() - NAMED));
    }
    format!("several deleted sessions are meant by `{}`: {}", ui::line(asked), named.join(", "))
}

/// A path as the ledger has it, also of a file that is gone.
fn ledger_name(path: &Path) -> io::Result<String> {
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(_) => std::path::absolute(path)?,
    };
    Ok(path.to_string_lossy().into_owned())
}
