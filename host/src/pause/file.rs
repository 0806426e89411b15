//! `<home>/pauses.json`: read by everyone, changed under a lock, replaced as a whole.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Pause, Pauses, Place, place};
use crate::files;

/// Name of the file.
pub const FILE: &str = "pauses.json";
/// Held by whoever changes it. A file of its own, because the other is replaced.
pub const LOCK: &str = "pauses.lock";
/// The form that is written here. Another one is not guessed at.
const FORMAT: u32 = 1;
/// Who has the lock writes a few kilobytes. Only a process that was stopped keeps it longer.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// Why pauses cannot be told, or changed.
#[derive(Debug, thiserror::Error)]
pub enum PauseError {
    /// The file is not as we wrote it.
    #[error("{} cannot be understood: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file, its lock, or its folder cannot be used.
    #[error("cannot {act} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Another process has it and does not end.
    #[error("another process has kept {} locked for {} seconds", path.display(), PATIENCE.as_secs())]
    Busy {
        /// The lock's file.
        path: PathBuf,
    },
}

impl PauseError {
    /// What the person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => {
                "Until it is repaired everything counts as paused. Repair it, or delete it: then what was said in earlier \
                 pauses may be learned from transcripts that are still there."
            }
            Self::Io { .. } => {
                "Until it can be used everything counts as paused. Check who owns the home folder and whether its disk is full."
            }
            Self::Busy { .. } => "Look for a `totalrecall pause` or `totalrecall resume` that was stopped, and end it.",
        }
    }
}

/// What a command has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// All pauses, as they are now.
    pub pauses: Pauses,
    /// The pause that was begun or ended; or, if there was nothing to do, the one that goes on already.
    pub pause: Option<Pause>,
    /// Something was to be done.
    pub is_news: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u32,
    pauses: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    folders: BTreeSet<String>,
}

/// All pauses. Where there is no file, there were none.
///
/// # Errors
/// When the file cannot be read or understood. Whoever asks must then take everything for paused.
pub fn load(home: &Path) -> Result<Pauses, PauseError> {
    let path = home.join(FILE);
    match std::fs::read(&path) {
        Ok(bytes) => parse(&bytes).map_err(|why| PauseError::Damaged { path, why }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pauses::default()),
        Err(source) => Err(PauseError::Io { act: "read", path, source }),
    }
}

/// Pauses everywhere, or the project that a folder is in. `now` is asked once nobody else can change anything.
///
/// # Errors
/// When the file cannot be read or changed; it is as it was then.
pub fn begin(home: &Path, project: Option<&Path>, now: impl FnOnce() -> i64) -> Result<Changed, PauseError> {
    let place = project.map(Place::of);
    update(home, |pauses| {
        let same = |pause: &&Pause| pause.place.as_ref().map(|it| &it.path) == place.as_ref().map(|it| &it.path);
        if let Some(pause) = pauses.open().find(same) {
            return (Some(pause.clone()), false);
        }
        let pause = Pause { from: now(), until: None, place };
        pauses.0.push(pause.clone());
        (Some(pause), true)
    })
}

/// Ends the pause that is for everywhere, or that of the project that a folder is in. What else is paused stays so.
///
/// # Errors
/// As for [`begin`].
pub fn end(home: &Path, project: Option<&Path>, now: impl FnOnce() -> i64) -> Result<Changed, PauseError> {
    let names = project.map(Place::names);
    update(home, |pauses| {
        let is_meant = |pause: &Pause| match (&pause.place, &names) {
            (None, None) => true,
            (Some(place), Some(names)) => names.contains(&place.path),
            _ => false,
        };
        let Some(index) = pauses.0.iter().position(|pause| pause.is_open() && is_meant(pause)) else {
            return (None, false);
        };
        let pause = &mut pauses.0[index];
        // A clock that was set back must not make a pause that ends before it begins.
        pause.until = Some(now().max(pause.from));
        if let Some(place) = &mut pause.place {
            // Worktrees that were made meanwhile.
            place.look_for_worktrees();
        }
        (Some(pause.clone()), true)
    })
}

/// Notes that a folder is of a paused project, for when its repository does not tell any more. It does not wait: a hook may ask.
pub(crate) fn remember(home: &Path, place: &Place, folder: &str) -> Result<(), PauseError> {
    if place.knows(folder) {
        return Ok(());
    }
    let (path, folder) = (place.path.clone(), place::top(folder));
    update_within(home, Duration::ZERO, |pauses| {
        let mut is_news = false;
        for place in pauses.0.iter_mut().filter_map(|pause| pause.place.as_mut()).filter(|place| place.path == path) {
            is_news |= place.add(folder.clone());
        }
        (None, is_news)
    })
    .map(drop)
}

fn update(home: &Path, change: impl FnOnce(&mut Pauses) -> (Option<Pause>, bool)) -> Result<Changed, PauseError> {
    update_within(home, PATIENCE, change)
}

fn update_within(
    home: &Path,
    patience: Duration,
    change: impl FnOnce(&mut Pauses) -> (Option<Pause>, bool),
) -> Result<Changed, PauseError> {
    let (path, lock) = (home.join(FILE), home.join(LOCK));
    files::make_private_folder(home).map_err(|source| PauseError::Io {
        act: "create",
        path: home.to_owned(),
        source,
    })?;
    let _lock = locked(&lock, patience)?;
    let mut pauses = load(home)?;
    let (pause, is_news) = change(&mut pauses);
    if is_news {
        text(&pauses).and_then(|text| files::write_atomically(&path, &text)).map_err(|source| PauseError::Io {
            act: "write",
            path,
            source,
        })?;
    }
    Ok(Changed { pauses, pause, is_news })
}

/// The lock's file, locked until it is dropped.
fn locked(path: &Path, patience: Duration) -> Result<File, PauseError> {
    let refused = |source| PauseError::Io { act: "lock", path: path.to_owned(), source };
    // Never deleted: a second process could lock the deleted file while a third creates a new one.
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(refused)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(refused(source)),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => {
                return Err(PauseError::Busy { path: path.to_owned() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(STEP),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Pauses, String> {
    let written: Written = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if written.format != FORMAT {
        return Err(format!("it is of format {}, this program knows format {FORMAT}", written.format));
    }
    let pause = |row: Row| {
        let (from, until) = (time(&row.from)?, row.until.as_deref().map(time).transpose()?);
        let place = match row.project {
            Some(path) => Some(Place { path, folders: row.folders }),
            None if row.folders.is_empty() => None,
            None => return Err("a pause has `folders` and no `project`".to_owned()),
        };
        Ok(Pause { from, until, place })
    };
    written.pauses.into_iter().map(pause).collect::<Result<_, _>>().map(Pauses)
}

fn time(text: &str) -> Result<i64, String> {
    text.parse::<Timestamp>().map(Timestamp::as_millisecond).map_err(|_| format!("{text:?} is no time"))
}

fn text(pauses: &Pauses) -> io::Result<Vec<u8>> {
    let row = |pause: &Pause| Row {
        from: written(pause.from),
        until: pause.until.map(written),
        project: pause.place.as_ref().map(|place| place.path.clone()),
        folders: pause.place.as_ref().map(|place| place.folders.clone()).unwrap_or_default(),
    };
    let written = Written { format: FORMAT, pauses: pauses.0.iter().map(row).collect() };
    let mut text = serde_json::to_vec_pretty(&written)?;
    text.push(b'\n');
    Ok(text)
}

fn written(at: i64) -> String {
    Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}
