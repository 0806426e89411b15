//! `status`: what is kept, and whether everything works.

use std::{collections::BTreeMap, fmt::Write as _};

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{counted, line, when},
};
use crate::{
    pause,
    search::Reference,
    store::{Origin, SessionId, Store},
};

/// Things that are told of those that were looked at most.
const LOOKED_AT: usize = 3;
/// Failures that are told.
const FAILURES: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Status {}

/// What is kept, in numbers.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct State {
    version: String,
    home: String,
    /// The project that what is saved here belongs to; none: it holds everywhere
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    memories: Memories,
    chunks: Chunks,
    sessions: u64,
    events: u64,
    /// Transcripts that wait to be read
    queued: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_read: Option<String>,
    /// Size of the store
    bytes: u64,
    /// Share of what could be found by its meaning, 0 to 1
    meaning: f32,
    /// What was looked at most
    looked_at: Vec<Looked>,
    /// What does not work, and what to do about it
    problems: Vec<String>,
}

/// Memories in numbers.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Memories {
    /// Those that hold
    total: u64,
    by_category: BTreeMap<String, u64>,
    by_importance: BTreeMap<String, u64>,
}

/// Chunks in numbers.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Chunks {
    total: u64,
    tokens: u64,
    archived: u64,
}

/// Something that was looked at.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Looked {
    id: String,
    /// Number of looks, each halved for every 30 days since
    score: f64,
}

impl Tool for Status {
    const NAME: &'static str = "status";
    const TITLE: &'static str = "State of the memory";
    const DESCRIPTION: &'static str = "What the memory holds, in numbers, which project this session is in, and what does not work, with what to do about it. Use it when \
        a search finds nothing that should be there. Costs some 300 tokens.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = State;

    fn run(self, desk: &Desk) -> Result<State, Refusal> {
        let store = desk.store()?;
        let status = store.status()?;
        let mut state = State {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            home: desk.home.path().display().to_string(),
            project: desk.project(),
            sessions: status.sessions,
            events: status.events,
            queued: status.queued,
            last_read: status.last_done.map(when),
            bytes: status.bytes,
            ..State::default()
        };
        for memory in store.memories()?.iter().filter(|memory| memory.holds(desk.now)) {
            state.memories.total += 1;
            *state.memories.by_category.entry(memory.category.name().to_owned()).or_default() += 1;
            *state.memories.by_importance.entry(memory.importance.name().to_owned()).or_default() += 1;
        }
        for chunk in store.chunks()? {
            state.chunks.total += 1;
            state.chunks.tokens += chunk.tokens;
            state.chunks.archived += u64::from(chunk.archived);
        }
        for (origin, row, score) in store.most_accessed(desk.now, LOOKED_AT)? {
            if let Some(id) = called(&store, origin, row)? {
                state.looked_at.push(Looked { id: id.to_string(), score: (score * 100.0).round() / 100.0 });
            }
        }
        state.problems = problems(desk, &store)?;
        let ((meaning, behind), troubles) =
            desk.with_searcher(&store, |searcher| Ok((searcher.coverage(&store)?, searcher.behind(&store)?)))?;
        state.meaning = meaning;
        if behind > 0 {
            state.problems.push(format!("{behind} newer passages are in no index yet: `totalrecall worker` does it."));
        }
        state.problems.extend(troubles);
        Ok(state)
    }
}

fn called(store: &Store, origin: Origin, row: i64) -> Result<Option<Reference>, Refusal> {
    Ok(match origin {
        Origin::Memory => store.memory_row(row)?.map(|memory| Reference::Memory(memory.id)),
        Origin::Chunk => store.chunk_row(row)?.map(|chunk| Reference::Chunk(chunk.id)),
        Origin::Session => store.session(SessionId(row))?.map(|session| Reference::Session(session.id)),
        Origin::Event => None,
    })
}

fn problems(desk: &Desk, store: &Store) -> Result<Vec<String>, Refusal> {
    let mut problems = Vec::new();
    match pause::load(desk.home.path()) {
        Ok(pauses) => problems.extend(pauses.open().map(|pause| {
            let place = pause
                .place
                .as_ref()
                .map_or_else(|| "everywhere".to_owned(), |place| format!("in {}", line(&place.path)));
            format!("Learning is paused {place} since {}; the person ends it with /recall-resume.", when(pause.from))
        })),
        Err(error) => problems.push(format!("{} {}", line(&error.to_string()), error.hint())),
    }
    let failures = store.failures()?;
    for failed in failures.iter().take(FAILURES) {
        problems.push(format!("{} could not be read: {}.", line(&failed.path), line(&failed.why)));
    }
    if failures.len() > FAILURES {
        problems
            .push(format!("{} more could not be read: `totalrecall status` lists them.", failures.len() - FAILURES));
    }
    for trouble in store.troubles()? {
        problems.push(line(&format!("{}: {}: {} ({})", trouble.component, trouble.place, trouble.why, trouble.hint)));
    }
    Ok(problems)
}

impl Answer for State {
    fn text(&self) -> String {
        let place = self.project.as_deref().unwrap_or("none: what is saved here holds everywhere");
        let mut text = format!("TotalRecall {} in {}\nproject: {place}\n", self.version, self.home);
        let counts = |counts: &BTreeMap<String, u64>| {
            counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
        };
        let Memories { total, by_category, by_importance } = &self.memories;
        let _ = writeln!(text, "memories: {total} ({}; {})", counts(by_category), counts(by_importance));
        let Chunks { total, tokens, archived } = self.chunks;
        let _ = writeln!(text, "chunks: {total}, {tokens} tokens, {archived} archived");
        let sessions = counted(self.sessions, "session", "sessions");
        let last = self.last_read.as_deref().unwrap_or("never");
        let _ = writeln!(
            text,
            "{sessions}, {} events, {} bytes; {} transcripts wait; last read {last}",
            self.events, self.bytes, self.queued
        );
        let _ = writeln!(text, "found by meaning: {:.0} %", self.meaning * 100.0);
        for looked in &self.looked_at {
            let _ = writeln!(text, "looked at: {} ({})", looked.id, looked.score);
        }
        for problem in &self.problems {
            let _ = writeln!(text, "problem: {problem}");
        }
        text
    }
}
