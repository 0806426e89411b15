//! What a folder holds, how it is opened, and what may be wrong with it.

use super::Covered;
use std::panic::{self, AssertUnwindSafe};
use std::{io, path::Path, sync::Arc};
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Directory, Index, TantivyError};

/// Name of the tokeniser, which is part of the schema. Terms made by other rules are not found, so a change in
/// [`tokens`](crate::tokens) has to change it: then older folders are told apart and made again.
pub(super) const RULES: &str = "terms-1";

/// Why an index of words cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none (yet).
    #[error("there is no index of words in this folder")]
    Missing,
    /// Another version of this program wrote it: make it again.
    #[error("another version wrote this index of words")]
    OtherFormat,
    /// It cannot be read: make it again.
    #[error("the index of words is damaged: {0}")]
    Damaged(String),
    /// Somebody else is writing.
    #[error("another process is writing this index of words")]
    Busy,
    /// The machine does not let us, for instance because the disk is full.
    #[error("the index of words cannot be used: {0}")]
    Io(Arc<io::Error>),
}

impl Error {
    /// Whether the folder has to be made again from the passages.
    pub fn is_rebuild(&self) -> bool {
        matches!(self, Self::Missing | Self::OtherFormat | Self::Damaged(_))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        TantivyError::from(error).into()
    }
}

impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::IncompatibleIndex(_)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_))
            | TantivyError::SchemaError(_) => Self::OtherFormat,
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Busy,
            TantivyError::OpenDirectoryError(OpenDirectoryError::DoesNotExist(_)) => Self::Missing,
            TantivyError::LockFailure(LockError::IoError(error), _)
            | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error: error, .. })
            | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. })
            | TantivyError::IoError(error)
                if !is_about_contents(&error) =>
            {
                Self::Io(error)
            }
            other => Self::Damaged(other.to_string()),
        }
    }
}

/// Whether the machine did its part and what was read is wrong.
fn is_about_contents(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof)
}

/// The fields of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) id: Field,
    pub(super) session: Field,
    pub(super) kind: Field,
    pub(super) at: Field,
}

impl Fields {
    pub(super) fn schema() -> (Self, Schema) {
        let mut schema = Schema::builder();
        let terms = TextFieldIndexing::default().set_tokenizer(RULES).set_index_option(IndexRecordOption::WithFreqs);
        let fields = Self {
            text: schema.add_text_field("text", TextOptions::default().set_indexing_options(terms)),
            id: schema.add_u64_field("id", FAST),
            session: schema.add_u64_field("session", FAST),
            kind: schema.add_u64_field("kind", FAST),
            at: schema.add_i64_field("at", FAST),
        };
        (fields, schema.build())
    }
}

/// Does something with an index whose files may have been damaged since they were written. Checking the hashes of all files
/// would take longer than the search, and tantivy panics at some of what it then finds.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // What the work changes is its own, and given up if it fails.
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::Damaged("its files contradict themselves".to_owned())))
}

/// Opens a folder through `directory`, if it is of our format.
pub(super) fn open(directory: impl Into<Box<dyn Directory>>) -> Result<(Index, Fields), Error> {
    let directory = directory.into();
    if !Index::exists(&*directory).map_err(TantivyError::from)? {
        return Err(Error::Missing);
    }
    let index = Index::open(directory)?;
    let (fields, schema) = Fields::schema();
    if index.schema() == schema { Ok((index, fields)) } else { Err(Error::OtherFormat) }
}

/// What the last commit covers. A folder without one covers nothing.
pub(super) fn covered(index: &Index) -> Result<Covered, Error> {
    let Some(payload) = index.load_metas()?.payload else { return Ok(Covered::default()) };
    serde_json::from_str(&payload).map_err(|_| Error::OtherFormat)
}

/// A folder that is only read: no lock file is made in it, so it may belong to somebody else.
///
/// The lock it goes without keeps a writer from removing files while they are opened; who opens has to try again instead.
#[derive(Clone, Debug)]
pub(super) struct ReadOnly(pub(super) MmapDirectory);

impl ReadOnly {
    fn refusal() -> Arc<io::Error> {
        Arc::new(io::Error::from(io::ErrorKind::ReadOnlyFilesystem))
    }
}

impl Directory for ReadOnly {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Self::refusal(), filepath: path.to_owned() })
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError { io_error: Self::refusal(), filepath: path.to_owned() })
    }

    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
