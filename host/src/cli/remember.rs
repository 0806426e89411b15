//! `totalrecall remember` and `done`: statements that are kept on purpose, and todos that are done.

use std::io::Read as _;

use super::{Context, Outcome, Usage, place, ui, work};
use crate::{
    inject,
    memory::{self, CONTENT_LIMIT, Category, Importance, NewMemory, Trust},
    period,
    store::{Store, StoreError},
};

/// Remember a statement
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall remember Releases are cut from main --category decision --importance high
  totalrecall remember 'Prices are rounded in src/price.rs' --category fact --project
  totalrecall remember 'Staging is down' --expires 2w
  totalrecall remember 'Releases are cut from release/*' --supersedes 1f3a77c2
  git log -1 --format=%B | totalrecall remember - --tags release

Without --project it holds everywhere. With --project it holds in the repository that the current folder lies in, all of its
worktrees included; --project=DIR names another one.
Secrets are taken out before it is kept. The same statement twice is one.")]
pub(super) struct Remember {
    /// What to remember; `-`: read it from standard input
    #[arg(required = true)]
    text: Vec<String>,
    /// What sort of statement it is
    #[arg(long, value_name = "SORT", default_value = "general", value_enum)]
    category: Category,
    /// How much it matters: what matters more is recalled first
    #[arg(long, value_name = "LEVEL", default_value = "medium", value_enum)]
    importance: Importance,
    /// Words to find it by, separated by commas
    #[arg(long, value_name = "WORD,…")]
    tags: Vec<String>,
    /// It holds in one project only: the one DIR is in; without a value, the current one
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    project: Option<Option<String>>,
    /// Whose word it is; agents say `agent`, or `tool` for what a tool has printed
    #[arg(long, value_name = "WHO", default_value = "person", value_enum)]
    trust: Trust,
    /// How sure it is, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    confidence: Option<f64>,
    /// When it ends to hold: in a length of time (30d, 2w, 6m), or with the end of a day (2027-01-31)
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// A memory that it takes the place of; may be given several times
    #[arg(long, value_name = "ID")]
    supersedes: Vec<String>,
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

/// Note that todos are done
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall recall --category todo
  totalrecall done 1f3a77c2")]
pub(super) struct Done {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Remember {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let content = match self.text.as_slice() {
            [only] if only == "-" => input(CONTENT_LIMIT)?,
            words => words.join(" "),
        };
        let expires_at = self.expires.as_deref().map(|text| period::until(text, context.now)).transpose();
        let new = NewMemory {
            content,
            category: self.category,
            importance: self.importance,
            trust: self.trust,
            confidence: self.confidence,
            tags: self.tags.clone(),
            project: place::to_keep(self.project.as_ref())?,
            session: None,
            domain: self.domain.clone(),
            ticket: self.ticket.clone(),
            expires_at: expires_at.map_err(|error| Usage(error.to_string()))?,
            supersedes: self.supersedes.clone(),
            created_at: None,
            origin: None,
        };
        let project = new.project.clone();
        let mut store = work::open(context)?;
        let remembered = memory::remember(&mut store, &context.config.redactor(), new, context.now)?;
        store.finish()?;
        follow(context, &store, None);
        if self.json {
            ui::print_json(&remembered)?;
            return Ok(Outcome::Done);
        }
        let place = project.map_or_else(|| "everywhere".to_owned(), |folder| format!("in {}", ui::line(&folder)));
        ui::print(&if remembered.known {
            format!("{} says this already, {place}; it stays as it is.\n", remembered.id)
        } else {
            format!("Remembered as {}; it holds {place}.\n", remembered.id)
        })?;
        if remembered.redacted > 0 {
            ui::say(&format!("{} taken out.", ui::counted(remembered.redacted, "secret was", "secrets were")));
        }
        Ok(Outcome::Done)
    }
}

impl Done {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = match Store::open_read_only(context.home.path()) {
            Ok(_) => work::open(context)?,
            Err(StoreError::Missing { .. }) => return Ok(nothing_yet()),
            Err(error) => return Err(error.into()),
        };
        let (mut done, mut wrong) = (Vec::new(), Vec::new());
        for id in &self.ids {
            if store.set_done(id, context.now)? {
                done.push(id);
                continue;
            }
            wrong.push(match store.memory(id)? {
                Some(memory) => format!("{id} is no todo, it is of the sort {}", memory.category.name()),
                None => format!("there is no memory {}", ui::line(id)),
            });
        }
        store.finish()?;
        follow(context, &store, None);
        for problem in &wrong {
            ui::warn(problem);
        }
        if self.json {
            ui::print_json(&serde_json::json!({ "done": done, "problems": wrong }))?;
        } else if !done.is_empty() {
            ui::say(&format!("{} done.", ui::counted(done.len() as u64, "todo is", "todos are")));
        }
        Ok(if done.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

/// Has sessions be told what holds now. `session`: the one that something new was kept of.
pub(super) fn follow(context: &Context, store: &Store, session: Option<&str>) {
    if let Err(error) = inject::follow(&context.home, store, &context.config, session, context.now) {
        ui::warn(&format!("what sessions are told is as it was before, until the worker has run: {error}"));
    }
}

/// Says that there is no store.
pub(super) fn nothing_yet() -> Outcome {
    ui::say("Nothing is remembered yet. `totalrecall remember TEXT` remembers something.");
    Outcome::NothingFound
}

/// What stands on standard input, as long as it may be and one byte more, so that too much is told.
pub(super) fn input(limit: usize) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit as u64 + 1).read_to_end(&mut bytes)?;
    text(bytes, "standard input")
}

/// Bytes as text.
pub(super) fn text(bytes: Vec<u8>, place: &str) -> anyhow::Result<String> {
    // What was cut at the limit may end within a character; it is refused for its length.
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            anyhow::ensure!(end + 4 > error.as_bytes().len(), "{place} is no UTF-8 from byte {end} on");
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(error) => anyhow::bail!("{place} is no UTF-8 from byte {} on", error.utf8_error().valid_up_to()),
    }
}
