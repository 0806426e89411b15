//! Transcripts that are rows of a tool's SQLite file, read by the adapter's own SELECTs.
//!
//! The file belongs to a tool that may be running, so nothing of ours may be left in its folder and nothing may wait for us:
//!
//! | the tool's file | how it is opened |
//! | --- | --- |
//! | in WAL mode, with a log and its index | read-only, the index as well (`readonly_shm`): SQLite would create one otherwise. Where a reader has to leave its mark in the index, as in the moment after a log was begun anew, once more with the mark |
//! | with a log but no index (a copy) | read-only, with an index of our own in memory, and looked at again afterwards |
//! | in WAL mode, without a log | as a file that does not change (`immutable`), and looked at again afterwards |
//! | with a rollback journal | read-only, with the shared lock that reading takes, for the length of one statement |
//!
//! The SELECTs are the adapter's, so they are as hostile as the rest of it: an authorizer allows reading this one file and
//! calling SQLite's own functions, and each statement has a number of steps to end in.

mod error;
mod tables;

use std::{
    cell::OnceCell,
    collections::HashMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::ValueRef,
};

pub use error::DatabaseError;
pub use tables::Tables;

use super::{Bytes, Found, Opened, Unreadable};
use crate::{files, grant::Queries, sandbox::Limits, store::Stamp};

/// How long a reading waits for a tool that holds its file locked. Longer than any write of theirs takes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Steps of SQLite's machine between two looks at what is left of them: some 10 µs.
const STRIDE: i32 = 1_000;

/// Longest value: as long as the longest line of a file.
const LONGEST: i32 = 64 << 20;

/// A connection that believes to be alone keeps the log's index in memory; one that takes no locks may believe so without
/// being allowed to write (<https://sqlite.org/wal.html#use_of_wal_without_shared_memory>).
const IN_MEMORY_INDEX: &str = if cfg!(windows) { "mode=ro&vfs=win32-none" } else { "mode=ro&vfs=unix-none" };

/// The first bytes of every SQLite file.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// A database that was granted, opened when it is first asked for something.
pub struct Database {
    path: PathBuf,
    queries: Vec<Queries>,
    limits: Limits,
    open: OnceCell<Open>,
}

struct Open {
    connection: Connection,
    /// Of those declared the ones that this database understands.
    queries: Queries,
    sessions: HashMap<String, Listed>,
    steps: Arc<AtomicU64>,
    /// A connection that leaves its mark in the log's index, as every reader of the tool's own does.
    marking: OnceCell<Connection>,
    /// What the file looked like when it was opened as one that does not change.
    unchanging: Option<String>,
}

#[derive(Debug, Clone)]
struct Listed {
    version: String,
    begins_at: Option<i64>,
}

impl Database {
    /// A database at a resolved path. Costs nothing: it is opened when it is asked for something.
    pub fn new(path: PathBuf, queries: Vec<Queries>, limits: Limits) -> Self {
        Self { path, queries, limits, open: OnceCell::new() }
    }

    /// The resolved path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes whenever the file or its log is written to. None: it was written to so lately that another write might leave
    /// no trace in it.
    pub fn stamp(&self, now_ms: i64) -> Option<String> {
        // Times of files are as coarse as the kernel's clock; two seconds are the coarsest of any file system (FAT).
        const COARSE_MS: i64 = 2_000;
        let stamps = stamps(&self.path);
        let newest = stamps.iter().map(|stamp| stamp.mtime_ns / 1_000_000).max()?;
        (now_ms - newest > COARSE_MS).then(|| describe(&stamps))
    }

    /// All sessions, by key.
    ///
    /// # Errors
    /// When the database cannot be read, or the adapter's SQL is refused.
    pub fn discover(&self) -> Result<Vec<Found>, DatabaseError> {
        let mut found: Vec<_> = self
            .open()?
            .sessions
            .iter()
            .map(|(key, listed)| Found {
                path: self.path.clone(),
                key: key.clone(),
                stamp: Stamp::version(listed.version.clone()),
                begins_at: listed.begins_at,
            })
            .collect();
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    /// Opens a session. It has the version that it had when the database was first asked for something, which may be an
    /// older one than its rows are of: it is read once more then.
    ///
    /// # Errors
    /// As [`discover`](Self::discover); [`DatabaseError::Gone`].
    pub(super) fn open_session(database: &Rc<Self>, key: &str) -> Result<Opened, DatabaseError> {
        let open = database.open()?;
        let listed = open.sessions.get(key).ok_or(DatabaseError::Gone)?;
        let session = Session { database: Rc::clone(database), key: key.to_owned() };
        Ok(Opened { stamp: Stamp::version(listed.version.clone()), bytes: Bytes::Rows(session) })
    }

    fn open(&self) -> Result<&Open, DatabaseError> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let open = match self.connect(Index::ReadOnly) {
            Err(DatabaseError::Locked) => self.connect(Index::Marked)?,
            other => other?,
        };
        Ok(self.open.get_or_init(|| open))
    }

    fn connect(&self, index: Index) -> Result<Open, DatabaseError> {
        let allowed = self.limits.sql_steps;
        let steps = Arc::new(AtomicU64::new(allowed));
        let (connection, unchanging) = connect(&self.path, index, &steps)?;
        let fail = |error: rusqlite::Error| DatabaseError::of(&error, &steps, allowed);
        // The first whose statements it understands.
        let mut unknown = DatabaseError::UnknownSchema("the adapter declares no SQL".to_owned());
        for queries in &self.queries {
            let understood = [&queries.sessions, &queries.rows].into_iter().try_for_each(|sql| {
                let statement = connection.prepare(sql)?;
                if statement.readonly() && statement.column_count() > 0 {
                    Ok(())
                } else {
                    Err(rusqlite::Error::InvalidQuery)
                }
            });
            match understood {
                Ok(()) => {
                    let sessions = list(&connection, &queries.sessions, &steps, allowed)?;
                    let queries = queries.clone();
                    let marking = OnceCell::new();
                    return Ok(Open { connection, queries, sessions, steps, marking, unchanging });
                }
                Err(rusqlite::Error::InvalidQuery) => {
                    return Err(DatabaseError::Refused("it is no SELECT".to_owned()));
                }
                Err(error) => match fail(error) {
                    DatabaseError::Other(why) => unknown = DatabaseError::UnknownSchema(why),
                    error => return Err(error),
                },
            }
        }
        Err(unknown)
    }
}

/// How the index of a tool's log is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    /// Nothing is left in it.
    ReadOnly,
    /// A reader's mark is.
    Marked,
}

/// Opens the tool's file without leaving anything beside it.
#[expect(clippy::disallowed_methods, reason = "the home of tools' databases")]
fn connect(
    path: &Path,
    use_of_index: Index,
    steps: &Arc<AtomicU64>,
) -> Result<(Connection, Option<String>), DatabaseError> {
    let io = |error: io::Error| DatabaseError::Other(error.to_string());
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(DatabaseError::NotAFile);
    }
    let mut header = [0; 100];
    let length = File::open(path).and_then(|file| file.take(100).read(&mut header)).map_err(io)?;
    if length == 0 {
        return Err(DatabaseError::Empty);
    }
    if !header.starts_with(MAGIC) {
        return Err(DatabaseError::NotADatabase);
    }
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let (log, index) = (beside("-wal"), beside("-shm"));
    let has_log = fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0);
    if !has_log && let Some(why) = cut_off(&header, fs::metadata(path).map_err(io)?.len()) {
        return Err(DatabaseError::Corrupt(why));
    }
    // Bytes 18 and 19 of the header are 2 in WAL mode (https://sqlite.org/fileformat2.html#file_format_version_numbers).
    let in_wal_mode = header[18] == 2;
    let options = match (in_wal_mode, index.exists()) {
        (true, true) if log.exists() && use_of_index == Index::ReadOnly => "mode=ro&readonly_shm=1",
        (true, true) if log.exists() => "mode=ro",
        // Nobody has the file open where there is no log, nor where there is one without an index.
        (true, _) if has_log => IN_MEMORY_INDEX,
        (true, _) => "mode=ro&immutable=1",
        (false, _) => "mode=ro",
    };
    let is_alone = [IN_MEMORY_INDEX, "mode=ro&immutable=1"].contains(&options);
    let unchanging = is_alone.then(|| describe(&stamps(path)));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let fail = |error: rusqlite::Error| DatabaseError::of(&error, steps, 0);
    let mut connection = Connection::open_with_flags(files::uri(path, options), flags).map_err(fail)?;
    connection.busy_timeout(PATIENCE).map_err(fail)?;
    if options == IN_MEMORY_INDEX {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(fail)?;
    }
    // What does not fit into memory would be written to a file that nobody granted.
    connection.pragma_update(None, "temp_store", "MEMORY").map_err(fail)?;
    connection.pragma_update(None, "query_only", true).map_err(fail)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(fail)?;
    fence(&mut connection, steps).map_err(fail)?;
    Ok((connection, unchanging))
}

/// Is the file shorter than its header says? SQLite takes pages that are missing at its end for empty ones, and sessions
/// would be gone without a word (<https://sqlite.org/fileformat2.html#in_header_database_size>).
fn cut_off(header: &[u8; 100], length: u64) -> Option<String> {
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    // The count is good if it was written together with the change counter.
    let (pages, is_good) = (u64::from(number(28)), number(24) == number(92));
    (is_good && pages * page > length).then(|| format!("{length} bytes of {} are there", pages * page))
}

/// Lets statements read, compute and end, and nothing else.
fn fence(connection: &mut Connection, steps: &Arc<AtomicU64>) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !FORBIDDEN.contains(&function_name) => Authorization::Allow,
        _ => Authorization::Deny,
    }))?;
    let steps = Arc::clone(steps);
    connection.progress_handler(
        STRIDE,
        Some(move || {
            let left = steps.load(Relaxed).saturating_sub(STRIDE.unsigned_abs().into());
            steps.store(left, Relaxed);
            left == 0
        }),
    )
}

/// Functions that reach out of the statement.
const FORBIDDEN: [&str; 3] = ["load_extension", "fts3_tokenizer", "fts5"];

fn list(
    connection: &Connection,
    sql: &str,
    steps: &AtomicU64,
    allowed: u64,
) -> Result<HashMap<String, Listed>, DatabaseError> {
    let fail = |error: rusqlite::Error| DatabaseError::of(&error, steps, allowed);
    steps.store(allowed, Relaxed);
    let mut statement = connection.prepare(sql).map_err(fail)?;
    let columns = statement.column_count();
    if columns < 2 {
        return Err(DatabaseError::Refused("it gives no `key` and `version`".to_owned()));
    }
    let mut rows = statement.query([]).map_err(fail)?;
    let mut sessions = HashMap::new();
    while let Some(row) = rows.next().map_err(fail)? {
        let text = |column| row.get_ref(column).map(|value| text(value).into_owned());
        let begins_at = if columns > 2 { row.get::<_, Option<i64>>(2).ok().flatten() } else { None };
        let (key, version) = (text(0).map_err(fail)?, text(1).map_err(fail)?);
        if !key.is_empty() {
            sessions.insert(key, Listed { version, begins_at });
        }
    }
    Ok(sessions)
}

fn text(value: ValueRef<'_>) -> std::borrow::Cow<'_, str> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        ValueRef::Integer(number) => number.to_string().into(),
        ValueRef::Real(number) => number.to_string().into(),
        ValueRef::Null => "".into(),
    }
}

/// A session of a database, open.
pub(crate) struct Session {
    database: Rc<Database>,
    key: String,
}

impl Session {
    /// Gives each row's first column.
    pub(super) fn each_row<E: From<io::Error>>(&self, row: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let path = &self.database.path;
        let open = self.database.open().map_err(io::Error::other)?;
        let mut given = false;
        let mut each = |found: &[u8]| {
            given = true;
            row(found)
        };
        let read = match self.rows(&open.connection, open, &mut each) {
            Err(Ended::Database(DatabaseError::Locked)) if !given => {
                let marking = match open.marking.get() {
                    Some(marking) => marking,
                    None => {
                        let (marking, _) = connect(path, Index::Marked, &open.steps).map_err(io::Error::other)?;
                        open.marking.get_or_init(|| marking)
                    }
                };
                self.rows(marking, open, row)
            }
            read => read,
        };
        match (read, &open.unchanging) {
            (Err(Ended::Caller(error)), _) => Err(error),
            (Err(Ended::Database(error)), _) => Err(io::Error::other(error).into()),
            (Ok(()), Some(before)) if describe(&stamps(path)) != *before => {
                Err(io::Error::other(DatabaseError::Changed).into())
            }
            (Ok(()), _) => Ok(()),
        }
    }

    fn rows<E>(
        &self,
        connection: &Connection,
        open: &Open,
        row: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Ended<E>> {
        let allowed = self.database.limits.sql_steps;
        let fail = |error: rusqlite::Error| Ended::Database(DatabaseError::of(&error, &open.steps, allowed));
        open.steps.store(allowed, Relaxed);
        let mut statement = connection.prepare_cached(&open.queries.rows).map_err(fail)?;
        if let Some(parameter) = statement.parameter_index(":key").map_err(fail)? {
            statement.raw_bind_parameter(parameter, &self.key).map_err(fail)?;
        }
        let mut rows = statement.raw_query();
        while let Some(found) = rows.next().map_err(fail)? {
            row(text(found.get_ref(0).map_err(fail)?).as_bytes()).map_err(Ended::Caller)?;
        }
        Ok(())
    }
}

/// Why a session's rows were not all given.
enum Ended<E> {
    /// The database could not be read.
    Database(DatabaseError),
    /// Whoever takes them wanted no more.
    Caller(E),
}

/// Stamps of the file and its log.
fn stamps(path: &Path) -> Vec<Stamp> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    [path, Path::new(&log)]
        .into_iter()
        .filter_map(|path| fs::metadata(path).ok())
        .map(|file| Stamp::of(&file))
        .collect()
}

fn describe(stamps: &[Stamp]) -> String {
    let one = |stamp: &Stamp| format!("{} {} {}", stamp.size, stamp.mtime_ns, stamp.inode);
    stamps.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The files that a granted path names: it may hold `*` in its last component. A link must not lead out of the folder.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn candidates(path: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(Vec::new());
    };
    let folder = match folder.canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Unreadable::new(folder, error)),
    };
    let names = if name.contains('*') {
        let glob = super::globs(&[name.to_owned()]).map_err(|error| Unreadable::new(path, error))?;
        let entries = fs::read_dir(&folder).map_err(|error| Unreadable::new(&folder, error))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_aside = |name: &str| ["-wal", "-shm", "-journal"].iter().any(|ending| name.ends_with(ending));
        let mut names: Vec<_> = names.filter(|name| glob.is_match(name) && !is_aside(name)).collect();
        names.sort();
        names
    } else {
        vec![name.to_owned()]
    };
    let mut files = Vec::new();
    for name in names {
        let file = folder.join(name);
        match file.canonicalize() {
            Ok(resolved) if resolved.parent() == Some(&folder) => files.push(resolved),
            Ok(_) => return Err(Unreadable::new(&file, "it is a link that leads out of its folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Unreadable::new(&file, error)),
        }
    }
    Ok(files)
}

/// Makes a database of statements: for fixtures, which are kept as text.
///
/// # Errors
/// SQLite's.
#[expect(clippy::disallowed_methods, reason = "the home of tools' databases")]
pub fn make(path: &Path, sql: &str) -> Result<(), DatabaseError> {
    let made = Connection::open(path).and_then(|connection| connection.execute_batch(sql));
    made.map_err(|error| DatabaseError::Other(error.to_string()))
}
