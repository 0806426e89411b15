//! Hostile SQL: whatever an adapter declares, it reads one database and ends.

use std::{fs, path::Path, rc::Rc};

use totalrecall::{
    sandbox::Limits,
    transcript::{Database, DatabaseError},
};

use crate::database::{ROWS, SESSIONS, queries, read, say, tool};

fn ask(path: &Path, sessions: &str, rows: &str, limits: Limits) -> Result<String, DatabaseError> {
    let database = Rc::new(Database::new(path.canonicalize().unwrap(), queries(sessions, rows), limits));
    database.discover()?;
    read(&database, "a")
}

#[test]
fn only_reading_this_database_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    let other = dir.path().join("other.db");
    for file in [&path, &other] {
        say(&tool(file, false), "a", "one");
    }
    let before = fs::read(&path).unwrap();
    let other = other.display();
    for hostile in [
        &format!("ATTACH '{other}' AS other") as &str,
        "PRAGMA user_version = 7",
        "PRAGMA table_info(message)",
        "SELECT * FROM pragma_table_info('message')",
        "INSERT INTO message (session) VALUES ('b') RETURNING session, 1",
        "UPDATE message SET text = 'gone' RETURNING session, 1",
        "DELETE FROM message RETURNING session, 1",
        "DROP TABLE message",
        "CREATE TEMP TABLE mine (x)",
        "CREATE VIEW mine AS SELECT 1, 2",
        "VACUUM",
        &format!("VACUUM INTO '{other}.copy'"),
        "BEGIN IMMEDIATE",
        "REINDEX",
        "ANALYZE",
        "SELECT load_extension('/lib/x.so'), 1",
        "SELECT 'a', 1; DELETE FROM message",
        "SELECT 'a'",
        "EXPLAIN SELECT 'a', 1",
    ] {
        for (sessions, rows) in [(hostile, ROWS), (SESSIONS, hostile)] {
            let asked = ask(&path, sessions, rows, Limits::default());
            // `SELECT 'a'` is no list of sessions but may be rows, and a plan is rows as well: they reveal nothing.
            let harmless = sessions == SESSIONS && ["SELECT 'a'", "EXPLAIN SELECT 'a', 1"].contains(&hostile);
            match asked {
                Err(DatabaseError::Refused(_)) => {}
                Err(DatabaseError::Other(_) | DatabaseError::UnknownSchema(_))
                    if hostile.contains("load_extension") => {}
                other => assert!(harmless || hostile.starts_with("EXPLAIN"), "{hostile}: {other:?}"),
            }
        }
    }
    assert!(fs::read(&path).unwrap() == before, "it is as it was");
    assert!(!dir.path().join("other.db.copy").exists());
}

#[test]
fn what_does_not_end_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    say(&tool(&path, false), "a", "one");
    let limits = Limits { sql_steps: 2_000_000, ..Limits::default() };
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x FROM n";
    let heaping = "WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT max(x), 1 FROM n";
    for hostile in [endless, heaping] {
        for (sessions, rows) in [(hostile, ROWS), (SESSIONS, hostile)] {
            let error = ask(&path, sessions, rows, limits.clone()).unwrap_err();
            assert_eq!(error.kind(), "sql-steps", "{hostile}: {error}");
            assert_eq!(error.to_string(), "the adapter's SQL went past the limit `sql-steps`: 2000000 are allowed");
        }
    }
    // Those after it are not made to pay.
    assert!(ask(&path, SESSIONS, ROWS, limits).is_ok());
}

#[test]
fn no_value_is_larger_than_a_line_may_be() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    say(&tool(&path, false), "a", "one");
    for hostile in
        ["SELECT zeroblob(1000000000)", "SELECT printf('%.*c', 1000000000, 'x')", "SELECT randomblob(1000000000)"]
    {
        let error = ask(&path, SESSIONS, hostile, Limits::default()).unwrap_err();
        assert_eq!(error.kind(), "sql-refused", "{hostile}: {error}");
    }
}
