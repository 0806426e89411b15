//! What the host does with the adapter's sources: runs its SQL, walks its trees, and joins what it finds to rows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::adapter::{Adapter as _, Database, Source, Tree};

/// A session: the file it lies in or begins with, its key, and its rows.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) place: String,
    pub(crate) key: String,
    pub(crate) rows: Vec<u8>,
}

/// The database that the adapter asks for.
pub(crate) fn database() -> Database {
    let mut databases = OpenCode::describe().sources.into_iter().filter_map(|source| match source {
        Source::Database(database) => Some(database),
        _ => None,
    });
    databases.next().unwrap()
}

fn trees() -> Vec<Tree> {
    let trees = OpenCode::describe().sources.into_iter().filter_map(|source| match source {
        Source::Tree(tree) => Some(tree),
        _ => None,
    });
    trees.collect()
}

/// A database in memory that the SQL text makes.
pub(crate) fn loaded(sql: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

/// Keys, versions and times of the sessions, by the first queries that the database understands.
pub(crate) fn versions(connection: &Connection) -> Option<Vec<(String, String, i64)>> {
    let queries = database().queries;
    let known = queries
        .iter()
        .find(|queries| connection.prepare(&queries.sessions).is_ok() && connection.prepare(&queries.rows).is_ok())?;
    let mut statement = connection.prepare(&known.sessions).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut versions: Vec<_> = rows.map(Result::unwrap).collect();
    versions.sort();
    Some(versions)
}

/// The rows of one session.
pub(crate) fn rows(connection: &Connection, key: &str) -> Vec<u8> {
    let queries = database().queries;
    let mut statement = queries.iter().find_map(|queries| connection.prepare(&queries.rows).ok()).unwrap();
    let text = |row: &rusqlite::Row<'_>| Ok(String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned());
    let rows = statement.query_map(&[(":key", key)], text).unwrap();
    joined(rows.map(Result::unwrap))
}

/// All sessions of a database, by key; none if no queries fit.
pub(crate) fn of_database(connection: &Connection, place: &str) -> Vec<Session> {
    let keys = versions(connection).unwrap_or_default().into_iter().map(|(key, ..)| key);
    keys.map(|key| Session { place: place.to_owned(), rows: rows(connection, &key), key }).collect()
}

fn joined(rows: impl Iterator<Item = String>) -> Vec<u8> {
    rows.flat_map(|row| (row.replace(['\n', '\r'], " ") + "\n").into_bytes()).collect()
}

/// All sessions of the trees whose roots lie in a data folder.
fn of_trees(data: &Path) -> Vec<Session> {
    let mut sessions = Vec::new();
    for tree in trees() {
        let root = data.join(tree.roots[0].rsplit('/').next().unwrap());
        sessions.extend(below(&root, &tree.levels, &BTreeMap::new()).into_iter().map(|(path, key, rows)| Session {
            place: path.strip_prefix(data).unwrap().to_str().unwrap().replace('\\', "/"),
            key,
            rows: joined(rows.into_iter()),
        }));
    }
    sessions
}

/// Files of the first level that are there under these names: their names, and what they hold, followed by what those
/// below them hold.
fn below(root: &Path, levels: &[String], names: &BTreeMap<String, String>) -> Vec<(PathBuf, String, Vec<String>)> {
    let [level, rest @ ..] = levels else { return Vec::new() };
    let mut found = Vec::new();
    for (path, name, value) in matches(root, level, names) {
        let mut names = names.clone();
        names.insert(name, value.clone());
        let mut rows = vec![fs::read_to_string(&path).unwrap()];
        rows.extend(below(root, rest, &names).into_iter().flat_map(|(_, _, rows)| rows));
        found.push((path, value, rows));
    }
    found.sort_by(|one, other| one.1.cmp(&other.1));
    found
}

/// Files that match a pattern, with the name it brings in.
fn matches(root: &Path, level: &str, names: &BTreeMap<String, String>) -> Vec<(PathBuf, String, String)> {
    let mut folders = vec![root.to_owned()];
    let (parents, file) = level.rsplit_once('/').unwrap();
    for part in parents.split('/') {
        let known = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')).map(|name| names[name].clone());
        folders = folders
            .iter()
            .flat_map(|folder| match part {
                "*" => fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect(),
                part => vec![folder.join(known.as_deref().unwrap_or(part))],
            })
            .filter(|folder| folder.is_dir())
            .collect();
    }
    let name = file.strip_prefix('{').and_then(|file| file.strip_suffix("}.json")).unwrap();
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.map(|path| (path.clone(), name.to_owned(), path.file_stem().unwrap().to_str().unwrap().to_owned())).collect()
}

/// All sessions of a fixture's data folder, by place and key.
pub(crate) fn sessions(data: &Path) -> Vec<Session> {
    let mut names: Vec<_> = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut sessions = Vec::new();
    for path in names.iter().filter(|path| path.extension().is_some_and(|ending| ending == "sql")) {
        let place = path.file_stem().unwrap().to_str().unwrap();
        sessions.extend(of_database(&loaded(&fs::read_to_string(path).unwrap()), place));
    }
    sessions.extend(of_trees(data));
    sessions.sort_by(|one, other| (&one.place, &one.key).cmp(&(&other.place, &other.key)));
    sessions
}
