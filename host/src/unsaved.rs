//! Unsaved sessions: they changed much, and nothing of them was kept on purpose. Names of programs are all that is told of what they
//! ran, never lines of the shell.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::Serialize;

use crate::{
    check, config,
    project::Project,
    proposal::claude_folder,
    redact::{Counts, Redactor},
    search::Reference,
    store::{SessionId, SessionRow, Store, StoreError},
};

/// Milliseconds of an hour and of a day.
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// Folders that are named of a session.
const FOLDERS: usize = 2;

/// Longest reason, in bytes.
const REASON: usize = 400;

/// Days after which Claude Code deletes a transcript that was not written to, where its settings say nothing.
const CLAUDE_DAYS: i64 = 30;

/// A session of which nothing was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unsaved {
    /// `s12`.
    pub reference: Reference,
    /// The tool's id of it.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The folder it is filed under.
    pub project: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// When it began, in milliseconds since the Unix epoch, as all times here.
    pub started_at: Option<i64>,
    /// When it ended, or was last gone on with.
    pub ended_at: i64,
    /// Changes of files.
    pub edits: u64,
    /// Files changed.
    pub files: u64,
    /// The folders with most of them: relative to the project where they lie in it.
    pub folders: Vec<String>,
    /// Notable programs that it ran.
    pub programs: Vec<String>,
    /// Its transcript.
    pub transcript: Option<String>,
    /// When its tool will delete that. None: it is gone already, or the tool deletes none.
    pub deleted_at: Option<i64>,
}

/// All unsaved sessions, the newest first. With a project only those of it.
///
/// # Errors
/// Those of the store.
pub fn list(
    store: &Store,
    settings: &config::Unsaved,
    project: Option<&Project>,
    now: i64,
) -> Result<Vec<Unsaved>, StoreError> {
    let until = now.saturating_sub(i64::from(settings.idle_hours) * HOUR);
    let unkept = store.unkept(now.saturating_sub(i64::from(settings.days) * DAY), until)?;
    let is_in = |row: &SessionRow| {
        project.is_none_or(|project| row.project.as_ref().is_some_and(|folder| project.folders.contains(folder)))
    };
    let days = Days::read();
    let mut found = Vec::new();
    for row in store.sessions()?.into_iter().rev().filter(|row| unkept.contains(&row.id) && is_in(row)) {
        let changes = store.changes(row.id)?;
        let edits = changes.iter().map(|(_, changes)| changes).sum();
        let programs = programs(store, row.id, &settings.programs)?;
        if edits <= u64::from(settings.edits) && programs.is_empty() {
            continue;
        }
        let ended_at = row.ended_at.unwrap_or_default();
        found.push(Unsaved {
            reference: Reference::Session(row.id),
            title: store.title(row.id)?,
            folders: folders(&changes, row.project.as_deref()),
            deleted_at: days.end(&row, ended_at),
            session: row.native_id,
            tool: row.tool,
            project: row.project,
            started_at: row.started_at,
            ended_at,
            edits,
            files: changes.len() as u64,
            programs,
            transcript: row.path,
        });
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.ended_at));
    Ok(found)
}

/// The notable programs that a session ran, whatever they were wrapped in.
fn programs(store: &Store, session: SessionId, notable: &[String]) -> Result<Vec<String>, StoreError> {
    let mut found = BTreeSet::new();
    store.shell_lines(session, |line| {
        // Reading a line takes longer than seeing that none is named in it.
        if notable.iter().any(|name| !found.contains(name) && line.contains(name.as_str())) {
            let ran = check::programs(line);
            found.extend(notable.iter().filter(|name| ran.contains(*name)).cloned());
        }
    })?;
    Ok(found.into_iter().collect())
}

/// The folders with most changes.
fn folders(changes: &[(String, u64)], project: Option<&str>) -> Vec<String> {
    let mut folders = BTreeMap::<&str, u64>::new();
    for (path, count) in changes {
        let folder = path.rfind(['/', '\\']).map_or(".", |end| if end == 0 { "/" } else { &path[..end] });
        *folders.entry(folder).or_default() += count;
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let name = |(folder, _): (&str, u64)| match project.and_then(|project| folder.strip_prefix(project)) {
        Some("") => ".".to_owned(),
        Some(inside) if inside.starts_with(['/', '\\']) => inside[1..].to_owned(),
        _ => folder.to_owned(),
    };
    folders.into_iter().take(FOLDERS).map(name).collect()
}

/// After how many days tools delete transcripts.
struct Days {
    claude: i64,
}

impl Days {
    fn read() -> Self {
        let settings = claude_folder().and_then(|folder| fs::read(folder.join("settings.json")).ok());
        let days = settings
            .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
            .and_then(|settings| settings["cleanupPeriodDays"].as_i64());
        Self { claude: days.filter(|days| (0..=100_000).contains(days)).unwrap_or(CLAUDE_DAYS) }
    }

    fn end(&self, row: &SessionRow, ended_at: i64) -> Option<i64> {
        let is_there = row.path.as_ref().is_some_and(|path| Path::new(path).exists());
        (row.tool == "claude-code" && is_there).then(|| ended_at.saturating_add(self.claude * DAY))
    }
}

/// Why a session cannot be acknowledged.
#[derive(Debug, thiserror::Error)]
pub enum AcknowledgeError {
    /// No such session.
    #[error("there is no session `{0}`; `totalrecall unsaved` lists those that are unsaved, each as s12")]
    Unknown(String),
    /// Nothing is said.
    #[error("say why nothing need be kept of it")]
    NoReason,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Notes why nothing need be kept of a session, named by its reference or its tool's id. It is not listed any more, unless it
/// is gone on with.
///
/// # Errors
/// See [`AcknowledgeError`].
pub fn acknowledge(
    store: &mut Store,
    redactor: &Redactor,
    session: &str,
    why: &str,
    now: i64,
) -> Result<Reference, AcknowledgeError> {
    let mut why = redactor.kept(why.trim(), &mut Counts::default()).replace(char::is_control, " ");
    why.truncate(why.floor_char_boundary(REASON));
    if why.trim().is_empty() {
        return Err(AcknowledgeError::NoReason);
    }
    let named = match session.parse() {
        Ok(Reference::Session(id)) => store.session(id)?.map(|row| row.id),
        _ => store.sessions()?.into_iter().rev().find(|row| row.native_id == session).map(|row| row.id),
    };
    let id = named.ok_or_else(|| AcknowledgeError::Unknown(crate::clean::clean(session).into_owned()))?;
    store.acknowledge(id, &why, now)?;
    Ok(Reference::Session(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_with_most_changes_and_short() {
        let changes = [
            ("/w/app/src/a.rs", 3),
            ("/w/app/src/b.rs", 3),
            ("/w/app/README.md", 5),
            ("/w/application/x", 9),
            ("C:\\x\\y.txt", 1),
            ("notes.txt", 1),
        ]
        .map(|(path, count)| (path.to_owned(), count));
        assert_eq!(folders(&changes, Some("/w/app")), ["/w/application", "src"]);
        assert_eq!(folders(&changes[2..3], Some("/w/app")), ["."]);
        assert_eq!(folders(&changes[4..], None), [".", "C:\\x"]);
        assert_eq!(folders(&[], None), [] as [&str; 0]);
    }
}
