//! Fixtures: transcripts as the tool lays them out, and beside them the events that an adapter makes of them.
//!
//! `<case>/transcripts/` holds files of the tool; one called `X.sql` stands for the SQLite database `X` that its statements
//! make. `<case>/events.jsonl` holds what comes out.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    grant::Grant,
    sandbox::{Limits, parse},
    transcript::{self, DatabaseError, Found},
};

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
}

/// The fixtures are not as they should be.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// There is nothing to test with.
    #[error("{0} holds no case: a case is a folder with a folder `transcripts` in it")]
    None(PathBuf),
    /// There is nothing to test an analyzer with.
    #[error(
        "{0} holds no case: a case of an analyzer is a folder with a file `events.jsonl` in it, as --bless of an adapter writes it"
    )]
    NoEvents(PathBuf),
    /// A line that is no event.
    #[error("{path}, line {line}: {why}")]
    Events {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Statements that make no database.
    #[error("{path}: {why}")]
    Sql {
        /// The file.
        path: PathBuf,
        /// SQLite's reason.
        why: String,
    },
    /// A transcript that cannot be read through the adapter's sources.
    #[error(transparent)]
    Unreadable(#[from] transcript::Unreadable),
}

fn at(path: &Path) -> impl Fn(io::Error) -> FixtureError {
    let path = path.to_owned();
    move |source| FixtureError::Io { path: path.clone(), source }
}

/// The cases in a folder, by name; the folder itself if it is one.
///
/// # Errors
/// When there are none.
pub fn cases(folder: &Path) -> Result<Vec<Case>, FixtureError> {
    let case = |folder: PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folder.join("transcripts").is_dir().then_some(Case { name, folder })
    };
    if let Some(case) = case(folder.to_owned()) {
        return Ok(vec![case]);
    }
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        cases.extend(case(entry.map_err(at(folder))?.path()));
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    if cases.is_empty() { Err(FixtureError::None(folder.to_owned())) } else { Ok(cases) }
}

/// A case's transcripts in a folder of their own, databases made; gone when it is dropped.
pub struct LaidOut {
    folder: tempfile::TempDir,
    sources: Vec<transcript::Source>,
}

impl Case {
    /// Copies the transcripts to a folder of their own and makes the databases.
    ///
    /// # Errors
    /// Those of the file system and of SQLite.
    pub fn lay_out(&self, sources: &[parse::Source]) -> Result<LaidOut, FixtureError> {
        let folder = tempfile::tempdir().map_err(at(&self.folder))?;
        lay_out(&self.folder.join("transcripts"), folder.path())?;
        let grant = Grant::below(folder.path(), sources);
        let (sources, unreadable) = transcript::sources(&grant, &Limits::default());
        match unreadable.into_iter().next() {
            Some(problem) => Err(problem.into()),
            None => Ok(LaidOut { folder, sources }),
        }
    }

    /// The events that were agreed on.
    pub fn golden(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }
}

impl LaidOut {
    /// Every transcript with its bytes, by path and key.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn transcripts(&self) -> Result<Vec<(Found, Vec<u8>)>, FixtureError> {
        let mut transcripts = Vec::new();
        for source in &self.sources {
            let (found, unreadable) = source.discover();
            if let Some(problem) = unreadable.into_iter().next() {
                return Err(problem.into());
            }
            for found in found {
                let mut bytes = Vec::new();
                let mut opened = source.open(&found.path, &found.key).map_err(at(&found.path))?;
                opened
                    .each_chunk::<io::Error>(0, &mut |chunk| {
                        bytes.extend_from_slice(chunk);
                        Ok(())
                    })
                    .map_err(at(&found.path))?;
                transcripts.push((found, bytes));
            }
        }
        transcripts.sort_by(|(a, _), (b, _)| (&a.path, &a.key).cmp(&(&b.path, &b.key)));
        // Where one root lies within another (a case without the folder of its own), both find it.
        transcripts.dedup_by(|(a, _), (b, _)| (&a.path, &a.key) == (&b.path, &b.key));
        Ok(transcripts)
    }

    /// A transcript's place within the case: its path below `transcripts`, and its key after `#`.
    pub fn place(&self, found: &Found) -> String {
        let root = self.folder.path().canonicalize().unwrap_or_else(|_| self.folder.path().to_owned());
        let path = found.path.strip_prefix(&root).unwrap_or(&found.path).to_string_lossy().replace('\\', "/");
        if found.key.is_empty() { path } else { format!("{path}#{}", found.key) }
    }
}

/// Copies a folder's files; `X.sql` becomes the database `X`.
///
/// # Errors
/// Those of the file system and of SQLite.
pub fn lay_out(from: &Path, to: &Path) -> Result<(), FixtureError> {
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in fs::read_dir(from).map_err(at(from))? {
        let path = entry.map_err(at(from))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            lay_out(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            let sql = fs::read_to_string(&path).map_err(at(&path))?;
            transcript::database::make(&target.with_extension(""), &sql)
                .map_err(|error: DatabaseError| FixtureError::Sql { path: path.clone(), why: error.to_string() })?;
        } else {
            fs::copy(&path, &target).map_err(at(&path))?;
        }
    }
    Ok(())
}
