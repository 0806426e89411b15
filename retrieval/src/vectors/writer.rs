//! Adds to a folder of vectors. What is not committed was never there.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{BufWriter, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::Covered;

use super::{
    VectorsError,
    columns::{Column, Columns, NO_TIME},
    commit::Commit,
    quantised::Quantised,
};

/// Once one row of so many is dead, the living are written anew: less often would slow every search down by as much.
const ONE_DEAD_OF: usize = 4;

/// Below so many dead rows nobody notices them.
const FEW_DEAD: usize = 1_000;

/// The one writer of a folder.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    /// What was committed last, or what the first commit starts from.
    commit: Commit,
    files: Files,
    /// Rows written since.
    appended: usize,
    /// Passages to be removed at the next commit, and how many rows there were when that was said: later ones stay.
    removals: HashMap<u64, usize>,
    /// Held as long as this lives; the system lets go of it when the process ends, however it does.
    _lock: File,
}

impl Writer {
    /// Opens the folder to go on after what was committed, or makes it.
    ///
    /// # Errors
    ///
    /// Another process writes, or the folder holds what cannot be gone on with ([`VectorsError::asks_for_rebuild`]).
    pub fn open_or_create(folder: &Path, model: &str, dims: usize) -> Result<Self, VectorsError> {
        let lock = lock(folder)?;
        let commit = match Commit::read(folder) {
            Err(VectorsError::Absent(_)) => return Self::start(folder, model, dims, lock),
            read => read?,
        };
        if (commit.model.as_str(), commit.dims) != (model, dims) {
            let (found, wanted) = (commit.model, model.to_owned());
            return Err(VectorsError::OtherModel { found, wanted });
        }
        // Rows that cannot be read are better noticed now than by whoever searches.
        Columns::open(folder, &commit)?;
        commit.dead(folder)?;
        sweep(folder, commit.generation);
        let files = Files::open(folder, &commit)?;
        Ok(Self { folder: folder.to_owned(), commit, files, appended: 0, removals: HashMap::new(), _lock: lock })
    }

    /// Begins anew, whatever is in the folder. Until the first commit readers find what was there before.
    ///
    /// # Errors
    ///
    /// Another process writes, or the system refuses.
    pub fn rebuild(folder: &Path, model: &str, dims: usize) -> Result<Self, VectorsError> {
        let lock = lock(folder)?;
        Self::start(folder, model, dims, lock)
    }

    fn start(folder: &Path, model: &str, dims: usize, lock: File) -> Result<Self, VectorsError> {
        let generation = generations(folder).into_iter().map(|(_, generation)| generation).max().unwrap_or(0) + 1;
        let commit = Commit::empty(model, dims, generation);
        let files = Files::open(folder, &commit)?;
        Ok(Self { folder: folder.to_owned(), commit, files, appended: 0, removals: HashMap::new(), _lock: lock })
    }

    /// How far the store was followed by what is committed.
    pub fn covered(&self) -> Covered {
        self.commit.covered
    }

    /// Adds a passage. A vector that points nowhere is passed over: no search would find it.
    ///
    /// # Errors
    ///
    /// It has not as many numbers as the others, or the system refuses.
    pub fn append(
        &mut self,
        id: u64,
        session: u64,
        kind: u8,
        at: Option<i64>,
        vector: &[f32],
    ) -> Result<(), VectorsError> {
        if vector.len() != self.commit.dims {
            return Err(VectorsError::Dimensions { found: vector.len(), wanted: self.commit.dims });
        }
        let Some(Quantised { bytes, scale, sketch }) = Quantised::of(vector) else { return Ok(()) };
        let sketch: Vec<u8> = sketch.into_iter().flat_map(u64::to_le_bytes).collect();
        self.appended += 1;
        self.files.append([
            &id.to_le_bytes(),
            &session.to_le_bytes(),
            &at.unwrap_or(NO_TIME).to_le_bytes(),
            &[kind],
            &scale.to_le_bytes(),
            &sketch,
            &bytes,
        ])
    }

    /// Removes a passage, if it is there. One with this id that is appended afterwards stays.
    pub fn remove(&mut self, id: u64) {
        self.removals.insert(id, self.commit.rows + self.appended);
    }

    /// Makes all since the last commit visible to whoever opens the folder from now on. It waits for the disk: some tens of
    /// milliseconds, so it is for many rows at a time.
    ///
    /// # Errors
    ///
    /// The system refuses. Then nothing of it is visible, and the writer is of no more use.
    pub fn commit(&mut self, covered: &Covered) -> Result<(), VectorsError> {
        self.files.sync()?;
        let mut next = self.commit.clone();
        next.rows += self.appended;
        next.covered = *covered;
        self.bury(&mut next)?;
        let dead = next.removed;
        if dead >= FEW_DEAD && dead.saturating_mul(ONE_DEAD_OF) >= next.rows {
            let (files, compacted) = compact(&self.folder, &next)?;
            (self.files, next) = (files, compacted);
        }
        next.write(&self.folder)?;
        // A rebuild or a compaction has replaced them, and those who read them have them open.
        sweep(&self.folder, next.generation);
        self.commit = next;
        self.appended = 0;
        self.removals.clear();
        Ok(())
    }

    /// Finds the rows that are to be removed and writes down their numbers.
    fn bury(&self, next: &mut Commit) -> Result<(), VectorsError> {
        if self.removals.is_empty() {
            return Ok(());
        }
        let (columns, dead) = (Columns::open(&self.folder, next)?, next.dead(&self.folder)?);
        let buried = |row: usize| dead.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
        let numbers: Vec<u8> = (0..next.rows)
            .filter(|row| self.removals.get(&columns.id(*row)).is_some_and(|before| row < before) && !buried(*row))
            .flat_map(|row| (row as u64).to_le_bytes())
            .collect();
        let file = next.dead_file(&self.folder);
        let write = || {
            let mut opened = OpenOptions::new().write(true).create(true).truncate(false).open(&file)?;
            opened.set_len(next.removed as u64 * 8)?;
            opened.seek(SeekFrom::End(0))?;
            opened.write_all(&numbers)?;
            opened.sync_all()
        };
        write().map_err(|error| VectorsError::Io(file.clone(), error))?;
        next.removed += numbers.len() / 8;
        Ok(())
    }
}

/// Writes the living rows to files of the next generation.
fn compact(folder: &Path, commit: &Commit) -> Result<(Files, Commit), VectorsError> {
    let (columns, dead) = (Columns::open(folder, commit)?, commit.dead(folder)?);
    let mut next = commit.next_generation();
    let mut files = Files::open(folder, &next)?;
    for row in (0..commit.rows).filter(|row| dead[row / 64] >> (row % 64) & 1 == 0) {
        files.append(columns.whole(row))?;
        next.rows += 1;
    }
    files.sync()?;
    Ok((files, next))
}

/// The columns, open to be added to; in the order of [`Column::ALL`].
#[derive(Debug)]
struct Files(Vec<(PathBuf, BufWriter<File>)>);

impl Files {
    /// Opens them behind the committed rows, and cuts what a writer has left there that never committed.
    fn open(folder: &Path, commit: &Commit) -> Result<Self, VectorsError> {
        let open = |column: Column| {
            let file = column.file(folder, commit.generation);
            let end = (commit.rows * column.width(commit.dims)) as u64;
            let open = || {
                let mut opened = OpenOptions::new().write(true).create(true).truncate(false).open(&file)?;
                opened.set_len(end)?;
                opened.seek(SeekFrom::Start(end))?;
                Ok(BufWriter::with_capacity(1 << 18, opened))
            };
            match open() {
                Ok(opened) => Ok((file, opened)),
                Err(error) => Err(VectorsError::Io(file, error)),
            }
        };
        Column::ALL.into_iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    fn append(&mut self, row: [&[u8]; 7]) -> Result<(), VectorsError> {
        for ((file, writer), value) in self.0.iter_mut().zip(row) {
            writer.write_all(value).map_err(|error| VectorsError::Io(file.clone(), error))?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), VectorsError> {
        for (file, writer) in &mut self.0 {
            let synced = writer.flush().and_then(|()| writer.get_ref().sync_data());
            synced.map_err(|error| VectorsError::Io(file.clone(), error))?;
        }
        Ok(())
    }
}

fn lock(folder: &Path) -> Result<File, VectorsError> {
    let file = folder.join("lock");
    let opened = std::fs::create_dir_all(folder).and_then(|()| File::create(&file));
    let opened = opened.map_err(|error| VectorsError::Io(file.clone(), error))?;
    match opened.try_lock() {
        Ok(()) => Ok(opened),
        Err(TryLockError::WouldBlock) => Err(VectorsError::Locked(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(VectorsError::Io(file, error)),
    }
}

/// The files of rows in the folder and the generations they are of.
fn generations(folder: &Path) -> Vec<(PathBuf, u64)> {
    let generation = |path: PathBuf| {
        let generation = path.file_name()?.to_str()?.rsplit_once('-')?.1.parse().ok()?;
        Some((path, generation))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| generation(entry.path())).collect()
}

/// Removes files of other generations. One that is still in use somewhere may stay (Windows) until the next time.
fn sweep(folder: &Path, generation: u64) {
    for (file, _) in generations(folder).into_iter().filter(|(_, found)| *found != generation) {
        let _ = std::fs::remove_file(file);
    }
}
