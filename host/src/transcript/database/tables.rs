//! Whole tables of a database that a person has named, for taking over what is in it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64, atomic::Ordering::Relaxed},
};

use rusqlite::{Connection, types::ValueRef};
use serde_json::{Map, Value};

use super::{DatabaseError, Index, connect, describe, stamps};

/// Steps of SQLite's machine that reading a table may take: some 20 a row and column, so ten million rows.
const STEPS: u64 = 10_000_000_000;

/// A database of another program, open for reading. Nothing is left beside it, and nothing makes it wait.
pub struct Tables {
    path: PathBuf,
    connection: Connection,
    steps: Arc<AtomicU64>,
    /// What the file looked like when it was opened as one that does not change.
    unchanging: Option<String>,
}

impl Tables {
    /// Opens the database at a resolved path.
    ///
    /// # Errors
    /// See [`DatabaseError`].
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let open = |index| {
            let steps = Arc::new(AtomicU64::new(STEPS));
            let (connection, unchanging) = connect(path, index, &steps)?;
            let tables = Self { path: path.to_path_buf(), connection, steps, unchanging };
            tables.has("sqlite_schema").map(|_| tables)
        };
        match open(Index::ReadOnly) {
            Err(DatabaseError::Locked) => open(Index::Marked),
            other => other,
        }
    }

    fn fail(&self) -> impl Fn(rusqlite::Error) -> DatabaseError {
        self.steps.store(STEPS, Relaxed);
        let steps = Arc::clone(&self.steps);
        move |error| DatabaseError::of(&error, &steps, STEPS)
    }

    /// Is there a table of this name?
    ///
    /// # Errors
    /// See [`DatabaseError`].
    pub fn has(&self, table: &str) -> Result<bool, DatabaseError> {
        let find = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let count: i64 = self.connection.query_row(find, [table], |row| row.get(0)).map_err(self.fail())?;
        Ok(count > 0)
    }

    /// Gives each row of a table as an object of its columns, in the order in which they were added.
    ///
    /// # Errors
    /// See [`DatabaseError`].
    pub fn each(&self, table: &'static str, row: &mut dyn FnMut(Map<String, Value>)) -> Result<(), DatabaseError> {
        let fail = self.fail();
        let mut statement = self.connection.prepare(&format!("SELECT * FROM {table} ORDER BY rowid")).map_err(&fail)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(&fail)?;
        while let Some(found) = rows.next().map_err(&fail)? {
            let mut columns = Map::new();
            for (at, name) in names.iter().enumerate() {
                columns.insert(name.clone(), value(found.get_ref(at).map_err(&fail)?));
            }
            row(columns);
        }
        Ok(())
    }

    /// Whether what was read is one state of the file, where nothing kept it from changing.
    ///
    /// # Errors
    /// `Changed`.
    pub fn unchanged(&self) -> Result<(), DatabaseError> {
        match &self.unchanging {
            Some(before) if describe(&stamps(&self.path)) != *before => Err(DatabaseError::Changed),
            _ => Ok(()),
        }
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}
