use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

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
