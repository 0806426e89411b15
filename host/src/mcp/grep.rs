//! `grep`: lines that match a pattern.

use std::{fmt::Write as _, time::Duration};

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    about::About,
    desk::Desk,
    search::Place,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Limit, Room, cut, line, number, when},
};
use crate::{
    passage::Kind,
    search::{Grep, Line, Lines},
};

/// Most lines.
const MOST: u32 = 200;
/// An agent waits; what has not been looked at by then is said.
const BUDGET: Duration = Duration::from_secs(5);
/// Longest pattern, in bytes.
const PATTERN: usize = 4_096;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct GrepLines {
    /// A regular expression, in which case does not count; what is none is looked for as it stands
    pattern: String,
    /// At most so many lines
    #[serde(default = "number::<10>")]
    limit: u32,
    /// Lines that nearly hold the pattern, which is no expression then
    #[serde(default)]
    fuzzy: bool,
    /// How near, 0 to 100
    #[serde(default = "number::<80>")]
    fuzzy_threshold: u32,
    /// Letter case counts
    #[serde(default)]
    case_sensitive: bool,
    #[serde(flatten)]
    about: About,
}

/// What was found.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Found {
    /// Newest first; nearly matching ones the nearest first
    lines: Vec<Told>,
    /// How many there are in what was looked through
    total: u64,
    #[serde(skip)]
    notices: Vec<String>,
}

/// A line.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Told {
    /// For get
    id: String,
    /// Its number in that text, from 1
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(flatten)]
    place: Place,
    text: String,
    /// The line before it
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// The line after it
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// How near it is, 0 to 100
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u8>,
    /// It was put away: `restore` brings the whole back
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
}

impl Tool for GrepLines {
    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Find exact text in earlier sessions";
    const DESCRIPTION: &'static str = "Lines that match a regular expression in all that was said and done in earlier sessions, in memories and chunks, whole inputs and \
        outputs of tools included; newest first, with a line around each. Use it for exact text: an error message, an identifier, a \
        command. Some 60 tokens a line. For what something was about, use search.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Found;

    fn run(self, desk: &Desk) -> Result<Found, Refusal> {
        if self.pattern.is_empty() || self.pattern.len() > PATTERN {
            return Err(Refusal::new(
                format!("a pattern has 1 to {PATTERN} bytes, and this one has {}", self.pattern.len()),
                "Give a shorter one that is in the line you look for.",
            ));
        }
        let store = desk.store()?;
        let filter = self.about.filter(&store, desk)?;
        if filter.kinds.contains(&Kind::Session) {
            return Err(Refusal::new(
                "grep looks through what was said, remembered and saved; a session has no text of its own",
                "search with kinds `session` looks through titles, tags and files.",
            ));
        }
        let grep = Grep {
            pattern: self.pattern,
            case: self.case_sensitive,
            fuzzy: self.fuzzy.then(|| u8::try_from(self.fuzzy_threshold.min(100)).unwrap_or(100)),
            filter,
            limit: Limit { asked: self.limit, most: MOST }.count(),
            budget: BUDGET,
        };
        let mut found = grep.run(&store)?;
        let lines = std::mem::take(&mut found.lines).into_iter().map(Told::of);
        let lines = Room::default().first(lines, usize::MAX, Told::text);
        Ok(Found { notices: notices(&found, &lines), total: found.total, lines })
    }
}

impl Told {
    fn of(found: Line) -> Self {
        Self {
            id: found.id.to_string(),
            number: found.number,
            at: found.at.map(when),
            place: Place::of(&found.source),
            text: found.text,
            before: found.before,
            after: found.after,
            score: found.score,
            archived: found.archived,
        }
    }

    fn text(&self) -> String {
        let score = self.score.map(|score| format!(" {score}%")).unwrap_or_default();
        let at = self.at.as_deref().map(|at| format!(" {at}")).unwrap_or_default();
        let archived = if self.archived { ", archived" } else { "" };
        let mut text = format!("{}:{}{score}{at}{}{archived}", self.id, self.number, self.place.text());
        let around = [(' ', self.before.as_deref()), ('>', Some(self.text.as_str())), (' ', self.after.as_deref())];
        for (mark, line) in around {
            if let Some(line) = line {
                let _ = write!(text, "\n {mark} {line}");
            }
        }
        text
    }
}

fn notices(found: &Lines, shown: &[Told]) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(why) = &found.literal {
        notices.push(format!("The pattern is no regular expression ({}); it was looked for as it stands.", line(why)));
    }
    if found.total == 0 {
        notices.push("No line matches.".to_owned());
    }
    notices.extend(cut(shown.len(), found.total, "matching lines", "a higher limit or narrower filters show others"));
    if found.is_partial {
        let since = found.only_since.map(|at| format!(" what was said after {}", when(at))).unwrap_or_default();
        notices.push(format!(
            "There was no time to look through everything, only{since}: filters such as project or date_from help."
        ));
    }
    if shown.iter().any(|line| line.archived) {
        notices.push("What is marked archived is not found by search: `restore` brings it back.".to_owned());
    }
    notices
}

impl Answer for Found {
    fn text(&self) -> String {
        let mut text = String::new();
        for found in &self.lines {
            let _ = writeln!(text, "{}", found.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }
}
