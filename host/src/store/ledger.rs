//! Which transcripts exist, and what became of each.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Row};

use super::{Stamp, Store, StoreError, TranscriptId};

/// A transcript as a survey of its source found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Adapter whose source it belongs to.
    pub adapter: String,
    /// Tool that wrote it.
    pub tool: String,
    /// Canonical path of the file, or of the database.
    pub path: String,
    /// The session's key in a database, '' for a file.
    pub key: String,
    /// How it looks.
    pub stamp: Stamp,
    /// The person named it, so it may lie anywhere.
    pub named: bool,
}

/// What the ledger says of a transcript that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Never seen.
    New,
    /// As it was when it was last dealt with.
    Unchanged,
    /// The same file, longer.
    Grown,
    /// Shorter, rewritten, or another file under this name; or another version in a database.
    Replaced,
    /// It had vanished, and is back as it was.
    Returned,
    /// The session it is of was deleted: it is not read, whatever becomes of it.
    Deleted,
    /// Waits in the queue.
    Queued,
    /// Unchanged since it failed.
    Failed {
        /// When it is tried again; none: given up until it changes or `retry` is run.
        next_try: Option<i64>,
    },
}

impl Standing {
    /// Something is to be read.
    pub fn is_work(self) -> bool {
        matches!(self, Self::New | Self::Grown | Self::Replaced | Self::Returned)
    }
}

/// A transcript of the ledger that was not found any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Its row.
    pub id: TranscriptId,
    /// Where it was.
    pub path: String,
}

/// What a survey of one adapter's sources amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Of each transcript, in the order given.
    pub standings: Vec<Standing>,
    /// Known ones that were not among them and are not marked as expired yet.
    pub absent: Vec<Absent>,
}

/// A ledger row, as far as it matters here.
struct Entry {
    id: TranscriptId,
    state: String,
    next_try: Option<i64>,
    stamp: Option<Stamp>,
}

/// Columns of a [`Stamp`]; all NULL for a transcript that was never dealt with.
pub(super) const STAMP: &str = "size, mtime_ns, inode, device, version";

/// Reads the stamp whose columns begin at `from`.
pub(super) fn stamp(row: &Row<'_>, from: usize) -> rusqlite::Result<Option<Stamp>> {
    let Some(size) = row.get::<_, Option<i64>>(from)? else { return Ok(None) };
    Ok(Some(Stamp {
        size: size.cast_unsigned(),
        mtime_ns: row.get(from + 1)?,
        inode: row.get::<_, i64>(from + 2)?.cast_unsigned(),
        device: row.get::<_, i64>(from + 3)?.cast_unsigned(),
        version: row.get(from + 4)?,
    }))
}

/// Notes how a transcript looked when it was dealt with.
pub(super) fn set_stamp(db: &Connection, id: TranscriptId, stamp: &Stamp) -> rusqlite::Result<()> {
    let sql = "UPDATE transcript SET size = ?2, mtime_ns = ?3, inode = ?4, device = ?5, version = ?6 WHERE id = ?1";
    let Stamp { size, mtime_ns, inode, device, version } = stamp;
    let values =
        rusqlite::params![id, size.cast_signed(), mtime_ns, inode.cast_signed(), device.cast_signed(), version];
    db.prepare_cached(sql)?.execute(values).map(drop)
}

impl Entry {
    /// From `id, state, next_try` and [`STAMP`], beginning at `from`.
    fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(from)?,
            state: row.get(from + 1)?,
            next_try: row.get(from + 2)?,
            stamp: stamp(row, from + 3)?,
        })
    }

    fn standing(&self, now: &Stamp) -> Standing {
        let Some(before) = &self.stamp else {
            return if self.state == "queued" { Standing::Queued } else { Standing::New };
        };
        match self.state.as_str() {
            "queued" => Standing::Queued,
            "expired" if before == now => Standing::Returned,
            "failed" if before == now => Standing::Failed { next_try: self.next_try },
            _ if before == now => Standing::Unchanged,
            _ if now.version.is_none()
                && before.version.is_none()
                && now.size > before.size
                && (now.inode, now.device) == (before.inode, before.device) =>
            {
                Standing::Grown
            }
            _ => Standing::Replaced,
        }
    }
}

impl Store {
    /// What the ledger says of one transcript. Nothing is opened or changed.
    ///
    /// # Errors
    /// As for any read.
    pub fn observe(&self, found: &Found) -> Result<Standing, StoreError> {
        let sql = format!(
            "SELECT id, state, next_try, {STAMP} FROM transcript WHERE adapter = ?1 AND path = ?2 AND key = ?3"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let entry = find.query_row([&found.adapter, &found.path, &found.key], |row| Entry::read(row, 0)).optional()?;
        if self.deleted_at(found)?.is_some() {
            return Ok(Standing::Deleted);
        }
        Ok(entry.map_or(Standing::New, |entry| entry.standing(&found.stamp)))
    }

    /// What the ledger says of everything that a survey of an adapter's sources found. Nothing is opened or changed. What lies
    /// in the databases named as `unchanged` was not looked for, and is left out.
    ///
    /// # Errors
    /// As for any read.
    pub fn survey(&self, adapter: &str, found: &[Found], unchanged: &[String]) -> Result<Survey, StoreError> {
        // By names that the index holds, so that rows that are left out are not read.
        let sql = format!(
            "SELECT path, key, id, state, next_try, {STAMP} FROM transcript
             WHERE adapter = ?1 AND path NOT IN (SELECT value FROM json_each(?2))"
        );
        let mut all = self.db.prepare_cached(&sql)?;
        let unchanged = serde_json::json!(unchanged).to_string();
        let mut known: HashMap<(String, String), Entry> = all
            .query_map([adapter, &unchanged], |row| Ok(((row.get(0)?, row.get(1)?), Entry::read(row, 2)?)))?
            .collect::<Result<_, _>>()?;
        let mut buried = self.db.prepare_cached("SELECT path, key FROM deleted WHERE adapter = ?1")?;
        let buried: HashSet<(String, String)> =
            buried.query_map([adapter], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        let mut survey = Survey::default();
        for found in found {
            // Names that are not ours to compare by reference: a survey of 10,000 transcripts copies a megabyte.
            let name = (found.path.clone(), found.key.clone());
            let entry = known.remove(&name);
            let standing = match entry {
                _ if buried.contains(&name) => Standing::Deleted,
                Some(entry) => entry.standing(&found.stamp),
                None => Standing::New,
            };
            survey.standings.push(standing);
        }
        let gone = known.into_iter().filter(|(_, entry)| entry.state != "expired");
        survey.absent = gone.map(|((path, _), entry)| Absent { id: entry.id, path }).collect();
        survey.absent.sort_by_key(|absent| absent.id);
        Ok(survey)
    }

    /// Sessions that the ledger has of a database.
    ///
    /// # Errors
    /// As for any read.
    pub fn count_in(&self, adapter: &str, path: &str) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM transcript WHERE adapter = ?1 AND path = ?2";
        let count = self.db.prepare_cached(sql)?.query_row([adapter, path], |row| row.get::<_, i64>(0))?;
        Ok(count.cast_unsigned())
    }

    /// Queues transcripts, whatever they were before, but for those whose session was deleted; gives how many were not queued
    /// already. Earlier failures are forgotten.
    ///
    /// # Errors
    /// As for any write.
    pub fn enqueue<'a>(&mut self, found: impl IntoIterator<Item = &'a Found>, now: i64) -> Result<usize, StoreError> {
        self.write(|db| {
            let mut put = db.prepare_cached(
                "INSERT INTO transcript (adapter, tool, path, key, state, queued_at, bytes, named)
                 SELECT ?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7
                 WHERE NOT EXISTS (SELECT 1 FROM deleted WHERE adapter = ?1 AND path = ?3 AND key = ?4)
                 ON CONFLICT (adapter, path, key) DO UPDATE SET state = 'queued', queued_at = excluded.queued_at,
                    bytes = excluded.bytes, named = max(named, excluded.named), claims = 0, attempts = 0, next_try = NULL, reason = NULL, why = NULL,
                    place = NULL
                 WHERE state != 'queued'",
            )?;
            let mut queued = 0;
            for found in found {
                let bytes = found.stamp.size.cast_signed();
                let Found { adapter, tool, path, key, named, .. } = found;
                queued += put.execute(rusqlite::params![adapter, tool, path, key, now, bytes, named])?;
            }
            Ok(queued)
        })
    }

    /// Marks transcripts that their tool has deleted. What is stored of them stays.
    ///
    /// # Errors
    /// As for any write.
    pub fn expire(&mut self, gone: &[Absent]) -> Result<(), StoreError> {
        self.write(|db| {
            let mut mark = db.prepare_cached(
                "UPDATE transcript SET state = 'expired', next_try = NULL, claims = 0,
                    reason = 'vanished',
                    why = CASE WHEN size IS NULL THEN 'deleted before it was read' ELSE 'deleted by its tool' END
                 WHERE id = ?1",
            )?;
            for gone in gone {
                mark.execute([gone.id])?;
            }
            Ok(())
        })
    }

    /// Queues what failed, given up or not; gives how many.
    ///
    /// # Errors
    /// As for any write.
    pub fn retry(&mut self, now: i64) -> Result<usize, StoreError> {
        let mut queue = self.db.prepare_cached(
            "UPDATE transcript SET state = 'queued', queued_at = ?1, claims = 0, attempts = 0, next_try = NULL,
                reason = NULL, why = NULL, place = NULL
             WHERE state = 'failed'",
        )?;
        Ok(queue.execute([now])?)
    }

    /// Queues an adapter's transcripts that another version of its component dealt with; gives how many. Expired ones
    /// stay as they are: there is nothing to read again. So do those whose session was deleted, put away or purged: reading one
    /// that is put away would bring all of it back, so it waits until something else has.
    ///
    /// # Errors
    /// As for any write.
    pub fn requeue_stale(&mut self, adapter: &str, parsed_by: &str, now: i64) -> Result<usize, StoreError> {
        let mut queue = self.db.prepare_cached(
            "UPDATE transcript SET state = 'queued', queued_at = ?3, claims = 0, attempts = 0, next_try = NULL,
                reason = NULL, why = NULL, place = NULL
             WHERE adapter = ?1 AND (parsed_by IS NULL OR parsed_by < ?2 OR parsed_by > ?2)
                AND state IN ('done', 'failed', 'skipped') AND reason IS NOT 'deleted'
                AND NOT EXISTS (SELECT 1 FROM session s WHERE s.id = session_id AND s.purged_at IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM archive a WHERE a.origin = 3 AND a.source = session_id)",
        )?;
        Ok(queue.execute(rusqlite::params![adapter, parsed_by, now])?)
    }
}
