//! The compaction guard: where the person wants it, `/compact` is refused once in a session of which nothing was saved lately. It is
//! asked by a hook, so all that it knows are small files of the home: the switch, which the worker leaves as the settings have it,
//! what was saved when ([`saved`]), and in which sessions it has refused.
//!
//! It is never in the way for long: what it refused goes through when it is asked for again, what it cannot note it does not
//! refuse, and of a compaction that the client begins by itself it is not asked at all.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use crate::{files, saved};

/// The folder's name in the home.
pub const FOLDER: &str = "guard";

/// The file that says that the settings want it; others are named by hashes.
const SWITCH: &str = "on";

/// Milliseconds for which what was saved is enough.
const FRESH: i64 = 15 * 60_000;

/// Age of a refusal that nobody came back to.
const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 3600);

/// What a person is told who is refused.
pub const REFUSAL: &str = "TotalRecall: nothing of this session was saved in the last 15 minutes, and compacting leaves a summary of it. Ask \
                           the agent to save what should outlast it: decisions and facts with `remember`, what was tried and found with \
                           `chunk`. Then type /compact again. It goes through the second time, whether anything was saved or not.";

/// Leaves the switch as the settings have it.
///
/// # Errors
/// Those of writing into the home.
pub fn set(home: &Path, is_on: bool) -> io::Result<()> {
    let folder = home.join(FOLDER);
    files::remove_older(&folder, FORGOTTEN, SystemTime::now());
    if is_on {
        // Written each time, so that it is never old.
        files::make_private_folder(&folder)?;
        return fs::write(folder.join(SWITCH), "on");
    }
    match fs::remove_file(folder.join(SWITCH)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Do the settings want it?
pub fn is_on(home: &Path) -> bool {
    home.join(FOLDER).join(SWITCH).exists()
}

/// Is the compaction to be refused that a person asks for in this session? That is noted, so that the next one is not. `now` is in
/// milliseconds since the Unix epoch.
pub fn refuses(home: &Path, session: &str, now: i64) -> bool {
    let refused = home.join(FOLDER).join(files::name_of(session));
    // A clock that was put back says nothing of what was saved.
    let is_fresh = saved::at(home, session).is_some_and(|at| (0..=FRESH).contains(&now.saturating_sub(at)));
    if is_fresh || refused.exists() {
        // The next compaction is another matter.
        let _ = fs::remove_file(refused);
        return false;
    }
    files::make_private_folder(&home.join(FOLDER)).is_ok()
        && fs::OpenOptions::new().write(true).create_new(true).open(refused).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_refused_once_and_no_other_lets_it_through() {
        let home = tempfile::tempdir().unwrap();
        let (home, now) = (home.path(), 1_000_000_000_000);
        saved::note(home, "other", now).unwrap();
        assert!(refuses(home, "a", now) && refuses(home, "b", now));
        assert!(!refuses(home, "a", now + 1) && !refuses(home, "b", now + 1));
        assert!(refuses(home, "a", now + 2), "another compaction of the same session");
        saved::note(home, "a", now).unwrap();
        assert!(!refuses(home, "a", now + FRESH) && !refuses(home, "a", now + FRESH));
        assert!(refuses(home, "a", now + FRESH + 1));
    }

    #[test]
    fn the_switch_is_what_the_settings_say() {
        let home = tempfile::tempdir().unwrap();
        for is_on in [false, true, true, false, false] {
            set(home.path(), is_on).unwrap();
            assert_eq!(super::is_on(home.path()), is_on);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_noted_is_not_refused() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(FOLDER), "no folder").unwrap();
        assert!(!refuses(home.path(), "a", 1));
    }
}
