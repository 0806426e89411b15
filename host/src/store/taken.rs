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
    /// A person has forgotten it since.
    Forgotten,
}

/// Notes that something that was taken over was forgotten on purpose.
pub(super) fn forgotten(db: &Connection, origin: Option<&str>) -> Result<(), StoreError> {
    if let Some(origin) = origin {
        db.prepare_cached("INSERT OR IGNORE INTO meta (key, value) VALUES (?1, '')")?
            .execute([format!("forgotten {origin}")])?;
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
