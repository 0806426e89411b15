//! Sessions of which nothing was kept on purpose.

use std::collections::BTreeSet;

use rusqlite::params;

use super::{SessionId, Store, StoreError};

impl Store {
    /// Sessions that ended between two times (both included), of which there is neither a memory nor a chunk, and of which
    /// nobody has said since that none is needed.
    ///
    /// # Errors
    /// As for any read.
    pub fn unkept(&self, since: i64, until: i64) -> Result<BTreeSet<SessionId>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT id FROM session
             WHERE ended_at BETWEEN ?1 AND ?2 AND (acknowledged_at IS NULL OR acknowledged_at < ended_at)
                AND native_id NOT IN (SELECT session FROM memory WHERE session IS NOT NULL
                    UNION SELECT session FROM chunk WHERE session IS NOT NULL)",
        )?;
        Ok(find.query_map([since, until], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Notes why nothing need be kept of a session.
    ///
    /// # Errors
    /// As for any write.
    pub fn acknowledge(&mut self, session: SessionId, why: &str, now: i64) -> Result<(), StoreError> {
        self.db
            .prepare_cached("UPDATE session SET acknowledged = ?2, acknowledged_at = ?3 WHERE id = ?1")?
            .execute(params![session, why, now])?;
        Ok(())
    }
}
