//! What stands around something, and what happened when: the steps between a hit and a whole transcript.

use std::cmp::Reverse;

use serde::Serialize;

use super::{Filter, Reference, Source};
use crate::{
    digest::{Said, short},
    passage::{Kind, Passage},
    store::{Origin, Store, StoreError},
};

/// An event, whole, with its neighbours in short.
#[derive(Clone, Debug, Serialize)]
pub struct Around {
    /// What it is called.
    pub id: Reference,
    /// What it is.
    pub kind: Kind,
    /// When it was said.
    pub at: Option<i64>,
    /// Where it stands.
    pub source: Source,
    /// All of what is stored of it; text of others.
    pub text: String,
    /// What was said before it, in its order.
    pub before: Vec<Step>,
    /// What was said after it.
    pub after: Vec<Step>,
}

/// A step of a session, in short.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// What it is.
    pub kind: Kind,
    /// What it is called, when, and what was said.
    #[serde(flatten)]
    pub said: Said,
}

/// Longest text of a step, in characters.
const STEP: usize = 160;

impl Step {
    fn of(passage: &Passage) -> Option<Self> {
        Some(Self { kind: passage.kind, said: Said::of(passage, STEP)? })
    }
}

/// An event and so many steps before and after it. None: it is gone, or is nothing that was said.
///
/// # Errors
/// As for any read.
pub fn around(store: &Store, event: i64, steps: usize) -> Result<Option<Around>, StoreError> {
    let Some(number) = store.passage_of_event(event)? else { return Ok(None) };
    let Some(passage) = store.passage(number)? else { return Ok(None) };
    let near = |forward| -> Result<Vec<Step>, StoreError> {
        Ok(store.passages_near(event, forward, steps)?.iter().filter_map(Step::of).collect())
    };
    let mut before = near(false)?;
    before.reverse();
    Ok(Some(Around {
        id: Reference::Event(event),
        kind: passage.kind,
        at: passage.at,
        source: Source::of(store, &passage)?,
        text: store.event_text(event)?.unwrap_or(passage.text),
        before,
        after: near(true)?,
    }))
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// What it is called.
    pub id: Reference,
    /// What it is: a prompt, a memory, a chunk, or a session, which stands at its end.
    pub kind: Kind,
    /// When.
    pub at: i64,
    /// What, on one line; text of others.
    pub text: String,
    /// The project.
    pub project: Option<String>,
}

/// What happened, newest first, and how much more there is: what persons said, what was remembered and saved, and sessions as
/// wholes. Without kinds in the filter, prompts are left out.
///
/// # Errors
/// As for any read.
pub fn timeline(store: &Store, filter: &Filter, limit: usize) -> Result<(Vec<Moment>, usize), StoreError> {
    let groups = store.groups(filter)?;
    let admits = |origin, row| {
        groups.as_ref().is_none_or(|groups| groups.contains(&crate::passage::Group { origin, row }.number()))
    };
    let wants = |kind| filter.kinds.contains(&kind) || (filter.kinds.is_empty() && kind != Kind::Prompt);
    let mut moments = Vec::new();
    let mut add = |id, kind, at: Option<i64>, text: &str, project: Option<String>| {
        let Some(at) = at else { return };
        if wants(kind) && filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at < until) {
            moments.push(Moment { id, kind, at, text: short(text, STEP), project });
        }
    };
    for memory in store.memories()? {
        if admits(Origin::Memory, memory.row) {
            let text = format!("{}: {}", memory.category.name(), memory.content);
            add(Reference::Memory(memory.id), Kind::Memory, Some(memory.created_at), &text, memory.project);
        }
    }
    for chunk in store.chunks()? {
        if admits(Origin::Chunk, chunk.row) {
            add(Reference::Chunk(chunk.id), Kind::Chunk, Some(chunk.created_at), &chunk.summary, chunk.project);
        }
    }
    for session in store.sessions()? {
        if !admits(Origin::Session, session.id.0) {
            continue;
        }
        let title = session.title.clone().unwrap_or_else(|| format!("{} {}", session.tool, session.native_id));
        let text = format!("{title} ({} messages, {} edits)", session.messages, session.edits);
        add(Reference::Session(session.id), Kind::Session, session.ended_at, &text, session.project.clone());
        let is_within = filter.since.is_none_or(|since| session.ended_at.is_some_and(|end| end >= since));
        if wants(Kind::Prompt) && is_within {
            store.each_passage_of::<StoreError>(session.id, &mut |passage| {
                if let (Kind::Prompt, Some(place)) = (passage.kind, passage.place) {
                    let id = Reference::Event(place.event);
                    add(id, Kind::Prompt, passage.at, &passage.text, session.project.clone());
                }
                Ok(())
            })?;
        }
    }
    moments.sort_by_key(|moment| Reverse(moment.at));
    let more = moments.len().saturating_sub(limit);
    moments.truncate(limit);
    Ok((moments, more))
}
