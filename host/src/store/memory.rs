//! Memories as rows.

use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

use super::{Origin, Store, StoreError, deleted, mark, passage, taken};
use crate::memory::{Category, Importance, Memory, MemoryError, NewMemory, Trust};

const COLUMNS: &str = "m.id, m.name, m.content, m.category, m.importance, m.trust, m.confidence, m.project, m.session, \
                       m.domain, m.ticket, m.created_at, m.expires_at, m.done_at, s.name, m.superseded_at \
                       FROM memory m LEFT JOIN memory s ON s.id = m.superseded_by";

fn read(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let number = |column| row.get::<_, i64>(column);
    let broken = |column, value| rusqlite::Error::IntegralValueOutOfRange(column, value);
    Ok(Memory {
        row: row.get(0)?,
        id: row.get(1)?,
        content: row.get(2)?,
        category: Category::named(row.get_ref(3)?.as_str()?).unwrap_or_default(),
        importance: Importance::of(number(4)?).ok_or_else(|| broken(4, 0))?,
        trust: Trust::of(number(5)?).ok_or_else(|| broken(5, 0))?,
        confidence: row.get(6)?,
        tags: Vec::new(),
        project: row.get(7)?,
        session: row.get(8)?,
        domain: row.get(9)?,
        ticket: row.get(10)?,
        created_at: row.get(11)?,
        expires_at: row.get(12)?,
        done_at: row.get(13)?,
        superseded_by: row.get(14)?,
        superseded_at: row.get(15)?,
    })
}

impl Store {
    /// Stores a statement, and marks those that it supersedes. Gives its name, and whether it was known: one that holds
    /// says the same in the same project.
    ///
    /// # Errors
    /// `Unknown` for a name to supersede that is not there; as for any write.
    pub fn add_memory(&mut self, new: &NewMemory, now: i64) -> Result<(String, bool), MemoryError> {
        let superseded: Vec<i64> = new
            .supersedes
            .iter()
            .map(|name| Ok(self.memory(name)?.ok_or_else(|| MemoryError::Unknown(name.clone()))?.row))
            .collect::<Result<_, MemoryError>>()?;
        let stored = self.write(|db| {
            let same = "SELECT id, name FROM memory
                 WHERE content = ?1 AND project IS ?2 AND superseded_at IS NULL AND done_at IS NULL
                    AND (expires_at IS NULL OR expires_at > ?3)";
            let known: Option<(i64, String)> = db
                .prepare_cached(same)?
                .query_row(params![new.content, new.project, now], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            if let Some((row, known)) = known {
                supersede(db, &superseded, row, now)?;
                return Ok((known, true));
            }
            let at = new.created_at.unwrap_or(now);
            let name = free_name(db, &new.content, at)?;
            let row = db
                .prepare_cached(
                    "INSERT INTO memory (name, content, category, importance, trust, confidence, project, session,
                        domain, ticket, created_at, expires_at, origin)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                )?
                .insert(params![
                    name,
                    new.content,
                    new.category.name(),
                    new.importance as i64,
                    new.trust as i64,
                    new.confidence.unwrap_or(1.0),
                    new.project,
                    new.session,
                    new.domain,
                    new.ticket,
                    at,
                    new.expires_at,
                    new.origin,
                ])?;
            let marks = new
                .tags
                .iter()
                .map(|tag| ("tag", tag))
                .chain(new.domain.iter().map(|domain| ("domain", domain)))
                .chain(new.ticket.iter().map(|ticket| ("ticket", ticket)));
            mark::set(db, Origin::Memory, row, marks)?;
            supersede(db, &superseded, row, now)?;
            passage::add(db, Origin::Memory, row, 1)?;
            Ok((name, false))
        })?;
        Ok(stored)
    }

    /// One memory by its name.
    ///
    /// # Errors
    /// As for any read.
    pub fn memory(&self, name: &str) -> Result<Option<Memory>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {COLUMNS} WHERE m.name = ?1"))?;
        let found = find.query_row([name], read).optional()?;
        found.map(|memory| self.with_tags(memory)).transpose()
    }

    /// One memory by its row.
    ///
    /// # Errors
    /// As for any read.
    pub fn memory_row(&self, row: i64) -> Result<Option<Memory>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {COLUMNS} WHERE m.id = ?1"))?;
        let found = find.query_row([row], read).optional()?;
        found.map(|memory| self.with_tags(memory)).transpose()
    }

    /// All memories, those that matter most first, of these the newest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn memories(&self) -> Result<Vec<Memory>, StoreError> {
        let order = "ORDER BY m.importance DESC, m.created_at DESC, m.id DESC";
        let mut find = self.db.prepare_cached(&format!("SELECT {COLUMNS} {order}"))?;
        let memories = find.query_map([], read)?.collect::<Result<Vec<_>, _>>()?;
        memories.into_iter().map(|memory| self.with_tags(memory)).collect()
    }

    fn with_tags(&self, memory: Memory) -> Result<Memory, StoreError> {
        Ok(Memory { tags: self.marks(Origin::Memory, memory.row, "tag")?, ..memory })
    }

    /// How many memories there are.
    ///
    /// # Errors
    /// As for any read.
    pub fn count_memories(&self) -> Result<u64, StoreError> {
        let count: i64 = self.db.prepare_cached("SELECT count(*) FROM memory")?.query_row([], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// Forgets a memory for good; one that was imported is not taken over again. None of that name: false.
    ///
    /// # Errors
    /// As for any write.
    pub fn forget(&mut self, name: &str) -> Result<bool, StoreError> {
        self.write(|db| {
            let row: Option<(i64, Option<String>)> = db
                .prepare_cached("DELETE FROM memory WHERE name = ?1 RETURNING id, origin")?
                .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((row, origin)) = row else { return Ok(false) };
            taken::forgotten(db, name, origin.as_deref())?;
            mark::clear(db, Origin::Memory, row)?;
            passage::remove(db, Origin::Memory, row)?;
            deleted::note_held(db)?;
            Ok(true)
        })
    }

    /// Notes that one memory took the place of another. Neither need be there.
    ///
    /// # Errors
    /// As for any write.
    pub fn set_superseded(&mut self, old: &str, by: &str, at: i64) -> Result<(), StoreError> {
        self.db
            .prepare_cached(
                "UPDATE memory SET superseded_by = (SELECT id FROM memory WHERE name = ?2), superseded_at = ?3
                 WHERE name = ?1 AND name != ?2",
            )?
            .execute(params![old, by, at])?;
        Ok(())
    }

    /// Notes that a todo is done. None of that name: false.
    ///
    /// # Errors
    /// As for any write.
    pub fn set_done(&mut self, name: &str, now: i64) -> Result<bool, StoreError> {
        self.write(|db| {
            let changed = db
                .prepare_cached("UPDATE memory SET done_at = ?2 WHERE name = ?1 AND category = 'todo'")?
                .execute(params![name, now])?;
            Ok(changed > 0)
        })
    }
}

/// Notes that one memory took the place of others; it does not take its own.
fn supersede(db: &Connection, old: &[i64], new: i64, now: i64) -> Result<(), StoreError> {
    let mut note =
        db.prepare_cached("UPDATE memory SET superseded_by = ?2, superseded_at = ?3 WHERE id = ?1 AND id != ?2")?;
    for old in old {
        note.execute([*old, new, now])?;
    }
    Ok(())
}

/// A name that no memory has: the beginning of a hash of what it says and when.
fn free_name(db: &Connection, content: &str, at: i64) -> Result<String, StoreError> {
    let mut taken = db.prepare_cached("SELECT 1 FROM memory WHERE name = ?1")?;
    for salt in 0_u32.. {
        let mut hash = Sha256::new();
        hash.update(content);
        hash.update(at.to_le_bytes());
        hash.update(salt.to_le_bytes());
        let name: String = hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        if !taken.exists([&name])? {
            return Ok(name);
        }
    }
    Err(StoreError::Row { table: "memory", why: "all names are taken".to_owned() })
}
