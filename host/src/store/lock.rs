use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

use super::Stamp;

/// Held by the one process that reads transcripts into the store; released when it ends, however it ends.
#[derive(Debug)]
pub struct WorkerLock {
    _file: File,
}

/// Why the lock was not given.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another worker is at it.
    #[error("another worker is running{}", pid.as_ref().map_or(String::new(), |pid| format!(" (process {pid})")))]
    Busy {
        /// Its process, as far as it had written it.
        pid: Option<u32>,
    },
    /// The lock's file cannot be used.
    #[error("cannot lock {}: {source}", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
}

impl WorkerLock {
    /// The lock's file in the home.
    pub const FILE: &str = "worker.lock";

    /// Takes the lock without waiting.
    ///
    /// # Errors
    /// `Busy` if another process has it.
    pub fn take(home: &Path) -> Result<Self, LockError> {
        let path = home.join(Self::FILE);
        let refused = |source| LockError::Io { path: path.clone(), source };
        // Never deleted: a second process could lock the deleted file while a third creates a new one.
        let mut file =
            fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Only for the message.
                drop(file.take(20).read_to_string(&mut text));
                return Err(LockError::Busy { pid: text.trim().parse().ok() });
            }
            Err(TryLockError::Error(source)) => return Err(refused(source)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(refused)?;
        // A full disk must not keep the worker from saying so itself.
        drop(writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// A worker that is at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its process, as far as it had written it.
    pub pid: Option<u32>,
    /// Since when, in milliseconds since the Unix epoch.
    pub since: i64,
}

impl WorkerLock {
    /// Who has the lock. None: nobody.
    ///
    /// # Errors
    /// When the lock's file cannot be used.
    pub fn holder(home: &Path) -> Result<Option<Held>, LockError> {
        let path = home.join(Self::FILE);
        let refused = |source| LockError::Io { path: path.clone(), source };
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(refused)?,
        };
        let mut text = String::new();
        drop((&mut file).take(20).read_to_string(&mut text));
        let pid: Option<u32> = text.trim().parse().ok();
        // A worker that starts in this very moment must not find the lock taken by someone who only looks.
        if pid.is_some_and(|pid| !is_alive(pid)) {
            return Ok(None);
        }
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::Error(source)) => Err(refused(source)),
            Err(TryLockError::WouldBlock) => {
                let since = Stamp::of(&file.metadata().map_err(refused)?).mtime_ns / 1_000_000;
                Ok(Some(Held { pid, since }))
            }
        }
    }
}

/// May there be a process of this number? It may be another one that got the number since.
fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        true
    }
}
