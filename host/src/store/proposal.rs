//! Proposals and the rules that came of them.

use rusqlite::params;

use super::{Store, StoreError};
use crate::proposal::Proposal;

impl Store {
    /// Keeps a proposal, in place of an earlier state of the same. Its pattern must be anchored ([`Store::put_anchor`]).
    ///
    /// # Errors
    /// As for any write; the proposal stays as it was then.
    pub fn put_proposal(&mut self, proposal: &Proposal) -> Result<(), StoreError> {
        let body = serde_json::to_string(proposal).map_err(|error| unreadable(&error))?;
        let status = serde_json::to_value(proposal.status).map_err(|error| unreadable(&error))?;
        self.db
            .prepare_cached(
                "INSERT INTO proposal (id, pattern, status, created_at, applied_at, ended_at, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (id) DO UPDATE SET pattern = excluded.pattern, status = excluded.status,
                   applied_at = excluded.applied_at, ended_at = excluded.ended_at, body = excluded.body",
            )?
            .execute(params![
                proposal.id,
                proposal.pattern,
                status.as_str(),
                proposal.created_at,
                proposal.applied_at,
                proposal.ended_at,
                body
            ])?;
        Ok(())
    }

    /// All proposals, the oldest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn proposals(&self) -> Result<Vec<Proposal>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT body FROM proposal ORDER BY created_at, id")?;
        let mut rows = find.query([])?;
        let mut proposals = Vec::new();
        while let Some(row) = rows.next()? {
            let body = row.get_ref(0)?.as_str().unwrap_or_default();
            proposals.push(serde_json::from_str(body).map_err(|error| unreadable(&error))?);
        }
        Ok(proposals)
    }

    /// One proposal.
    ///
    /// # Errors
    /// As for any read.
    pub fn proposal(&self, id: &str) -> Result<Option<Proposal>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT body FROM proposal WHERE id = ?1")?;
        let mut rows = find.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let body = row.get_ref(0)?.as_str().unwrap_or_default();
        serde_json::from_str(body).map(Some).map_err(|error| unreadable(&error))
    }
}

fn unreadable(why: &serde_json::Error) -> StoreError {
    StoreError::Row { table: "proposal", why: why.to_string() }
}
