//! Hits: what was found, where it stands, and why.

use serde::Serialize;
use totalrecall_retrieval::fuse::Why;

use crate::{
    clean::clean,
    passage::{Kind, Passage},
    search::Reference,
    store::{Origin, SessionId, Store, StoreError},
};

/// Something that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// What it is called: `show` and the others take it.
    pub id: Reference,
    /// What it is.
    pub kind: Kind,
    /// How good it is, comparable within one answer only.
    pub score: f32,
    /// When it was said, in milliseconds since the Unix epoch.
    pub at: Option<i64>,
    /// Where it stands.
    pub source: Source,
    /// The part that shows why it was found; text of others.
    pub excerpt: String,
    /// Why it was found.
    pub why: Why,
    /// Others that say nearly the same and are left out.
    pub similar: usize,
    /// A memory that does not hold any more, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<&'static str>,
}

/// Where a hit stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The session.
    pub session: Option<Reference>,
    /// The tool's id of it.
    pub native_id: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// Title of the session.
    pub title: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// The transcript.
    pub path: Option<String>,
    /// Its line.
    pub line: Option<u64>,
}

impl Source {
    /// Where a passage stands.
    ///
    /// # Errors
    /// As for any read.
    pub fn of(store: &Store, passage: &Passage) -> Result<Self, StoreError> {
        let mut source = Self::default();
        if let Some(group) = passage.group {
            match group.origin {
                Origin::Session => source.set_session(store, SessionId(group.row))?,
                Origin::Memory => source.project = store.memory_row(group.row)?.and_then(|memory| memory.project),
                Origin::Chunk => source.project = store.chunk_row(group.row)?.and_then(|chunk| chunk.project),
                Origin::Event => {}
            }
        }
        if let Some(place) = passage.place {
            source.path = store.transcript(place.transcript)?.map(|transcript| transcript.path);
            source.line = Some(place.line);
        }
        Ok(source)
    }

    pub(super) fn set_session(&mut self, store: &Store, session: SessionId) -> Result<(), StoreError> {
        if let Some(row) = store.session(session)? {
            self.session = Some(Reference::Session(session));
            self.native_id = Some(row.native_id);
            self.tool = Some(row.tool);
            self.title = row.title.map(|title| clean(&title).into_owned());
            self.project = row.project;
        }
        Ok(())
    }
}

/// Why a memory does not hold any more; none: it does, or it is none.
pub(super) fn outdated(store: &Store, passage: &Passage, now: i64) -> Result<Option<&'static str>, StoreError> {
    let Some(group) = passage.group.filter(|group| group.origin == Origin::Memory) else { return Ok(None) };
    let Some(memory) = store.memory_row(group.row)? else { return Ok(None) };
    // By the time: the one that took its place may have been forgotten since.
    Ok(if memory.superseded_at.is_some() {
        Some("superseded")
    } else if memory.done_at.is_some() {
        Some("done")
    } else {
        (!memory.holds(now)).then_some("expired")
    })
}
