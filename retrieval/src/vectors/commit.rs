//! `commit`: what of the folder counts. A line of JSON and, in the next, its hash. It is replaced as a whole, so there is always one.

use std::{
    fs::File,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::Covered;

use super::VectorsError;

/// The form of the files. Another one is not read, but written anew.
const FORMAT: u32 = 1;

/// What was committed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Commit {
    format: u32,
    pub(super) model: String,
    pub(super) dims: usize,
    /// Part of the names of the files with the rows: see [`super::columns`].
    pub(super) generation: u64,
    /// How many rows they have.
    pub(super) rows: usize,
    /// How many of these are removed: the numbers in `dead-GENERATION`, a u64 each.
    pub(super) removed: usize,
    pub(super) covered: Covered,
}

impl Commit {
    /// One of no rows.
    pub(super) fn empty(model: &str, dims: usize, generation: u64) -> Self {
        Self {
            format: FORMAT,
            model: model.to_owned(),
            dims,
            generation,
            rows: 0,
            removed: 0,
            covered: Covered::default(),
        }
    }

    pub(super) fn read(folder: &Path) -> Result<Self, VectorsError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }

        let file = folder.join("commit");
        let text = match std::fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(VectorsError::Absent(folder.to_owned())),
            read => read.map_err(|error| VectorsError::Io(file, error))?,
        };
        let damaged = || VectorsError::Damaged("what was committed cannot be read".to_owned());
        let line_end = text.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let (json, hash) = (&text[..line_end], &text[line_end + 1..]);
        if hash != format!("{:016x}\n", xxh3_64(json)).as_bytes() {
            return Err(damaged());
        }
        let Format { format } = serde_json::from_slice(json).map_err(|_| damaged())?;
        if format != FORMAT {
            return Err(VectorsError::OtherFormat(format));
        }
        let commit: Self = serde_json::from_slice(json).map_err(|_| damaged())?;
        if commit.dims == 0 || commit.rows > u32::MAX as usize || commit.removed > commit.rows {
            return Err(damaged());
        }
        Ok(commit)
    }

    /// Makes this what is committed, whatever happens to the machine meanwhile or after.
    pub(super) fn write(&self, folder: &Path) -> Result<(), VectorsError> {
        let (file, temporary) = (folder.join("commit"), folder.join("commit.new"));
        let replace = || {
            let json = serde_json::to_string(self)?;
            let mut new = File::create(&temporary)?;
            write!(new, "{json}\n{:016x}\n", xxh3_64(json.as_bytes()))?;
            new.sync_all()?;
            std::fs::rename(&temporary, &file)?;
            // The new name is on the disk when the folder is; elsewhere than on Unix a folder cannot be opened, nor needs to be.
            if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
        };
        replace().map_err(|error| VectorsError::Io(file.clone(), error))
    }

    /// The same in files of the next generation, which have no rows yet.
    pub(super) fn next_generation(&self) -> Self {
        Self { generation: self.generation + 1, rows: 0, removed: 0, ..self.clone() }
    }

    /// Where the numbers of removed rows are.
    pub(super) fn dead_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("dead-{}", self.generation))
    }

    /// A bit for each row: set, if it was removed.
    pub(super) fn dead(&self, folder: &Path) -> Result<Vec<u64>, VectorsError> {
        let mut dead = vec![0; if self.removed == 0 { 0 } else { self.rows.div_ceil(64) }];
        if self.removed == 0 {
            return Ok(dead);
        }
        let file = self.dead_file(folder);
        let bytes = match std::fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| VectorsError::Io(file, error))?,
        };
        let numbers = bytes.as_chunks().0.get(..self.removed);
        for number in numbers.ok_or_else(|| VectorsError::Damaged("removals are missing".to_owned()))? {
            let row = u64::from_le_bytes(*number);
            if row >= self.rows as u64 {
                return Err(VectorsError::Damaged("a row is removed that is not there".to_owned()));
            }
            dead[(row / 64) as usize] |= 1 << (row % 64);
        }
        Ok(dead)
    }
}
