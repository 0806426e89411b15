//! Transcripts: finding the files that an adapter's declared sources name, and opening them under a grant.
//!
//! A grant is a folder opened once as a capability (`cap_std::fs::Dir`). Everything below is reached through it, so a
//! symbolic link or a `..` inside cannot lead out of it, whatever the file system does meanwhile.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use cap_std::{ambient_authority, fs::Dir};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{
    paths,
    sandbox::parse,
    store::{self, Stamp},
};

/// Folders nested deeper than this are no tool's layout (Claude Code's deepest is five) but a trap.
const MAX_DEPTH: usize = 16;

/// Bytes an adapter may look at to recognise a transcript, as the contract says.
const HEAD: u64 = 64 << 10;

/// A transcript that was found but not opened.
#[derive(Debug, Clone)]
pub struct Found {
    /// Resolved path of the file.
    pub path: PathBuf,
    /// Index of the root it lies under, in the list given to [`discover`].
    pub root: usize,
    /// Path below that root.
    pub relative: PathBuf,
    /// How it looked then.
    pub stamp: Stamp,
}

impl Found {
    /// What it is sorted by, so that originals come before their copies: the time that it says it begins at, or its own.
    pub fn age(&self, begins_at: Option<i64>) -> (i64, i64, &Path) {
        (begins_at.unwrap_or(self.stamp.mtime_ns / 1_000_000), self.stamp.mtime_ns, &self.path)
    }

    /// As the ledger knows it.
    pub fn row(&self, adapter: &str, tool: &str) -> store::Found {
        store::Found {
            adapter: adapter.to_owned(),
            tool: tool.to_owned(),
            path: self.path.to_string_lossy().into_owned(),
            key: String::new(),
            stamp: self.stamp.clone(),
        }
    }
}

/// A granted folder with the patterns of the files that may be read in it.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    path: PathBuf,
    globs: GlobSet,
}

/// Something that could not be looked at, and why. The rest was.
#[derive(Debug, Clone, thiserror::Error)]
#[error("could not read {}: {why}", path.display())]
pub struct Unreadable {
    /// The file or folder.
    pub path: PathBuf,
    /// The system's word for it.
    pub why: String,
}

impl Root {
    /// Opens a folder; `Ok(None)` when there is none.
    pub fn open(path: &Path, globs: &[String]) -> Result<Option<Self>, Unreadable> {
        let fail = |why: String| Unreadable { path: path.to_owned(), why };
        let path = match path.canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error.to_string())),
        };
        let globs = self::globs(globs).map_err(|error| fail(error.to_string()))?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(|error| fail(error.to_string()))?;
        Ok(Some(Self { dir, path, globs }))
    }

    /// The resolved folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The beginning of a file: as much as an adapter may look at to recognise it.
    pub fn head(&self, relative: &Path) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.open_file(relative)?.take(HEAD).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Does one of the patterns name this file?
    pub fn names(&self, path: &Path) -> bool {
        path.strip_prefix(&self.path).is_ok_and(|relative| self.globs.is_match(relative))
    }

    /// Opens a file below the folder for reading.
    pub fn open_file(&self, relative: &Path) -> io::Result<File> {
        Ok(self.dir.open(relative)?.into_std())
    }
}

/// Patterns in which `*` stops at a folder's end and `**` does not.
///
/// # Errors
/// Names the pattern that is none.
pub fn globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
    }
    set.build()
}

/// The roots of an adapter's file sources that exist here, resolved, each once.
pub fn roots(sources: &[parse::Source]) -> (Vec<Root>, Vec<Unreadable>) {
    let (mut roots, mut unreadable, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for source in sources {
        let parse::Source::Files(files) = source else { continue };
        for declared in &files.roots {
            let Some(path) = paths::expand(declared) else { continue };
            match Root::open(&path, &files.globs) {
                Ok(Some(root)) if seen.insert(root.path.clone()) => roots.push(root),
                Ok(_) => {}
                Err(error) => unreadable.push(error),
            }
        }
    }
    (roots, unreadable)
}

/// Every file that the roots' patterns name, by path.
pub fn discover(roots: &[Root]) -> (Vec<Found>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for (index, root) in roots.iter().enumerate() {
        walk(root, index, &root.dir, Path::new(""), 0, &mut found, &mut unreadable);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    (found, unreadable)
}

fn walk(
    root: &Root,
    index: usize,
    dir: &Dir,
    below: &Path,
    depth: usize,
    found: &mut Vec<Found>,
    unreadable: &mut Vec<Unreadable>,
) {
    let fail = |path: &Path, error: io::Error| Unreadable { path: root.path.join(path), why: error.to_string() };
    let entries = match dir.entries() {
        Ok(entries) => entries,
        Err(error) => return unreadable.push(fail(below, error)),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return unreadable.push(fail(below, error)),
        };
        let relative = below.join(entry.file_name());
        // A link is followed by opening it, which fails where it leads out of the root.
        let is_dir = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => dir.metadata(entry.file_name()).map(|m| m.is_dir()),
            other => other.map(|kind| kind.is_dir()),
        };
        match is_dir {
            Ok(true) if depth < MAX_DEPTH => match entry.open_dir() {
                Ok(inner) => walk(root, index, &inner, &relative, depth + 1, found, unreadable),
                Err(error) => unreadable.push(fail(&relative, error)),
            },
            Ok(true) => unreadable.push(fail(&relative, io::Error::other("folders are nested too deep"))),
            Ok(false) if root.globs.is_match(&relative) => match dir.metadata(entry.file_name()) {
                Ok(metadata) if metadata.is_file() => {
                    let path = root.path.join(&relative);
                    found.push(Found { path, root: index, relative, stamp: stamp_of(&metadata) });
                }
                Ok(_) => {}
                Err(error) => unreadable.push(fail(&relative, error)),
            },
            Ok(false) => {}
            Err(error) => unreadable.push(fail(&relative, error)),
        }
    }
}

fn stamp_of(metadata: &cap_std::fs::Metadata) -> Stamp {
    use cap_std::fs::MetadataExt;
    let mtime_ns = metadata
        .modified()
        .ok()
        .and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
    Stamp { size: metadata.len(), mtime_ns, inode: metadata.ino(), device: metadata.dev(), version: None }
}

/// A file that the user named: opened through its own folder, which is thereby all that is granted.
pub fn named(path: &Path) -> Result<(Root, Found), Unreadable> {
    let fail = |why: String| Unreadable { path: path.to_owned(), why };
    let path = path.canonicalize().map_err(|error| fail(error.to_string()))?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(fail("not a file".to_owned()));
    };
    let root = Root::open(parent, &["*".to_owned()])?.ok_or_else(|| fail("the folder is gone".to_owned()))?;
    let metadata = root.dir.metadata(name).map_err(|error| fail(error.to_string()))?;
    if !metadata.is_file() {
        return Err(fail("not a file".to_owned()));
    }
    let found = Found { root: 0, relative: name.into(), stamp: stamp_of(&metadata), path };
    Ok((root, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn all(root: &Path) -> (Vec<String>, Vec<Unreadable>) {
        let roots = [Root::open(root, &["**/*.jsonl".to_owned()]).unwrap().unwrap()];
        let (found, unreadable) = discover(&roots);
        (found.into_iter().map(|f| f.relative.to_string_lossy().into_owned()).collect(), unreadable)
    }

    #[test]
    fn finds_what_the_patterns_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("p/s/subagents")).unwrap();
        for file in ["p/a.jsonl", "p/s/subagents/agent-1.jsonl", "p/notes.txt", "top.jsonl"] {
            fs::write(dir.path().join(file), "x").unwrap();
        }
        let (mut found, unreadable) = all(dir.path());
        found.sort();
        assert_eq!(found, ["p/a.jsonl", "p/s/subagents/agent-1.jsonl", "top.jsonl"]);
        assert!(unreadable.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.jsonl"), "x").unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.jsonl"), dir.path().join("a.jsonl")).unwrap();
        let (found, unreadable) = all(dir.path());
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(unreadable.len(), 2, "what was not followed is told");
    }

    #[test]
    fn a_missing_root_is_no_error() {
        assert!(Root::open(Path::new("/nonexistent/for/sure"), &[]).unwrap().is_none());
    }
}
