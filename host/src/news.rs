//! News: what a person is told, in one line, when a session begins: what was learned since they were last told, and what
//! waits for their decision.
//!
//! Whoever renews the page compares what is known now with what was known when a line was last shown, and leaves the
//! finished line in `news.json`: a hook has neither the store nor the settings. The hook that shows it renames the file to
//! `news.shown.json`, which is then what the next line is compared with. So news adds up until it is shown, is shown once
//! however many sessions begin at a time, and goes away by itself when what it tells of was dealt with.

mod line;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    files,
    insights::{Insights, clean},
    locale::Locale,
    paths::Home,
    verdict::Outcome,
};

/// The files in the home, which are ours alone: what is to be told, what was told last, what a glance shows.
pub const FILES: [&str; 3] = ["news.json", "news.shown.json", "glance.json"];

/// How the name of a file begins that a hook has taken.
const CLAIMED: &str = "news.hook-";

/// Longest line that is shown, in characters: three or four lines of a terminal.
pub const MAX_LINE: usize = 400;

/// More than the ids of ten thousand patterns.
const MAX_BYTES: u64 = 4 << 20;

/// Age of a file that no hook can still be showing.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What can be told without opening the store: `glance.json`, for the status line and for hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Glance {
    /// The language that the page was written in.
    pub language: String,
    /// Patterns that came back, without muted ones.
    pub patterns: u64,
    /// Drafted rules that wait for the person.
    pub drafts: u64,
    /// Rules in force that do not work, or harm.
    pub failing: u64,
}

/// What is known at a time, as far as news is made of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    sessions: usize,
    /// Ids of patterns that came back, and ids that they had before.
    patterns: BTreeSet<String>,
    /// Proposals that wait.
    drafts: BTreeSet<String>,
    /// Outcomes of rules in force, by proposal.
    outcomes: BTreeMap<String, Outcome>,
}

/// `news.json`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct News {
    /// For someone who types commands into a shell.
    line: String,
    /// For someone who has the plugin's slash commands.
    plugin_line: String,
    known: Known,
}

/// What a hook reads of it.
#[derive(Debug, Deserialize)]
struct Lines {
    line: String,
    plugin_line: String,
}

fn news(home: &Home) -> PathBuf {
    home.path().join(FILES[0])
}

fn shown(home: &Home) -> PathBuf {
    home.path().join(FILES[1])
}

/// Writes what is to be told at the next session, and what a glance shows. `drafts` are the proposals that wait; `told`: does
/// the person want to be told?
///
/// # Errors
/// Those of writing into the home, with the file.
pub fn renew(
    home: &Home,
    insights: &Insights,
    drafts: BTreeSet<String>,
    told: bool,
    locale: &Locale,
) -> Result<(), (PathBuf, io::Error)> {
    let now = Known::new(insights, drafts);
    let glance = Glance {
        language: locale.language().to_owned(),
        patterns: insights.recurring as u64,
        drafts: now.drafts.len() as u64,
        failing: now.outcomes.values().filter(|it| matches!(it, Outcome::NotWorking | Outcome::Worse)).count() as u64,
    };
    write(&home.path().join(FILES[2]), &glance)?;
    remove_abandoned(home.path());
    loop {
        let before = known_when_shown(home);
        match told.then(|| line::tell(before.as_ref(), &now, insights, locale)).flatten() {
            Some([line, plugin_line]) => write(&news(home), &News { line, plugin_line, known: now.clone() })?,
            None => match fs::remove_file(news(home)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err((news(home), error)),
                _ => {}
            },
        }
        // A hook may have shown a line meanwhile: then what it told is no news any more.
        if known_when_shown(home) == before {
            return Ok(());
        }
    }
}

/// Takes the line to show it, if there is one that nobody else has taken. With `plugin`, commands are named as the plugin has
/// them.
pub fn claim(home: &Home, plugin: bool) -> Option<String> {
    let mine = home.path().join(format!("{CLAIMED}{}.json", std::process::id()));
    fs::rename(news(home), &mine).ok()?;
    let lines: Option<Lines> = read(&mine);
    // Before it is shown: a line that is lost with us is better than one that is shown for ever.
    fs::rename(&mine, shown(home)).ok()?;
    let lines = lines?;
    let line = if plugin { lines.plugin_line } else { lines.line };
    Some(clean(&line, MAX_LINE)).filter(|line| !line.is_empty())
}

/// What a glance shows; none before anything was read.
pub fn glance(home: &Home) -> Option<Glance> {
    read(&home.path().join(FILES[2]))
}

impl Known {
    fn new(insights: &Insights, drafts: BTreeSet<String>) -> Self {
        let recurring = insights.patterns.iter().filter(|pattern| pattern.recurs() && !pattern.muted);
        let ids = recurring.flat_map(|pattern| pattern.aliases.iter().chain([&pattern.id])).cloned().collect();
        let outcomes = insights.rules.iter().map(|rule| (rule.proposal.clone(), rule.outcome)).collect();
        Self { sessions: insights.sessions, patterns: ids, drafts, outcomes }
    }
}

fn known_when_shown(home: &Home) -> Option<Known> {
    read::<News>(&shown(home)).map(|news| news.known)
}

/// None where there is no such file, or none of ours: then it is as if nothing was ever told.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Only if it says something else: most runs change nothing.
fn write(path: &Path, value: &impl Serialize) -> Result<(), (PathBuf, io::Error)> {
    let failed = |error| (path.to_owned(), error);
    let text = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
    if fs::read(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    files::write_atomically(path, &text).map_err(failed)
}

/// What hooks left that were killed between taking a line and showing it.
fn remove_abandoned(home: &Path) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(CLAIMED)?.strip_suffix(".json")) else {
            continue;
        };
        let age = entry.metadata().and_then(|file| file.modified()).map(|time| SystemTime::now().duration_since(time));
        if owner.bytes().all(|byte| byte.is_ascii_digit()) && matches!(age, Ok(Ok(age)) if age > ABANDONED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests;
