//! The compaction guard: where the person wants it, `/compact` is refused once in a session of which nothing was saved lately. It is
//! asked by a hook, so all that it knows are small files of the home: the switch, which the worker leaves as the settings have it,
//! what was saved when ([`saved`]), and in which sessions it has refused.
//!
//! It is never in the way for long: what it refused goes through when it is asked for again, what it cannot note it does not
//! refuse, and of a compaction that the client begins by itself it is not asked at all. Where the same hook is there twice (the plugin
//! and an entry in the settings), both are asked about one compaction at the same time: what was said a moment ago is said of this one.

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

/// Milliseconds in which a second hook is asked about the compaction that was just refused, or let through. Nobody has read the
/// refusal and typed the command again by then.
const SAME: i64 = 3_000;

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

/// What was last said in a session, and when.
enum Said {
    Refused(i64),
    LetThrough(i64),
}

impl Said {
    /// One that cannot be understood was a refusal, long ago: so nothing is ever refused twice in a row.
    fn read(file: &Path) -> Option<Self> {
        let text = match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            other => other.unwrap_or_default(),
        };
        let (word, at) = text.trim().split_once(' ').unwrap_or_default();
        let at = at.parse().unwrap_or(i64::MIN);
        Some(if word == LET_THROUGH { Self::LetThrough(at) } else { Self::Refused(at) })
    }
}

const REFUSED: &str = "refused";
const LET_THROUGH: &str = "through";

/// Is the compaction to be refused that a person asks for in this session? That is noted, so that the next one is not. `now` is in
/// milliseconds since the Unix epoch.
pub fn refuses(home: &Path, session: &str, now: i64) -> bool {
    let folder = home.join(FOLDER);
    let file = folder.join(files::name_of(session));
    // A clock that was put back says nothing of what was said or saved.
    let is_within = |at: i64, span: i64| (0..=span).contains(&now.saturating_sub(at));
    let note = |word: &str| files::write_atomically(&file, format!("{word} {now}").as_bytes());
    if saved::at(home, session).is_some_and(|at| is_within(at, FRESH)) {
        // The next compaction is another matter.
        let _ = fs::remove_file(file);
        return false;
    }
    match Said::read(&file) {
        // The other hook of this compaction says it, or has let it through.
        Some(Said::Refused(at) | Said::LetThrough(at)) if is_within(at, SAME) => false,
        Some(Said::Refused(_)) => {
            // One that cannot be noted is asked about again, and goes through again.
            let _ = note(LET_THROUGH);
            false
        }
        Some(Said::LetThrough(_)) => note(REFUSED).is_ok(),
        None => {
            // The one of two that makes it refuses, and it is never there without its word.
            files::make_private_folder(&folder).is_ok()
                && files::write_first(&file, format!("{REFUSED} {now}").as_bytes()).is_ok()
        }
    }
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
        let (again, third) = (now + SAME + 1, now + 2 * (SAME + 1));
        assert!(!refuses(home, "a", again) && !refuses(home, "b", again));
        assert!(refuses(home, "a", third), "another compaction of the same session");
        saved::note(home, "a", now).unwrap();
        assert!(!refuses(home, "a", now + FRESH) && !refuses(home, "a", now + FRESH));
        assert!(refuses(home, "a", now + FRESH + 1));
    }

    /// The plugin's hook and one in the settings are both called, and a compaction goes through only if neither refuses it.
    #[test]
    fn two_hooks_refuse_once_as_one_does() {
        let home = tempfile::tempdir().unwrap();
        let both = |now: i64| [refuses(home.path(), "a", now), refuses(home.path(), "a", now + 40)];
        assert_eq!(both(0), [true, false]);
        assert_eq!(both(10_000), [false, false], "typed again, it goes through");
        assert_eq!(both(600_000), [true, false]);
        assert_eq!(both(603_100), [false, false]);
        // Both at the very same time.
        let home = home.path();
        let refused = std::thread::scope(|scope| {
            let hooks: Vec<_> = (0..8).map(|_| scope.spawn(|| refuses(home, "b", 5))).collect();
            hooks.into_iter().map(|hook| hook.join().unwrap()).filter(|it| *it).count()
        });
        assert_eq!(refused, 1);
        assert!(!refuses(home, "b", 5 + SAME + 1));
    }

    #[test]
    fn what_cannot_be_understood_refuses_nothing() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FOLDER).join(files::name_of("a"));
        for text in ["", "refused", "refused soon", "\u{0}", "refused 99999999999999"] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            assert!(!refuses(home.path(), "a", 1_000_000), "{text:?}");
        }
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
