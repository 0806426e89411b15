//! `sessions`, `session_digest`, `timeline`, `related_to_file` and `domains`: what happened when, where, and to which files.

mod file;
mod timeline;

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    about::About,
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Limit, Room, counted, cut, line, number, when},
};
use crate::{
    chunk::Chunk,
    digest::{Digest, digest},
    passage::Group,
    search::Reference,
    store::{Origin, SessionId, SessionRow, Store},
};

pub(super) use file::RelatedToFile;
pub(super) use timeline::Timeline;

/// Most in a list.
const MOST: u32 = 200;
/// Most domains, and most tags and tickets.
const DOMAINS: usize = 100;
const WORDS: usize = 30;
/// Fields of a project that fit most of them, for who has none yet.
const SUGGESTED: [&str; 12] = [
    "api",
    "build",
    "ci",
    "data",
    "deployment",
    "docs",
    "frontend",
    "infrastructure",
    "performance",
    "refactoring",
    "security",
    "testing",
];

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Sessions {
    /// Only of this project: a folder, or what it is called; `.` is the project of this session. Empty: all
    #[serde(default)]
    project: String,
    /// Only about this field of a project
    #[serde(default)]
    domain: String,
    /// Only since: a day (2026-11-01), or so long ago (30d, 2w, 6m, 1y)
    #[serde(default)]
    date_from: String,
    /// Only until then, a day included
    #[serde(default)]
    date_to: String,
    /// At most so many
    #[serde(default = "number::<10>")]
    limit: u32,
}

/// Sessions, newest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct List {
    sessions: Vec<Told>,
    /// How many there are
    total: u64,
    #[serde(skip)]
    cut: Option<String>,
}

/// A session in a line.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Told {
    /// For session_digest and get
    id: String,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    messages: u64,
    edits: u64,
    /// Chunks that were saved of it
    chunks: u64,
}

impl Told {
    /// `all`: the chunks that there are.
    pub(super) fn of(row: &SessionRow, all: &[Chunk]) -> Self {
        let chunks = all.iter().filter(|chunk| chunk.session.as_ref() == Some(&row.native_id)).count() as u64;
        Self {
            id: Reference::Session(row.id).to_string(),
            tool: row.tool.clone(),
            title: row.title.as_deref().map(line),
            project: row.project.clone(),
            began: row.started_at.map(when),
            ended: row.ended_at.map(when),
            messages: row.messages,
            edits: row.edits,
            chunks,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{} {}", self.id, self.tool);
        for part in [&self.began, &self.project].into_iter().flatten() {
            let _ = write!(text, " {part}");
        }
        let (messages, edits) = (counted(self.messages, "message", "messages"), counted(self.edits, "edit", "edits"));
        let _ = write!(text, " ({messages}, {edits}");
        if self.chunks > 0 {
            let _ = write!(text, ", {}", counted(self.chunks, "chunk", "chunks"));
        }
        let _ = write!(text, ")\n   {}", self.title.as_deref().unwrap_or("(no title)"));
        text
    }
}

impl Tool for Sessions {
    const NAME: &'static str = "sessions";
    const TITLE: &'static str = "List earlier sessions";
    const DESCRIPTION: &'static str = "Earlier sessions of all coding agents here, newest first: id, tool, title, project, times, how much was said and edited. \
        Some 50 tokens each. session_digest tells what one of them did.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = List;

    fn run(self, desk: &Desk) -> Result<List, Refusal> {
        let store = desk.store()?;
        let about =
            About { project: self.project, date_from: self.date_from, date_to: self.date_to, ..About::default() };
        let filter = about.filter(&store, desk)?;
        let groups = store.groups(&filter)?;
        let chunks = store.chunks()?;
        let domain = self.domain.trim();
        let of_domain = |row: &SessionRow| -> Result<bool, Refusal> {
            let is_it = |word: &str| word.eq_ignore_ascii_case(domain);
            Ok(domain.is_empty()
                || store.marks(Origin::Session, row.id.0, "domain")?.iter().any(|word| is_it(word))
                || chunks.iter().any(|chunk| {
                    chunk.session.as_ref() == Some(&row.native_id) && chunk.domain.as_deref().is_some_and(is_it)
                }))
        };
        let mut of_it = Vec::new();
        let sessions = store.sessions()?;
        for row in sessions.iter().rev() {
            let admitted = groups.as_ref().is_none_or(|groups| groups.contains(&group(row.id)))
                && filter.since.is_none_or(|since| row.ended_at.is_some_and(|end| end >= since))
                && filter.until.is_none_or(|until| row.started_at.is_some_and(|start| start < until));
            if admitted && of_domain(row)? {
                of_it.push(row);
            }
        }
        let (mut room, limit) = (Room::default(), Limit { asked: self.limit, most: MOST });
        let sessions = room.first(of_it.iter().map(|row| Told::of(row, &chunks)), limit.count(), Told::text);
        let total = of_it.len() as u64;
        Ok(List { cut: limit.cut(&room, sessions.len(), total, "sessions"), sessions, total })
    }
}

fn group(session: SessionId) -> u64 {
    Group { origin: Origin::Session, row: session.0 }.number()
}

impl Answer for List {
    fn text(&self) -> String {
        let mut text = String::new();
        for session in &self.sessions {
            let _ = writeln!(text, "{}", session.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let none = (self.total == 0).then(|| "There is no such session.".to_owned());
        none.into_iter().chain(self.cut.clone()).collect()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct SessionDigest {
    /// s12, or the tool's id of it
    session: String,
}

/// What a session did, in short.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Digested {
    id: String,
    /// The tool's id of it
    native_id: String,
    /// What it did: title, times, numbers, files, the person's words, the agent's last words
    digest: String,
}

impl Tool for SessionDigest {
    const NAME: &'static str = "session_digest";
    const TITLE: &'static str = "What a session did";
    const DESCRIPTION: &'static str = "One session in short: title, times, files it changed, what the person asked for, and the agent's last words. Use it to go on where a \
        session left off, before reading any of it. At most some 2,000 tokens.";
    const EFFECT: Effect = Effect::Reads;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("id", "session"), ("session_id", "session")];
    type Answer = Digested;

    fn run(self, desk: &Desk) -> Result<Digested, Refusal> {
        let store = desk.store()?;
        let session = find(&store, &self.session)?;
        let digest = digest(&store, session)?.ok_or_else(|| unknown(&self.session))?;
        desk.note(&[(Origin::Session, session.0)]);
        Ok(Digested { id: digest.id.to_string(), native_id: digest.native_id.clone(), digest: text_of(&digest) })
    }
}

impl Answer for Digested {
    fn text(&self) -> String {
        self.digest.clone()
    }
}

/// The session of a reference, or of a tool's id: the latest, where several have it.
pub(super) fn find(store: &Store, asked: &str) -> Result<SessionId, Refusal> {
    let asked = asked.trim();
    let sessions = store.sessions()?;
    if let Ok(Reference::Session(id)) = asked.parse()
        && sessions.iter().any(|row| row.id == id)
    {
        return Ok(id);
    }
    sessions.iter().rev().find(|row| row.native_id == asked).map(|row| row.id).ok_or_else(|| unknown(asked))
}

fn unknown(asked: &str) -> Refusal {
    Refusal::new(format!("there is no session `{}`", line(asked)), "`sessions` lists them.")
}

/// A digest for reading.
pub(super) fn text_of(digest: &Digest) -> String {
    let mut text = format!("{} {} {}\n", digest.id, digest.tool, digest.title.as_deref().unwrap_or("(no title)"));
    let mut say = |what: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = writeln!(text, "{what}: {}", line(&value));
        }
    };
    say("project", digest.project.clone());
    say("branch", digest.branch.clone());
    say("began", digest.started_at.map(when));
    say("ended", digest.ended_at.map(when));
    say("tags", Some(digest.tags.join(", ")));
    match (digest.purged_at, digest.archived_at) {
        (Some(at), _) => say("purged", Some(format!("{}: nothing of what was said is left", when(at)))),
        (None, Some(at)) => say("archived", Some(format!("{}: `restore` brings back what was said", when(at)))),
        (None, None) => {}
    }
    let _ = writeln!(
        text,
        "{}, {}, {}",
        counted(digest.messages, "message", "messages"),
        counted(digest.tool_calls, "call of a tool", "calls of tools"),
        counted(digest.edits, "edit", "edits")
    );
    if !digest.files.is_empty() {
        text.push_str("files it changed:\n");
        for file in &digest.files {
            let _ = writeln!(text, "  {}", line(file));
        }
        if digest.files_left_out > 0 {
            let _ = writeln!(text, "  ({} left out)", digest.files_left_out);
        }
    }
    if !digest.prompts.is_empty() {
        text.push_str("what the person said:\n");
    }
    for (number, said) in digest.prompts.iter().enumerate() {
        if digest.prompts_left_out > 0 && number + 1 == digest.prompts.len() {
            let _ = writeln!(text, "  ({} left out)", digest.prompts_left_out);
        }
        let _ = writeln!(text, "  {} {}", said.id, said.text);
    }
    if let Some(said) = &digest.last_reply {
        let _ = writeln!(text, "the agent's last words:\n  {} {}", said.id, said.text);
    }
    text
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Domains {}

/// Fields of projects, and other words that things are marked with.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Marks {
    /// Those in use, most used first
    domains: Vec<Mark>,
    /// The most used tags
    tags: Vec<Mark>,
    /// The most used tickets
    tickets: Vec<Mark>,
    /// For who has none yet; any word will do
    suggested: Vec<String>,
    #[serde(skip)]
    cut: Vec<String>,
}

/// A word, and how often it is used.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Mark {
    name: String,
    count: u64,
}

impl Tool for Domains {
    const NAME: &'static str = "domains";
    const TITLE: &'static str = "List domains, tags and tickets";
    const DESCRIPTION: &'static str = "The domains (fields of a project), tags and tickets that memories, chunks and sessions are marked with, to reuse the same words when \
        saving and to filter by them. Costs some 100 tokens.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Marks;

    fn run(self, desk: &Desk) -> Result<Marks, Refusal> {
        let store = desk.store()?;
        let mut told = Marks { suggested: SUGGESTED.map(str::to_owned).to_vec(), ..Marks::default() };
        for (sort, what, most, marks) in [
            ("domain", "domains", DOMAINS, &mut told.domains),
            ("tag", "tags", WORDS, &mut told.tags),
            ("ticket", "tickets", WORDS, &mut told.tickets),
        ] {
            let all = store.all_marks(sort)?;
            let total = all.len() as u64;
            marks.extend(all.into_iter().take(most).map(|(name, count)| Mark { name, count }));
            told.cut.extend(cut(marks.len(), total, what, "these are the most used ones"));
        }
        Ok(told)
    }
}

impl Answer for Marks {
    fn text(&self) -> String {
        let list = |marks: &[Mark]| {
            marks.iter().map(|it| format!("{} ({})", it.name, it.count)).collect::<Vec<_>>().join(", ")
        };
        let mut text = String::new();
        for (what, marks) in [("domains", &self.domains), ("tags", &self.tags), ("tickets", &self.tickets)] {
            let _ = writeln!(text, "{what}: {}", if marks.is_empty() { "none yet".to_owned() } else { list(marks) });
        }
        let _ = writeln!(text, "suggested domains: {}", self.suggested.join(", "));
        text
    }

    fn notices(&self) -> Vec<String> {
        self.cut.clone()
    }
}
