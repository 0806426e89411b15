//! What the store says of files that it cannot use as they are.

use std::fs;

use rusqlite::Connection;
use tempfile::TempDir;
use totalrecall::store::{Begin, FILE, LockError, Role, Store, StoreError, WorkerLock};

use crate::support::{facts, home, says};

#[test]
fn a_home_is_created_for_its_owner_only() {
    let dir = TempDir::new().unwrap();
    let home = dir.path().join("deep/home");
    drop(Store::open(&home).unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&home), mode(&home.join(FILE))), (0o700, 0o600));
    }
    drop(Store::open(&home).unwrap());
}

#[test]
fn nothing_to_read_is_said_so() {
    let dir = TempDir::new().unwrap();
    assert!(matches!(Store::open_read_only(dir.path()), Err(StoreError::Missing { .. })));
    fs::write(dir.path().join(FILE), "").unwrap();
    assert!(matches!(Store::open_read_only(dir.path()), Err(StoreError::Missing { .. })));
    drop(Store::open(dir.path()).unwrap());
    drop(Store::open_read_only(dir.path()).unwrap());
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    drop(Store::open(dir.path()).unwrap());
    let db = Connection::open(dir.path().join(FILE)).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let before = fs::read(dir.path().join(FILE)).unwrap();
    for error in [Store::open(dir.path()).unwrap_err(), Store::open_read_only(dir.path()).unwrap_err()] {
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
        assert!(error.hint().unwrap().contains("Update TotalRecall"));
    }
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let dir = TempDir::new().unwrap();
    Connection::open(dir.path().join(FILE)).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let before = fs::read(dir.path().join(FILE)).unwrap();
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_damaged() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join(FILE), "not a database, but long enough to be looked at ".repeat(100)).unwrap();
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Corrupt(_))));
    assert!(matches!(Store::open_read_only(dir.path()), Err(StoreError::Corrupt(_))));
}

#[test]
fn damage_inside_is_found_by_a_check() {
    let mut home = home();
    for at in 0..50 {
        let path = format!("/p/{at}.jsonl");
        home.put(&path, 10, Begin::Anew, &[says(1, &path, &"text ".repeat(400))], &[], None);
    }
    home.store.finish().unwrap();
    home.store.check().unwrap();
    let file = home.dir.path().join(FILE);
    drop(home.store);
    let mut bytes = fs::read(&file).unwrap();
    // Wherever its texts have come to lie.
    let (from, to) = (bytes.len() / 4, bytes.len() * 3 / 4);
    bytes[from..to].fill(0x5a);
    fs::write(&file, bytes).unwrap();
    // Where the damage is in what every store reads first, opening it says so.
    let found = Store::open(home.dir.path()).and_then(|store| store.check());
    assert!(matches!(found, Err(StoreError::Corrupt(_))), "{found:?}");
}

#[test]
fn the_log_is_emptied_at_the_end_of_a_run() {
    let mut home = home();
    home.put("/p/a.jsonl", 10, Begin::Anew, &[says(1, "u", &"text ".repeat(4000))], &[], Some(facts("a", Role::Main)));
    let log = home.dir.path().join(format!("{FILE}-wal"));
    home.store.commit().unwrap();
    assert!(fs::metadata(&log).unwrap().len() > 0);
    home.store.finish().unwrap();
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
}

#[test]
fn there_is_one_worker() {
    let dir = TempDir::new().unwrap();
    let first = WorkerLock::take(dir.path()).unwrap();
    match WorkerLock::take(dir.path()) {
        Err(LockError::Busy { pid }) => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    drop(first);
    drop(WorkerLock::take(dir.path()).unwrap());
}
