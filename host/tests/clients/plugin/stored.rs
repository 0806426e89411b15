//! What became of a person's sessions in the store, and waiting for the workers that hooks start.

use std::{
    fs,
    time::{Duration, Instant},
};

use rusqlite::types::ValueRef;
use totalrecall::store::{FILE, Store};

use crate::person::Person;

/// An eternity for a worker.
const PATIENCE: Duration = Duration::from_secs(60);

impl Person {
    /// Ids of the sessions that Claude Code has written down, sorted.
    pub(crate) fn session_ids(&self) -> Vec<String> {
        let transcripts = self.transcripts();
        let mains = transcripts.iter().filter(|file| !file.iter().any(|folder| folder == "subagents"));
        let mut ids: Vec<_> = mains.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    }

    /// Ids of the sessions that we have stored, sorted, each as often as it is there.
    pub(crate) fn stored(&self) -> Vec<String> {
        let Some(store) = self.store() else { return Vec::new() };
        let mut ids: Vec<_> = store.sessions().unwrap().into_iter().map(|session| session.native_id).collect();
        ids.sort();
        ids
    }

    fn store(&self) -> Option<Store> {
        // Before a first worker has made it there is none.
        self.state().join(FILE).exists().then(|| Store::open_read_only(&self.state()).ok()).flatten()
    }

    #[track_caller]
    pub(crate) fn assert_stored(&self, ids: &[&str]) {
        let mut ids = ids.to_owned();
        ids.sort_unstable();
        assert_eq!(self.stored(), ids, "{}", self.run(&["status"]));
    }

    /// Waits until workers have stored exactly these, each once, and nothing is left for them to do. No worker is started
    /// here.
    #[track_caller]
    pub(crate) fn wait_until_stored(&self, ids: &[&str]) {
        let mut ids = ids.to_owned();
        ids.sort_unstable();
        self.wait_until("these sessions are stored", || self.stored() == ids && self.notices().is_empty());
        self.wait_until_no_worker_runs();
        self.assert_stored(&ids);
    }

    /// Waits until workers have left no notice unread.
    #[track_caller]
    pub(crate) fn wait_until_read(&self) {
        self.wait_until("notices are read", || self.notices().is_empty());
        self.wait_until_no_worker_runs();
    }

    #[track_caller]
    pub(crate) fn wait_until_no_worker_runs(&self) {
        self.wait_until("no worker runs", || totalrecall::store::WorkerLock::take(&self.state()).is_ok());
    }

    #[track_caller]
    pub(super) fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let since = Instant::now();
        while !is_so() {
            assert!(
                since.elapsed() < PATIENCE,
                "it never was so that {what}:\nstored: {:?}\nnotices: {:?}\n{}",
                self.stored(),
                self.notices(),
                self.run(&["status"])
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kind and detail of all signals.
    pub(crate) fn signals(&self) -> Vec<(String, String)> {
        let store = self.store().unwrap();
        let sessions = store.sessions().unwrap();
        let signals = sessions.iter().flat_map(|session| store.signals(session.id).unwrap());
        signals.map(|signal| (signal.kind, signal.detail)).collect()
    }

    /// Every text in the store, of every table.
    pub(crate) fn everything_stored(&self) -> Vec<String> {
        let db = rusqlite::Connection::open(self.state().join(FILE)).unwrap();
        let strings = |sql: &str| -> Vec<String> {
            let mut rows = db.prepare(sql).unwrap();
            let count = rows.column_count();
            let mut rows = rows.query([]).unwrap();
            let mut texts = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..count {
                    if let ValueRef::Text(text) = row.get_ref(column).unwrap() {
                        texts.push(String::from_utf8_lossy(text).into_owned());
                    }
                }
            }
            texts
        };
        let tables = strings("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
        tables.iter().flat_map(|table| strings(&format!("SELECT * FROM \"{table}\""))).collect()
    }

    /// What the person said, in all sessions.
    pub(crate) fn words(&self) -> Vec<String> {
        let db = rusqlite::Connection::open(self.state().join(FILE)).unwrap();
        let mut rows = db.prepare("SELECT text FROM event WHERE text IS NOT NULL AND copied = 0 ORDER BY id").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// What a person said, and nobody in their place.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let db = rusqlite::Connection::open(self.state().join(FILE)).unwrap();
        let mut rows = db.prepare("SELECT text FROM event WHERE text IS NOT NULL AND author = 0 ORDER BY id").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// The program is not installed any more.
    pub(crate) fn lose_the_program(&self) {
        fs::remove_file(self.path().join("bin/totalrecall")).unwrap();
    }
}
