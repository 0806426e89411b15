//! Anchors: patterns that something refers to.

use rusqlite::{Connection, params};

use super::{Store, StoreError};
use crate::pattern::Anchor;

impl Store {
    /// Remembers a pattern, so that it keeps its id. One that is known stays as it was first remembered.
    ///
    /// # Errors
    /// As for any write.
    pub fn put_anchor(&mut self, anchor: &Anchor, now: i64) -> Result<(), StoreError> {
        put(&self.db, anchor, now)
    }

    /// All of them, the oldest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn anchors(&self) -> Result<Vec<Anchor>, StoreError> {
        let mut find =
            self.db.prepare_cached("SELECT id, kind, project, key, subject, category FROM anchor ORDER BY at, id")?;
        let mut rows = find.query([])?;
        let mut anchors = Vec::new();
        while let Some(row) = rows.next()? {
            let category =
                serde_json::from_value(row.get::<_, String>(5)?.into()).map_err(|error| unreadable(&error))?;
            anchors.push(Anchor {
                id: row.get(0)?,
                kind: row.get(1)?,
                project: row.get(2)?,
                key: row.get(3)?,
                subject: row.get(4)?,
                category,
            });
        }
        Ok(anchors)
    }
}

pub(super) fn put(db: &Connection, anchor: &Anchor, now: i64) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT OR IGNORE INTO anchor (id, kind, project, key, subject, category, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        anchor.id,
        anchor.kind,
        anchor.project,
        anchor.key,
        anchor.subject,
        anchor.category.name(),
        now
    ])?;
    Ok(())
}

fn unreadable(why: &serde_json::Error) -> StoreError {
    StoreError::Row { table: "anchor", why: why.to_string() }
}
