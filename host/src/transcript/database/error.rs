//! Why a tool's database cannot be read, and what to do about it.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rusqlite::ErrorCode;

use crate::transcript::Unreadable;

/// Why a database, or a session in it, cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DatabaseError {
    /// It is there but is none.
    #[error("it is not an SQLite database")]
    NotADatabase,
    /// Nothing was ever written to it.
    #[error("it is empty")]
    Empty,
    /// It is a folder, or something else that is no file.
    #[error("it is not a file")]
    NotAFile,
    /// Another process holds it.
    #[error("it is locked by another process")]
    Locked,
    /// A page of it makes no sense.
    #[error("it is damaged: {0}")]
    Corrupt(String),
    /// None of the adapter's SELECTs fits its tables.
    #[error("its tables are not those of any version that the adapter knows: {0}")]
    UnknownSchema(String),
    /// A SELECT wants what an adapter's may not.
    #[error("the adapter's SQL was refused: {0}")]
    Refused(String),
    /// A SELECT does not end.
    #[error("the adapter's SQL went past the limit `sql-steps`: {allowed} are allowed")]
    Endless {
        /// Steps of SQLite's machine.
        allowed: u64,
    },
    /// It was written to while it was read as a file that does not change.
    #[error("it was written to while it was read")]
    Changed,
    /// The session is not in it any more.
    #[error("the session is not in it any more")]
    Gone,
    /// What SQLite or the system says.
    #[error("{0}")]
    Other(String),
}

impl DatabaseError {
    /// A stable word for the ledger.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotADatabase => "not-a-database",
            Self::Empty => "empty",
            Self::NotAFile => "not-a-file",
            Self::Locked => "locked",
            Self::Corrupt(_) => "corrupt",
            Self::UnknownSchema(_) => "unknown-schema",
            Self::Refused(_) => "sql-refused",
            Self::Endless { .. } => "sql-steps",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Other(_) => "unreadable",
        }
    }

    /// What the person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotADatabase | Self::NotAFile => "if the tool does not need it, move it away",
            Self::Empty => "start the tool once; if it stays empty, move it away",
            Self::Locked | Self::Changed => "run `totalrecall reconcile` again when the tool is idle",
            Self::Corrupt(_) => "check it with `sqlite3 FILE 'PRAGMA integrity_check'`, or let the tool repair it",
            Self::UnknownSchema(_) => "the tool is newer than its adapter: look for a newer totalrecall",
            Self::Refused(_) | Self::Endless { .. } => "remove the adapter, or report this to its author",
            Self::Gone => "nothing: the tool has deleted it",
            Self::Other(_) => "check the permissions of the file and of its folder",
        }
    }

    /// Would the next try end the same way?
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Locked | Self::Changed | Self::Other(_))
    }

    pub(in crate::transcript) fn at(&self, path: &Path) -> Unreadable {
        Unreadable { path: path.to_owned(), why: self.to_string(), hint: self.hint() }
    }

    pub(super) fn of(error: &rusqlite::Error, steps: &AtomicU64, allowed: u64) -> Self {
        let text = || match error {
            rusqlite::Error::SqliteFailure(_, Some(text)) => text.clone(),
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            other => other.to_string(),
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            // The authorizer has let no write pass: this is a reader that finds no mark in the log's index to use.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly) => Self::Locked,
            Some(ErrorCode::DatabaseCorrupt) => Self::Corrupt(text()),
            Some(ErrorCode::AuthorizationForStatementDenied) => Self::Refused(text()),
            Some(ErrorCode::OperationInterrupted) if steps.load(Relaxed) == 0 => Self::Endless { allowed },
            Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => Self::Refused(text()),
            _ if matches!(error, rusqlite::Error::MultipleStatement) => Self::Refused(text()),
            _ => Self::Other(text()),
        }
    }
}
