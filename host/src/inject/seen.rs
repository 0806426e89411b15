//! What each session was told: a digest of what it was told last when it began, and the sources of all lines, so that nothing is told
//! twice. A small file for each session, because hooks write it.

use std::{
    fs::{self, TryLockError},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use xxhash_rust::xxh3::xxh3_128;

use super::{FOLDER, prepared};
use crate::files;

/// Inside of what is prepared.
const SEEN: &str = "told";

/// Beside it: it is no session's.
const LOCK: &str = "told.lock";

/// How long another hook is waited for, which takes a millisecond unless it was stopped.
const PATIENCE: Duration = Duration::from_millis(50);

/// A session may be resumed after weeks.
const SEASON: Duration = Duration::from_secs(90 * 24 * 3600);

/// Longest file. A session that was told of more is told some of it again.
const MAX_BYTES: u64 = 64 << 10;

/// How a digest is told from a source.
const DIGEST: char = '#';

/// Waits until no other hook asks and notes: two of one session, as for files that are read at once, would both be told. None: it
/// cannot be seen to, and then both are.
pub(super) fn alone(home: &Path) -> Option<fs::File> {
    // Not the file that is written to, which Windows would let nobody write to then.
    let file = prepared::lock_file(&home.join(FOLDER).join(LOCK)).ok()?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(1)),
            Err(_) => return None,
        }
    }
}

/// Was it not told just that when it began or went on?
pub(super) fn is_new(home: &Path, session: &str, text: &str) -> bool {
    let told = read(home, session);
    told.lines().rfind(|line| line.starts_with(DIGEST)) != Some(digest(text).as_str())
}

/// Which of these it was told of already, in their order.
pub(super) fn were_told(home: &Path, session: &str, sources: &[&str]) -> Vec<bool> {
    let told = read(home, session);
    sources.iter().map(|source| told.lines().any(|line| line == *source)).collect()
}

/// Notes what it is told. What cannot be noted is told again, which is better than never.
pub(super) fn note<'s>(home: &Path, session: &str, text: Option<&str>, sources: impl Iterator<Item = &'s str>) {
    let mut lines: String = text.map(|text| digest(text) + "\n").unwrap_or_default();
    // A source is one line, whatever others called it.
    sources.filter(|source| !source.contains('\n')).for_each(|source| lines += &format!("{source}\n"));
    let file = file(home, session);
    if file.metadata().is_ok_and(|it| it.len() > MAX_BYTES) {
        let _ = fs::remove_file(&file);
    }
    let _ =
        files::make_private_folder(&home.join(FOLDER).join(SEEN)).and_then(|()| files::append(&file, lines.as_bytes()));
}

/// Forgets it: the conversation does not have it any more.
pub(super) fn forget(home: &Path, session: &str) {
    let _ = fs::remove_file(file(home, session));
}

/// Removes what nobody will ask for.
pub(super) fn sweep(home: &Path) {
    files::remove_older(&home.join(FOLDER).join(SEEN), SEASON, SystemTime::now());
}

fn read(home: &Path, session: &str) -> String {
    fs::read_to_string(file(home, session)).unwrap_or_default()
}

fn digest(text: &str) -> String {
    format!("{DIGEST}{:032x}", xxh3_128(text.as_bytes()))
}

fn file(home: &Path, session: &str) -> PathBuf {
    home.join(FOLDER).join(SEEN).join(files::name_of(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_until_it_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let told = |sources: &[&str]| were_told(home, "a", sources);
        assert!(is_new(home, "a", "x") && told(&["s1"]) == [false]);
        note(home, "a", Some("x"), ["s1", "1f3a77c2"].into_iter());
        note(home, "a", None, ["/w/a\nb", "/w/a"].into_iter());
        assert!(!is_new(home, "a", "x") && is_new(home, "a", "y") && is_new(home, "b", "x"));
        assert_eq!(told(&["s1", "s", "s11", "/w/a", "/w/a\nb"]), [true, false, false, true, false]);
        note(home, "a", Some("y"), [].into_iter());
        assert!(is_new(home, "a", "x"), "it was told something else since");
        forget(home, "a");
        assert!(is_new(home, "a", "y") && told(&["s1"]) == [false]);
    }
}
