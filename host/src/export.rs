//! What is handed over: the state of a project as Markdown for whoever goes on with it, or all of it as JSON; and one session.

mod conversation;
mod markdown;

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::{
    chunk::Chunk,
    clean::clean,
    library::Library,
    memory::{Category, Memory},
    pattern::{Pattern, Status},
    project::Project,
    search::{Answer, Confidence, Hit, Reference},
    store::{Origin, SessionId, SessionRow, Store, StoreError},
};

pub use conversation::{Conversation, conversation};

/// Files and patterns that are named of each; the rest is counted.
const FILES: usize = 20;
const PATTERNS: usize = 10;
/// Characters of what a session was asked first.
const ASKED: usize = 200;

/// The part of what is known that is handed over; by default all of it.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Only of this project.
    pub project: Option<Project>,
    /// Only what ended or was said from then on, in milliseconds since the Unix epoch.
    pub since: Option<i64>,
    /// Only what was before then.
    pub until: Option<i64>,
}

impl Part {
    /// Is something of that time in it?
    pub fn has_time(&self, at: i64) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }

    /// Is the folder, or the name, of the project?
    fn is_of(&self, folder: Option<&str>) -> bool {
        let Some(project) = &self.project else { return true };
        folder.is_some_and(|folder| {
            folder == project.path || project.folders.contains(folder) || Some(folder) == project.name()
        })
    }

    /// Is the session in it?
    pub fn has(&self, row: &SessionRow) -> bool {
        let is_of = self
            .project
            .as_ref()
            .is_none_or(|project| row.project.as_ref().is_some_and(|folder| project.folders.contains(folder)));
        is_of && self.has_time(row.ended_at.unwrap_or_default())
    }
}

/// A session in short.
#[derive(Clone, Debug, Serialize)]
pub struct Digest {
    /// What it is called: `s12`.
    pub id: String,
    /// The tool's id of it.
    pub native_id: String,
    /// The tool.
    pub tool: String,
    /// Folder that it is filed under.
    pub project: Option<String>,
    /// Branch of that folder.
    pub branch: Option<String>,
    /// What the person calls it, else its title.
    pub title: Option<String>,
    /// What it was asked first, as far as that is still there.
    pub asked: Option<String>,
    /// Words the person has marked it with.
    pub tags: Vec<String>,
    /// Time of its first event, in milliseconds since the Unix epoch.
    pub started_at: Option<i64>,
    /// Time of its last event.
    pub ended_at: Option<i64>,
    /// Messages of the person and of the model.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Files that it changed, those it changed most first; at most 20.
    pub files: Vec<String>,
    /// `active`, `archived` or `purged`.
    pub state: &'static str,
}

/// What is known of a project, or of everything.
#[derive(Debug, Serialize)]
pub struct Handover {
    /// When it was made, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The project's folder.
    pub project: Option<String>,
    /// See [`Part::since`].
    pub since: Option<i64>,
    /// See [`Part::until`].
    pub until: Option<i64>,
    /// Memories, those that matter most first; those that do not hold any more, too.
    pub memories: Vec<Memory>,
    /// Chunks with their texts, the newest first.
    pub chunks: Vec<Saved>,
    /// Sessions, the newest first.
    pub sessions: Vec<Digest>,
    /// Friction that still comes up, the strongest first.
    pub friction: Vec<Pattern>,
    /// It has what a search found, and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
}

/// What was searched for, and where it was said.
#[derive(Debug, Serialize)]
pub struct About {
    /// The words.
    pub query: String,
    /// Whether what was found answers them.
    pub confidence: Confidence,
    /// The best hits, best first.
    pub hits: Vec<Hit>,
    /// How many are relevant in all.
    pub total: usize,
    /// There are at least so many: not all were looked at.
    pub is_more: bool,
}

/// A chunk with its text.
#[derive(Debug, Serialize)]
pub struct Saved {
    /// The chunk.
    #[serde(flatten)]
    pub chunk: Chunk,
    /// Its text.
    pub content: Option<String>,
}

/// How a session is kept.
pub fn state(row: &SessionRow) -> &'static str {
    match (row.purged_at, row.archived_at) {
        (Some(_), _) => "purged",
        (None, Some(_)) => "archived",
        (None, None) => "active",
    }
}

/// A session in short. `asked`: with what it was asked first, which takes reading its first events.
///
/// # Errors
/// Those of the store.
pub fn digest(store: &Store, row: &SessionRow, asked: bool) -> Result<Digest, StoreError> {
    Ok(Digest {
        id: format!("s{}", row.id.0),
        native_id: row.native_id.clone(),
        tool: row.tool.clone(),
        project: row.project.clone(),
        branch: row.branch.clone(),
        title: row.title.clone(),
        asked: if asked { first_prompt(store, row.id)? } else { None },
        tags: store.marks(Origin::Session, row.id.0, "tag")?,
        started_at: row.started_at,
        ended_at: row.ended_at,
        messages: row.messages,
        tool_calls: row.tool_calls,
        files: store.changed_files(row.id, FILES)?,
        state: state(row),
    })
}

fn first_prompt(store: &Store, session: SessionId) -> Result<Option<String>, StoreError> {
    let prompt = store.first_prompt(session)?;
    Ok(prompt.map(|text| crate::insights::clean(&text, ASKED)).filter(|text| !text.is_empty()))
}

/// Everything of a part. `patterns`: those of that part, strongest first.
///
/// # Errors
/// Those of the store.
pub fn handover(store: &Store, part: &Part, patterns: Vec<Pattern>, now: i64) -> Result<Handover, StoreError> {
    let mut sessions = Vec::new();
    for row in store.sessions()?.iter().rev().filter(|row| part.has(row)) {
        sessions.push(digest(store, row, true)?);
    }
    // A memory without a project holds in all of them.
    let mut memories = store.memories()?;
    memories.retain(|it| (it.project.is_none() || part.is_of(it.project.as_deref())) && part.has_time(it.created_at));
    let mut chunks = Vec::new();
    for chunk in store.chunks()? {
        if part.is_of(chunk.project.as_deref()) && part.has_time(chunk.created_at) {
            chunks.push(saved(store, chunk)?);
        }
    }
    let friction = patterns.into_iter().filter(|it| !it.muted && it.status == Status::Active).take(PATTERNS).collect();
    Ok(Handover {
        at: now,
        project: part.project.as_ref().map(|project| project.path.clone()),
        since: part.since,
        until: part.until,
        memories,
        chunks,
        sessions,
        friction,
        about: None,
    })
}

/// What a search found, with the memories, chunks and sessions that it was found in. Where it found nothing relevant, that is
/// nothing.
///
/// # Errors
/// Those of the store.
pub fn about(store: &Store, part: &Part, query: &str, answer: Answer, now: i64) -> Result<Handover, StoreError> {
    let is_relevant = answer.confidence > Confidence::Nothing;
    let hits = if is_relevant { answer.hits } else { Vec::new() };
    let (mut memories, mut chunks, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for hit in &hits {
        // Of a session there may be many passages, of a chunk several parts.
        let of = hit.source.session.as_ref().unwrap_or(&hit.id);
        if !seen.insert(of) {
            continue;
        }
        match of {
            Reference::Memory(name) => memories.extend(store.memory(name)?),
            Reference::Chunk(name) => {
                if let Some(chunk) = store.chunk(name)? {
                    chunks.push(saved(store, chunk)?);
                }
            }
            Reference::Session(session) => {
                if let Some(row) = store.session(*session)? {
                    sessions.push(digest(store, &row, true)?);
                }
            }
            Reference::Event(_) => {}
        }
    }
    let total = if is_relevant { answer.total } else { 0 };
    let about = About { query: query.to_owned(), confidence: answer.confidence, hits, total, is_more: answer.is_more };
    Ok(Handover {
        at: now,
        project: part.project.as_ref().map(|project| project.path.clone()),
        since: part.since,
        until: part.until,
        memories,
        chunks,
        sessions,
        friction: Vec::new(),
        about: Some(about),
    })
}

fn saved(store: &Store, chunk: Chunk) -> Result<Saved, StoreError> {
    let content = store.kept_chunk_text(chunk.row)?;
    Ok(Saved { chunk, content })
}

impl Handover {
    /// Nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty() && self.chunks.is_empty() && self.sessions.is_empty()
    }

    /// As a document for a person, or for the agent that goes on.
    pub fn markdown(&self) -> String {
        markdown::of(self)
    }

    /// Memories that hold and are of one sort.
    fn holding(&self, category: Category) -> impl Iterator<Item = &Memory> {
        self.memories.iter().filter(move |it| it.category == category && it.holds(self.at))
    }
}

/// The folders that sessions are filed under.
///
/// # Errors
/// Those of the store.
pub fn projects(store: &Store) -> Result<BTreeSet<String>, StoreError> {
    Ok(Library::load(store)?.projects())
}

fn day(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| "?".to_owned(), |at| jiff::tz::TimeZone::UTC.to_datetime(at).date().to_string())
}

fn lines(text: &str) -> impl Iterator<Item = String> {
    clean(text).into_owned().lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}
