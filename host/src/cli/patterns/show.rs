//! `patterns show`: everything about one pattern, with the places to look it up.

use std::fmt::Write as _;

use super::undo;
use crate::cli::{Context, Outcome, Usage, library, ui};
use crate::{
    clean::clean,
    library::Library,
    pattern::{self, Act, Decision, Pattern, Place},
    proposal::Proposal,
    store::{Store, StoreError, TranscriptId},
};

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The pattern
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// All that is known of a pattern.
#[derive(Debug, serde::Serialize)]
struct Shown<'a> {
    pattern: &'a Pattern,
    /// In force or taken back.
    decisions: Vec<Decision>,
    /// Drafts and rules.
    proposals: Vec<Proposal>,
    places: Vec<Seen<'a>>,
}

/// A place with the path of its transcript.
#[derive(Debug, serde::Serialize)]
struct Seen<'a> {
    #[serde(flatten)]
    place: &'a Place,
    /// The file, or the database; none: it is not in the store any more.
    path: Option<String>,
    /// The session's key in a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl Show {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        let patterns = Library::load(&store)?.patterns(&context.config.patterns, context.now);
        let found = pattern::find(&patterns, &self.id).map_err(|error| Usage(error.to_string()))?;
        let shown = Shown::new(&store, found)?;
        if self.json {
            context.print_json(&shown)?;
        } else {
            context.print(&shown.text())?;
        }
        Ok(Outcome::Done)
    }
}

impl<'a> Shown<'a> {
    fn new(store: &Store, pattern: &'a Pattern) -> Result<Self, StoreError> {
        let is_it = |id: &String| *id == pattern.id || pattern.aliases.contains(id);
        let concerns = |decision: &Decision| {
            is_it(&decision.pattern)
                || match &decision.act {
                    Act::Merge { others } => others.iter().any(is_it),
                    Act::Split { into, .. } => is_it(into),
                    Act::Rename { .. } | Act::Mute | Act::Unmute => false,
                }
        };
        let mut places = Vec::new();
        for place in &pattern.evidence {
            let row = store.transcript(TranscriptId(place.transcript))?;
            let key = row.as_ref().map(|row| row.key.clone()).filter(|key| !key.is_empty());
            places.push(Seen { place, path: row.map(|row| row.path), key });
        }
        Ok(Self {
            pattern,
            decisions: store.all_decisions()?.into_iter().filter(concerns).collect(),
            proposals: store.proposals()?.into_iter().filter(|proposal| is_it(&proposal.pattern)).collect(),
            places,
        })
    }

    fn text(&self) -> String {
        let pattern = self.pattern;
        let (bold, dim) = (ui::BOLD, ui::DIM);
        let mut out = format!("{bold}{}{bold:#}  {dim}{}{dim:#}\n", clean(pattern.name()), clean(&pattern.id));
        let mut say = |what: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(out, "  {what:<13}{}", clean(text));
            }
        };
        say("subject", if pattern.title.is_some() { &pattern.subject } else { "" });
        say("description", &pattern.description);
        say("hint", pattern.hint.as_deref().unwrap_or_default());
        say("kind", &format!("{} ({})", pattern.kind, pattern.category.name()));
        say("form", pattern.form.map_or("", |form| form.name()));
        say("project", pattern.project.as_deref().unwrap_or_default());
        say("also known as", &pattern.aliases.join(", "));
        let times = ui::counted(pattern.count.into(), "time", "times");
        let sessions = ui::counted(pattern.occurrences.into(), "session", "sessions");
        let projects = ui::counted(pattern.projects.into(), "project", "projects");
        say("seen", &format!("{times} in {sessions} of {projects}"));
        say("first, last", &format!("{}, {}", ui::local_time(pattern.first_seen), ui::local_time(pattern.last_seen)));
        let muted = if pattern.muted { ", muted" } else { "" };
        let (severity, strength) = (pattern.severity, pattern.strength);
        say("weight", &format!("severity {severity} of 5, strength {strength:.2}, {}{muted}", named(&pattern.status)));
        let weeks: Vec<String> = pattern.trend.weeks.iter().map(u32::to_string).collect();
        say("by week", &format!("{}, {}", weeks.join(" "), named(&pattern.trend.direction)));
        for proposal in &self.proposals {
            say("rule", &format!("{} ({}): {}", proposal.id, named(&proposal.status), proposal.text));
        }
        if !self.decisions.is_empty() {
            let _ = writeln!(out, "  decisions");
            self.decisions.iter().for_each(|decision| out += &format!("  {}", undo::line(decision)));
        }
        if !self.places.is_empty() {
            let _ = writeln!(out, "  evidence");
        }
        for seen in &self.places {
            let place = seen.place;
            let path = seen.path.as_deref().unwrap_or("(a transcript that is not known any more)");
            let key = seen.key.as_ref().map(|key| format!(" [{key}]")).unwrap_or_default();
            let agent = place.thread.as_ref().map(|thread| format!(", sub-agent {thread}")).unwrap_or_default();
            let times = if place.count > 1 { format!(", {} times", place.count) } else { String::new() };
            let _ = writeln!(out, "    {}{}:{}", clean(path), clean(&key), place.line);
            let about = format!("{} session {}{agent}{times}", place.tool, place.session);
            let _ = writeln!(out, "      {dim}{}, {}{dim:#}", ui::local_time(place.at), clean(&about));
        }
        out
    }
}

/// The word of a value that is written as one word.
fn named(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
