//! In which session a client is. One process of a client has several, one after the other: `/clear` and `/resume` begin another, and
//! what the client started for the first one, as the memory's server, lives on and is told of none of them. A hook is told each, with
//! the client's process, and leaves it here: a file for each process, a session a line, the newest last.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{files, paths};

/// The folder's name in the home.
pub const FOLDER: &str = "now";

/// How Claude Code tells what it starts which process it is.
const PROCESS: &str = "CLAUDE_PID";
/// How it tells which session that was started in.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// Longest file. A client that has begun so many sessions begins a new one.
const MAX_BYTES: u64 = 16 << 10;

/// How a session that was forgotten is told from others.
const HAD: char = '#';

/// Age of a file of a process that is hardly there any more.
const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 3600);

/// Notes that the client that calls us has begun this session. `is_first`: it was just started, so that what is there was left by
/// another process with its number.
///
/// # Errors
/// Those of writing into the home; that nothing is noted does little harm.
pub fn note(home: &Path, session: &str, is_first: bool) -> io::Result<()> {
    match client() {
        Some(process) => note_of(home, process, session, is_first),
        None => Ok(()),
    }
}

fn note_of(home: &Path, process: u32, session: &str, is_first: bool) -> io::Result<()> {
    if session.is_empty() || session.starts_with(HAD) || session.contains(char::is_control) {
        return Ok(());
    }
    let file = file(home, process);
    if is_first || file.metadata().is_ok_and(|it| it.len() > MAX_BYTES) {
        let _ = fs::remove_file(&file);
    }
    if last(&file).as_deref() == Some(session) {
        return Ok(());
    }
    files::make_private_folder(&home.join(FOLDER))?;
    files::append(&file, format!("{session}\n").as_bytes())
}

/// The session in which the client is that started us, if it tells in which it did.
pub fn session(home: &Path) -> Option<String> {
    let begun = paths::variable(SESSION)?;
    Some(client().and_then(|process| newest(home, process, &begun)).unwrap_or(begun))
}

/// The newest session of a process that has had this one.
fn newest(home: &Path, process: u32, begun: &str) -> Option<String> {
    let file = file(home, process);
    // Another process may have had the number.
    let is_of_it = fs::read_to_string(&file).ok()?.lines().any(|line| line == begun || line == had(begun));
    is_of_it.then(|| last(&file)).flatten()
}

/// Forgets a session. That a process has had it is still told, by a hash: otherwise what the client started in it would be taken for
/// another process's.
pub fn forget(home: &Path, session: &str) {
    for entry in fs::read_dir(home.join(FOLDER)).into_iter().flatten().flatten() {
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        if text.lines().any(|line| line == session) {
            let had = had(session);
            let lines = text.lines().map(|line| if line == session { had.as_str() } else { line });
            let text: String = lines.map(|line| format!("{line}\n")).collect();
            // One that stays is swept some day.
            let _ = files::write_atomically(&entry.path(), text.as_bytes());
        }
    }
}

/// How a session that was forgotten is told.
fn had(session: &str) -> String {
    format!("{HAD}{}", files::name_of(session))
}

/// Removes what says nothing any more.
pub fn sweep(home: &Path) {
    files::remove_older(&home.join(FOLDER), FORGOTTEN, SystemTime::now());
}

/// The client's process. It does not tell servers, which it starts itself.
fn client() -> Option<u32> {
    paths::variable(PROCESS).map_or_else(parent, |process| process.parse().ok())
}

#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}

fn last(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok()?.lines().rfind(|line| !line.starts_with(HAD)).map(str::to_owned)
}

fn file(home: &Path, process: u32) -> PathBuf {
    home.join(FOLDER).join(process.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_session_of_a_process_counts_if_it_is_the_same_process() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let note = |process, session: &str, is_first| note_of(home, process, session, is_first).unwrap();
        assert_eq!(newest(home, 7, "a"), None);
        note(7, "a", true);
        note(7, "a", false);
        note(7, "b", false);
        note(8, "c", true);
        assert_eq!(newest(home, 7, "a").as_deref(), Some("b"));
        assert_eq!(newest(home, 8, "c").as_deref(), Some("c"));
        assert_eq!(newest(home, 8, "a"), None, "another process has had that one");
        note(7, "a", false);
        assert_eq!(newest(home, 7, "b").as_deref(), Some("a"), "gone back to");
        note(7, "x\ny", false);
        assert_eq!(newest(home, 7, "a").as_deref(), Some("a"));
        // A session that was deleted is named no more.
        note(7, "e", false);
        forget(home, "a");
        assert!(!fs::read_to_string(file(home, 7)).unwrap().lines().any(|line| line == "a"));
        assert_eq!(newest(home, 7, "a").as_deref(), Some("e"));
        forget(home, "e");
        assert_eq!((newest(home, 7, "e").as_deref(), newest(home, 8, "c").as_deref()), (Some("b"), Some("c")));
        // The number is given to another process.
        note(7, "d", true);
        assert_eq!((newest(home, 7, "a"), newest(home, 7, "d").as_deref()), (None, Some("d")));
    }
}
