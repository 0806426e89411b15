//! `totalrecall chunk`: parts of conversations that are saved on purpose.

use std::{fmt::Write as _, io::Read as _, path::PathBuf};

use super::{
    Context, Outcome, Usage, place,
    remember::{self, input, text},
    ui, work,
};
use crate::{
    chunk::{self, CONTENT_LIMIT, Chunk, NewChunk, Sort},
    store::{Origin, Store, StoreError},
};

/// Texts that are saved on purpose: what a session did, how something was tracked down
#[derive(Debug, clap::Args)]
pub(super) struct Chunks {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Save a text
    Save(Save),
    /// List what is saved, the newest first
    List(List),
    /// Print a saved text, or some of its lines
    Show(Show),
}

/// Save a text
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall chunk save notes.md --summary 'How the rounding error was found' --kind debug --project
  pbpaste | totalrecall chunk save - --tags review

A text that is saved already, apart from case and blanks, is not saved twice. Secrets are taken out before it is kept.")]
struct Save {
    /// The text; `-`: standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// One line about it [default: its first line]
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// What sort of text it is
    #[arg(long, value_name = "SORT", default_value = "session", value_enum)]
    kind: Sort,
    /// Words to find it by, separated by commas
    #[arg(long, value_name = "WORD,…")]
    tags: Vec<String>,
    /// It is of one project: the one DIR is in; without a value, the current one
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    project: Option<Option<String>>,
    /// The session it is of, by the id that its tool gave it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The issue it belongs to
    #[arg(long, value_name = "NAME")]
    ticket: Option<String>,
    /// The field of the project it is about
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// List what is saved, the newest first
#[derive(Debug, clap::Args)]
struct List {
    /// Only of one project: a folder or a name; without a value, the current folder's
    #[arg(long, value_name = "DIR|NAME", num_args = 0..=1, require_equals = true)]
    project: Option<Option<String>>,
    /// Only with this tag
    #[arg(long, value_name = "WORD")]
    tag: Option<String>,
    /// Most that are listed
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Print a saved text, or some of its lines
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall chunk show 2026-11-30_ledger_001
  totalrecall chunk show 2026-11-30_ledger_001 --lines 40-80")]
struct Show {
    /// Its id
    id: String,
    /// Only these lines, counted from 1: `40-80`, `40-` or `40`
    #[arg(long, value_name = "FROM-TO")]
    lines: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Chunks {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        match &self.command {
            Command::Save(command) => command.run(context),
            Command::List(command) => command.run(context),
            Command::Show(command) => command.run(context),
        }
    }
}

/// None: there is no store, which has been said.
fn open(context: &Context) -> anyhow::Result<Option<Store>> {
    match Store::open_read_only(context.home.path()) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing { .. }) => {
            ui::say("Nothing is saved yet. `totalrecall chunk save FILE` saves a text.");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl Save {
    fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let content = if self.file.as_os_str() == "-" {
            input(CONTENT_LIMIT)?
        } else {
            let name = ui::line(&self.file.to_string_lossy());
            let read = |file: std::fs::File| {
                let mut bytes = Vec::new();
                file.take(CONTENT_LIMIT as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
            };
            let bytes = std::fs::File::open(&self.file).and_then(read);
            text(bytes.map_err(|error| anyhow::anyhow!("could not read {name}: {error}"))?, &name)?
        };
        let new = NewChunk {
            content,
            summary: self.summary.clone().unwrap_or_default(),
            sort: self.kind,
            tags: self.tags.clone(),
            project: place::to_keep(self.project.as_ref())?,
            session: self.session.clone(),
            domain: self.domain.clone(),
            ticket: self.ticket.clone(),
            created_at: None,
            origin: None,
        };
        let mut store = work::open(context)?;
        let saved = chunk::save(&mut store, &context.config.redactor(), new, context.now)?;
        store.finish()?;
        remember::follow(context, &store, self.session.as_deref().filter(|_| !saved.known));
        if self.json {
            context.print_json(&saved)?;
            return Ok(Outcome::Done);
        }
        let (id, tokens) = (ui::line(&saved.chunk.id), saved.chunk.tokens);
        let text = if saved.known {
            format!("{id} has this text already: {}\n", ui::line(&saved.chunk.summary))
        } else {
            format!("Saved as {id} (about {tokens} tokens).\n")
        };
        context.print_of(&saved, &text)?;
        if saved.redacted > 0 {
            ui::say(&format!("{} taken out.", ui::counted(saved.redacted, "secret was", "secrets were")));
        }
        Ok(Outcome::Done)
    }
}

impl List {
    fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = open(context)? else { return Ok(Outcome::NothingFound) };
        let project = place::to_find(self.project.as_ref(), &store)?;
        let mut chunks = store.chunks()?;
        chunks.retain(|chunk| {
            let filed = |project: &_| {
                chunk.project.as_ref().is_some_and(|folder| crate::memory::recall::is_of(folder, project))
            };
            project.as_ref().is_none_or(filed) && self.tag.as_ref().is_none_or(|tag| chunk.tags.contains(tag))
        });
        let total = chunks.len();
        chunks.truncate(self.limit);
        if self.json {
            context.print_json(&serde_json::json!({ "total": total, "chunks": chunks }))?;
        } else if total > 0 {
            context.print_of(&chunks, &listed(&chunks, total))?;
        }
        if total == 0 {
            ui::say("No chunk is like that.");
        }
        Ok(if total == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn listed(chunks: &[Chunk], total: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{bold}{}{bold:#}", ui::counted(total as u64, "chunk", "chunks"), bold = ui::BOLD);
    if chunks.len() < total {
        let _ =
            writeln!(out, "{warn}showing {} of {total}: use --limit {total}{warn:#}", chunks.len(), warn = ui::WARN);
    }
    for chunk in chunks {
        let _ = write!(
            out,
            "\n{bold}{}{bold:#}  {}, about {} tokens",
            ui::line(&chunk.id),
            chunk.kind.name(),
            chunk.tokens,
            bold = ui::BOLD
        );
        for tag in &chunk.tags {
            let _ = write!(out, ", #{}", ui::line(tag));
        }
        let archived = if chunk.archived { "archived: " } else { "" };
        let _ = writeln!(out, "\n  {archived}{}", ui::line(&chunk.summary));
    }
    out
}

impl Show {
    fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let lines = self.lines.as_deref().map(range).transpose()?;
        let Some(store) = open(context)? else { return Ok(Outcome::NothingFound) };
        let Some(chunk) = store.chunk(&self.id)? else {
            ui::say(&format!("There is no chunk {}. `totalrecall chunk list` lists them.", ui::line(&self.id)));
            return Ok(Outcome::NothingFound);
        };
        // Before it is cut into lines: a key has several.
        let content = store.kept_chunk_text(chunk.row)?.map(|text| context.shown(&text));
        let all: Vec<&str> = content.as_deref().map(|text| text.lines().collect()).unwrap_or_default();
        let (from, to) = lines.unwrap_or((1, all.len().max(1)));
        let to = to.min(all.len());
        let shown = all.get(from - 1..to).unwrap_or_default();
        if self.json {
            let mut value = serde_json::to_value(&chunk)?;
            value["lines"] = all.len().into();
            value["from"] = from.into();
            value["to"] = to.into();
            value["content"] = content.is_some().then(|| shown.join("\n")).into();
            context.print_json(&value)?;
        }
        if chunk.archived {
            ui::say(&format!(
                "It is archived, in no index: `totalrecall restore {}` brings it back.",
                ui::line(&chunk.id)
            ));
        }
        if !self.json {
            if shown.is_empty() {
                ui::say(&format!("It has {}.", ui::counted(all.len() as u64, "line", "lines")));
                return Ok(Outcome::NothingFound);
            }
            if shown.len() < all.len() {
                ui::say(&format!("lines {from}-{to} of {}", all.len()));
            }
            let mut out = String::new();
            for line in shown {
                let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
                let _ = writeln!(out, "{}{}", &line[..indent], ui::line(line));
            }
            ui::print(&out)?;
        }
        // A look keeps it from being archived for a while. Where that cannot be noted it can be looked at all the same.
        if let Ok(mut writing) = Store::open(context.home.path()) {
            drop(writing.note_access(Origin::Chunk, chunk.row, context.now));
        }
        Ok(Outcome::Done)
    }
}

/// `40-80`, `40-` or `40`.
fn range(text: &str) -> Result<(usize, usize), Usage> {
    let wrong = || Usage(format!("`{}` are no lines: write 40-80, 40- or 40, counted from 1", ui::line(text)));
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let (from, to) = match text.split_once('-') {
        None => (number(text), number(text)),
        Some((from, "")) => (number(from), Some(usize::MAX)),
        Some((from, to)) => (number(from), number(to)),
    };
    match (from, to) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err(wrong()),
    }
}
