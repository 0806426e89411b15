//! Passages by what they mean: a vector each, searched by looking at all of them.
//!
//! A folder of files that are only ever appended to, one for each column (`vectors/columns.rs`), and `commit`, which says how many
//! rows of them are there (`vectors/commit.rs`). Rows beyond are of a writer that has not finished or has died, and are nobody's.
//! Readers map the columns and go on while a writer appends. All of it is derived: whoever gets an error here makes the folder anew
//! ([`Writer::rebuild`]).
//!
//! A row is there twice: as a sketch of a bit for each number, its sign, and as bytes. A search passes over all sketches, takes the
//! few thousand that differ least from the query's, and compares these by their bytes. That is a thirtieth of the memory that
//! passing over floats would read, and memory is what such a search waits for.

mod columns;
mod commit;
mod kernels;
mod nearest;
mod quantised;
mod writer;

use std::path::{Path, PathBuf};

use crate::{Covered, Scored, filter::Filter};

use self::{columns::Columns, commit::Commit, nearest::Nearest, quantised::Quantised};

pub use self::writer::Writer;

/// How many rows are compared by their bytes, at least: among these the best ten of a million are nearly always.
const CANDIDATES: usize = 4_000;

/// How many are for each that is wanted, where many are.
const CANDIDATES_FOR_ONE: usize = 40;

/// The most that can be wrong with a folder of vectors.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// There is no commit: nothing was ever written here.
    #[error("No vectors in {0}.")]
    Absent(PathBuf),
    /// They are of another model, or of another number of dimensions of it, and cannot be compared with this one's.
    #[error("The vectors are of the model {found}, not of {wanted}.")]
    OtherModel {
        /// The model's id in the commit.
        found: String,
        /// The one that was asked for.
        wanted: String,
    },
    /// They were written by another version of this program.
    #[error("The vectors are in the format {0}, which this version does not read.")]
    OtherFormat(u32),
    /// A file is shorter than it was, or is not what was written.
    #[error("The vectors are damaged: {0}.")]
    Damaged(String),
    /// Another process writes.
    #[error("Another process is writing vectors to {0}.")]
    Locked(PathBuf),
    /// A vector of as many numbers as the model has none.
    #[error("A vector has {found} dimensions instead of {wanted}.")]
    Dimensions {
        /// How many it has.
        found: usize,
        /// How many it should have.
        wanted: usize,
    },
    /// The system refused.
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] std::io::Error),
}

impl VectorsError {
    /// Whether writing all vectors anew helps, and nothing less does.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(self, Self::Absent(_) | Self::OtherModel { .. } | Self::OtherFormat(_) | Self::Damaged(_))
    }
}

/// The vectors as they were when they were opened.
#[derive(Debug)]
pub struct Vectors {
    commit: Commit,
    columns: Columns,
    /// A bit for each row: set, if it was removed.
    dead: Vec<u64>,
}

impl Vectors {
    /// Opens what was last committed. It takes no lock, and what is committed later is not seen.
    ///
    /// # Errors
    ///
    /// See [`VectorsError`].
    pub fn open(folder: &Path) -> Result<Self, VectorsError> {
        // A writer that compacts removes the files it has replaced, perhaps between the two reads here: then there is a new commit.
        let mut commit = Commit::read(folder)?;
        loop {
            let opened = Columns::open(folder, &commit).and_then(|columns| Ok((columns, commit.dead(folder)?)));
            match opened {
                Ok((columns, dead)) => return Ok(Self { commit, columns, dead }),
                Err(error) => {
                    let newer = Commit::read(folder)?;
                    if newer.generation == commit.generation {
                        return Err(error);
                    }
                    commit = newer;
                }
            }
        }
    }

    /// Id of the model that the vectors are of ([`crate::embed::Model::id`]).
    pub fn model(&self) -> &str {
        &self.commit.model
    }

    /// How many numbers a vector has.
    pub fn dims(&self) -> usize {
        self.commit.dims
    }

    /// How far the store was followed.
    pub fn covered(&self) -> Covered {
        self.commit.covered
    }

    /// How many passages can be found.
    pub fn len(&self) -> usize {
        self.commit.rows - self.commit.removed
    }

    /// Whether none can.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `k` passages nearest to the query among those the filter admits, nearest first, and the lower id where they are equally
    /// near. Approximate where more than 4,000 are admitted. A query that points nowhere, or has not as many numbers as the
    /// vectors, finds nothing.
    pub fn search(&self, query: &[f32], k: usize, filter: &Filter) -> Vec<Scored> {
        let Some(query) = Quantised::of(query).filter(|query| query.bytes.len() == self.commit.dims) else {
            return Vec::new();
        };
        let mut nearest = Nearest::new(CANDIDATES.max(k.saturating_mul(CANDIDATES_FOR_ONE)).min(self.commit.rows));
        let dead = |row: usize| self.dead.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
        // What is to be left out is as little as what was removed.
        let left_out = |row: usize| !filter.without.is_empty() && filter.without.contains(&self.columns.session(row));
        let admits_most = filter.sessions.is_none() && filter.kinds.is_none() && filter.is_timeless();
        if admits_most {
            kernels::scan(self.columns.sketches(), &query.sketch, |row, distance| {
                // Removed rows are few, and most rows are too far away anyway: that is asked first.
                if nearest.admits(distance) && !dead(row) && !left_out(row) {
                    nearest.push(row, distance);
                }
            });
        } else {
            let mut admits = self.columns.admitted_by(filter);
            kernels::scan_some(
                self.columns.sketches(),
                &query.sketch,
                |row| admits(row) && !dead(row),
                |row, distance| {
                    if nearest.admits(distance) {
                        nearest.push(row, distance);
                    }
                },
            );
        }
        let mut scored: Vec<Scored> = nearest.rows().map(|row| self.score(row, &query)).collect();
        let order = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id));
        if k < scored.len() {
            scored.select_nth_unstable_by(k, order);
            scored.truncate(k);
        }
        scored.sort_unstable_by(order);
        scored
    }

    fn score(&self, row: usize, query: &Quantised) -> Scored {
        let columns = &self.columns;
        let dot = kernels::dot(&query.bytes, columns.row(row));
        let score = dot as f32 * query.scale * columns.scale(row);
        Scored { id: columns.id(row), session: columns.session(row), score }
    }
}
