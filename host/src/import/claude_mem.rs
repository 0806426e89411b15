//! What claude-mem keeps in `claude-mem.db`: observations and summaries that a model wrote, and prompts as they were typed. The
//! file is another program's, which may be running: it is opened as any tool's database, read-only, its log respected.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Map, Value};

use super::{ImportError, kept::Entries, time};
use crate::{
    chunk::NewChunk,
    memory::{Category, Importance, NewMemory, Trust},
    transcript::database::{Tables, candidates},
};

/// What the folder should be.
pub(super) const WHAT: &str = "folder of claude-mem";

/// Its database.
const FILE: &str = "claude-mem.db";

/// How sure it is what a model wrote of what tools had printed.
const CONFIDENCE: f64 = 0.5;

/// Files that a memory of an observation names.
const FILES: usize = 10;

type Row = Map<String, Value>;

pub(super) fn read(path: &Path) -> Result<Entries, ImportError> {
    if !path.is_dir() {
        return Err(ImportError::Missing(path.to_path_buf()));
    }
    let not = |why: String| ImportError::NotA { path: path.to_path_buf(), what: WHAT, why };
    let files = candidates(&path.join(FILE)).map_err(|error| not(error.to_string()))?;
    let file = files.first().ok_or_else(|| not(format!("it holds no {FILE}")))?;
    let unreadable = |error: crate::transcript::database::DatabaseError| ImportError::Unreadable {
        folder: path.join(FILE),
        why: error.to_string(),
    };
    let tables = Tables::open(file).map_err(unreadable)?;
    let mut read = ClaudeMem { entries: Entries::new(path.to_string_lossy().into_owned()), sessions: BTreeMap::new() };
    let mut found = false;
    let mut prompts = BTreeMap::new();
    for table in ["sdk_sessions", "user_prompts", "observations", "session_summaries"] {
        if !tables.has(table).map_err(unreadable)? {
            read.entries.note(table, "there is no such table");
            continue;
        }
        found |= matches!(table, "observations" | "session_summaries" | "user_prompts");
        let each = &mut |row: Row| match table {
            "sdk_sessions" => read.session(&row),
            "user_prompts" => read.prompt(&row, &mut prompts),
            "observations" => read.observation(&row),
            _ => read.summary(&row, &mut prompts),
        };
        tables.each(table, each).map_err(unreadable)?;
    }
    if !found {
        return Err(not(format!("{FILE} has none of its tables")));
    }
    tables.unchanged().map_err(unreadable)?;
    read.prompts(prompts);
    Ok(read.entries)
}

struct ClaudeMem {
    entries: Entries,
    /// Of a session by either of its ids: the tool's id, and its project.
    sessions: BTreeMap<String, (String, Option<String>)>,
}

/// Prompts by session and number: the text, and when.
type Prompts = BTreeMap<(String, i64), (String, Option<i64>)>;

impl ClaudeMem {
    fn session(&mut self, row: &Row) {
        let Some(session) = text(row, "content_session_id") else { return };
        let known = (session.to_owned(), text(row, "project").map(str::to_owned));
        if let Some(own) = text(row, "memory_session_id") {
            self.sessions.insert(own.to_owned(), known.clone());
        }
        self.sessions.insert(session.to_owned(), known);
    }

    /// The tool's id of a session, and the project, where the row does not say it itself.
    fn of(&self, row: &Row) -> (Option<String>, Option<String>) {
        let own = text(row, "memory_session_id").or_else(|| text(row, "content_session_id"));
        let known = own.and_then(|own| self.sessions.get(own));
        let session = known.map(|known| known.0.clone()).or_else(|| own.map(str::to_owned));
        // A worktree that was merged is filed under its repository.
        let project = text(row, "merged_into_project").or_else(|| text(row, "project")).map(str::to_owned);
        (session, project.or_else(|| known.and_then(|known| known.1.clone())))
    }

    fn prompt(&self, row: &Row, prompts: &mut Prompts) {
        let (Some(session), Some(prompt)) = (text(row, "content_session_id"), text(row, "prompt_text")) else { return };
        let number = row.get("prompt_number").and_then(Value::as_i64).unwrap_or(0);
        prompts.insert((session.to_owned(), number), (prompt.to_owned(), at(row)));
    }

    fn observation(&mut self, row: &Row) {
        let (place, origin) = named(row, "observation");
        let sort = text(row, "type").unwrap_or_default();
        let mut lines: Vec<String> = ["title", "subtitle", "narrative"]
            .into_iter()
            .filter_map(|column| text(row, column).map(|text| text.trim().to_owned()))
            .collect();
        lines.dedup();
        lines.extend(list(row, "facts").into_iter().map(|fact| format!("- {fact}")));
        if lines.is_empty() {
            lines.extend(text(row, "text").map(str::to_owned));
        }
        if lines.is_empty() {
            return self.entries.skip(place, "it says nothing");
        }
        let files = list(row, "files_modified");
        if !files.is_empty() {
            lines.push(format!("Files: {}", files.iter().take(FILES).cloned().collect::<Vec<_>>().join(", ")));
        }
        let (session, project) = self.of(row);
        let concepts = list(row, "concepts").into_iter().map(|it| it.split(':').next().unwrap_or("").trim().to_owned());
        let new = NewMemory {
            content: lines.join("\n"),
            category: match sort {
                "decision" => Category::Decision,
                "feature" | "refactor" | "change" => Category::Fact,
                _ => Category::Finding,
            },
            importance: match sort {
                "security_alert" => Importance::High,
                "decision" => Importance::Medium,
                _ => Importance::Low,
            },
            trust: Trust::Tool,
            confidence: Some(CONFIDENCE),
            tags: concepts.chain((!sort.is_empty()).then(|| sort.to_owned())).collect(),
            project,
            session,
            created_at: at(row),
            ..NewMemory::default()
        };
        self.entries.memory(place, origin, "", new);
    }

    fn summary(&mut self, row: &Row, prompts: &mut Prompts) {
        let (place, origin) = named(row, "summary");
        let (session, project) = self.of(row);
        let number = row.get("prompt_number").and_then(Value::as_i64).unwrap_or(0);
        // The prompt that it is about, as it was typed.
        let prompt = session.as_ref().and_then(|session| prompts.remove(&(session.clone(), number)));
        let mut parts = Vec::new();
        parts.extend(prompt.map(|(prompt, _)| format!("# Prompt\n\n{prompt}")));
        for (column, title) in [
            ("request", "Request"),
            ("investigated", "Investigated"),
            ("learned", "Learned"),
            ("completed", "Completed"),
            ("next_steps", "Next steps"),
            ("notes", "Notes"),
        ] {
            parts.extend(text(row, column).map(|text| format!("# {title}\n\n{}", text.trim())));
        }
        for (column, title) in [("files_read", "Files read"), ("files_edited", "Files edited")] {
            let files = list(row, column);
            if !files.is_empty() {
                parts.push(format!("# {title}\n\n{}", files.join("\n")));
            }
        }
        if parts.is_empty() {
            return self.entries.skip(place, "it says nothing");
        }
        let new = NewChunk {
            content: parts.join("\n\n"),
            summary: text(row, "request").or_else(|| text(row, "completed")).unwrap_or_default().to_owned(),
            tags: vec!["summary".to_owned()],
            project,
            session,
            created_at: at(row),
            ..NewChunk::default()
        };
        self.entries.chunk(place, origin, "", new);
    }

    /// Prompts that no summary is about: a chunk a session. It is made anew when there are more.
    fn prompts(&mut self, prompts: Prompts) {
        let mut sessions: BTreeMap<String, Vec<(String, Option<i64>)>> = BTreeMap::new();
        for ((session, _), prompt) in prompts {
            sessions.entry(session).or_default().push(prompt);
        }
        for (session, prompts) in sessions {
            let project = self.sessions.get(&session).and_then(|known| known.1.clone());
            let count = prompts.len();
            let first = prompts.first().map(|(prompt, _)| prompt.lines().next().unwrap_or("").to_owned());
            let new = NewChunk {
                summary: format!(
                    "{count} {}: {}",
                    if count == 1 { "prompt" } else { "prompts" },
                    first.unwrap_or_default()
                ),
                created_at: prompts.iter().find_map(|(_, at)| *at),
                content: prompts
                    .iter()
                    .map(|(prompt, _)| format!("# Prompt\n\n{prompt}"))
                    .collect::<Vec<_>>()
                    .join("\n\n"),
                tags: vec!["prompts".to_owned()],
                project,
                session: Some(session.clone()),
                ..NewChunk::default()
            };
            self.entries.chunk(format!("user_prompts of {session}"), format!("claude-mem prompts {session}"), "", new);
        }
    }
}

/// A row for a person, and its name in that program: row numbers begin anew in every database, sessions do not.
fn named(row: &Row, sort: &str) -> (String, String) {
    let number = row.get("id").map(Value::to_string).unwrap_or_default();
    let session = text(row, "memory_session_id").unwrap_or("-");
    (format!("{sort} {number}"), format!("claude-mem {sort} {session} {number}"))
}

fn text<'r>(row: &'r Row, column: &str) -> Option<&'r str> {
    row.get(column).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// When a row was written: `created_at_epoch`, in milliseconds or, in early versions, in seconds; else `created_at`.
fn at(row: &Row) -> Option<i64> {
    let epoch = row.get("created_at_epoch").and_then(Value::as_i64).filter(|at| *at > 0);
    let epoch = epoch.map(|at| if at < 100_000_000_000 { at * 1_000 } else { at });
    epoch.or_else(|| text(row, "created_at").and_then(time::parse))
}

/// A column that holds a JSON list of texts, or one text.
fn list(row: &Row, column: &str) -> Vec<String> {
    let Some(text) = text(row, column) else { return Vec::new() };
    match serde_json::from_str::<Vec<Value>>(text) {
        Ok(values) => {
            values.iter().filter_map(Value::as_str).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
        }
        Err(_) => vec![text.trim().to_owned()],
    }
}
