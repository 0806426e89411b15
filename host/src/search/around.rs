//! What stands around something, and what happened when: the steps between a hit and a whole transcript.

use std::cmp::Reverse;

use serde::Serialize;

use super::{Filter, Reference, Source};
use crate::{
    digest::{Said, short},
    passage::{Kind, Passage},
    store::{Origin, SessionId, Store, StoreError},
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
/// Moments that are gathered besides the ones that are wanted before these are picked.
const ROOM: usize = 1_000;

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

/// Why there is nothing to be shown of an event that there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    /// Its session.
    pub session: SessionId,
    /// Since when.
    pub at: i64,
    /// It cannot be brought back.
    pub is_purged: bool,
}

/// Was an event put away with its session, or thrown away? None: it was not, or there never was one.
///
/// # Errors
/// As for any read.
pub fn put_away(store: &Store, event: i64) -> Result<Option<Away>, StoreError> {
    let Some(session) = store.session_of(event)? else { return Ok(None) };
    let Some(row) = store.session(session)? else { return Ok(None) };
    Ok(match (row.purged_at, row.archived_at) {
        (Some(at), _) => Some(Away { session, at, is_purged: true }),
        (None, Some(at)) if store.has_event(event)? => Some(Away { session, at, is_purged: false }),
        _ => None,
    })
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// What it is called.
    pub id: Reference,
    /// What it is: something that was said or done, a memory, a chunk, or a session, which stands at its end.
    pub kind: Kind,
    /// When.
    pub at: i64,
    /// What, on one line; text of others.
    pub text: String,
    /// The project.
    pub project: Option<String>,
}

/// What happened, newest first, and how much more there is: what was said and done, what was remembered and saved, and sessions as
/// wholes. Without kinds in the filter, what was said and done in sessions is left out.
///
/// # Errors
/// As for any read.
pub fn timeline(store: &Store, filter: &Filter, limit: usize) -> Result<(Vec<Moment>, usize), StoreError> {
    let groups = store.groups(filter)?;
    let admits = |origin, row| {
        groups.as_ref().is_none_or(|groups| groups.contains(&crate::passage::Group { origin, row }.number()))
    };
    let is_whole = |kind| matches!(kind, Kind::Memory | Kind::Chunk | Kind::Session);
    let wants = |kind| filter.kinds.contains(&kind) || (filter.kinds.is_empty() && is_whole(kind));
    let of_events: Vec<Kind> = filter.kinds.iter().copied().filter(|kind| !is_whole(*kind)).collect();
    let (mut moments, mut more) = (Vec::new(), 0);
    let mut add = |id, kind, at: Option<i64>, text: &str, project: Option<&str>| {
        let Some(at) = at else { return };
        if wants(kind) && filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at < until) {
            moments.push(Moment { id, kind, at, text: short(text, STEP), project: project.map(str::to_owned) });
            // There may be millions, of which a few are wanted.
            if moments.len() > 2 * limit + ROOM {
                more += newest(&mut moments, limit);
            }
        }
    };
    for memory in store.memories()? {
        if admits(Origin::Memory, memory.row) {
            let text = format!("{}: {}", memory.category.name(), memory.content);
            add(Reference::Memory(memory.id), Kind::Memory, Some(memory.created_at), &text, memory.project.as_deref());
        }
    }
    for chunk in store.chunks()? {
        if admits(Origin::Chunk, chunk.row) {
            add(
                Reference::Chunk(chunk.id),
                Kind::Chunk,
                Some(chunk.created_at),
                &chunk.summary,
                chunk.project.as_deref(),
            );
        }
    }
    for session in store.sessions()? {
        if !admits(Origin::Session, session.id.0) {
            continue;
        }
        let title = session.title.clone().unwrap_or_else(|| format!("{} {}", session.tool, session.native_id));
        let text = format!("{title} ({} messages, {} edits)", session.messages, session.edits);
        let project = session.project.as_deref();
        add(Reference::Session(session.id), Kind::Session, session.ended_at, &text, project);
        let is_within = filter.since.is_none_or(|since| session.ended_at.is_some_and(|end| end >= since))
            && filter.until.is_none_or(|until| session.started_at.is_none_or(|begin| begin < until));
        if !of_events.is_empty() && is_within {
            store.each_passage_of::<StoreError>(session.id, &of_events, &mut |passage| {
                if let Some(place) = passage.place {
                    add(Reference::Event(place.event), passage.kind, passage.at, &passage.text, project);
                }
                Ok(())
            })?;
        }
    }
    more += newest(&mut moments, limit);
    Ok((moments, more))
}

/// Keeps so many, newest first; gives how many went.
fn newest(moments: &mut Vec<Moment>, limit: usize) -> usize {
    moments.sort_by_key(|moment| Reverse(moment.at));
    let more = moments.len().saturating_sub(limit);
    moments.truncate(limit);
    more
}
