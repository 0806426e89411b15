use std::path::PathBuf;

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is nothing to read yet.
    #[error("there is no store at {}", path.display())]
    Missing {
        /// The database file.
        path: PathBuf,
    },
    /// The file was written by a newer program.
    #[error("the store {} has schema {found}, this program knows schemas up to {known}", path.display())]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The file's schema.
        found: i64,
        /// The newest schema this program knows.
        known: i64,
    },
    /// A SQLite database, but not one of ours.
    #[error("{} is a database of another program", path.display())]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// The home or the database cannot be created or opened.
    #[error("cannot open the store {}: {why}", path.display())]
    Open {
        /// The file or folder that refuses.
        path: PathBuf,
        /// The system's or SQLite's words.
        why: String,
    },
    /// The store was opened for reading, or the file or its folder may not be written.
    #[error("the store is read-only: {0}")]
    ReadOnly(String),
    /// No space left where the store is.
    #[error("the disk that holds the store is full")]
    Full,
    /// The file is damaged, or is no database at all.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// Another process kept the store locked for longer than we wait.
    #[error("another process keeps the store locked")]
    Busy,
    /// A row holds something this program never writes.
    #[error("a row of `{table}` is unreadable: {why}")]
    Row {
        /// The table.
        table: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The system refused to read or write.
    #[error("reading or writing the store failed: {0}")]
    Io(String),
    /// Anything else that SQLite reports: a defect of ours.
    #[error("the store refused a statement")]
    Sqlite(#[source] rusqlite::Error),
}

impl StoreError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing { .. } => "Run `totalrecall init`, then `totalrecall reconcile` and `totalrecall worker`.",
            Self::Newer { .. } => "Update TotalRecall, or name another home with `--home`.",
            Self::Foreign { .. } => "Name another home with `--home`, or move that file away.",
            Self::Open { .. } | Self::ReadOnly(_) => {
                "Check who owns the home folder and whether it may be written, or name another one with `--home`."
            }
            Self::Full => "Free some space and run `totalrecall worker` again: what was not finished is still queued.",
            Self::Corrupt(_) | Self::Row { .. } => {
                "Move `totalrecall.db` (with its `-wal` and `-shm`) out of the home and run `totalrecall reconcile`: \
                 the transcripts that still exist are read again."
            }
            Self::Busy => "Try again when the other TotalRecall process has ended; nothing was lost.",
            Self::Io(_) => "Check the disk that holds the home folder, then try again.",
            Self::Sqlite(_) => return None,
        })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, ReadOnly,
            SystemIoFailure,
        };
        let text = || error.to_string();
        match error.sqlite_error_code() {
            Some(DiskFull) => Self::Full,
            Some(DatabaseCorrupt | NotADatabase) => Self::Corrupt(text()),
            Some(ReadOnly) => Self::ReadOnly(text()),
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy,
            Some(SystemIoFailure | CannotOpen) => Self::Io(text()),
            _ => Self::Sqlite(error),
        }
    }
}
