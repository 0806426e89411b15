//! What waits in the inbox, without taking it.

use std::{fs, io, path::Path};

use super::{FOLDER, REJECTED};

/// A look into the inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Notices that wait.
    pub notices: u64,
    /// Time of the oldest that says that a session is over, in milliseconds since the Unix epoch.
    pub oldest_end: Option<i64>,
    /// Time of the oldest of all.
    pub oldest: Option<i64>,
    /// Time of the newest of all.
    pub newest: Option<i64>,
    /// Files that are no notices. The next worker moves them aside.
    pub unusable: u64,
    /// Files that were moved aside.
    pub rejected: u64,
}

/// Looks.
///
/// # Errors
/// Those of reading the folder. One that is not there holds nothing.
pub fn look(home: &Path, over: &str) -> io::Result<Waiting> {
    let inbox = home.join(FOLDER);
    let entries = match fs::read_dir(&inbox) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Waiting::default()),
        other => other?,
    };
    let mut waiting = Waiting::default();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name == REJECTED {
            waiting.rejected = fs::read_dir(entry.path())?.count() as u64;
            continue;
        }
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let Ok(notice) = super::read(&entry.path()) else {
            waiting.unusable += 1;
            continue;
        };
        let earlier = |known: Option<i64>| Some(known.map_or(notice.at, |known| known.min(notice.at)));
        waiting.notices += 1;
        waiting.oldest = earlier(waiting.oldest);
        waiting.newest = waiting.newest.max(Some(notice.at));
        if notice.event == over {
            waiting.oldest_end = earlier(waiting.oldest_end);
        }
    }
    Ok(waiting)
}
