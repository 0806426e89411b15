//! One thing that is told, as a line of ours.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    fence::{named, quoted},
    memory::{Memory, Trust, stale},
    model::tokens,
    redact::Redactor,
};

/// Characters of a path.
pub(super) const PATH: usize = 80;

/// What a line is about, in the order in which sections are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// What stood in this conversation before it was compacted.
    Snapshot,
    /// Critical memories.
    Critical,
    /// Open decisions and todos.
    Open,
    /// The last sessions.
    Sessions,
    /// Rules in force that there is something to say of.
    Rules,
    /// Sessions of which nothing was saved.
    Unsaved,
    /// What may help.
    Hints,
}

impl Section {
    /// What stands above its lines.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Snapshot => "This conversation, before it was compacted:",
            Self::Critical => "Critical, and still in force:",
            Self::Open => "Open decisions and todos of this project:",
            Self::Sessions => "The last sessions in this project:",
            Self::Rules => "Rules in force here, and what came of them:",
            Self::Unsaved => {
                "Sessions that changed much, and of which nothing was saved (ask the user before you save or dismiss any):"
            }
            Self::Hints => "Also:",
        }
    }

    /// One of its lines, and several, as a person counts them.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Snapshot => ("part of this conversation", "parts of this conversation"),
            Self::Critical => ("critical memory", "critical memories"),
            Self::Open => ("decision or todo", "decisions and todos"),
            Self::Sessions => ("session", "sessions"),
            Self::Rules => ("rule", "rules"),
            Self::Unsaved => ("unsaved session", "unsaved sessions"),
            Self::Hints => ("hint", "hints"),
        }
    }
}

/// Something that could be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What it is about.
    pub section: Section,
    /// By what more of it is found: `e12.345`, `s12`, the name of a memory, or a proposal's.
    pub source: String,
    /// The line.
    pub text: String,
    /// Why it is worth telling.
    pub why: String,
    /// Higher ones are told first.
    pub rank: i64,
    /// Tokens of the line: an estimate.
    pub tokens: u32,
    /// The tool's id of the session that it is about: that one need not be told.
    #[serde(skip)]
    pub session: Option<String>,
    /// When it ends to hold, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

impl Item {
    /// Without what the settings name by now: it may have been stored before they did.
    pub(super) fn redacted(mut self, redactor: &Redactor) -> Self {
        let text = redactor.shown_text(&self.text, &json!({ "id": self.source }));
        if text != self.text {
            self.tokens = tokens(&text) + 1;
            self.text = text;
        }
        self
    }

    /// `marks` stand behind the source, in its brackets; `said` is the rest of the line.
    pub(super) fn new(section: Section, source: &str, marks: &[String], said: &str, rank: i64, why: String) -> Self {
        let brackets: Vec<&str> = std::iter::once(source).chain(marks.iter().map(String::as_str)).collect();
        let text = format!("- [{}] {said}", brackets.join(", "));
        let tokens = tokens(&text) + 1;
        Self { section, source: source.to_owned(), text, why, rank, tokens, session: None, until: None }
    }
}

/// Whose word something is.
pub(super) fn speaker(trust: Trust) -> &'static str {
    match trust {
        Trust::Person => "the user said",
        Trust::Agent => "an agent concluded",
        Trust::Tool => "a tool printed",
    }
}

/// What is said of a memory that names files which are not there any more.
pub(super) fn outdated(memory: &Memory) -> Option<String> {
    let gone = stale::missing(memory, Path::exists);
    gone.first().map(|first| format!("may be outdated: {} is gone", named(first, PATH)))
}

/// A day as people of this machine's zone have it.
pub(super) fn day(at: i64) -> String {
    time(at, "%Y-%m-%d")
}

/// The same with the time of the day.
pub(super) fn moment(at: i64) -> String {
    time(at, "%Y-%m-%d %H:%M")
}

fn time(at: i64, format: &str) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(
        |_| "undated".to_owned(),
        |at| at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime(format).to_string(),
    )
}

/// Words in quotes with what they are, if there are any.
pub(super) fn said(what: &str, words: &str, chars: usize) -> Option<String> {
    let quoted = quoted(words, chars);
    (quoted.len() > 2).then(|| if what.is_empty() { quoted.clone() } else { format!("{what} {quoted}") })
}
