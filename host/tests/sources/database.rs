//! A tool's database is read without leaving a trace, whatever state it is in.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::Path,
    rc::Rc,
};

use rusqlite::Connection;
use totalrecall::{
    grant::Queries,
    sandbox::Limits,
    transcript::{Database, DatabaseError, Source, database},
};

pub(crate) const SESSIONS: &str = "SELECT session, max(id) || ' ' || count(*), min(at) FROM message GROUP BY session";
pub(crate) const ROWS: &str =
    "SELECT json_object('id', id, 'text', text) FROM message WHERE session = :key ORDER BY id";

pub(crate) fn queries(sessions: &str, rows: &str) -> Vec<Queries> {
    vec![Queries { sessions: sessions.to_owned(), rows: rows.to_owned() }]
}

#[expect(clippy::disallowed_methods, reason = "the tool whose database it is")]
pub(crate) fn tool(path: &Path, wal: bool) -> Connection {
    let tool = Connection::open(path).unwrap();
    tool.pragma_update(None, "journal_mode", if wal { "WAL" } else { "DELETE" }).unwrap();
    tool.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    tool.execute_batch(
        "CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, session TEXT, at INTEGER, text TEXT)",
    )
    .unwrap();
    tool
}

pub(crate) fn say(tool: &Connection, session: &str, text: &str) {
    tool.execute("INSERT INTO message (session, at, text) VALUES (?1, 1700000000000, ?2)", [session, text]).unwrap();
}

pub(crate) fn open(path: &Path) -> Rc<Database> {
    Rc::new(Database::new(path.canonicalize().unwrap(), queries(SESSIONS, ROWS), Limits::default()))
}

/// All rows of a session, or why there are none.
pub(crate) fn read(database: &Rc<Database>, key: &str) -> Result<String, DatabaseError> {
    let source = Source::Database(Rc::clone(database));
    let mut bytes = Vec::new();
    let read = source.open(database.path(), key).and_then(|mut opened| {
        opened.each_chunk::<io::Error>(0, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })
    });
    match read {
        Ok(()) => Ok(String::from_utf8(bytes).unwrap()),
        Err(error) => Err(error.downcast::<DatabaseError>().unwrap()),
    }
}

fn beside(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    beside(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

#[test]
fn rows_in_a_log_that_is_not_written_back_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    let tool = tool(&path, true);
    say(&tool, "a", "one");
    let before = beside(dir.path());
    assert_eq!(before.len(), 3, "file, log and its index: {before:?}");
    let now = open(&path);
    let found = now.discover().unwrap();
    assert_eq!(found.iter().map(|found| found.key.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(found[0].begins_at, Some(1_700_000_000_000));
    assert_eq!(read(&now, "a").unwrap(), "{\"id\":1,\"text\":\"one\"}\n");
    assert_eq!(beside(dir.path()), before, "nothing is left");

    // The tool writes on, and writes its log back, while we have its file open.
    say(&tool, "b", "two\nlines");
    let (busy, _, _): (i64, i64, i64) = tool
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!(busy, 0, "nobody is in its way");
    assert!(matches!(read(&now, "b"), Err(DatabaseError::Gone)), "a look is a look: the next one sees it");
    assert_eq!(read(&open(&path), "b").unwrap(), "{\"id\":2,\"text\":\"two\\nlines\"}\n");
}

/// The hardest moment: a log that was begun anew, in which no reader has left a mark yet.
#[test]
fn a_tool_that_writes_all_the_time_is_read_and_not_disturbed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    let tool = tool(&path, true);
    // It waits for no one: whoever is in its way makes it fail.
    tool.busy_timeout(std::time::Duration::ZERO).unwrap();
    say(&tool, "a", "one");
    for round in 0..200 {
        say(&tool, "a", "more");
        if round % 3 == 0 {
            tool.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
            say(&tool, "b", "after the log was begun anew");
        }
        let now = open(&path);
        let rows = read(&now, "a").unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(rows.lines().count(), round + 2);
        // In the middle of our reading, too.
        say(&tool, "c", "at the same time");
    }
}

#[test]
fn a_log_without_its_index_is_read_without_making_one() {
    let dir = tempfile::tempdir().unwrap();
    let tool = tool(&dir.path().join("tool.db"), true);
    say(&tool, "a", "one");
    let copy = tempfile::tempdir().unwrap();
    for ending in ["", "-wal"] {
        let name = format!("tool.db{ending}");
        fs::copy(dir.path().join(&name), copy.path().join(&name)).unwrap();
    }
    let before = contents(copy.path());
    assert_eq!(read(&open(&copy.path().join("tool.db")), "a").unwrap(), "{\"id\":1,\"text\":\"one\"}\n");
    assert!(contents(copy.path()) == before, "nothing is left, nothing is changed");
}

#[test]
fn a_closed_database_is_read_without_making_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    say(&tool(&path, true), "a", "one");
    let before = contents(dir.path());
    assert_eq!(before.len(), 1);
    let now = open(&path);
    assert_eq!(read(&now, "a").unwrap(), "{\"id\":1,\"text\":\"one\"}\n");
    assert!(contents(dir.path()) == before, "nothing is left, nothing is changed");
    // The tool starts while we read it as a file that does not change.
    say(&tool(&path, true), "a", "two");
    assert!(matches!(read(&now, "a"), Err(DatabaseError::Changed)));
}

#[test]
fn a_rollback_journal_is_waited_for_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    let tool = tool(&path, false);
    say(&tool, "a", "one");
    assert_eq!(read(&open(&path), "a").unwrap(), "{\"id\":1,\"text\":\"one\"}\n");
    tool.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = open(&path).discover().unwrap_err();
    assert!(matches!(error, DatabaseError::Locked) && error.is_passing(), "{error}");
    tool.execute_batch("COMMIT").unwrap();
    // Nobody keeps the tool from writing once a session is read.
    let now = open(&path);
    read(&now, "a").unwrap();
    say(&tool, "a", "two");
}

#[test]
fn what_is_no_database_of_the_tool_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let kind = |name: &str| open(&dir.path().join(name)).discover().unwrap_err().kind();
    fs::write(dir.path().join("empty"), "").unwrap();
    assert_eq!(kind("empty"), "empty");
    fs::write(dir.path().join("text"), "hello, I am no database at all").unwrap();
    assert_eq!(kind("text"), "not-a-database");
    fs::create_dir(dir.path().join("folder")).unwrap();
    assert_eq!(kind("folder"), "not-a-file");
    say(&tool(&dir.path().join("half"), false), "a", "one");
    fs::File::options().write(true).open(dir.path().join("half")).unwrap().set_len(5000).unwrap();
    assert!(["corrupt", "not-a-database"].contains(&kind("half")));

    let newer = tool(&dir.path().join("newer"), false);
    newer.execute_batch("ALTER TABLE message RENAME COLUMN text TO content").unwrap();
    let error = open(&dir.path().join("newer")).discover().unwrap_err();
    assert_eq!(error.kind(), "unknown-schema");
    assert!(error.to_string().contains("text"), "it names what is missing: {error}");
}

#[test]
fn a_damaged_page_fails_its_session_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    let tool = tool(&path, false);
    tool.execute_batch("CREATE INDEX by_session ON message (session, id, at)").unwrap();
    for session in ["a", "b"] {
        for number in 0..200 {
            say(&tool, session, &format!("{session} {number} {}", "x".repeat(400)));
        }
    }
    drop(tool);
    // The last page of the table holds the last rows of `b`.
    let length = fs::metadata(&path).unwrap().len();
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    let text = fs::read(&path).unwrap();
    let last = text.windows(6).rposition(|bytes| bytes == b"b 199 ").unwrap() as u64;
    file.seek(SeekFrom::Start(last / 4096 * 4096)).unwrap();
    file.write_all(&[0xff; 64]).unwrap();
    assert!(last < length);
    let now = open(&path);
    assert_eq!(now.discover().unwrap().len(), 2, "the index is sound");
    assert_eq!(read(&now, "a").unwrap().lines().count(), 200);
    assert_eq!(read(&now, "b").unwrap_err().kind(), "corrupt");
}

#[test]
fn an_older_schema_is_read_by_its_own_statements() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    say(&tool(&path, false), "a", "one");
    let mut known = queries("SELECT session, version, 0 FROM session", "SELECT body FROM message WHERE session = :key");
    known.extend(queries(SESSIONS, ROWS));
    let database = Rc::new(Database::new(path.canonicalize().unwrap(), known, Limits::default()));
    assert_eq!(read(&database, "a").unwrap(), "{\"id\":1,\"text\":\"one\"}\n");
}

#[test]
fn a_stamp_changes_with_every_write_and_is_not_trusted_too_soon() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.db");
    let tool = tool(&path, true);
    say(&tool, "a", "one");
    let now = jiff::Timestamp::now().as_millisecond();
    assert!(open(&path).stamp(now).is_none(), "a write in the same tick would leave no trace");
    let later = now + 60_000;
    let before = open(&path).stamp(later).unwrap();
    assert_eq!(open(&path).stamp(later).unwrap(), before);
    say(&tool, "a", "two");
    assert_ne!(open(&path).stamp(later).unwrap(), before);
}

#[test]
fn names_may_be_patterns_and_links_do_not_lead_out() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("tool");
    fs::create_dir(&kept).unwrap();
    for name in ["tool.db", "tool-beta.db", "tool.db-wal", "other.db"] {
        fs::write(kept.join(name), "x").unwrap();
    }
    let names = |pattern: &str| {
        let files = database::candidates(&kept.join(pattern));
        files.map(|files| {
            files.iter().map(|it| it.file_name().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
        })
    };
    assert_eq!(names("tool*.db").unwrap(), ["tool-beta.db", "tool.db"]);
    assert_eq!(names("tool*").unwrap(), ["tool-beta.db", "tool.db"], "a log is no database");
    assert_eq!(names("missing.db").unwrap(), [""; 0]);
    #[cfg(unix)]
    {
        fs::write(dir.path().join("secret.db"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret.db"), kept.join("link.db")).unwrap();
        assert!(names("link.db").unwrap_err().to_string().contains("leads out"));
    }
}
