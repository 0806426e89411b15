//! The indexes that search uses: words of passages, words of whole sessions, memories and chunks, and vectors. All of them are
//! derived from the store and brought up to date behind it; each says in its own commit how far it has come. One that is
//! missing, damaged, or of another version or model is made again, and until then search does without it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use totalrecall_retrieval::{
    Covered,
    embed::Model,
    vectors::{self, VectorsError},
    words::{self, Document, WordWriter},
};

use crate::{
    passage::{Group, Kind, Passage},
    store::{Origin, PassageId, Removal, Span, Store, StoreError},
};

/// Where each of them lies.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Words of passages.
    pub words: PathBuf,
    /// Words of sessions, memories and chunks as wholes.
    pub groups: PathBuf,
    /// Vectors of passages.
    pub vectors: PathBuf,
}

impl Folders {
    /// Those in a folder.
    pub fn of(folder: &Path) -> Self {
        Self { words: folder.join("words"), groups: folder.join("groups"), vectors: folder.join("vectors") }
    }
}

/// An index could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An index of words.
    #[error("{}: {why}", folder.display())]
    Words {
        /// Where it lies.
        folder: PathBuf,
        /// What is wrong.
        why: words::Error,
    },
    /// The vectors.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// Something that was to be made again could not be removed.
    #[error("could not remove {}: {why}", path.display())]
    Remove {
        /// What it was.
        path: PathBuf,
        /// The system's reason.
        why: io::Error,
    },
}

impl IndexError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Words { why: words::Error::Busy, .. } | Self::Vectors(VectorsError::Locked(_)) => {
                Some("Another process is at it. Wait until it has ended.")
            }
            _ => {
                Some("Check who owns the home folder and whether its disk is full. Search goes on without this index.")
            }
        }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Renewed {
    /// Passages that were added to the words.
    pub passages: u64,
    /// Vectors that were added.
    pub vectors: u64,
    /// It was asked to stop before everything was done; what was done stays.
    pub stopped: bool,
}

/// Spans read at a time.
const SPANS: usize = 256;
/// Passages after which what was done is committed: a kill then costs no more than some seconds of work.
const COMMIT_EVERY: u64 = 100_000;

/// What a renewal needs to know.
pub struct Renewal<'a> {
    /// The folder of the indexes.
    pub folder: &'a Path,
    /// The model; none: vectors are left as they are.
    pub model: Option<&'a Model>,
    /// Set: begin nothing new.
    pub stop: &'a AtomicBool,
}

impl Renewal<'_> {
    /// Brings all indexes up to date. `progress` is told of numbers of passages that are done with.
    ///
    /// # Errors
    /// See [`IndexError`]. Indexes that were done before stay so.
    pub fn run(&self, store: &mut Store, progress: &mut dyn FnMut(u64)) -> Result<Renewed, IndexError> {
        let folders = Folders::of(self.folder);
        let mut renewed = Renewed::default();
        let words = self.renew(&mut Words::open(&folders.words, Level::Passages)?, store, progress)?;
        let groups = self.renew(&mut Words::open(&folders.groups, Level::Groups)?, store, &mut |_| {})?;
        renewed.passages = words.1;
        let mut removals = words.0.removals.min(groups.0.removals);
        if let Some(model) = self.model {
            let vectors = self.renew(&mut Vectors::open(&folders.vectors, model)?, store, &mut |_| {})?;
            renewed.vectors = vectors.1;
            removals = removals.min(vectors.0.removals);
        } else if folders.vectors.exists() {
            removals = 0;
        }
        store.forget_removals(removals.cast_signed())?;
        store.renew_trigrams(self.stop)?;
        renewed.stopped = self.stop.load(Ordering::Relaxed);
        Ok(renewed)
    }

    /// Brings one index up to date. Gives how far it is and what was added.
    fn renew(
        &self,
        index: &mut dyn Follows,
        store: &Store,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Covered, u64), IndexError> {
        let mut covered = index.covered();
        let (mut added, mut since_commit) = (0, 0);
        // Before anything is added: what is removed from here on is seen by the next renewal.
        for removal in store.removals_after(covered.removals.cast_signed())? {
            index.remove(removal)?;
            covered.removals = removal.id.cast_unsigned();
            since_commit += 1;
        }
        let end = store.last_passage()?.0.cast_unsigned();
        while covered.passages < end && !self.stop.load(Ordering::Relaxed) {
            let spans = store.spans_after(PassageId(covered.passages.cast_signed()), SPANS)?;
            let Some(last) = spans.last() else {
                // The last numbers are gone already.
                covered.passages = end;
                since_commit += 1;
                break;
            };
            let before = covered.passages;
            let until = (last.first.0 + last.count - 1).cast_unsigned();
            for span in &spans {
                let count = index.add(store, *span)?;
                added += count;
                since_commit += count;
            }
            covered.passages = until;
            since_commit += 1;
            progress(until - before);
            if since_commit >= COMMIT_EVERY {
                index.commit(covered)?;
                since_commit = 0;
            }
        }
        if since_commit > 0 {
            index.commit(covered)?;
        }
        Ok((covered, added))
    }
}

/// Removes all indexes, so that the next renewal makes them anew.
///
/// # Errors
/// The system does not allow it.
pub fn remove(folder: &Path) -> Result<(), IndexError> {
    match std::fs::remove_dir_all(folder) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => Err(IndexError::Remove { path: folder.to_owned(), why }),
        _ => Ok(()),
    }
}

/// An index that follows the store.
trait Follows {
    fn covered(&self) -> Covered;
    fn remove(&mut self, removal: Removal) -> Result<(), IndexError>;
    /// Adds what is in a span; gives how much of it that was.
    fn add(&mut self, store: &Store, span: Span) -> Result<u64, IndexError>;
    fn commit(&mut self, covered: Covered) -> Result<(), IndexError>;
}

/// What a document of an index of words is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Passages,
    Groups,
}

struct Words {
    folder: PathBuf,
    level: Level,
    writer: WordWriter,
}

impl Words {
    fn open(folder: &Path, level: Level) -> Result<Self, IndexError> {
        let failed = |why| IndexError::Words { folder: folder.to_owned(), why };
        let writer = match WordWriter::open(folder) {
            Err(error) if error.is_rebuild() => {
                remove(folder)?;
                WordWriter::open(folder)
            }
            opened => opened,
        };
        Ok(Self { folder: folder.to_owned(), level, writer: writer.map_err(failed)? })
    }

    fn failed(&self) -> impl Fn(words::Error) -> IndexError + use<> {
        let folder = self.folder.clone();
        move |why| IndexError::Words { folder: folder.clone(), why }
    }
}

impl Follows for Words {
    fn covered(&self) -> Covered {
        self.writer.covered()
    }

    fn remove(&mut self, removal: Removal) -> Result<(), IndexError> {
        let first = removal.first.0.cast_unsigned();
        let last = first + removal.count.cast_unsigned() - 1;
        let failed = self.failed();
        self.writer.delete_range(first, last).map_err(failed)
    }

    fn add(&mut self, store: &Store, span: Span) -> Result<u64, IndexError> {
        let failed = self.failed();
        if self.level == Level::Groups {
            let Some(group) = group_of(span) else { return Ok(0) };
            let text = store.group_text(group)?;
            let id = span.first.0.cast_unsigned();
            let kind = Kind::of_group(group) as u8;
            let document = Document { id, session: group.number(), kind, at: None, text: &text };
            self.writer.add(&document).map_err(failed)?;
            return Ok(1);
        }
        let (mut count, writer) = (0, &mut self.writer);
        store.read_span::<IndexError>(span, &mut |passage| {
            count += 1;
            writer.add(&document(&passage)).map_err(&failed)
        })?;
        Ok(count)
    }

    fn commit(&mut self, covered: Covered) -> Result<(), IndexError> {
        let failed = self.failed();
        self.writer.commit(&covered).map_err(failed)
    }
}

/// A passage as an index of words has it.
pub(crate) fn document(passage: &Passage) -> Document<'_> {
    Document {
        id: passage.id.0.cast_unsigned(),
        session: passage.group.map_or(0, Group::number),
        kind: passage.kind as u8,
        at: passage.at,
        text: &passage.text,
    }
}

/// The group that a span is all of. None: events, which are parts of one.
pub(crate) fn group_of(span: Span) -> Option<Group> {
    (span.origin != Origin::Event).then_some(Group { origin: span.origin, row: span.source })
}

/// Has a passage of this kind a vector? What tools print is found by its words.
pub(crate) fn has_meaning(kind: Kind) -> bool {
    !matches!(kind, Kind::Call | Kind::Result | Kind::Reasoning)
}

struct Vectors<'m> {
    model: &'m Model,
    writer: vectors::Writer,
}

impl<'m> Vectors<'m> {
    fn open(folder: &Path, model: &'m Model) -> Result<Self, IndexError> {
        let writer = match vectors::Writer::open_or_create(folder, model.id(), model.dims()) {
            Err(error) if error.asks_for_rebuild() => vectors::Writer::rebuild(folder, model.id(), model.dims()),
            opened => opened,
        };
        Ok(Self { model, writer: writer? })
    }
}

impl Follows for Vectors<'_> {
    fn covered(&self) -> Covered {
        self.writer.covered()
    }

    fn remove(&mut self, removal: Removal) -> Result<(), IndexError> {
        for id in removal.first.0..removal.first.0 + removal.count {
            self.writer.remove(id.cast_unsigned());
        }
        Ok(())
    }

    fn add(&mut self, store: &Store, span: Span) -> Result<u64, IndexError> {
        let (mut count, writer, model) = (0, &mut self.writer, self.model);
        store.read_span::<IndexError>(span, &mut |passage| {
            if has_meaning(passage.kind)
                && let Some(vector) = model.embed(&passage.text)
            {
                count += 1;
                let Document { id, session, kind, at, .. } = document(&passage);
                writer.append(id, session, kind, at, &vector)?;
            }
            Ok(())
        })?;
        Ok(count)
    }

    fn commit(&mut self, covered: Covered) -> Result<(), IndexError> {
        Ok(self.writer.commit(&covered)?)
    }
}
