//! What is known of a file that is about to be read.

use std::path::Path;

use super::{Line, project};
use crate::{
    about::{is_it, names},
    fence::{named, quoted},
    inject::{
        item::{day, moment, outdated, speaker},
        place,
    },
    memory::Memory,
    project::Project,
    search::Reference,
    store::{Origin, Store, StoreError, Touched},
};

/// Sessions, memories and chunks that are told of.
const SESSIONS: usize = 3;
const MEMORIES: usize = 3;
const CHUNKS: usize = 2;

/// Longest statement, title or summary, and longest name of a tool, in characters.
const STATEMENT: usize = 240;
const TITLE: usize = 120;
const TOOL: usize = 40;

/// All that is known. None: nothing is.
pub(super) fn find(
    store: &Store,
    folder: &Path,
    session: &str,
    file: &Path,
    now: i64,
) -> Result<Option<Vec<Line>>, StoreError> {
    let path = folder.join(file).to_string_lossy().into_owned();
    let project = project(store, folder)?;
    let mut lines = memories(store, &project, &path, now)?;
    lines.extend(chunks(store, &project, &path)?);
    lines.extend(sessions(store, session, &path)?);
    Ok((!lines.is_empty()).then_some(lines))
}

/// Is what belongs to a project, or to none, told in this one? Of a mere name nobody can tell which project is meant.
fn is_here(owner: Option<&str>, project: &Project) -> bool {
    let is_it = |owner: &str| owner == project.path || project.folders.contains(owner) || place(owner) == project.path;
    owner.is_none_or(|owner| owner.contains(['/', '\\']) && is_it(owner))
}

fn memories(store: &Store, project: &Project, path: &str, now: i64) -> Result<Vec<Line>, StoreError> {
    let is_told = |it: &Memory| it.holds(now) && names(&it.content, path) && is_here(it.project.as_deref(), project);
    let mut found: Vec<Memory> = store.memories()?.into_iter().filter(is_told).collect();
    found.sort_by_key(|it| std::cmp::Reverse((it.importance, it.trust, it.created_at)));
    let line = |it: &Memory| {
        let mut marks =
            vec![it.id.clone(), day(it.created_at), it.category.name().to_owned(), speaker(it.trust).to_owned()];
        marks.extend(outdated(it));
        Line::new(it.id.clone(), &marks, &quoted(&it.content, STATEMENT))
    };
    Ok(found.iter().take(MEMORIES).map(line).collect())
}

fn chunks(store: &Store, project: &Project, path: &str) -> Result<Vec<Line>, StoreError> {
    let mut lines = Vec::new();
    for chunk in store.chunks()? {
        if lines.len() == CHUNKS {
            break;
        }
        let is_about = |entity: &String| is_it(entity, path);
        if is_here(chunk.project.as_deref(), project)
            && store.marks(Origin::Chunk, chunk.row, "entity")?.iter().any(is_about)
        {
            let marks = [chunk.id.clone(), day(chunk.created_at)];
            lines.push(Line::new(chunk.id, &marks, &quoted(&chunk.summary, TITLE)));
        }
    }
    Ok(lines)
}

/// Sessions that changed it, the latest first. That one has read it says nothing.
fn sessions(store: &Store, session: &str, path: &str) -> Result<Vec<Line>, StoreError> {
    let mut changed: Vec<Touched> = Vec::new();
    for touched in store.touched(path)?.into_iter().filter(|it| it.changes > 0) {
        // Transcripts of sub-agents are of the same session.
        match changed.iter_mut().find(|it| it.session == touched.session) {
            Some(known) => known.changes += touched.changes,
            None => changed.push(touched),
        }
    }
    let mut lines = Vec::new();
    for touched in changed {
        if lines.len() == SESSIONS {
            break;
        }
        lines.extend(session_line(store, session, path, &touched)?);
    }
    Ok(lines)
}

/// None: it is the session that is told.
fn session_line(store: &Store, own: &str, path: &str, touched: &Touched) -> Result<Option<Line>, StoreError> {
    let (id, changes) = (touched.session, touched.changes);
    let Some(row) = store.session(id)?.filter(|row| row.native_id != own) else { return Ok(None) };
    let reference = Reference::Session(id).to_string();
    // It is not the session that is told, but what it did to this file: only a path has a blank behind a word.
    let source = format!("{reference} {path}");
    let mut marks = vec![reference];
    marks.extend(row.ended_at.map(moment));
    marks.push(named(&row.tool, TOOL));
    let title = store.title(id)?.or(store.asked(id, 0)?.0.map(|asked| asked.text));
    let title = title.map(|title| format!(": {}", quoted(&title, TITLE))).unwrap_or_default();
    let times = if changes == 1 { "once".to_owned() } else { format!("{changes} times") };
    Ok(Some(Line::new(source, &marks, &format!("changed it {times}{title}"))))
}
