//! Transcripts that are files: found below a granted folder, and opened through it.
//!
//! A granted folder is opened once as a capability (`cap_std::fs::Dir`). Everything below is reached through it, so a
//! symbolic link or a `..` inside cannot lead out of it, whatever the file system does meanwhile.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use cap_std::{ambient_authority, fs::Dir};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::{Bytes, Found, Opened, Unreadable};
use crate::store::Stamp;

/// Folders nested deeper than this are no tool's layout (Claude Code's deepest is five) but a trap.
const MAX_DEPTH: usize = 16;

/// Ending of compressed transcripts (Codex with `local_thread_store_compression`).
const COMPRESSED: &str = "zst";

/// Bytes that a compressed transcript may hold: some times more than the largest that was ever seen, and no disk full.
const MAX_DECOMPRESSED: u64 = 16 << 30;

/// A granted folder with the patterns of the files that may be read in it.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    path: PathBuf,
    globs: GlobSet,
}

impl Root {
    /// Opens a folder; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// When it is there and cannot be opened, or a pattern is none.
    pub fn open(path: &Path, globs: &[String]) -> Result<Option<Self>, Unreadable> {
        let Some((dir, resolved)) = open_folder(path)? else { return Ok(None) };
        let globs = self::globs(globs).map_err(|error| Unreadable::new(path, error))?;
        Ok(Some(Self { dir, path: resolved, globs }))
    }

    /// The resolved folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does one of the patterns name this file?
    pub fn names(&self, path: &Path) -> bool {
        path.strip_prefix(&self.path).is_ok_and(|relative| self.globs.is_match(relative))
    }

    /// Opens a file below the folder for reading.
    ///
    /// # Errors
    /// Those of the system; also when a link leads out of the folder.
    pub fn open_file(&self, path: &Path) -> io::Result<Opened> {
        let relative = path.strip_prefix(&self.path).map_err(|_| io::ErrorKind::NotFound)?;
        let file = self.dir.open(relative)?.into_std();
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let stamp = Stamp::of(&metadata);
        Ok(Opened {
            stamp,
            bytes: if is_compressed(relative) { Bytes::Stream(decompress(file)?) } else { Bytes::File(file) },
        })
    }

    /// Every file that the patterns name, by path.
    pub fn discover(&self) -> (Vec<Found>, Vec<Unreadable>) {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        walk(self, &self.dir, Path::new(""), 0, &mut found, &mut unreadable);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        // A tool that compresses a transcript removes the plain one last, and brings it back to write on.
        let plain: std::collections::HashSet<_> = found.iter().map(|found| found.path.clone()).collect();
        found.retain(|found| !(is_compressed(&found.path) && plain.contains(&found.path.with_extension(""))));
        (found, unreadable)
    }
}

/// Opens a folder as a capability, and resolves its path; `Ok(None)` when there is none.
pub(super) fn open_folder(path: &Path) -> Result<Option<(Dir, PathBuf)>, Unreadable> {
    let fail = |error: io::Error| Unreadable::new(path, error);
    let resolved = match path.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    let dir = Dir::open_ambient_dir(&resolved, ambient_authority()).map_err(fail)?;
    Ok(Some((dir, resolved)))
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == COMPRESSED)
}

fn decompress(file: File) -> io::Result<Box<dyn Read>> {
    let stream = ruzstd::decoding::StreamingDecoder::new(io::BufReader::new(file)).map_err(io::Error::other)?;
    Ok(Box::new(Bounded { stream, left: MAX_DECOMPRESSED }))
}

/// Says so when there is more than there may be, instead of pretending that it ends there.
struct Bounded<R> {
    stream: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!("it holds more than {} GiB when decompressed", MAX_DECOMPRESSED >> 30))
        })?;
        Ok(read)
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

fn walk(root: &Root, dir: &Dir, below: &Path, depth: usize, found: &mut Vec<Found>, unreadable: &mut Vec<Unreadable>) {
    let fail = |path: &Path, error: io::Error| Unreadable::new(&root.path.join(path), error);
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
                Ok(inner) => walk(root, &inner, &relative, depth + 1, found, unreadable),
                Err(error) => unreadable.push(fail(&relative, error)),
            },
            Ok(true) => unreadable.push(fail(&relative, io::Error::other("folders are nested too deep"))),
            Ok(false) if root.globs.is_match(&relative) => match dir.metadata(entry.file_name()) {
                Ok(metadata) if metadata.is_file() => {
                    let path = root.path.join(&relative);
                    let stamp = stamp_of(&metadata);
                    found.push(Found { path, key: String::new(), stamp, begins_at: None });
                }
                Ok(_) => {}
                Err(error) => unreadable.push(fail(&relative, error)),
            },
            Ok(false) => {}
            Err(error) => unreadable.push(fail(&relative, error)),
        }
    }
}

pub(super) fn stamp_of(metadata: &cap_std::fs::Metadata) -> Stamp {
    use cap_std::fs::MetadataExt;
    let mtime_ns = metadata
        .modified()
        .ok()
        .and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
    Stamp { size: metadata.len(), mtime_ns, inode: metadata.ino(), device: metadata.dev(), version: None }
}

/// A file that the user named: opened through its own folder, which is thereby all that is granted.
///
/// # Errors
/// When it is not there, or no file.
pub fn named(path: &Path) -> Result<(Root, Found), Unreadable> {
    let fail = |why: String| Unreadable::new(path, why);
    let path = path.canonicalize().map_err(|error| fail(error.to_string()))?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(fail("not a file".to_owned()));
    };
    let root = Root::open(parent, &["*".to_owned()])?.ok_or_else(|| fail("the folder is gone".to_owned()))?;
    let metadata = root.dir.metadata(name).map_err(|error| fail(error.to_string()))?;
    if !metadata.is_file() {
        return Err(fail("not a file".to_owned()));
    }
    let found = Found { key: String::new(), stamp: stamp_of(&metadata), begins_at: None, path };
    Ok((root, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn all(root: &Path) -> (Vec<String>, Vec<Unreadable>) {
        let root = Root::open(root, &["**/*.jsonl".to_owned(), "**/*.jsonl.zst".to_owned()]).unwrap().unwrap();
        let (found, unreadable) = root.discover();
        let relative = |found: Found| found.path.strip_prefix(root.path()).unwrap().to_string_lossy().into_owned();
        (found.into_iter().map(relative).collect(), unreadable)
    }

    #[test]
    fn finds_what_the_patterns_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("p/s/subagents")).unwrap();
        let both = ["p/a.jsonl", "p/a.jsonl.zst"];
        for file in both.into_iter().chain(["p/s/subagents/agent-1.jsonl", "p/notes.txt", "top.jsonl", "old.jsonl.zst"])
        {
            fs::write(dir.path().join(file), "x").unwrap();
        }
        let (mut found, unreadable) = all(dir.path());
        found.sort();
        assert_eq!(found, ["old.jsonl.zst", "p/a.jsonl", "p/s/subagents/agent-1.jsonl", "top.jsonl"]);
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
