//! Transcripts: found in the sources that an adapter was granted, and opened for it.
//!
//! | module | a transcript is |
//! | --- | --- |
//! | [`files`] | a file below a granted folder, compressed or not |
//! | [`tree`] | many small files below a granted folder |
//! | [`database`] | rows of a granted SQLite file |

pub mod database;
pub mod files;
pub mod tree;

use std::{
    fs::File,
    io::{self, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    rc::Rc,
};

pub use database::{Database, DatabaseError};
pub use files::{Root, globs, named};
pub use tree::Tree;

use crate::{
    grant::{Grant, Granted},
    sandbox::Limits,
    store::{self, Stamp},
};

/// Bytes an adapter may look at to recognise a transcript, as the contract says.
pub const HEAD: u64 = 64 << 10;

/// Bytes handed on in one piece: large enough that a call into a guest costs nothing, small enough that the events of one
/// call stay far below the output limits.
const CHUNK: usize = 256 << 10;

/// A transcript that was found but not opened.
#[derive(Debug, Clone)]
pub struct Found {
    /// Resolved path: of the file, of the session's file in a tree, or of the database.
    pub path: PathBuf,
    /// The session's key in a tree or a database; empty for a file.
    pub key: String,
    /// How it looked then.
    pub stamp: Stamp,
    /// When it says it begins, where the source told, in milliseconds since the Unix epoch.
    pub begins_at: Option<i64>,
}

impl Found {
    /// What it is sorted by, so that originals come before their copies: the time that it says it begins at, or its own.
    pub fn age(&self) -> (i64, i64, &Path, &str) {
        let changed = self.stamp.mtime_ns;
        (self.begins_at.unwrap_or(changed / 1_000_000), changed, &self.path, &self.key)
    }

    /// As the ledger knows it.
    pub fn row(&self, adapter: &str, tool: &str) -> store::Found {
        store::Found {
            adapter: adapter.to_owned(),
            tool: tool.to_owned(),
            path: self.path.to_string_lossy().into_owned(),
            key: self.key.clone(),
            stamp: self.stamp.clone(),
            named: false,
        }
    }

    /// For a person: the path, and which session in it.
    pub fn place(&self) -> String {
        place(&self.path, &self.key)
    }
}

/// A transcript's place for a person.
pub fn place(path: &Path, key: &str) -> String {
    match key {
        "" => path.display().to_string(),
        key => format!("{} ({key})", path.display()),
    }
}

/// Something that could not be looked at, and why. The rest was.
#[derive(Debug, Clone, thiserror::Error)]
#[error("could not read {}: {why}", path.display())]
pub struct Unreadable {
    /// The file or folder.
    pub path: PathBuf,
    /// The system's word for it.
    pub why: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// What to do about a folder or file that the system does not let us read.
const PERMISSIONS: &str = "check the permissions of the folder";

impl Unreadable {
    fn new(path: &Path, why: impl ToString) -> Self {
        Self { path: path.to_owned(), why: why.to_string(), hint: PERMISSIONS }
    }
}

/// One place that was granted to an adapter, and exists. Cheap to clone; what it has open is shared.
#[derive(Clone)]
pub enum Source {
    /// Files below a folder.
    Files(Rc<Root>),
    /// Sessions of many files below a folder.
    Tree(Rc<Tree>),
    /// Sessions in a database.
    Database(Rc<Database>),
}

impl Source {
    /// Everything that is there, by path and key.
    pub fn discover(&self) -> (Vec<Found>, Vec<Unreadable>) {
        match self {
            Self::Files(root) => root.discover(),
            Self::Tree(tree) => tree.discover(),
            Self::Database(database) => match database.discover() {
                Ok(found) => (found, Vec::new()),
                Err(error) => (Vec::new(), vec![error.at(database.path())]),
            },
        }
    }

    /// May a transcript there be read through this source?
    pub fn holds(&self, path: &Path, key: &str) -> bool {
        match self {
            Self::Files(root) => key.is_empty() && root.names(path),
            Self::Tree(tree) => !key.is_empty() && tree.names(path),
            Self::Database(database) => !key.is_empty() && database.path() == path,
        }
    }

    /// Opens a transcript that the source [`holds`](Self::holds).
    ///
    /// # Errors
    /// `NotFound` when it is gone. A database's own reasons lie within as [`DatabaseError`].
    pub fn open(&self, path: &Path, key: &str) -> io::Result<Opened> {
        match self {
            Self::Files(root) => root.open_file(path),
            Self::Tree(tree) => tree.open(path, key),
            Self::Database(database) => Database::open_session(database, key).map_err(io::Error::other),
        }
    }

    /// The folder or the file, resolved.
    pub fn path(&self) -> &Path {
        match self {
            Self::Files(root) => root.path(),
            Self::Tree(tree) => tree.path(),
            Self::Database(database) => database.path(),
        }
    }
}

/// The granted places that exist here, each once.
pub fn sources(grant: &Grant, limits: &Limits) -> (Vec<Source>, Vec<Unreadable>) {
    let (mut sources, mut unreadable) = (Vec::<Source>::new(), Vec::new());
    let mut add = |opened: Result<Option<Source>, Unreadable>| match opened {
        Ok(Some(source)) if sources.iter().all(|other| !other.is_same(&source)) => sources.push(source),
        Ok(_) => {}
        Err(error) => unreadable.push(error),
    };
    for granted in &grant.0 {
        match granted {
            Granted::Files { root, globs } => {
                add(Root::open(root, globs).map(|root| root.map(|root| Source::Files(Rc::new(root)))));
            }
            Granted::Tree { root, levels } => {
                add(Tree::open_root(root, levels).map(|tree| tree.map(|tree| Source::Tree(Rc::new(tree)))));
            }
            Granted::Database { path, queries } => match database::candidates(path) {
                Ok(files) => files.into_iter().for_each(|file| {
                    add(Ok(Some(Source::Database(Rc::new(Database::new(file, queries.clone(), limits.clone()))))));
                }),
                Err(error) => add(Err(error)),
            },
        }
    }
    (sources, unreadable)
}

impl Source {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Files(_), Self::Files(_))
            | (Self::Tree(_), Self::Tree(_))
            | (Self::Database(_), Self::Database(_)) => self.path() == other.path(),
            _ => false,
        }
    }
}

/// A transcript, open.
pub struct Opened {
    /// How it looks now.
    pub stamp: Stamp,
    pub(crate) bytes: Bytes,
}

pub(crate) enum Bytes {
    /// Reading can begin anywhere.
    File(File),
    /// What can only be read from its beginning.
    Stream(Box<dyn Read>),
    Tree(tree::Session),
    Rows(database::Session),
}

impl Opened {
    /// The file, where it is one that reading can go on in.
    pub fn file(&mut self) -> Option<&mut File> {
        match &mut self.bytes {
            Bytes::File(file) => Some(file),
            Bytes::Stream(_) | Bytes::Tree(_) | Bytes::Rows(_) => None,
        }
    }

    /// Gives all bytes from `offset` on to `each`, in pieces. Where there is no [`file`](Self::file) the offset is 0.
    ///
    /// # Errors
    /// Those of reading and those of `each`; either ends it.
    pub fn each_chunk<E: From<io::Error>>(
        &mut self,
        offset: u64,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.bytes {
            Bytes::File(file) => {
                file.seek(SeekFrom::Start(offset))?;
                pour(file, each)
            }
            Bytes::Stream(stream) => pour(stream, each),
            Bytes::Tree(session) => rows(each, |row| session.each_row(row)),
            Bytes::Rows(session) => rows(each, |row| session.each_row(row)),
        }
    }

    /// The beginning: as much as an adapter may look at.
    ///
    /// # Errors
    /// Those of reading.
    pub fn head(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let enough = |error: &io::Error| error.kind() == io::ErrorKind::WriteZero;
        let read = self.each_chunk(0, &mut |chunk| {
            let room = HEAD as usize - head.len();
            head.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if head.len() == HEAD as usize { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
        });
        match read {
            Err(error) if !enough(&error) => Err(error),
            _ => Ok(head),
        }
    }
}

/// Reads to the end in pieces that are full whatever `read` returns, so that calls into the guest are few.
fn pour<E: From<io::Error>>(bytes: &mut impl Read, each: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let mut length = 0;
        while length < chunk.len() {
            match bytes.read(&mut chunk[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if length == 0 {
            return Ok(());
        }
        each(&chunk[..length])?;
    }
}

/// Gives rows as lines: what would end a line inside of a row becomes a space, which in JSON it could only be.
fn rows<E: From<io::Error>>(
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    source: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let mut chunk = Vec::with_capacity(CHUNK);
    source(&mut |row| {
        if !chunk.is_empty() && chunk.len() + row.len() >= CHUNK {
            each(&chunk)?;
            chunk.clear();
        }
        let from = chunk.len();
        chunk.extend_from_slice(row);
        chunk[from..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        chunk.push(b'\n');
        // A row may be larger than what one call takes.
        while chunk.len() > CHUNK {
            let rest = chunk.split_off(CHUNK);
            each(&chunk)?;
            chunk = rest;
        }
        Ok(())
    })?;
    if chunk.is_empty() { Ok(()) } else { each(&chunk) }
}
