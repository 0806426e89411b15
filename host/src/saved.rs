//! When something of a session was last saved, for hooks, which may not open the store: a small file for each session. Whoever
//! stores a memory or a chunk of a session leaves it, and only if that was new.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::files;

/// The folder's name in the home.
pub const FOLDER: &str = "saved";

/// Age of a file that says nothing any more.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3600);

/// Notes that a memory or a chunk of a session, by its tool's id, was saved. Not for one that failed or was known before. `now`
/// is in milliseconds since the Unix epoch.
///
/// # Errors
/// Those of writing into the home. What was saved is saved all the same.
pub fn note(home: &Path, session: &str, now: i64) -> io::Result<()> {
    files::make_private_folder(&home.join(FOLDER))?;
    files::write_atomically(&file(home, session), now.to_string().as_bytes())
}

/// When something of the session was last saved. None: never, or long ago.
pub fn at(home: &Path, session: &str) -> Option<i64> {
    fs::read_to_string(file(home, session)).ok()?.trim().parse().ok()
}

/// Removes what says nothing any more.
pub fn sweep(home: &Path) {
    files::remove_older(&home.join(FOLDER), FORGOTTEN, SystemTime::now());
}

fn file(home: &Path, session: &str) -> PathBuf {
    home.join(FOLDER).join(files::name_of(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_told_from_another_whatever_its_id() {
        let home = tempfile::tempdir().unwrap();
        note(home.path(), "../../etc/passwd", 5).unwrap();
        note(home.path(), "b", 6).unwrap();
        note(home.path(), "b", 7).unwrap();
        assert_eq!(at(home.path(), "../../etc/passwd"), Some(5));
        assert_eq!(at(home.path(), "b"), Some(7));
        assert_eq!(at(home.path(), "c"), None);
        assert_eq!(fs::read_dir(home.path().join(FOLDER)).unwrap().count(), 2);
        fs::write(file(home.path(), "b"), "soon").unwrap();
        assert_eq!(at(home.path(), "b"), None, "what is no time says nothing");
        sweep(home.path());
        assert_eq!(at(home.path(), "../../etc/passwd"), Some(5));
    }
}
