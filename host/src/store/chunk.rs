//! Chunks as rows.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Origin, Store, StoreError, archive, mark, passage, taken};
use crate::{
    chunk::{Chunk, Prepared, Sort, slug},
    passage::parts,
};

const COLUMNS: &str = "c.id, c.name, c.kind, c.summary, c.tokens, c.project, c.session, c.domain, c.ticket, c.created_at, \
                       c.content IS NULL FROM chunk c";

fn read(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    Ok(Chunk {
        row: row.get(0)?,
        id: row.get(1)?,
        kind: Sort::named(row.get_ref(2)?.as_str()?).unwrap_or_default(),
        summary: row.get(3)?,
        tags: Vec::new(),
        tokens: row.get::<_, i64>(4)?.cast_unsigned(),
        project: row.get(5)?,
        session: row.get(6)?,
        domain: row.get(7)?,
        ticket: row.get(8)?,
        created_at: row.get(9)?,
        archived: row.get(10)?,
    })
}

impl Store {
    /// Stores a text. Gives the chunk, and whether it was known: one has the same text.
    ///
    /// # Errors
    /// As for any write.
    pub fn add_chunk(&mut self, prepared: &Prepared, now: i64) -> Result<(Chunk, bool), StoreError> {
        let Prepared { new, hash, tokens, entities } = prepared;
        let (name, known) = self.write(|db| {
            let known: Option<String> = db
                .prepare_cached("SELECT name FROM chunk WHERE hash = ?1 LIMIT 1")?
                .query_row([hash], |row| row.get(0))
                .optional()?;
            if let Some(known) = known {
                return Ok((known, true));
            }
            let at = new.created_at.unwrap_or(now);
            let name = free_name(db, new.project.as_deref(), new.ticket.as_deref(), new.domain.as_deref(), at)?;
            let row = db
                .prepare_cached(
                    "INSERT INTO chunk (name, kind, summary, content, hash, tokens, project, session, domain, ticket,
                        created_at, origin)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                )?
                .insert(params![
                    name,
                    new.sort.name(),
                    new.summary,
                    new.content,
                    hash,
                    tokens.cast_signed(),
                    new.project,
                    new.session,
                    new.domain,
                    new.ticket,
                    at,
                    new.origin,
                ])?;
            let marks = new
                .tags
                .iter()
                .map(|tag| ("tag", tag))
                .chain(entities.iter().map(|entity| ("entity", entity)))
                .chain(new.domain.iter().map(|domain| ("domain", domain)))
                .chain(new.ticket.iter().map(|ticket| ("ticket", ticket)));
            mark::set(db, Origin::Chunk, row, marks)?;
            taken::kept(db, new.origin.as_deref())?;
            passage::add(db, Origin::Chunk, row, parts(&new.content).len() as i64)?;
            Ok((name, false))
        })?;
        let chunk =
            self.chunk(&name)?.ok_or_else(|| StoreError::Row { table: "chunk", why: format!("{name} is gone") })?;
        Ok((chunk, known))
    }

    /// One chunk by its name.
    ///
    /// # Errors
    /// As for any read.
    pub fn chunk(&self, name: &str) -> Result<Option<Chunk>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {COLUMNS} WHERE c.name = ?1"))?;
        let found = find.query_row([name], read).optional()?;
        found.map(|chunk| self.with_chunk_tags(chunk)).transpose()
    }

    /// One chunk by its row.
    ///
    /// # Errors
    /// As for any read.
    pub fn chunk_row(&self, row: i64) -> Result<Option<Chunk>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {COLUMNS} WHERE c.id = ?1"))?;
        let found = find.query_row([row], read).optional()?;
        found.map(|chunk| self.with_chunk_tags(chunk)).transpose()
    }

    /// All chunks, the newest first, archived ones included.
    ///
    /// # Errors
    /// As for any read.
    pub fn chunks(&self) -> Result<Vec<Chunk>, StoreError> {
        let mut find = self.db.prepare_cached(&format!("SELECT {COLUMNS} ORDER BY c.created_at DESC, c.id DESC"))?;
        let chunks = find.query_map([], read)?.collect::<Result<Vec<_>, _>>()?;
        chunks.into_iter().map(|chunk| self.with_chunk_tags(chunk)).collect()
    }

    fn with_chunk_tags(&self, chunk: Chunk) -> Result<Chunk, StoreError> {
        Ok(Chunk { tags: self.marks(Origin::Chunk, chunk.row, "tag")?, ..chunk })
    }

    /// Forgets a chunk for good, an archived one as well; one that was imported is not taken over again. None of that name:
    /// false.
    ///
    /// # Errors
    /// As for any write.
    pub fn forget_chunk(&mut self, name: &str) -> Result<bool, StoreError> {
        self.write(|db| {
            let row: Option<(i64, Option<String>)> = db
                .prepare_cached("DELETE FROM chunk WHERE name = ?1 RETURNING id, origin")?
                .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((row, origin)) = row else { return Ok(false) };
            taken::forgotten(db, name, origin.as_deref())?;
            archive::clear_chunk(db, row)?;
            Ok(true)
        })
    }

    /// Makes room for a chunk that takes the place of one that was imported.
    ///
    /// # Errors
    /// As for any write.
    pub fn replace_chunk(&mut self, name: &str) -> Result<(), StoreError> {
        self.db.prepare_cached("UPDATE chunk SET origin = NULL WHERE name = ?1")?.execute([name])?;
        taken::parted(&self.db, name)?;
        self.forget_chunk(name).map(drop)
    }

    /// The text of a chunk that is not archived.
    ///
    /// # Errors
    /// As for any read.
    pub fn chunk_text(&self, row: i64) -> Result<Option<String>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT content FROM chunk WHERE id = ?1")?;
        Ok(find.query_row([row], |row| row.get(0)).optional()?.flatten())
    }

    /// The text of a chunk, of an archived one as well.
    ///
    /// # Errors
    /// As for any read.
    pub fn kept_chunk_text(&self, row: i64) -> Result<Option<String>, StoreError> {
        self.chunk_text(row)?.map_or_else(|| self.archived_chunk_text(row), |text| Ok(Some(text)))
    }
}

/// `2026-11-30_ledger_001`, and behind it ticket and domain where there are any: the first number of that day and project
/// that is free.
fn free_name(
    db: &Connection,
    project: Option<&str>,
    ticket: Option<&str>,
    domain: Option<&str>,
    at: i64,
) -> Result<String, StoreError> {
    let day = jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| "undated".to_owned(), |at| jiff::tz::TimeZone::UTC.to_datetime(at).date().to_string());
    let base = format!("{day}_{}", slug(project.unwrap_or("none")));
    let tail: String = [ticket, domain].into_iter().flatten().map(|word| format!("_{}", slug(word))).collect();
    let mut taken =
        db.prepare_cached("SELECT 1 FROM chunk WHERE name = ?1 OR (name > ?1 || '_' AND name < ?1 || '`')")?;
    for number in 1_u32.. {
        // A number is of the day and project, whatever stands behind it.
        let stem = format!("{base}_{number:03}");
        if !taken.exists([&stem])? {
            return Ok(stem + &tail);
        }
    }
    Err(StoreError::Row { table: "chunk", why: "all names are taken".to_owned() })
}
