//! `totalrecall recall`: what is remembered.

use std::{fmt::Write as _, path::Path};

use super::{Context, Outcome, place, remember, ui};
use crate::{
    memory::{
        Category, Importance, Memory, Trust,
        recall::{Ended, Hit, Recalled, Wanted, recall},
        stale,
    },
    store::{Store, StoreError},
};

/// Lines of one memory that are shown; --json has them all.
const LINES: usize = 20;

/// What is remembered: without words what matters most, then the newest
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall recall                        what matters most
  totalrecall recall deploy key             what has any of these words; what has most of them comes first
  totalrecall recall --project              what holds in the project of the current folder, or everywhere
  totalrecall recall --category todo --limit 50
  totalrecall recall 1f3a77c2 --all --json

Case and accents do not matter; Chinese, Japanese and Korean are found, too. With words the order is: how many of them it has, how
much it matters, how new it is. A memory that names a file which is gone is marked as possibly outdated.")]
pub(super) struct Recall {
    /// Words to look for, or an id
    words: Vec<String>,
    /// Only of this sort
    #[arg(long, value_name = "SORT", value_enum)]
    category: Option<Category>,
    /// Only what matters this much or more
    #[arg(long, value_name = "LEVEL", value_enum)]
    importance: Option<Importance>,
    /// Only what holds in one project or everywhere: a folder or a name; without a value, the current folder's
    #[arg(long, value_name = "DIR|NAME", num_args = 0..=1, require_equals = true)]
    project: Option<Option<String>>,
    /// Only with this tag
    #[arg(long, value_name = "WORD")]
    tag: Option<String>,
    /// What is superseded, expired or done, too
    #[arg(long)]
    all: bool,
    /// Most memories shown
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Recall {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => {
                if self.json {
                    ui::print_json(&Recalled::default())?;
                }
                return Ok(remember::nothing_yet());
            }
            Err(error) => return Err(error.into()),
        };
        let project = place::to_find(self.project.as_ref(), &store)?;
        let words = self.words.join(" ");
        let wanted = Wanted {
            words: &words,
            category: self.category,
            importance: self.importance,
            project: project.as_ref(),
            tag: self.tag.as_deref(),
            all: self.all,
            limit: self.limit,
        };
        let missing = |memory: &Memory| stale::missing(memory, Path::exists);
        let recalled = recall(store.memories()?, &wanted, context.now, missing);
        if self.json {
            context.print_json(&recalled)?;
        } else if recalled.total > 0 {
            context.print_of(&recalled, &text(&recalled, store.count_memories()?))?;
        }
        if recalled.total == 0 {
            ui::say(match words.is_empty() {
                true => "No memory is like that.",
                false => "No memory has any of these words.",
            });
        }
        if recalled.ended > 0 {
            ui::say(&format!(
                "{} superseded, expired or done: use --all",
                ui::counted(recalled.ended as u64, "more is", "more are")
            ));
        }
        Ok(if recalled.total == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn text(recalled: &Recalled, all: u64) -> String {
    let mut out = String::new();
    let found = recalled.total as u64;
    let _ = if found == all {
        writeln!(out, "{bold}{}{bold:#}", ui::counted(found, "memory", "memories"), bold = ui::BOLD)
    } else {
        writeln!(out, "{bold}{found} of {}{bold:#}", ui::counted(all, "memory", "memories"), bold = ui::BOLD)
    };
    if let Some(cut) = recalled.cut("--limit") {
        let _ = writeln!(out, "{warn}{cut}{warn:#}", warn = ui::WARN);
    }
    recalled.memories.iter().for_each(|hit| one(&mut out, hit));
    out
}

/// One memory with what is to be known of it.
pub(super) fn one(out: &mut String, hit: &Hit) {
    let memory = &hit.memory;
    let _ = write!(
        out,
        "\n{bold}{}{bold:#}  {} {}, {}",
        memory.id,
        memory.importance.name(),
        memory.category.name(),
        day(memory.created_at),
        bold = ui::BOLD
    );
    if let Some(project) = &memory.project {
        let _ = write!(out, ", {}", place::name(project));
    }
    for (what, word) in [("ticket", &memory.ticket), ("domain", &memory.domain)] {
        if let Some(word) = word {
            let _ = write!(out, ", {what} {}", ui::line(word));
        }
    }
    for tag in &memory.tags {
        let _ = write!(out, ", #{}", ui::line(tag));
    }
    match memory.trust {
        Trust::Person => {}
        Trust::Agent => out.push_str(", said by an agent"),
        Trust::Tool => out.push_str(", from what a tool or a model wrote"),
    }
    if memory.confidence < 1.0 {
        let _ = write!(out, ", {:.0} % sure", memory.confidence * 100.0);
    }
    out.push('\n');
    let lines: Vec<&str> = memory.content.lines().collect();
    for line in lines.iter().take(LINES) {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let _ = writeln!(out, "  {}{}", &line[..indent], ui::line(line));
    }
    if lines.len() > LINES {
        let _ = writeln!(out, "  … and {} more lines: --json has them", lines.len() - LINES);
    }
    let ended = match (hit.ended, &memory.superseded_by) {
        (None, _) => None,
        (Some(Ended::Superseded), Some(by)) => Some(format!("superseded by {by}")),
        (Some(Ended::Superseded), None) => Some("superseded by one that was forgotten".to_owned()),
        (Some(Ended::Expired), _) => Some(format!("expired on {}", memory.expires_at.map(day).unwrap_or_default())),
        (Some(Ended::Done), _) => Some(format!("done on {}", memory.done_at.map(day).unwrap_or_default())),
    };
    if let Some(ended) = ended {
        let _ = writeln!(out, "  {warn}{ended}{warn:#}", warn = ui::WARN);
    } else if let Some(end) = memory.expires_at {
        let _ = writeln!(out, "  until {}", ui::local_time(end));
    }
    if !hit.missing.is_empty() {
        let gone = hit.missing.iter().map(|file| ui::line(file)).collect::<Vec<_>>().join(", ");
        let (verb, warn) = (if hit.missing.len() == 1 { "is" } else { "are" }, ui::WARN);
        let _ = writeln!(out, "  {warn}possibly outdated: {gone} {verb} not there any more{warn:#}");
    }
}

/// The day of a time, in this machine's zone.
pub(super) fn day(at: i64) -> String {
    ui::local_time(at).split(' ').next().unwrap_or_default().to_owned()
}
