//! What hooks and the worker need of the home: that it can be written, that what hooks leave is taken, that the worker lives,
//! and whether anything is paused.

use std::{io, path::Path};

use super::{Checks, Health};
use crate::{
    cli::{pause as paused, ui},
    files, guard,
    inbox::{self, SESSION_IS_OVER, Waiting},
    inject, pause, present, saved,
    store::{Held, WorkerLock},
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A worker has read a session within minutes; what waits longer, waits for nobody.
const UNREAD: i64 = HOUR;
/// So long a worker is not at it, unless it reads everything for the first time, or asks a model.
const LONG: i64 = 30 * MINUTE;
/// More than the store's log may grow by in a run.
const LITTLE: u64 = 64 << 20;
/// Folders of a home that are written to, besides the inbox.
const FOLDERS: [&str; 10] = [
    inject::FOLDER,
    "inject/told",
    "inject/compacted",
    saved::FOLDER,
    guard::FOLDER,
    present::FOLDER,
    "told",
    "index",
    "models",
    "backups",
];

/// Bytes that are tried: more than what a file system keeps in the folder itself.
const TRIED: usize = 64 << 10;

impl Checks {
    /// Can anything be written?
    pub(super) fn home(&mut self, home: &Path) {
        match home.metadata() {
            // That there is nothing yet the store says.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.parent(home),
            Err(error) => {
                let text = format!("{} cannot be looked at: {error}", home.display());
                return self.add("home", Health::Bad, text, Some(advice(&error)));
            }
            Ok(metadata) if !metadata.is_dir() => {
                let advice = "move it away, or name another home with --home DIR or TOTALRECALL_HOME";
                return self.add("home", Health::Bad, format!("{} is no folder", home.display()), Some(advice));
            }
            Ok(_) => {}
        }
        if let Err(error) = files::try_to_write(home, TRIED) {
            let text = format!("{} cannot be written: {error}", home.display());
            return self.add("home", Health::Bad, text, Some(advice(&error)));
        }
        match files::free_space(home) {
            Some(free) if free < LITTLE => {
                let text = format!("its disk has {} left", ui::bytes(free));
                self.add(
                    "home",
                    Health::Notice,
                    text,
                    Some("free some space: without any, hooks and worker do nothing"),
                );
            }
            _ => self.add("home", Health::Good, format!("{} can be written", home.display()), None),
        }
        for folder in FOLDERS.map(|folder| home.join(folder)) {
            self.folder(&folder);
        }
    }

    /// Can a folder of ours be written? That there is none yet is no matter; a link that leads nowhere is one.
    fn folder(&mut self, folder: &Path) {
        if folder.symlink_metadata().is_ok()
            && let Err(error) = files::try_to_write(folder, 1)
        {
            let text = format!("{} cannot be written: {error}", folder.display());
            let advice = if folder.is_dir() { advice(&error) } else { "move it away: it has to be a folder" };
            self.add("folder", Health::Bad, text, Some(advice));
        }
    }

    /// Can a home be made where there is none?
    fn parent(&mut self, home: &Path) {
        let above = home.ancestors().skip(1).find(|above| above.exists()).unwrap_or(home);
        if let Err(error) = files::try_to_write(above, 1) {
            let text = format!("{} cannot be made: {error}", home.display());
            self.add("home", Health::Bad, text, Some(advice(&error)));
        }
    }

    /// Can hooks leave word, and does someone take it?
    pub(super) fn inbox(&mut self, home: &Path, now: i64) {
        let folder = home.join(inbox::FOLDER);
        if folder.exists()
            && let Err(error) = files::try_to_write(&folder, 1)
        {
            let text = format!("{} cannot be written, so hooks leave no word: {error}", folder.display());
            let advice = if folder.is_dir() { advice(&error) } else { "move it away: it has to be a folder" };
            return self.add("inbox", Health::Bad, text, Some(advice));
        }
        let waiting = match inbox::look(home, SESSION_IS_OVER) {
            Ok(waiting) => waiting,
            Err(error) => {
                let text = format!("{} cannot be read: {error}", folder.display());
                return self.add("inbox", Health::Bad, text, Some(advice(&error)));
            }
        };
        let is_worked_on = matches!(WorkerLock::holder(home), Ok(Some(_)));
        self.waiting(&waiting, is_worked_on, now);
        if waiting.rejected + waiting.unusable > 0 {
            let text = format!(
                "{} that cannot be used",
                ui::counted(waiting.rejected + waiting.unusable, "notice", "notices")
            );
            let advice = format!(
                "whatever wrote them was not this program; look at {}, and delete what is there",
                folder.join(inbox::REJECTED).display()
            );
            self.add("inbox", Health::Notice, text, Some(&advice));
        }
    }

    fn waiting(&mut self, waiting: &Waiting, is_worked_on: bool, now: i64) {
        let Some(oldest) = waiting.oldest else { return self.add("inbox", Health::Good, "nothing waits", None) };
        let text = format!(
            "{}, the oldest from {}",
            ui::counted(waiting.notices, "notice waits", "notices wait"),
            ui::local_time(oldest)
        );
        let old = |at: Option<i64>| at.is_some_and(|at| now.saturating_sub(at) > UNREAD);
        if is_worked_on || !old(Some(oldest)) {
            self.add("inbox", Health::Good, text, None);
        } else if old(waiting.oldest_end) {
            let advice = "run `totalrecall worker`: it reads them, or says why it cannot";
            self.add("inbox", Health::Bad, format!("{text}, and no worker has read them"), Some(advice));
        } else {
            let advice = "of sessions that still go on, or were killed; the next session that starts has them read";
            self.add("inbox", Health::Notice, text, Some(advice));
        }
    }

    /// Is a worker running, and does it get on?
    pub(super) fn worker(&mut self, home: &Path, now: i64) {
        let held = match WorkerLock::holder(home) {
            Ok(None) => return self.add("worker", Health::Good, "none is running", None),
            Ok(Some(held)) => held,
            Err(error) => {
                let advice = "check who owns the file; hooks start workers, which need it";
                return self.add("worker", Health::Bad, error, Some(advice));
            }
        };
        let Held { pid, since } = held;
        let process = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
        let kill = pid.map_or_else(|| "end it".to_owned(), |pid| format!("`kill -9 {pid}` ends it"));
        let text = format!("{process} is at it since {}", ui::local_time(since));
        if pid.is_some_and(is_stopped) {
            let advice = format!("{kill}, `kill -CONT` lets it go on; what it has not finished stays queued");
            self.add("worker", Health::Bad, format!("{text}, and was stopped: nothing is read"), Some(&advice));
        } else if now.saturating_sub(since) > LONG {
            let advice = format!(
                "if it hangs (it may also be waiting for a model), {kill}; what it has not finished stays queued"
            );
            self.add("worker", Health::Notice, text, Some(&advice));
        } else {
            self.add("worker", Health::Good, text, None);
        }
    }

    /// What is paused?
    pub(super) fn paused(&mut self, home: &Path) {
        match pause::load(home) {
            Err(error) => self.add("paused", Health::Bad, &error, Some(error.hint())),
            Ok(pauses) if pauses.open().next().is_none() => self.add("paused", Health::Good, "nothing", None),
            Ok(pauses) => {
                for pause in pauses.open() {
                    let advice = format!("`{}` ends it", paused::ending(pause));
                    let text = format!("{}: what happens there is not learned", paused::what(pause));
                    self.add("paused", Health::Notice, text, Some(&advice));
                }
            }
        }
    }
}

/// What to do about a folder that cannot be used.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space: until then hooks and worker do nothing"
        }
        _ => {
            "check who owns it and whether its disk is mounted read-only, or name another home with --home DIR or \
             TOTALRECALL_HOME"
        }
    }
}

/// Was the process stopped (SIGSTOP, Ctrl-Z)? Only Linux tells by a file.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // `123 (name that may hold anything) T …`
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}
