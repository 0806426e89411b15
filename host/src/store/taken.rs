//! Memories and chunks that were taken over from another program, by their names there.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::{Store, StoreError};

/// What became of something that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is a memory of this name.
    Memory(String),
    /// It is a chunk of this name, whose text has this hash.
    Chunk(String, String),
    /// A chunk of this name, whose text has this hash, was there already and says it as well.
    Twin(String, String),
    /// A person has forgotten it since, or retention has thrown it away.
    Forgotten,
}

/// Notes that what has this name here was forgotten on purpose, so that it is not taken over again under any name that it has there.
pub(super) fn forgotten(db: &Connection, name: &str, origin: Option<&str>) -> Result<(), StoreError> {
    let others = parted(db, name)?;
    for origin in origin.into_iter().chain(others.iter().map(String::as_str)) {
        db.prepare_cached("INSERT OR IGNORE INTO meta (key, value) VALUES (?1, '')")?
            .execute([format!("forgotten {origin}")])?;
    }
    Ok(())
}

/// Has nothing but itself say what has this name here. Gives the names there of what did.
pub(super) fn parted(db: &Connection, name: &str) -> Result<Vec<String>, StoreError> {
    let mut part =
        db.prepare_cached("DELETE FROM meta WHERE key GLOB 'also *' AND value = ?1 RETURNING substr(key, 6)")?;
    let others = part.query_map([name], |row| row.get(0))?;
    Ok(others.collect::<Result<_, _>>()?)
}

/// Notes that something is kept by itself from now on, whatever else said the same.
pub(super) fn kept(db: &Connection, origin: Option<&str>) -> Result<(), StoreError> {
    if let Some(origin) = origin {
        db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([format!("also {origin}")])?;
    }
    Ok(())
}

impl Store {
    /// All that was ever taken over, by its name there.
    ///
    /// # Errors
    /// As for any read.
    pub fn taken(&self) -> Result<BTreeMap<String, Taken>, StoreError> {
        let mut all = BTreeMap::new();
        let mut twins = self.db.prepare_cached(
            "SELECT substr(t.key, 6), m.name, c.name, c.hash FROM meta t
             LEFT JOIN memory m ON m.name = t.value LEFT JOIN chunk c ON c.name = t.value
             WHERE t.key GLOB 'also *'",
        )?;
        let mut rows = twins.query([])?;
        while let Some(row) = rows.next()? {
            let taken = match (row.get(1)?, row.get(2)?) {
                (Some(memory), _) => Taken::Memory(memory),
                (None, Some(chunk)) => Taken::Twin(chunk, row.get(3)?),
                // It was thrown away.
                (None, None) => continue,
            };
            all.insert(row.get(0)?, taken);
        }
        let mut memories = self.db.prepare_cached("SELECT origin, name FROM memory WHERE origin IS NOT NULL")?;
        for row in memories.query_map([], |row| Ok((row.get(0)?, Taken::Memory(row.get(1)?))))? {
            all.extend([row?]);
        }
        let mut chunks = self.db.prepare_cached("SELECT origin, name, hash FROM chunk WHERE origin IS NOT NULL")?;
        for row in chunks.query_map([], |row| Ok((row.get(0)?, Taken::Chunk(row.get(1)?, row.get(2)?))))? {
            all.extend([row?]);
        }
        let mut forgotten = self.db.prepare_cached("SELECT substr(key, 11) FROM meta WHERE key GLOB 'forgotten *'")?;
        for row in forgotten.query_map([], |row| Ok((row.get(0)?, Taken::Forgotten)))? {
            all.extend([row?]);
        }
        Ok(all)
    }

    /// Notes that what has this name here says what something has there, which is not kept besides.
    ///
    /// # Errors
    /// As for any write.
    pub fn put_twin(&mut self, origin: &str, name: &str) -> Result<(), StoreError> {
        self.db
            .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?
            .execute([format!("also {origin}").as_str(), name])?;
        Ok(())
    }

    /// The memory that says this in this project and holds, by its name.
    ///
    /// # Errors
    /// As for any read.
    pub fn says(&self, content: &str, project: Option<&str>, now: i64) -> Result<Option<String>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT name FROM memory
             WHERE content = ?1 AND project IS ?2 AND superseded_at IS NULL AND done_at IS NULL
                AND (expires_at IS NULL OR expires_at > ?3)",
        )?;
        Ok(find.query_row(params![content, project, now], |row| row.get(0)).optional()?)
    }

    /// The chunk whose text has this hash, by its name.
    ///
    /// # Errors
    /// As for any read.
    pub fn chunk_of_hash(&self, hash: &str) -> Result<Option<String>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT name FROM chunk WHERE hash = ?1 LIMIT 1")?;
        Ok(find.query_row([hash], |row| row.get(0)).optional()?)
    }
}
