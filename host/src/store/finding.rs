//! Findings. They are derived: a session's findings are replaced when its signals have changed. The mark that says so
//! is set with the change itself, so a killed process leaves no stale report.

use rusqlite::params;

use super::{SessionId, Store, StoreError};
use crate::finding::Finding;

impl Store {
    /// Sessions whose signals changed since their findings were made.
    ///
    /// # Errors
    /// As for any read.
    pub fn stale_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT id FROM session WHERE findings_stale ORDER BY id")?;
        Ok(find.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Replaces the findings that a session's signals gave.
    ///
    /// # Errors
    /// As for any write; the findings stay as they were then.
    pub fn replace_findings(&mut self, session: SessionId, findings: &[Finding]) -> Result<(), StoreError> {
        self.write(|db| {
            db.prepare_cached("DELETE FROM finding WHERE session_id = ?1 AND source = 'signals'")?
                .execute([session])?;
            let mut put = db.prepare_cached(
                "INSERT INTO finding (session_id, source, kind, severity, at, body)
                 VALUES (?1, 'signals', ?2, ?3, ?4, ?5)",
            )?;
            for finding in findings {
                let body = serde_json::to_string(finding).map_err(|error| unreadable(&error))?;
                put.execute(params![session, finding.kind, finding.severity, finding.first_at, body])?;
            }
            db.prepare_cached("UPDATE session SET findings_stale = 0 WHERE id = ?1")?.execute([session])?;
            Ok(())
        })
    }

    /// All findings, in the order of their sessions.
    ///
    /// # Errors
    /// As for any read.
    pub fn findings(&self) -> Result<Vec<(SessionId, Finding)>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT session_id, body FROM finding ORDER BY session_id, id")?;
        let mut rows = find.query([])?;
        let mut findings = Vec::new();
        while let Some(row) = rows.next()? {
            let body = serde_json::from_str(row.get_ref(1)?.as_str().unwrap_or_default());
            findings.push((row.get(0)?, body.map_err(|error| unreadable(&error))?));
        }
        Ok(findings)
    }
}

fn unreadable(why: &serde_json::Error) -> StoreError {
    StoreError::Row { table: "finding", why: why.to_string() }
}
