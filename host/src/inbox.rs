//! The inbox: where hooks leave word that a transcript has something new, without opening the store. A notice is a
//! small JSON file in `<home>/inbox/`; the worker drains it. Whoever can write there can only name transcripts to
//! look at: nothing else in a notice is acted on, and whether a transcript may be read is decided by the adapters'
//! grants.

mod look;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use look::{Waiting, look};

/// The folder's name in the home.
pub const FOLDER: &str = "inbox";
/// Where unusable notices are moved, inside the inbox.
pub const REJECTED: &str = "rejected";

/// Where the store keeps the time of the latest notice that was taken.
pub const LAST_WORD: &str = "last_notice";

/// The event of Claude Code 1.0.85 and newer after which it writes no more to the transcript.
pub const SESSION_IS_OVER: &str = "SessionEnd";

/// The event before a conversation is compacted, by the person's word or by itself.
pub const BEFORE_COMPACTION: &str = "PreCompact";

/// Most notices that wait: months of sessions, if no worker ever comes, and a few megabytes.
pub const MAX_WAITING: u64 = 5_000;

/// Largest notice: a path of the longest kind and names, with room to spare.
const MAX_BYTES: u64 = 16 * 1024;
/// Longest path of the systems we run on.
const MAX_PATH: usize = 4096;
/// Longest session id and event name; known ones have 36 and 20 bytes.
const MAX_NAME: usize = 256;
/// Rejected notices that are kept to be looked at.
const MAX_REJECTED: usize = 100;
/// Age of a temporary file that no hook can still be writing.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What a hook has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The transcript that has something new: an absolute path.
    pub transcript_path: PathBuf,
    /// The tool's id of the session.
    pub session_id: Option<String>,
    /// The hook's event, as the tool calls it: `SessionEnd`.
    pub event: String,
    /// When, in milliseconds since the Unix epoch.
    pub at: i64,
}

/// A notice that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its file's name.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

/// What a drain found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Notices that were handed over.
    pub taken: usize,
    /// Notices that were moved aside.
    pub rejected: Vec<Rejected>,
}

/// How many notices wait.
pub fn count(home: &Path) -> u64 {
    notices(home).count() as u64
}

/// Does any notice wait?
pub fn waits(home: &Path) -> bool {
    notices(home).next().is_some()
}

/// The names of those that wait, and when each was left: what one session says again has the same name.
pub fn names(home: &Path) -> BTreeSet<(OsString, Option<SystemTime>)> {
    let left = |name: &OsString| fs::metadata(home.join(FOLDER).join(name)).and_then(|file| file.modified()).ok();
    notices(home).map(|name| (name.clone(), left(&name))).collect()
}

fn notices(home: &Path) -> impl Iterator<Item = OsString> {
    // Folders are left where they are, and are no notices.
    let is_notice = |entry: &fs::DirEntry| {
        Path::new(&entry.file_name()).extension().is_some_and(|extension| extension == "json")
            && entry.file_type().is_ok_and(|kind| !kind.is_dir())
    };
    let entries = fs::read_dir(home.join(FOLDER)).into_iter().flatten().flatten();
    entries.filter(is_notice).map(|entry| entry.file_name())
}

/// Leaves a notice. Equal ones of the same second are one file; so are, whenever they came, those of one session that is not
/// over: that it goes on need be said only once. No more than [`MAX_WAITING`] wait: what is in a notice that was not left is
/// seen by the next look at the sources.
///
/// # Errors
/// Those of writing into the home; `QuotaExceeded` if too many wait, `InvalidInput` if it is none that would be taken.
pub fn drop(home: &Path, notice: &Notice) -> io::Result<()> {
    if let Some(why) = flaw(notice) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let inbox = home.join(FOLDER);
    let name = name(notice);
    // Counting is what takes long where many wait.
    if !inbox.join(&name).exists() && count(home) >= MAX_WAITING {
        return Err(io::ErrorKind::QuotaExceeded.into());
    }
    let temporary = inbox.join(format!(".{name}.{}", std::process::id()));
    let mut file = match create(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private_folder(&inbox)?;
            create(&temporary)?
        }
        other => other?,
    };
    let written = serde_json::to_vec(notice)
        .map_err(io::Error::other)
        .and_then(|bytes| file.write_all(&bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, inbox.join(name)));
    if written.is_err() {
        // The first error is the one to report; a leftover is removed by a later drain.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Sorts by time; the same for equal notices of one second, or of a session that goes on.
fn name(notice: &Notice) -> String {
    let mut hash = Xxh3::new();
    for part in [
        notice.transcript_path.as_os_str().as_encoded_bytes(),
        notice.session_id.as_deref().unwrap_or_default().as_bytes(),
        notice.event.as_bytes(),
    ] {
        hash.update(part);
        hash.update(&[0]);
    }
    let second = if notice.event == SESSION_IS_OVER { notice.at.div_euclid(1000).max(0) } else { 0 };
    format!("{second:012}-{:016x}.json", hash.digest())
}

fn create(path: &Path) -> io::Result<File> {
    let mut file = fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    match file.open(path) {
        // Of a process that had our number and was killed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            file.open(path)
        }
        other => other,
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Hands all notices over, oldest first, and removes them once `take` has them safe. If it fails they all stay.
/// Unusable files are moved to `rejected/` and do not keep others from being read.
///
/// # Errors
/// Those of `take`, and of reading the inbox itself.
pub fn drain<E: From<io::Error>>(home: &Path, take: impl FnOnce(&[Notice]) -> Result<(), E>) -> Result<Drained, E> {
    let inbox = home.join(FOLDER);
    let entries = match fs::read_dir(&inbox) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Drained::default()),
        other => other?,
    };
    let mut names: Vec<String> = Vec::new();
    let mut drained = Drained::default();
    for entry in entries {
        let entry = entry?;
        match entry.file_name().into_string() {
            Ok(name) if name == REJECTED => {}
            Ok(name) if name.starts_with('.') => remove_abandoned(&entry),
            Ok(name) => names.push(name),
            Err(name) => reject(&inbox, &name.to_string_lossy(), "its name is no text", &entry.path(), &mut drained),
        }
    }
    names.sort_unstable();

    let (mut notices, mut files) = (Vec::new(), Vec::new());
    for name in names {
        let path = inbox.join(&name);
        match read(&path) {
            Ok(notice) => {
                notices.push(notice);
                files.push(path);
            }
            Err(Unusable::Gone) => {}
            Err(Unusable::Because(why)) => reject(&inbox, &name, &why, &path, &mut drained),
        }
    }
    if !notices.is_empty() {
        take(&notices)?;
        drained.taken = notices.len();
        for file in files {
            // One that cannot be removed is handed over again, which changes nothing.
            let _ = fs::remove_file(file);
        }
    }
    Ok(drained)
}

enum Unusable {
    /// Another process took it.
    Gone,
    Because(String),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Gone,
            _ => Self::Because(format!("it cannot be read: {error}")),
        }
    }
}

fn read(path: &Path) -> Result<Notice, Unusable> {
    let because = |why: &str| Err(Unusable::Because(why.to_owned()));
    // Asked before opening: a pipe would keep us waiting, and a link may lead anywhere.
    if !fs::symlink_metadata(path)?.file_type().is_file() {
        return because("it is no regular file");
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return because("it is longer than any notice");
    }
    let notice: Notice =
        serde_json::from_slice(&bytes).map_err(|error| Unusable::Because(format!("it is no notice: {error}")))?;
    match flaw(&notice) {
        Some(why) => because(why),
        None => Ok(notice),
    }
}

/// Why no notice can be like this.
fn flaw(notice: &Notice) -> Option<&'static str> {
    let transcript = &notice.transcript_path;
    let bytes = transcript.as_os_str().as_encoded_bytes();
    if !transcript.is_absolute() || transcript.components().any(|part| part == Component::ParentDir) {
        return Some("its transcript path is not absolute or climbs up");
    }
    if bytes.len() > MAX_PATH || bytes.contains(&0) {
        return Some("its transcript path is too long or holds a NUL");
    }
    if notice.event.len() > MAX_NAME || notice.session_id.as_ref().is_some_and(|id| id.len() > MAX_NAME) {
        return Some("its session id or event is too long");
    }
    None
}

fn reject(inbox: &Path, name: &str, why: &str, path: &Path, drained: &mut Drained) {
    let rejected = inbox.join(REJECTED);
    let kept = fs::read_dir(&rejected).map_or(0, Iterator::count);
    let moved = kept < MAX_REJECTED
        && private_folder(&rejected).is_ok()
        && path.file_name().is_some_and(|name| fs::rename(path, rejected.join(name)).is_ok());
    if !moved {
        // A folder is left where it is: it may be somebody's, and is only named again.
        let _ = fs::remove_file(path);
    }
    drained.rejected.push(Rejected { name: name.to_owned(), why: why.to_owned() });
}

fn remove_abandoned(entry: &fs::DirEntry) {
    let age = entry.metadata().and_then(|file| file.modified()).map(|time| SystemTime::now().duration_since(time));
    if matches!(age, Ok(Ok(age)) if age > ABANDONED) {
        let _ = fs::remove_file(entry.path());
    }
}
