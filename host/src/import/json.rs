//! Memories and chunks as we print them: `{"memories": […], "chunks": […]}`. docs/import.md has all fields.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{ImportError, folder, kept::Entries, time};
use crate::{
    chunk::{NewChunk, Sort},
    memory::{Category, Importance, NewMemory, Trust},
};

/// What the file should be.
const WHAT: &str = "file of memories";

/// A time: milliseconds since the Unix epoch, or as ISO 8601 has it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Time {
    Milliseconds(i64),
    Text(String),
}

impl Time {
    fn at(self) -> Option<i64> {
        match self {
            Self::Milliseconds(at) => Some(at),
            Self::Text(text) => time::parse(&text),
        }
    }
}

/// A memory; only its content must be there.
#[derive(Debug, Deserialize)]
struct Memory {
    #[serde(default)]
    id: String,
    content: String,
    #[serde(default)]
    category: Category,
    #[serde(default)]
    importance: Importance,
    #[serde(default)]
    trust: Trust,
    confidence: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
    project: Option<String>,
    session: Option<String>,
    domain: Option<String>,
    ticket: Option<String>,
    created_at: Option<Time>,
    expires_at: Option<Time>,
    done_at: Option<Time>,
    superseded_by: Option<String>,
    superseded_at: Option<Time>,
}

/// A chunk; only its content must be there.
#[derive(Debug, Deserialize)]
struct Chunk {
    #[serde(default)]
    id: String,
    content: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    kind: Sort,
    #[serde(default)]
    tags: Vec<String>,
    project: Option<String>,
    session: Option<String>,
    domain: Option<String>,
    ticket: Option<String>,
    created_at: Option<Time>,
}

pub(super) fn read(path: &Path) -> Result<Entries, ImportError> {
    let not = |why: String| ImportError::NotA { path: path.to_path_buf(), what: WHAT, why };
    let (text, _) = folder::named(path).map_err(not)?.ok_or_else(|| not("there is no such file".to_owned()))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| not(format!("it is no JSON: {error}")))?;
    let lists = ["memories", "chunks"].map(|key| document.get(key).and_then(Value::as_array));
    if lists.iter().all(Option::is_none) {
        return Err(not("it has neither a list `memories` nor a list `chunks`".to_owned()));
    }
    let mut entries = Entries::named_by_folder(path.to_string_lossy().into_owned());
    let [memories, chunks] = lists;
    for (number, value) in (1..).zip(memories.into_iter().flatten()) {
        let place = format!("memory {number}");
        match Memory::deserialize(value) {
            Ok(memory) => memory_into(&mut entries, place, memory),
            Err(error) => entries.skip(place, error.to_string()),
        }
    }
    for (number, value) in (1..).zip(chunks.into_iter().flatten()) {
        let place = format!("chunk {number}");
        // What is archived is exported without its text.
        if value.get("content").is_none_or(Value::is_null) {
            entries.skip(place, "it has no content");
            continue;
        }
        match Chunk::deserialize(value) {
            Ok(chunk) => chunk_into(&mut entries, place, chunk),
            Err(error) => entries.skip(place, error.to_string()),
        }
    }
    Ok(entries)
}

fn memory_into(entries: &mut Entries, place: String, memory: Memory) {
    let Memory { id, content, category, importance, trust, confidence, tags, .. } = memory;
    let origin = format!("json memory {id}");
    let new = NewMemory {
        content,
        category,
        importance,
        trust,
        confidence,
        tags,
        project: memory.project,
        session: memory.session,
        domain: memory.domain,
        ticket: memory.ticket,
        created_at: memory.created_at.and_then(Time::at),
        expires_at: memory.expires_at.and_then(Time::at),
        ..NewMemory::default()
    };
    let created_at = new.created_at;
    let superseded_at = memory.superseded_at.and_then(Time::at);
    if let Some(entry) = entries.memory(place, origin, &id, new) {
        entry.done_at = memory.done_at.and_then(Time::at);
        if superseded_at.is_some() || memory.superseded_by.is_some() {
            entry.superseded = Some((memory.superseded_by, superseded_at.or(created_at).unwrap_or(0)));
        }
    }
}

fn chunk_into(entries: &mut Entries, place: String, chunk: Chunk) {
    let Chunk { id, content, summary, kind, tags, project, session, domain, ticket, created_at } = chunk;
    let origin = format!("json chunk {id}");
    let created_at = created_at.and_then(Time::at);
    let new =
        NewChunk { content, summary, sort: kind, tags, project, session, domain, ticket, created_at, origin: None };
    entries.chunk(place, origin, &id, new);
}
