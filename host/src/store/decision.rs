//! Decisions about patterns. None is ever deleted: an undone one keeps its place and the time when it was undone.

use rusqlite::{Row, params};

use super::{Store, StoreError};
use crate::pattern::{Anchor, By, Decision};

const COLUMNS: &str = "id, at, by, run, pattern, act, undone_at";

impl Store {
    /// Remembers decisions and the patterns that they are about, all of them or none. Gives the decisions' numbers.
    ///
    /// # Errors
    /// As for any write; nothing is remembered then.
    pub fn decide(&mut self, anchors: &[Anchor], decisions: &[Decision], now: i64) -> Result<Vec<i64>, StoreError> {
        self.write(|db| {
            for anchor in anchors {
                super::anchor::put(db, anchor, now)?;
            }
            let mut put = db.prepare_cached(
                "INSERT INTO decision (at, by, run, pattern, act, undone_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            decisions
                .iter()
                .map(|decision| {
                    let act = serde_json::to_string(&decision.act).map_err(|error| unreadable(&error))?;
                    let (by, at) = (decision.by.name(), decision.at);
                    Ok(put.insert(params![at, by, decision.run, decision.pattern, act, decision.undone_at])?)
                })
                .collect()
        })
    }

    /// Those in force, in the order in which they were taken.
    ///
    /// # Errors
    /// As for any read.
    pub fn decisions(&self) -> Result<Vec<Decision>, StoreError> {
        self.read_decisions(&format!("SELECT {COLUMNS} FROM decision WHERE undone_at IS NULL ORDER BY id"))
    }

    /// All of them, undone ones too, in the order in which they were taken.
    ///
    /// # Errors
    /// As for any read.
    pub fn all_decisions(&self) -> Result<Vec<Decision>, StoreError> {
        self.read_decisions(&format!("SELECT {COLUMNS} FROM decision ORDER BY id"))
    }

    fn read_decisions(&self, query: &str) -> Result<Vec<Decision>, StoreError> {
        let mut find = self.db.prepare_cached(query)?;
        let mut rows = find.query([])?;
        let mut decisions = Vec::new();
        while let Some(row) = rows.next()? {
            decisions.push(decision(row)?);
        }
        Ok(decisions)
    }

    /// Undoes a decision, or all of its run. Gives how many were in force until now.
    ///
    /// # Errors
    /// As for any write.
    pub fn undo(&mut self, decision: &Decision, now: i64) -> Result<usize, StoreError> {
        self.write(|db| {
            Ok(db
                .prepare_cached("UPDATE decision SET undone_at = ?1 WHERE undone_at IS NULL AND (id = ?2 OR run = ?3)")?
                .execute(params![now, decision.id, decision.run])?)
        })
    }
}

fn decision(row: &Row<'_>) -> Result<Decision, StoreError> {
    let by: By = serde_json::from_value(row.get::<_, String>(2)?.into()).map_err(|error| unreadable(&error))?;
    let act = serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default()).map_err(|error| unreadable(&error))?;
    Ok(Decision {
        id: row.get(0)?,
        at: row.get(1)?,
        by,
        run: row.get(3)?,
        pattern: row.get(4)?,
        act,
        undone_at: row.get(6)?,
    })
}

fn unreadable(why: &serde_json::Error) -> StoreError {
    StoreError::Row { table: "decision", why: why.to_string() }
}
