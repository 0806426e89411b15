//! The indexes that search uses: words of passages, words of whole sessions, memories and chunks, and vectors. All of them are
//! derived from the store and brought up to date behind it; each says in its own commit how far it has come. One that is
//! missing, damaged, of another version, model or store is made again, and until then search does without it.

mod follow;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

use totalrecall_retrieval::{
    Covered,
    embed::Model,
    vectors::VectorsError,
    words::{self, Document},
};

use self::follow::{Follows, Level, Vectors, Words};
use crate::{
    files,
    passage::{Group, Kind, Passage},
    store::{Origin, PassageId, Span, Store, StoreError},
};

/// What the indexes are called: their folders, and their seals in the store.
pub(crate) const WORDS: &str = "words";
pub(crate) const GROUPS: &str = "groups";
pub(crate) const VECTORS: &str = "vectors";

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
        Self { words: folder.join(WORDS), groups: folder.join(GROUPS), vectors: folder.join(VECTORS) }
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
    /// It was made of other passages than these.
    #[error("the index of {0} is of another database")]
    OtherStore(&'static str),
    /// What was made anew could not be put in the place of what was there.
    #[error("could not replace {}: {why}", path.display())]
    Replace {
        /// What was there.
        path: PathBuf,
        /// The system's reason.
        why: io::Error,
    },
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
            Self::Words { why: words::Error::Damaged(_), .. } => {
                Some("Run `totalrecall reindex` to make the indexes anew.")
            }
            _ => {
                Some("Check who owns the home folder and whether its disk is full. Search goes on without this index.")
            }
        }
    }

    /// Does it help to begin the index anew?
    fn asks_for_rebuild(&self) -> bool {
        match self {
            Self::OtherStore(_) => true,
            Self::Words { why, .. } => why.is_rebuild(),
            Self::Vectors(why) => why.asks_for_rebuild(),
            Self::Store(_) | Self::Remove { .. } | Self::Replace { .. } => false,
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
    /// Begin nothing new? What was done stays, and the next renewal goes on from there.
    pub stop: &'a dyn Fn() -> bool,
    /// They are to take the place of others, which are in use.
    pub beside: bool,
}

impl Renewal<'_> {
    /// Brings all indexes up to date. `progress` is told of numbers of passages that are done with.
    ///
    /// # Errors
    /// See [`IndexError`]. Indexes that were done before stay so.
    pub fn run(&self, store: &mut Store, progress: &mut dyn FnMut(u64)) -> Result<Renewed, IndexError> {
        let folders = Folders::of(self.folder);
        // What is not committed yet could be gone tomorrow, and the index would have it.
        store.commit()?;
        // What a session is found by as a whole are the files that it changed, too.
        store.count_files(self.stop)?;
        let mut renewed = Renewed::default();
        let words = |anew| Words::open(&folders.words, Level::Passages, anew);
        let words = self.renew(words, store, progress)?;
        let groups = |anew| Words::open(&folders.groups, Level::Groups, anew);
        let groups = self.renew(groups, store, &mut |_| {})?;
        renewed.passages = words.1;
        let mut removals = words.0.removals.min(groups.0.removals);
        if let Some(model) = self.model {
            let vectors = |anew| Vectors::open(&folders.vectors, model, anew);
            let vectors = self.renew(vectors, store, &mut |_| {})?;
            renewed.vectors = vectors.1;
            removals = removals.min(vectors.0.removals);
        } else if folders.vectors.exists() {
            removals = 0;
        }
        // Those that are being made beside these follow them, too.
        if !self.beside && !beside(self.folder).exists() {
            store.forget_removals(removals.cast_signed())?;
        }
        store.renew_trigrams(self.stop)?;
        renewed.stopped = (self.stop)();
        Ok(renewed)
    }

    /// Brings one index up to date, the one that is there or else a new one. Gives how far it is and what was added.
    fn renew<F: Follows>(
        &self,
        open: impl Fn(bool) -> Result<F, IndexError>,
        store: &mut Store,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Covered, u64), IndexError> {
        let opened = open(false).and_then(|index| match is_sealed(store, &self.sealed_as(&index), index.covered())? {
            true => Ok(index),
            false => Err(IndexError::OtherStore(index.name())),
        });
        let index = match opened {
            Err(error) if error.asks_for_rebuild() => open(true),
            opened => opened,
        };
        self.follow(index?, store, progress)
    }

    /// By what name the store knows the seal of an index.
    fn sealed_as(&self, index: &impl Follows) -> String {
        if self.beside { sealed_beside(index.name()) } else { index.name().to_owned() }
    }

    fn follow(
        &self,
        mut index: impl Follows,
        store: &mut Store,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Covered, u64), IndexError> {
        let mut covered = index.covered();
        let (mut added, mut since_commit) = (0, 0);
        // What is removed from here on is seen by the next renewal.
        let removals = store.removals_after(covered.removals.cast_signed())?;
        let end = store.last_passage()?.0.cast_unsigned();
        if removals.is_empty() && covered.passages == end {
            return Ok((covered, 0));
        }
        // Drawn now that it is settled what the index is to cover: see `store/seal.rs`.
        covered.seal = store.seal(&self.sealed_as(&index), covered.seal)?;
        for removal in removals {
            index.remove(removal)?;
            covered.removals = removal.id.cast_unsigned();
            since_commit += 1;
        }
        while covered.passages < end && !(self.stop)() {
            let spans = store.spans_after(PassageId(covered.passages.cast_signed()), SPANS)?;
            let before = covered.passages;
            // The last numbers may be gone already, and there may be more by now.
            let until = spans.last().map_or(end, |last| (last.first.0 + last.count - 1).cast_unsigned().min(end));
            let spans = spans.iter().filter_map(|span| span.until(PassageId(end.cast_signed())));
            for span in spans {
                let count = index.add(store, span)?;
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
        if !(self.stop)() {
            index.finish()?;
        }
        Ok((covered, added))
    }
}

/// Was an index that covers this made from this store? One of nothing is everybody's.
///
/// # Errors
/// As for any read.
pub(crate) fn is_sealed(store: &Store, name: &str, covered: Covered) -> Result<bool, StoreError> {
    Ok(covered == Covered::default()
        || covered.passages <= store.last_passage()?.0.cast_unsigned() && store.has_sealed(name, covered.seal)?)
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

/// Where indexes are made that are to take the place of those in a folder.
pub fn beside(folder: &Path) -> PathBuf {
    folder.with_extension("new")
}

/// Puts indexes that were made beside others in their place.
///
/// # Errors
/// The system does not allow it, or the store fails.
pub fn replace(store: &mut Store, folder: &Path) -> Result<(), IndexError> {
    for name in [WORDS, GROUPS, VECTORS] {
        store.admit_seal(name, &sealed_beside(name))?;
    }
    let new = beside(folder);
    files::exchange(folder, &new).map_err(|why| IndexError::Replace { path: folder.to_owned(), why })?;
    remove(&new)
}

/// By what name the store knows the seal of an index that is made beside another.
fn sealed_beside(name: &str) -> String {
    format!("new {name}")
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
