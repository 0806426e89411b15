//! `sessions`: what was read, kept in order by the person.

mod change;
mod delete;
mod export;
mod show;

use std::fmt::Write as _;

use anyhow::Context as _;

use super::{Context, Outcome, Usage, library, ui};
use crate::{
    clean::clean,
    export::{self as handover, Digest, Part},
    period::{self, End},
    project,
    store::{NoSession, SessionRow, Store},
};

/// The sessions that were read: list, rename, tag, delete, export
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Without a command, `list`. Wherever a session is meant, `s12`, its tool's id or the beginning of that will do.

Examples:
  totalrecall sessions --project --since 7d
  totalrecall sessions show s12
  totalrecall sessions rename s12 \"Move billing to Postgres\"
  totalrecall sessions tag s12 +keep -draft
  totalrecall sessions export s12 > session.md
  totalrecall sessions delete s12"
)]
pub(super) struct Sessions {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them, the newest first
    List(List),
    /// Print what is known of one
    Show(show::Show),
    /// Call it something; an empty title takes that back
    Rename(change::Rename),
    /// Mark it with words, or take them away
    Tag(change::Tag),
    /// Delete sessions with everything that was said in them; they are never read again
    Delete(delete::Delete),
    /// Let transcripts of deleted sessions be read again
    Undelete(delete::Undelete),
    /// Print what was said in one
    Export(export::Export),
}

/// A part of what is known, as arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Chosen {
    /// Only one project: a folder of it or what its folder is called; without a value, that of the current folder
    #[arg(long, value_name = "DIR|NAME", num_args = 0..=1)]
    project: Option<Option<String>>,
    /// Only what ended since then: 30d, 2w, 6m (months), 1y ago, or a day such as 2026-11-01
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only what ended before then; of a day, by its end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
}

impl Chosen {
    pub(super) fn part(&self, store: &Store, now: i64) -> anyhow::Result<Part> {
        let time = |text: &Option<String>, end| text.as_deref().map(|text| period::parse(text, end, now)).transpose();
        let usage = |error: period::PeriodError| Usage(error.to_string());
        let since = time(&self.since, End::Begin).map_err(usage)?;
        let until = time(&self.until, End::End).map_err(usage)?;
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            return Err(Usage("the period ends before it begins: --since must be earlier than --until".into()).into());
        }
        let project = match &self.project {
            None => None,
            Some(asked) => {
                let here = std::env::current_dir().context("the current folder is gone; go to another one")?;
                Some(project::find(asked.as_deref(), &here, &handover::projects(store)?)?)
            }
        };
        Ok(Part { project, since, until })
    }
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    chosen: Chosen,
    /// Only sessions of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only those with this tag
    #[arg(long)]
    tag: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sessions {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        match &self.command {
            None => self.list.run(context),
            Some(Command::List(command)) => command.run(context),
            Some(Command::Show(command)) => command.run(context),
            Some(Command::Rename(command)) => command.run(context),
            Some(Command::Tag(command)) => command.run(context),
            Some(Command::Delete(command)) => command.run(context),
            Some(Command::Undelete(command)) => command.run(context),
            Some(Command::Export(command)) => command.run(context),
        }
    }
}

impl List {
    fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        let part = self.chosen.part(&store, context.now)?;
        let mut rows = store.sessions()?;
        rows.retain(|row| part.has(row) && self.tool.as_ref().is_none_or(|tool| *tool == row.tool));
        rows.sort_by_key(|row| std::cmp::Reverse((row.ended_at, row.id)));
        let mut found = Vec::new();
        for row in &rows {
            // Only of those that are shown, unless tags decide which these are.
            if self.tag.is_none() && found.len() == self.limit {
                break;
            }
            let digest = handover::digest(&store, row, false)?;
            if self.tag.as_ref().is_none_or(|tag| digest.tags.iter().any(|it| it.eq_ignore_ascii_case(tag))) {
                found.push(digest);
            }
        }
        let total = if self.tag.is_some() { found.len() } else { rows.len() };
        found.truncate(self.limit);
        if self.json {
            context.print_json(&serde_json::json!({ "total": total, "sessions": found }))?;
        } else {
            context.print_of(&found, &found.iter().map(line).collect::<String>())?;
            if found.len() < total {
                ui::say(&format!("{} of {total} sessions; --limit shows more", found.len()));
            } else if total == 0 {
                ui::say("No session is like that.");
            }
        }
        Ok(if total == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn line(session: &Digest) -> String {
    let when = session.ended_at.map_or_else(|| "?".to_owned(), ui::local_time);
    let project = session.project.as_deref().unwrap_or_default();
    let project = project.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("-");
    let title = session.title.as_deref().map_or_else(|| "(no title)".to_owned(), ui::line);
    let mut line = format!(
        "{bold}{:<6}{bold:#} {when}  {:<11} {}  {title}",
        session.id,
        clean(&session.tool),
        ui::line(project),
        bold = ui::BOLD
    );
    if !session.tags.is_empty() {
        let _ = write!(line, "  [{}]", ui::line(&session.tags.join(", ")));
    }
    if session.state != "active" {
        let _ = write!(line, "  {dim}{}{dim:#}", session.state, dim = ui::DIM);
    }
    line.push('\n');
    line
}

/// The session that is meant.
fn find(store: &Store, asked: &str) -> anyhow::Result<SessionRow> {
    store.find_session(asked).map_err(|error| match error {
        NoSession::Store(error) => error.into(),
        error => Usage(error.to_string()).into(),
    })
}

/// What it is called, for a sentence.
fn name(row: &SessionRow) -> String {
    let title = row.title.as_deref().map(|title| format!(" ({})", ui::line(title))).unwrap_or_default();
    format!("s{}{title}", row.id.0)
}
