//! Turns: SQLite's lock has no queue, and who waits for it looks now and then. A worker that begins its next transaction at once
//! would keep everybody out who only wants to write a little. So who waits holds a lock on a file of the home, and the worker
//! looks for it between two transactions.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, Instant},
};

use super::Store;

/// The lock's file in the home. Never deleted, as that of the worker.
pub const FILE: &str = "turn.lock";
/// How long way is given: who waits may have been stopped while they did. SQLite looks every tenth of a second.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether they have written.
const LOOK: Duration = Duration::from_millis(2);

/// Says that somebody waits to write, until it is dropped. Where that cannot be said they wait all the same.
pub(super) fn ask(database: &Path) -> Option<File> {
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(false).open(database.with_file_name(FILE)).ok()?;
    file.lock_shared().ok()?;
    Some(file)
}

impl Store {
    /// Lets those write who wait to.
    pub(super) fn give_way(&self) {
        let Ok(file) = fs::OpenOptions::new().write(true).open(self.path.with_file_name(FILE)) else { return };
        let begun = Instant::now();
        while matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) && begun.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
        }
    }
}
