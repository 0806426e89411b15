//! The files: `NAME-GENERATION`, each the values of all rows one after the other, little-endian, with nothing before or between.
//!
//! One column a file, because a search reads some of them wholly and others at a few rows.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use memmap2::Mmap;

use crate::filter::Filter;

use super::{VectorsError, commit::Commit};

/// Stands for a time that is not known.
pub(super) const NO_TIME: i64 = i64::MIN;

/// What a row consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// The passage: u64.
    Ids,
    /// Its session: u64.
    Sessions,
    /// Its time: i64, milliseconds since the Unix epoch, or [`NO_TIME`].
    Times,
    /// Its kind: u8.
    Kinds,
    /// [`super::quantised::Quantised::scale`]: f32.
    Scales,
    /// [`super::quantised::Quantised::sketch`]: u64 for each 64 dimensions.
    Sketches,
    /// [`super::quantised::Quantised::bytes`]: i8 for each dimension.
    Rows,
}

impl Column {
    /// All, in the order in which they are declared.
    pub(super) const ALL: [Self; 7] =
        [Self::Ids, Self::Sessions, Self::Times, Self::Kinds, Self::Scales, Self::Sketches, Self::Rows];

    fn name(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Sessions => "sessions",
            Self::Times => "times",
            Self::Kinds => "kinds",
            Self::Scales => "scales",
            Self::Sketches => "sketches",
            Self::Rows => "rows",
        }
    }

    /// Bytes of a row.
    pub(super) fn width(self, dims: usize) -> usize {
        match self {
            Self::Ids | Self::Sessions | Self::Times => 8,
            Self::Kinds => 1,
            Self::Scales => 4,
            Self::Sketches => dims.div_ceil(64) * 8,
            Self::Rows => dims,
        }
    }

    pub(super) fn file(self, folder: &Path, generation: u64) -> PathBuf {
        folder.join(format!("{}-{generation}", self.name()))
    }
}

/// The columns of a commit, mapped.
#[derive(Debug)]
pub(super) struct Columns {
    dims: usize,
    /// In the order of [`Column::ALL`]. None where there are no rows: nothing cannot be mapped.
    maps: Option<[Mmap; 7]>,
}

impl Columns {
    pub(super) fn open(folder: &Path, commit: &Commit) -> Result<Self, VectorsError> {
        if commit.rows == 0 {
            return Ok(Self { dims: commit.dims, maps: None });
        }
        let maps = Column::ALL.map(|column| {
            let bytes = commit.rows.checked_mul(column.width(commit.dims));
            map(&column.file(folder, commit.generation), bytes.unwrap_or(usize::MAX))
        });
        let [a, b, c, d, e, f, g] = maps;
        Ok(Self { dims: commit.dims, maps: Some([a?, b?, c?, d?, e?, f?, g?]) })
    }

    fn bytes(&self, column: Column) -> &[u8] {
        self.maps.as_ref().map_or(&[], |maps| &maps[column as usize])
    }

    fn word(&self, column: Column, row: usize) -> [u8; 8] {
        self.bytes(column).as_chunks().0[row]
    }

    pub(super) fn id(&self, row: usize) -> u64 {
        u64::from_le_bytes(self.word(Column::Ids, row))
    }

    pub(super) fn session(&self, row: usize) -> u64 {
        u64::from_le_bytes(self.word(Column::Sessions, row))
    }

    pub(super) fn scale(&self, row: usize) -> f32 {
        f32::from_le_bytes(self.bytes(Column::Scales).as_chunks().0[row])
    }

    pub(super) fn row(&self, row: usize) -> &[u8] {
        &self.bytes(Column::Rows)[row * self.dims..][..self.dims]
    }

    /// All sketches.
    pub(super) fn sketches(&self) -> &[u8] {
        self.bytes(Column::Sketches)
    }

    /// All that a row consists of, to be written elsewhere.
    pub(super) fn whole(&self, row: usize) -> [&[u8]; 7] {
        Column::ALL.map(|column| {
            let width = column.width(self.dims);
            &self.bytes(column)[row * width..][..width]
        })
    }

    /// Tells of rows whether the filter admits them. It is quickest for rows in order.
    pub(super) fn admitted_by<'a>(&'a self, filter: &'a Filter) -> impl FnMut(usize) -> bool + 'a {
        let (kinds, times) = (self.bytes(Column::Kinds), self.bytes(Column::Times).as_chunks().0);
        // Columns that the filter does not ask about are not even touched.
        let timeless = filter.is_timeless();
        // Rows of a session follow one another: the set is asked once for them.
        let mut last = None;
        move |row| {
            let at = if timeless { 0 } else { i64::from_le_bytes(times[row]) };
            let kind = if filter.kinds.is_none() { 0 } else { kinds[row] };
            let at = Some(at).filter(|at| *at != NO_TIME);
            if !(filter.kinds.is_none_or(|set| set.contains(kind)) && (timeless || filter.admits_time(at))) {
                return false;
            }
            if !filter.is_about_sessions() {
                return true;
            }
            let session = self.session(row);
            match last {
                Some((same, admitted)) if same == session => admitted,
                _ => {
                    let admitted = filter.admits_session(session);
                    last = Some((session, admitted));
                    admitted
                }
            }
        }
    }
}

/// The first so many bytes of a file.
fn map(file: &Path, bytes: usize) -> Result<Mmap, VectorsError> {
    let failed = |error| VectorsError::Io(file.to_owned(), error);
    let opened = match File::open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(VectorsError::Damaged(format!("{} is missing", file.display())));
        }
        opened => opened.map_err(failed)?,
    };
    let found = opened.metadata().map_err(failed)?.len();
    if found < bytes as u64 {
        return Err(VectorsError::Damaged(format!("{} has {found} bytes of {bytes}", file.display())));
    }
    // SAFETY: a writer only ever changes what lies beyond the committed rows, and nobody else has business in the folder.
    unsafe { memmap2::MmapOptions::new().len(bytes).map(&opened) }.map_err(failed)
}
