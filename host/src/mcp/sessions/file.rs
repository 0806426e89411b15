//! `related_to_file`: what is known of a file.

use std::{collections::BTreeMap, fmt::Write as _};

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    about::{is_it, names},
    chunk::Chunk,
    mcp::{
        chunks,
        desk::Desk,
        memories,
        sessions::Told,
        tool::{Answer, Effect, Refusal, Tool},
        words::{Limit, Room, counted, line, number, when},
    },
    store::{Origin, Store, Touched},
};

/// Most sessions.
const MOST: u32 = 100;
/// Memories and chunks that are told.
const KEPT: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(in crate::mcp) struct RelatedToFile {
    /// The file: a whole path, or its last parts
    path: String,
    /// At most so many sessions
    #[serde(default = "number::<10>")]
    limit: u32,
}

/// What is known of the file.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(in crate::mcp) struct Related {
    /// Sessions that used it, those that changed it first, of these the latest
    sessions: Vec<Use>,
    /// How many they are
    total: u64,
    /// Memories that name it
    memories: Vec<memories::Told>,
    /// Chunks that name it
    chunks: Vec<chunks::Told>,
    #[serde(skip)]
    cut: Option<String>,
    #[serde(skip)]
    kept_left_out: usize,
}

/// A session, and what it did with the file.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Use {
    #[serde(flatten)]
    session: Told,
    file: String,
    /// Calls of tools that were about it
    calls: u64,
    /// Of these, those that changed it
    changes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

impl Tool for RelatedToFile {
    const NAME: &'static str = "related_to_file";
    const TITLE: &'static str = "What is known of a file";
    const DESCRIPTION: &'static str = "What is known of a file: the sessions that read or changed it, and the memories and chunks that name it. Use it before changing a \
        file that others have worked on. Some 60 tokens for each.";
    const EFFECT: Effect = Effect::Reads;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("file", "path"), ("file_path", "path")];
    type Answer = Related;

    fn run(self, desk: &Desk) -> Result<Related, Refusal> {
        let path = self.path.trim().trim_start_matches("./");
        if path.is_empty() {
            return Err(Refusal::new("no file is named", "Give a path, or its last parts."));
        }
        let store = desk.store()?;
        let mut used: BTreeMap<i64, Touched> = BTreeMap::new();
        for touched in store.touched(path)? {
            // Transcripts of sub-agents are of the same session.
            let whole = used.entry(touched.session.0).or_insert_with(|| Touched {
                calls: 0,
                changes: 0,
                at: None,
                ..touched.clone()
            });
            whole.calls += touched.calls;
            whole.changes += touched.changes;
            whole.at = whole.at.max(touched.at);
        }
        let mut used: Vec<Touched> = used.into_values().collect();
        used.sort_by_key(|it| std::cmp::Reverse((it.changes > 0, it.at)));
        let (mut room, limit) = (Room::default(), Limit { asked: self.limit, most: MOST });
        let all = store.chunks()?;
        let mut related = Related { total: used.len() as u64, ..Related::default() };
        // Before the sessions, of which there may be many.
        related.kept(&store, &all, path, desk.now, &mut room)?;
        let mut sessions = Vec::new();
        for touched in used.into_iter().take(limit.count()) {
            let Some(row) = store.session(touched.session)? else { continue };
            sessions.push(Use {
                session: Told::of(&row, &all),
                file: touched.path,
                calls: touched.calls,
                changes: touched.changes,
                last: touched.at.map(when),
            });
        }
        related.sessions = room.first(sessions, usize::MAX, Use::text);
        related.cut = limit.cut(&room, related.sessions.len(), related.total, "sessions");
        Ok(related)
    }
}

impl Use {
    fn text(&self) -> String {
        let (calls, changes) = (counted(self.calls, "call", "calls"), counted(self.changes, "change", "changes"));
        let last = self.last.as_deref().map(|last| format!(", last {last}")).unwrap_or_default();
        format!("{}\n   {}: {calls}, {changes}{last}", self.session.text(), line(&self.file))
    }
}

impl Related {
    /// Adds memories and chunks that name the file.
    fn kept(&mut self, store: &Store, all: &[Chunk], path: &str, now: i64, room: &mut Room) -> Result<(), Refusal> {
        let memories = store.memories()?;
        let told = memories.iter().filter(|memory| memory.holds(now) && names(&memory.content, path));
        let told: Vec<_> = told.map(|memory| memories::Told::of(memory, now)).collect();
        let mut chunks = Vec::new();
        for chunk in all {
            let entities = store.marks(Origin::Chunk, chunk.row, "entity")?;
            if entities.iter().any(|entity| is_it(entity, path)) {
                chunks.push(chunks::Told::of(chunk));
            }
        }
        let total = told.len() + chunks.len();
        self.memories = room.first(told, KEPT, memories::Told::text);
        self.chunks = room.first(chunks, KEPT, chunks::Told::text);
        self.kept_left_out = total - self.memories.len() - self.chunks.len();
        Ok(())
    }
}

impl Answer for Related {
    fn text(&self) -> String {
        let mut text = String::new();
        for used in &self.sessions {
            let _ = writeln!(text, "{}", used.text());
        }
        for memory in &self.memories {
            let _ = writeln!(text, "memory {}", memory.text());
        }
        for chunk in &self.chunks {
            let _ = writeln!(text, "chunk {}", chunk.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let is_empty = self.total == 0 && self.memories.is_empty() && self.chunks.is_empty();
        let none = is_empty.then(|| "Nothing is known of such a file.".to_owned());
        let kept = (self.kept_left_out > 0)
            .then(|| format!("{} more memories and chunks name it: search finds them.", self.kept_left_out));
        none.into_iter().chain(self.cut.clone()).chain(kept).collect()
    }
}
