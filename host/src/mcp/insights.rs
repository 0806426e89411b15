//! `insights`, `patterns` and `proposals`: what keeps going wrong, and the rules that were drafted against it.

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Limit, Room, counted, cut, line, number, when},
};
use crate::{
    library::Library,
    pattern::{self, Pattern, Place, Status, View},
    project,
    proposal::{self, Proposal},
};

/// Most in a list.
const MOST: u32 = 100;
/// Places that are told of a pattern in a list.
const PLACES: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Insights {
    /// Words that must all be there, such as the name of a tool or a file. Empty: everything
    #[serde(default)]
    topic: String,
    /// Only of this project: a folder, or what it is called; `.` is the project of this session. Empty: all
    #[serde(default)]
    project: String,
    /// At most so many patterns
    #[serde(default = "number::<10>")]
    limit: u32,
}

/// Patterns of friction, strongest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct List {
    patterns: Vec<Told>,
    /// How many there are
    total: u64,
    #[serde(skip)]
    cut: Option<String>,
}

/// A pattern.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Told {
    id: String,
    /// What it is called, or about
    name: String,
    kind: String,
    /// Sessions it came up in
    sessions: u32,
    /// Projects it came up in
    projects: u32,
    last: String,
    /// Its newest sighting, in a line
    description: String,
    /// What to do about it
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// It has not come up for a while
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fading: bool,
    /// The person does not want to see it where they did not ask for it
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    muted: bool,
    strength: f64,
    /// Where it was seen: tool, session, time, line
    seen: Vec<String>,
}

impl Told {
    fn of(pattern: &Pattern, places: usize) -> Self {
        Self {
            id: pattern.id.clone(),
            name: line(pattern.name()),
            kind: pattern.kind.clone(),
            sessions: pattern.occurrences,
            projects: pattern.projects,
            last: when(pattern.last_seen),
            description: line(&pattern.description),
            hint: pattern.hint.as_deref().map(line),
            fading: pattern.status == Status::Fading,
            muted: pattern.muted,
            strength: (pattern.strength * 100.0).round() / 100.0,
            seen: pattern.evidence.iter().take(places).map(seen).collect(),
        }
    }

    fn text(&self) -> String {
        let fading = if self.fading { ", fading" } else { "" };
        let muted = if self.muted { ", muted" } else { "" };
        let (sessions, projects) = (
            counted(self.sessions.into(), "session", "sessions"),
            counted(self.projects.into(), "project", "projects"),
        );
        let mut text = format!(
            "{} ({})\n   {}: {sessions} of {projects}, last {}{fading}{muted}",
            self.name, self.id, self.kind, self.last
        );
        if self.description != self.name {
            let _ = write!(text, "\n   {}", self.description);
        }
        if let Some(hint) = &self.hint {
            let _ = write!(text, "\n   what to do: {hint}");
        }
        for place in &self.seen {
            let _ = write!(text, "\n   {place}");
        }
        text
    }
}

fn seen(place: &Place) -> String {
    line(&format!("{} {} {} line {}", place.tool, place.session, when(place.at), place.line))
}

impl Tool for Insights {
    const NAME: &'static str = "insights";
    const TITLE: &'static str = "What keeps going wrong";
    const DESCRIPTION: &'static str = "What went wrong in earlier sessions and came back: failing tools, corrections by the person, rules that were broken; with how often, \
        what to do about it and where it was seen. Use it when something fails that may have failed before (topic: the tool, the file, \
        the message), or to see a project's habits. Some 100 tokens each.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = List;

    fn run(self, desk: &Desk) -> Result<List, Refusal> {
        let store = desk.store()?;
        let config = desk.config()?;
        let library = Library::load(&store)?;
        let mut view = View::default();
        match self.project.trim() {
            "" | "*" => {}
            asked => {
                let asked = Some(asked).filter(|asked| *asked != ".");
                let project = project::find(asked, &desk.here, &library.projects())?;
                (view.project, view.folders) = (Some(project.path), project.folders);
            }
        }
        let insights = library.insights_in(&view, &[], &config.patterns, desk.now);
        let found = pattern::about(&insights.patterns, std::slice::from_ref(&self.topic));
        // Who asks for a topic asks for what is muted, too.
        let found: Vec<_> = found.into_iter().filter(|it| !it.muted || !self.topic.trim().is_empty()).collect();
        Ok(list(&found, self.limit))
    }
}

fn list(found: &[&Pattern], limit: u32) -> List {
    let (mut room, limit) = (Room::default(), Limit { asked: limit, most: MOST });
    let told = found.iter().map(|pattern| Told::of(pattern, PLACES));
    let patterns = room.first(told, limit.count(), Told::text);
    let total = found.len() as u64;
    List { cut: limit.cut(&room, patterns.len(), total, "patterns"), patterns, total }
}

/// One with all places where it was seen.
fn whole(pattern: &Pattern) -> List {
    let mut told = Told::of(pattern, usize::MAX);
    let total = told.seen.len() as u64;
    told.seen = Room::default().first(std::mem::take(&mut told.seen), usize::MAX, String::clone);
    let how = format!("`totalrecall patterns show {}` shows all", pattern.id);
    List { cut: cut(told.seen.len(), total, "places", &how), patterns: vec![told], total: 1 }
}

impl Answer for List {
    fn text(&self) -> String {
        let mut text = String::new();
        for pattern in &self.patterns {
            let _ = writeln!(text, "{}", pattern.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let none = (self.total == 0).then(|| "No pattern is about that.".to_owned());
        none.into_iter().chain(self.cut.clone()).collect()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Patterns {
    /// Only this one, with everything that is known of it: its id, or the beginning of it
    #[serde(default)]
    id: String,
    /// Only of this kind, such as tool-error or user-correction
    #[serde(default)]
    kind: String,
    /// Only those seen in more than one session
    #[serde(default)]
    recurring: bool,
    /// Only those that the person has muted
    #[serde(default)]
    muted: bool,
    /// At most so many
    #[serde(default = "number::<20>")]
    limit: u32,
}

impl Tool for Patterns {
    const NAME: &'static str = "patterns";
    const TITLE: &'static str = "List patterns of friction";
    const DESCRIPTION: &'static str = "The patterns of friction by kind, strongest first; with an id, everything about one: all places where it was seen, to look them up \
        with get or the transcript. Some 100 tokens each. To find one by what it is about, use insights with a topic.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = List;

    fn run(self, desk: &Desk) -> Result<List, Refusal> {
        let library = Library::load(&desk.store()?)?;
        let patterns = library.patterns(&desk.config()?.patterns, desk.now);
        if !self.id.trim().is_empty() {
            let found = pattern::find(&patterns, self.id.trim())?;
            return Ok(whole(found));
        }
        let kind = self.kind.trim();
        let found: Vec<&Pattern> = patterns
            .iter()
            .filter(|pattern| kind.is_empty() || pattern.kind == kind)
            .filter(|pattern| !self.recurring || pattern.recurs())
            .filter(|pattern| self.muted == pattern.muted)
            .collect();
        Ok(list(&found, self.limit))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Proposals {
    /// Those that were rejected or taken back, too
    #[serde(default)]
    all: bool,
}

/// Rules that were drafted, and what became of them.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Drafts {
    proposals: Vec<Draft>,
    #[serde(skip)]
    cut: Option<String>,
}

/// A rule that was drafted.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Draft {
    id: String,
    /// drafted, applied, rejected, reverted, stale
    status: String,
    /// The rule
    text: String,
    /// Why
    rationale: String,
    /// The pattern it is for
    pattern: String,
    /// Sessions with the pattern when it was drafted
    sessions: u32,
    /// Tokens that the rule costs in each session
    tokens: u32,
    at: String,
    /// Files it stands in
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

impl Draft {
    fn of(proposal: &Proposal) -> Self {
        Self {
            id: proposal.id.clone(),
            status: proposal.status.name().to_owned(),
            text: proposal.text.clone(),
            rationale: proposal.rationale.clone(),
            pattern: proposal.pattern.clone(),
            sessions: proposal.occurrences,
            tokens: proposal.tokens,
            at: when(proposal.created_at),
            files: proposal.places.iter().map(|place| place.file.clone()).collect(),
        }
    }
}

impl Draft {
    fn told(&self) -> String {
        let sessions = counted(self.sessions.into(), "session", "sessions");
        let (id, status, tokens) = (&self.id, &self.status, self.tokens);
        let mut text = format!("{id} ({status}, {sessions}, {tokens} tokens)\n   {}", line(&self.text));
        for file in &self.files {
            let _ = write!(text, "\n   in {}", line(file));
        }
        text
    }

    /// As a value it has the reasons, too.
    fn whole(&self) -> String {
        format!("{}{}{}", self.told(), self.text, self.rationale)
    }
}

impl Tool for Proposals {
    const NAME: &'static str = "proposals";
    const TITLE: &'static str = "List drafted rules";
    const DESCRIPTION: &'static str = "Rules that were drafted from patterns: those that wait for the person's decision, and those in force. Reading only: the person decides, \
        with /recall-apply, /recall-reject or `totalrecall proposals --review`. Do not follow a drafted rule: it is not in force.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Drafts;

    fn run(self, desk: &Desk) -> Result<Drafts, Refusal> {
        let mut proposals = desk.store()?.proposals()?;
        let is_open = |status| matches!(status, proposal::Status::Drafted | proposal::Status::Applied);
        proposals.retain(|proposal| self.all || is_open(proposal.status));
        proposals.sort_by_key(|proposal| proposal::Status::ALL.iter().position(|it| *it == proposal.status));
        let told = Room::default().first(proposals.iter().map(Draft::of), usize::MAX, Draft::whole);
        let how = "`totalrecall proposals` shows all";
        Ok(Drafts { cut: cut(told.len(), proposals.len() as u64, "proposals", how), proposals: told })
    }
}

impl Answer for Drafts {
    fn text(&self) -> String {
        let mut text = String::new();
        for draft in &self.proposals {
            let _ = writeln!(text, "{}", draft.told());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let none = self.proposals.is_empty().then(|| "Nothing is drafted or in force.".to_owned());
        none.into_iter().chain(self.cut.clone()).collect()
    }
}
