//! Words by which memories, chunks and sessions are told apart besides their text, and how much each was looked at.

use rusqlite::{Connection, OptionalExtension, params};

use super::{Origin, Store, StoreError};

/// Days after which a look at something counts half.
const HALF_LIFE_DAYS: f64 = 30.0;
const DAY_MS: f64 = 86_400_000.0;

/// Marks a source with words of these sorts, besides those it has.
pub(super) fn set<'a>(
    db: &Connection,
    origin: Origin,
    source: i64,
    marks: impl IntoIterator<Item = (&'a str, &'a String)>,
) -> Result<(), StoreError> {
    let mut put =
        db.prepare_cached("INSERT OR IGNORE INTO mark (origin, source, sort, value) VALUES (?1, ?2, ?3, ?4)")?;
    for (sort, value) in marks {
        put.execute(params![origin, source, sort, value])?;
    }
    Ok(())
}

/// Takes all marks of a source away, and what is known of looks at it.
pub(super) fn clear(db: &Connection, origin: Origin, source: i64) -> Result<(), StoreError> {
    db.prepare_cached("DELETE FROM mark WHERE origin = ?1 AND source = ?2")?.execute(params![origin, source])?;
    db.prepare_cached("DELETE FROM access WHERE origin = ?1 AND source = ?2")?.execute(params![origin, source])?;
    Ok(())
}

impl Store {
    /// Words of one sort that a source is marked with: `tag`, `entity`, `domain` or `ticket`.
    ///
    /// # Errors
    /// As for any read.
    pub fn marks(&self, origin: Origin, source: i64, sort: &str) -> Result<Vec<String>, StoreError> {
        let mut find = self
            .db
            .prepare_cached("SELECT value FROM mark WHERE origin = ?1 AND source = ?2 AND sort = ?3 ORDER BY value")?;
        let values = find.query_map(params![origin, source, sort], |row| row.get(0))?;
        Ok(values.collect::<Result<_, _>>()?)
    }

    /// All words of one sort, with how often each is used, most used first.
    ///
    /// # Errors
    /// As for any read.
    pub fn all_marks(&self, sort: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT value, count(*) FROM mark WHERE sort = ?1 GROUP BY value ORDER BY count(*) DESC, value",
        )?;
        let values = find.query_map([sort], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        Ok(values.collect::<Result<_, _>>()?)
    }

    /// Notes a look at something.
    ///
    /// # Errors
    /// As for any write.
    pub fn note_access(&mut self, origin: Origin, source: i64, now: i64) -> Result<(), StoreError> {
        let score = self.access(origin, source, now)? + 1.0;
        self.db
            .prepare_cached("INSERT OR REPLACE INTO access (origin, source, score, at) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![origin, source, score, now])?;
        Ok(())
    }

    /// What was looked at, most first, with how much; see [`Self::access`].
    ///
    /// # Errors
    /// As for any read.
    pub fn most_accessed(&self, now: i64, limit: usize) -> Result<Vec<(Origin, i64, f64)>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT origin, source FROM access")?;
        let all = find.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?.collect::<Result<Vec<_>, _>>()?;
        let mut scores = Vec::new();
        for (origin, source) in all {
            let Some(origin) = Origin::of(origin) else { continue };
            scores.push((origin, source, self.access(origin, source, now)?));
        }
        scores.sort_by(|a, b| b.2.total_cmp(&a.2));
        scores.truncate(limit);
        Ok(scores)
    }

    /// How much something was looked at until now: the number of looks, each halved for every 30 days that passed since.
    ///
    /// # Errors
    /// As for any read.
    pub fn access(&self, origin: Origin, source: i64, now: i64) -> Result<f64, StoreError> {
        let mut find = self.db.prepare_cached("SELECT score, at FROM access WHERE origin = ?1 AND source = ?2")?;
        let known = find
            .query_row(params![origin, source], |row| Ok((row.get::<_, f64>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        Ok(known.map_or(0.0, |(score, at)| {
            let days = now.saturating_sub(at).max(0) as f64 / DAY_MS;
            score * (-days / HALF_LIFE_DAYS).exp2()
        }))
    }
}
