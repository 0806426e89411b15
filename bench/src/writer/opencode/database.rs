//! Rows as the database they would come from, and back.

use anyhow::{Context, Result};
use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::adapter::{Adapter, Source};

/// The tables that are read, as 1.18 makes them, without what is not.
const SCHEMA: &str = "
CREATE TABLE session (
  id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL, title text NOT NULL,
  version text NOT NULL, revert text, permission text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (
  id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE part (
  id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
  data text NOT NULL);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
";

#[derive(Deserialize)]
struct Row {
    id: String,
    #[serde(rename = "messageID")]
    message: Option<String>,
    #[serde(rename = "parentID")]
    parent: Option<String>,
    directory: Option<String>,
    title: Option<String>,
    version: Option<String>,
    #[serde(default)]
    time: Value,
}

#[expect(clippy::disallowed_methods, reason = "another tool's database, not the store")]
fn create(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open(path)
}

/// Writes the database of these sessions, each a file of rows.
///
/// # Errors
/// When a file cannot be read or the database not be written.
pub fn write(path: &Path, sessions: &[PathBuf]) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut database = create(path).with_context(|| format!("cannot create {}", path.display()))?;
    database.execute_batch(SCHEMA)?;
    let transaction = database.transaction()?;
    for file in sessions {
        let mut session = String::new();
        let mut at = 0;
        for line in BufReader::new(File::open(file)?).lines() {
            let line = line?;
            let row: Row = serde_json::from_str(&line).with_context(|| file.display().to_string())?;
            at = row.time["created"].as_i64().or(row.time["end"].as_i64()).unwrap_or(at);
            if let Some(message) = row.message {
                let data = data(&line, &["{\"id\":\"", ",\"messageID\":\""]);
                transaction.execute(
                    "INSERT INTO part VALUES(?1, ?2, ?3, ?4, ?4, ?5)",
                    params![row.id, message, session, at, data],
                )?;
            } else if let Some(directory) = row.directory {
                session.clone_from(&row.id);
                transaction.execute(
                    "INSERT INTO session VALUES(?1, 'p', ?2, 's', ?3, ?4, ?5, NULL, NULL, ?6, ?6)",
                    params![row.id, row.parent, directory, row.title, row.version, at],
                )?;
            } else {
                let data = data(&line, &["{\"id\":\""]);
                transaction
                    .execute("INSERT INTO message VALUES(?1, ?2, ?3, ?3, ?4)", params![row.id, session, at, data])?;
            }
        }
        transaction.execute("UPDATE session SET time_updated = ?1 WHERE id = ?2", params![at, session])?;
    }
    transaction.commit()?;
    Ok(())
}

/// Rows of a session, one a line, of a database that is given as SQL: what the adapter asks for.
///
/// # Errors
/// When the SQL makes no such database.
pub fn rows(sql: &str, session: &str) -> Result<String> {
    let database = Connection::open_in_memory()?;
    database.execute_batch(sql)?;
    let source = OpenCode::describe().sources.into_iter().find_map(|source| match source {
        Source::Database(database) => Some(database),
        _ => None,
    });
    let queries =
        source.and_then(|source| source.queries.into_iter().next()).context("the adapter reads no database")?;
    let mut query = database.prepare(&queries.rows)?;
    let rows = query.query_map(&[(":key", session)], |row| row.get::<_, String>(0))?;
    rows.map(|row| Ok(row? + "\n")).collect()
}

/// A row without the ids that it begins with.
fn data(line: &str, ids: &[&str]) -> String {
    let mut rest = line;
    for key in ids {
        let value = rest.strip_prefix(key).unwrap_or(rest);
        rest = value.find('"').map_or(value, |end| &value[end + 1..]);
    }
    format!("{{{}", rest.strip_prefix(',').unwrap_or(rest))
}
