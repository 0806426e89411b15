//! The store: one SQLite file, and the truth for everything the person would miss.
//!
//! [`Ledger rows`](Found) say which transcripts exist and what became of them; the queue is those that wait. A
//! [`Job`] is read and stored through an [`Ingest`], which leaves either all of it or nothing. Events, signals and
//! sessions come from there; findings are derived from them and replaced as a whole.

mod anchor;
mod archive;
mod call;
mod chunk;
mod copied;
mod decision;
mod deleted;
mod dropped;
mod error;
mod event;
mod filter;
mod finding;
mod imported;
mod ingest;
mod job;
mod key;
mod label;
mod ledger;
mod lock;
mod mark;
mod memory;
mod migrate;
mod organise;
mod outline;
mod passage;
mod proposal;
mod queue;
mod read;
mod review;
mod scan;
mod seal;
mod session;
mod source;
mod stamp;
mod status;
mod taken;
#[cfg(test)]
mod tests;
mod texts;
mod tidy;
mod toolcall;
mod touch;
mod trigrams;
mod turn;
mod unsaved;

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

pub use call::{Backoff, Begun, Call, CallEnd, CallOutcome, NewCall};
pub use deleted::{Deleted, Tombstone};
pub use error::StoreError;
pub use imported::{Imported, Original, Sort};
pub use ingest::{Begin, Done, Failure, Finality, Ingest, Skip};
pub use job::{Job, Resume};
pub use ledger::{Absent, Found, Standing, Survey};
pub use lock::{Held, LockError, WorkerLock};
pub use organise::{Kept, NoSession};
pub use outline::Asked;
pub use passage::{InContext, Origin, Removal, Span};
pub use read::{SessionRow, StoredSignal, TranscriptRow, UsageRow};
pub use review::{Review, ReviewCount, ReviewState, Reviewable};
pub(crate) use scan::{Shown, StoredText};
pub use session::{Counts, Role, SessionFacts};
pub use source::Trouble;
pub use stamp::{Edges, Stamp};
pub use status::{Failed, Status};
pub use taken::Taken;
pub use texts::{Text, TextId, TextSort};
pub use tidy::Size;
pub use toolcall::{Told, ToldCall};
pub use touch::Touched;
pub use turn::FILE as TURN;

/// The database's name in the home.
pub const FILE: &str = "totalrecall.db";

/// How long a statement waits for another process.
const BUSY: Duration = Duration::from_secs(5);
/// Most memory for pages, in KiB: a transaction that changes more spills into the log. 16 MiB hold the key index of a
/// million events, which is what is read at random.
const CACHE_KIB: i64 = 16 * 1024;
/// Pages (4 KiB) of log after which it is copied into the database. Larger than SQLite's 1,000, because the key index
/// is hit all over and every copy writes its pages again.
const CHECKPOINT_PAGES: i64 = 8_000;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    };
}

id!(
    /// A row of `transcript`.
    TranscriptId
);
id!(
    /// A row of `session`.
    SessionId
);
id!(
    /// The number of a passage. Never given twice.
    PassageId
);

/// The open store. One process writes (see [`WorkerLock`]), any number read.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: PathBuf,
    labels: label::Labels,
    /// Jobs that are marked as begun, next first.
    claimed: VecDeque<TranscriptId>,
    batch: Option<Batch>,
}

/// Transcripts that are committed together. A commit of each would write the pages of the key index, which every
/// transcript touches all over, again and again.
#[derive(Debug)]
struct Batch {
    since: Instant,
    rows: u64,
}

/// See [`Store::snapshot`].
pub(crate) struct Snapshot<'s> {
    _reading: Option<rusqlite::Transaction<'s>>,
}

#[expect(clippy::disallowed_methods, reason = "the one place that opens databases")]
fn connect(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, flags)
}

impl Store {
    /// Opens the store of a home for reading and writing; creates both where they are missing and brings an older
    /// schema to the newest.
    ///
    /// # Errors
    /// See [`StoreError`]: `ReadOnly` where the home may not be written, `Newer`, `Foreign`, `Corrupt`, `Busy`.
    pub fn open(home: &Path) -> Result<Self, StoreError> {
        let path = home.join(FILE);
        create_home(home)?;
        // Two that make it at once would be in each other's way: while it begins to keep a log, SQLite lets nobody wait. A folder
        // that cannot be locked, as elsewhere than on Unix, is no reason not to open what is in it.
        let _alone = fs::File::open(home).ok().filter(|folder| folder.lock().is_ok());
        create_file(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db =
            connect(&path, flags).map_err(|error| StoreError::Open { path: path.clone(), why: error.to_string() })?;
        if db.is_readonly("main")? {
            return Err(StoreError::ReadOnly(format!("{} may not be written", path.display())));
        }
        let mut store = Self::new(db, path)?;
        // Refuse before anything is changed.
        migrate::schema(&store.db, &store.path)?;
        store.use_log()?;
        store.db.pragma_update(None, "synchronous", "normal")?;
        store.db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // The log is cut when a run ends; this bounds it when one is killed.
        store.db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
        migrate::migrate(&mut store.db, &store.path)?;
        Ok(store)
    }

    /// Opens an existing store for reading. Works in a home that may not be written.
    ///
    /// # Errors
    /// `Missing` where there is none; `Newer`, `Foreign`, `Corrupt`.
    pub fn open_read_only(home: &Path) -> Result<Self, StoreError> {
        Self::open_to_read(home, true)
    }

    /// The same, but leaves an older schema as it is: see [`Store::is_current`].
    ///
    /// # Errors
    /// As above.
    pub fn open_as_it_is(home: &Path) -> Result<Self, StoreError> {
        Self::open_to_read(home, false)
    }

    fn open_to_read(home: &Path, upgrade: bool) -> Result<Self, StoreError> {
        let path = home.join(FILE);
        if !path.exists() {
            return Err(StoreError::Missing { path });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = |store: Self| match migrate::schema(&store.db, &store.path)? {
            // Created by a process that was killed before its first commit.
            0 => Err(StoreError::Missing { path: store.path.clone() }),
            // Of an earlier version: what is read may not be there before it is brought to the newest schema.
            older if upgrade && older < migrate::NEWEST => Self::open(home),
            _ => Ok(store),
        };
        let refused = |error: rusqlite::Error| StoreError::Open { path: path.clone(), why: error.to_string() };
        let db = connect(&path, flags).map_err(refused)?;
        match Self::new(db, path.clone()).and_then(open) {
            // SQLite wants to create the log's index beside the file. Where it may not, nobody else can be writing
            // either, and the file alone is complete unless a log lies beside it.
            Err(StoreError::Io(_) | StoreError::ReadOnly(_)) if !has_log(&path) => {
                let uri = crate::files::uri(&path, "immutable=1");
                let db = connect(uri, flags | OpenFlags::SQLITE_OPEN_URI).map_err(refused)?;
                Self::new(db, path.clone()).and_then(open)
            }
            other => other,
        }
    }

    /// Turns to a log, which takes a moment with the file alone, and SQLite does not wait for that itself.
    fn use_log(&self) -> Result<(), StoreError> {
        let since = Instant::now();
        loop {
            match self.db.pragma_update(None, "journal_mode", "wal").map_err(StoreError::from) {
                Err(StoreError::Busy) if since.elapsed() < BUSY => std::thread::sleep(Duration::from_millis(10)),
                other => return other,
            }
        }
    }

    fn new(db: Connection, path: PathBuf) -> Result<Self, StoreError> {
        db.busy_timeout(BUSY)?;
        db.set_prepared_statement_cache_capacity(64);
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        db.pragma_update(None, "foreign_keys", true)?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // What a transcript changed in a shared transaction is remembered in memory, not in a temporary file: the key
        // index is hit all over, and writing its pages out cost more than everything else.
        db.pragma_update(None, "temp_store", "memory")?;
        Ok(Self { db, path, labels: label::Labels::default(), claimed: VecDeque::new(), batch: None })
    }

    /// Lets statements wait so long for another process, instead of 5 s.
    ///
    /// # Errors
    /// None that can be expected.
    pub fn wait(&self, at_most: Duration) -> Result<(), StoreError> {
        Ok(self.db.busy_timeout(at_most)?)
    }

    /// Has the file the schema of this program? One that an older program made has it as soon as somebody opens it for writing.
    ///
    /// # Errors
    /// As for any read.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        Ok(migrate::schema(&self.db, &self.path)? == migrate::NEWEST)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Commits what is done, gives back what was claimed and not begun, and empties the log. For the end of a run.
    ///
    /// # Errors
    /// As for any write. A reader that keeps the log from being emptied is no error.
    pub fn finish(&mut self) -> Result<(), StoreError> {
        self.commit()?;
        self.unclaim()?;
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Commits the transcripts that were done since the last commit. Happens by itself within half a second of work.
    ///
    /// # Errors
    /// As for any write; these transcripts are queued again then.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        if self.batch.take().is_some() {
            self.db.execute_batch("COMMIT").inspect_err(|_| self.abandon())?;
        }
        Ok(())
    }

    /// Has SQLite overwrite what is deleted or changed from now on, through this connection. Slower, so only where it matters.
    /// `finish` empties the log, which holds copies of pages until then.
    ///
    /// # Errors
    /// As for any write.
    pub fn overwrite_deleted(&mut self) -> Result<(), StoreError> {
        self.commit()?;
        Ok(self.db.pragma_update(None, "secure_delete", true)?)
    }

    /// Lets all that is read until it is dropped be of one moment. Each statement for itself would take and give back the locks of the
    /// file, which takes longer than a small one itself.
    ///
    /// # Errors
    /// As for any read.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<'_>, StoreError> {
        Ok(Snapshot { _reading: if self.db.is_autocommit() { Some(self.db.unchecked_transaction()?) } else { None } })
    }

    /// Gives up an open transaction and what was remembered of it.
    fn abandon(&self) {
        self.labels.forget();
        if !self.db.is_autocommit() {
            // Nothing better can be done than report the first error, which the caller does.
            drop(self.db.execute_batch("ROLLBACK"));
        }
    }

    /// Several statements that hold together or not at all, also inside a batch.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.batch.is_some() || !self.db.is_autocommit() {
            let savepoint = self.db.savepoint()?;
            let value = work(&savepoint)?;
            savepoint.commit()?;
            Ok(value)
        } else {
            let _turn = turn::ask(&self.path);
            let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        }
    }

    /// A remembered value of the program itself, such as the time of the last run.
    ///
    /// # Errors
    /// As for any read.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        use rusqlite::OptionalExtension;
        let mut find = self.db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        Ok(find.query_row([key], |row| row.get(0)).optional()?)
    }

    /// Remembers a value.
    ///
    /// # Errors
    /// As for any write.
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?.execute([key, value])?;
        Ok(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // What is not committed is read again, and what is not given back is read by itself, so an error here loses nothing;
        // `finish` reports errors.
        drop(self.commit());
        drop(self.unclaim());
    }
}

/// The home and the database hold what the person wrote to their agents: for their eyes only.
fn create_home(home: &Path) -> Result<(), StoreError> {
    if home.exists() {
        return Ok(());
    }
    let mut dir = fs::DirBuilder::new();
    dir.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut dir, 0o700);
    dir.create(home).map_err(|error| refused(home, &error))
}

/// See [`create_home`]. A file that is there is not even opened: closing it would take away the locks that SQLite holds on it in this
/// process, where another thread has a store (fcntl(2): closing any descriptor of a file lets go of all locks on it).
fn create_file(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    let mut file = fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    match file.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(refused(path, &error)),
        _ => Ok(()),
    }
}

fn refused(at: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly(format!("{}: {error}", at.display()))
        }
        std::io::ErrorKind::StorageFull => StoreError::Full,
        _ => StoreError::Open { path: at.to_path_buf(), why: error.to_string() },
    }
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}
