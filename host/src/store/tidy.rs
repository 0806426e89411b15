//! How large the store is, and giving space back that nothing uses.

use std::time::{Duration, Instant};

use super::{Store, StoreError};

/// Steps of SQLite between two looks at the clock.
const STEPS: i32 = 100_000;

/// Bytes of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Size {
    /// Its file.
    pub file: u64,
    /// Of these, what nothing uses.
    pub unused: u64,
}

impl Size {
    /// What is used.
    pub fn used(self) -> u64 {
        self.file - self.unused
    }
}

impl Store {
    /// How large the database is, its log left out.
    ///
    /// # Errors
    /// As for any read.
    pub fn size(&self) -> Result<Size, StoreError> {
        let sql = "SELECT page_count * page_size, freelist_count * page_size
                   FROM pragma_page_count, pragma_page_size, pragma_freelist_count";
        let mut find = self.db.prepare_cached(sql)?;
        Ok(find.query_row([], |row| {
            let bytes = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(Size { file: bytes(0)?, unused: bytes(1)? })
        })?)
    }

    /// Writes the file anew, so that nothing of what was deleted stands in it and it is as small as can be. Needs its size once
    /// more on the disk while it is at it. Takes longer than allowed: false, and nothing has changed.
    ///
    /// # Errors
    /// `Full`; `Busy` while another process writes.
    pub fn vacuum(&mut self, at_most: Option<Duration>) -> Result<bool, StoreError> {
        self.commit()?;
        if let Some(at_most) = at_most {
            let end = Instant::now() + at_most;
            self.db.progress_handler(STEPS, Some(move || Instant::now() > end))?;
        }
        // What is sorted and copied for it goes to a file: it is as large as the store.
        self.db.pragma_update(None, "temp_store", "file")?;
        let done = self.db.execute_batch("VACUUM");
        self.db.pragma_update(None, "temp_store", "memory")?;
        self.db.progress_handler(0, None::<fn() -> bool>)?;
        match done {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => Ok(false),
            done => {
                done?;
                self.empty_log()?;
                Ok(true)
            }
        }
    }

    /// Copies the log into the file and empties it. A reader that is at work keeps it from that: false.
    ///
    /// # Errors
    /// As for any write.
    pub fn empty_log(&mut self) -> Result<bool, StoreError> {
        Ok(self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))? == 0)
    }
}
