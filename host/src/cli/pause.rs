//! `totalrecall pause` and `resume`: nothing of what happens is learned; it is learned again.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::{Outcome, ui};
use crate::{
    clean::clean,
    clock,
    paths::Home,
    pause::{self, Changed, Pauses},
};

/// Learn nothing of what happens from now on
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall pause                      everywhere
  totalrecall pause --project            in the project of the current folder, its worktrees included
  totalrecall pause --project ~/secret

Until `totalrecall resume`, nothing of what is said and done in sessions is stored, and it never will be, though their transcripts are
read again later. What happened before is read as ever. docs/pause.md has it exactly.")]
pub(super) struct Pause {
    #[command(flatten)]
    what: What,
}

/// Learn again from what happens from now on
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall resume
  totalrecall resume --project ~/secret

It ends the pause of the same name only: `resume` leaves projects paused that were paused by themselves.
What happened during the pause is never learned.")]
pub(super) struct Resume {
    #[command(flatten)]
    what: What,
}

#[derive(Debug, clap::Args)]
struct What {
    /// Only one project: the repository, or the folder, that DIR is in; without a value, the current folder
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    project: Option<Option<PathBuf>>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl What {
    /// The folder that is meant. None: everywhere.
    fn folder(&self) -> anyhow::Result<Option<PathBuf>> {
        let Some(given) = &self.project else { return Ok(None) };
        let folder = match given {
            Some(given) => std::path::absolute(given)?,
            None => std::env::current_dir().context("the current folder is gone; go to another one")?,
        };
        Ok(Some(folder))
    }

    fn tell(&self, changed: &Changed, text: &str) -> anyhow::Result<Outcome> {
        if self.json {
            ui::print_json(&serde_json::json!({ "changed": changed.is_news, "paused": json(&changed.pauses) }))?;
        } else {
            ui::say(text);
        }
        Ok(Outcome::Done)
    }
}

impl Pause {
    pub(super) fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        let (home, folder) = (choose(home)?, self.what.folder()?);
        if let Some(folder) = &folder {
            anyhow::ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        }
        let changed = pause::begin(home.path(), folder.as_deref(), clock::now)?;
        let (since, ending) = changed.pause.as_ref().map(|pause| (what(pause), ending(pause))).unwrap_or_default();
        let text = if changed.is_news {
            format!("{since}: nothing of what happens there from now on is learned. `{ending}` ends it.")
        } else {
            format!("{since} already. `{ending}` ends it.")
        };
        self.what.tell(&changed, &text)
    }
}

impl Resume {
    pub(super) fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        let (home, folder) = (choose(home)?, self.what.folder()?);
        let changed = pause::end(home.path(), folder.as_deref(), clock::now)?;
        let mut text = match &changed.pause {
            Some(pause) => format!(
                "Learning again {}. What happened there since {} is never learned.",
                place(pause),
                ui::local_time(pause.from)
            ),
            None => {
                let place = folder.as_deref().map_or_else(|| "everywhere".to_owned(), in_folder);
                format!("There was no pause to end: nothing is paused {place}.")
            }
        };
        for pause in changed.pauses.open() {
            let _ = write!(text, "\nStill paused {}.", since(pause));
        }
        self.what.tell(&changed, &text)
    }
}

fn choose(home: Option<PathBuf>) -> anyhow::Result<Home> {
    // Without the settings, so that broken ones keep nobody from pausing.
    Home::choose(home)
        .context("there is no home directory to keep anything in: give one with --home DIR or set TOTALRECALL_HOME")
}

fn in_folder(folder: &Path) -> String {
    format!("in {}", clean(&folder.to_string_lossy()))
}

fn place(pause: &pause::Pause) -> String {
    pause.place.as_ref().map_or_else(|| "everywhere".to_owned(), |place| in_folder(Path::new(&place.path)))
}

/// `Paused in /work/app since 2026-12-01 12:00`.
pub(super) fn what(pause: &pause::Pause) -> String {
    format!("Paused {}", since(pause))
}

fn since(pause: &pause::Pause) -> String {
    format!("{} since {}", place(pause), ui::local_time(pause.from))
}

/// The command that ends it.
pub(super) fn ending(pause: &pause::Pause) -> String {
    match &pause.place {
        Some(place) => format!("totalrecall resume --project {}", clean(&place.path)),
        None => "totalrecall resume".to_owned(),
    }
}

/// What is paused, a line each. None: nothing.
pub(super) fn lines(pauses: &Pauses) -> Vec<String> {
    pauses.open().map(what).collect()
}

/// The same for a machine.
pub(super) fn json(pauses: &Pauses) -> serde_json::Value {
    let one = |pause: &pause::Pause| serde_json::json!({ "since": pause.from, "project": pause.place.as_ref().map(|place| &place.path) });
    pauses.open().map(one).collect()
}

/// Says what is paused, before something is done that leaves that out.
pub(super) fn remind(home: &Home) {
    match pause::load(home.path()) {
        Ok(pauses) => {
            lines(&pauses).iter().for_each(|line| ui::say(&format!("{line}: what happens there is left out.")))
        }
        Err(error) => ui::warn(&clean(&format!("{error}. {}", error.hint()))),
    }
}
