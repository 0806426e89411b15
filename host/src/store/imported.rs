//! What was taken over from another program: its findings, and what it said of its patterns and proposals in its own words.

use rusqlite::params;

use super::{Store, StoreError};
use crate::finding::Finding;

/// A finding of another program's library.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The program.
    pub origin: String,
    /// The tool whose session it is of.
    pub tool: String,
    /// The session, as the tool names it. It need not be in the store.
    pub session: String,
    /// Id of the pattern that it is a case of.
    pub pattern: String,
    /// When the session ended, as far as that is known; milliseconds since the Unix epoch.
    pub at: i64,
    /// What was found.
    pub finding: Finding,
}

/// Something as the other program had it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The program.
    pub origin: String,
    /// What it is.
    pub sort: Sort,
    /// Its name there.
    pub name: String,
    /// The id of what became of it here.
    pub ours: String,
    /// As it was, in JSON, redacted.
    pub body: String,
}

/// See [`Original::sort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A pattern, with its evidence.
    Pattern,
    /// A proposal.
    Proposal,
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Proposal => "proposal",
        }
    }
}

impl Store {
    /// Does `work` as a whole or not at all.
    ///
    /// # Errors
    /// Those of `work` and of any write; nothing of it was kept then.
    pub fn all_or_nothing<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.commit()?;
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from)?;
        let done = work(self).and_then(|value| {
            self.db.execute_batch("COMMIT").map_err(StoreError::from)?;
            Ok(value)
        });
        if done.is_err() {
            self.abandon();
        }
        done
    }

    /// Keeps a finding, in place of an earlier state of the same. Its pattern must be anchored.
    ///
    /// # Errors
    /// As for any write.
    pub fn put_imported(&mut self, imported: &Imported) -> Result<(), StoreError> {
        let body = serde_json::to_string(&imported.finding).map_err(|error| unreadable(&error))?;
        self.db
            .prepare_cached(
                "INSERT INTO imported (origin, tool, session, pattern, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (origin, tool, session, pattern) DO UPDATE SET at = excluded.at, body = excluded.body",
            )?
            .execute(params![imported.origin, imported.tool, imported.session, imported.pattern, imported.at, body])?;
        Ok(())
    }

    /// All of them, by session and pattern.
    ///
    /// # Errors
    /// As for any read.
    pub fn imported(&self) -> Result<Vec<Imported>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT origin, tool, session, pattern, at, body FROM imported ORDER BY tool, session, origin, pattern",
        )?;
        let mut rows = find.query([])?;
        let mut imported = Vec::new();
        while let Some(row) = rows.next()? {
            let body = serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default());
            imported.push(Imported {
                origin: row.get(0)?,
                tool: row.get(1)?,
                session: row.get(2)?,
                pattern: row.get(3)?,
                at: row.get(4)?,
                finding: body.map_err(|error| unreadable(&error))?,
            });
        }
        Ok(imported)
    }

    /// Keeps something as the other program had it, in place of what it had before under that name.
    ///
    /// # Errors
    /// As for any write.
    pub fn put_original(&mut self, original: &Original, now: i64) -> Result<(), StoreError> {
        self.db
            .prepare_cached(
                "INSERT INTO original (origin, kind, name, ours, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (origin, kind, name, ours) DO UPDATE SET at = excluded.at, body = excluded.body
                   WHERE body != excluded.body",
            )?
            .execute(params![
                original.origin,
                original.sort.name(),
                original.name,
                original.ours,
                now,
                original.body
            ])?;
        Ok(())
    }

    /// All of them, by name.
    ///
    /// # Errors
    /// As for any read.
    pub fn originals(&self) -> Result<Vec<Original>, StoreError> {
        let mut find = self
            .db
            .prepare_cached("SELECT origin, kind, name, ours, body FROM original ORDER BY origin, kind, name, ours")?;
        let rows = find.query_map([], |row| {
            let sort = if row.get_ref(1)?.as_str()? == "pattern" { Sort::Pattern } else { Sort::Proposal };
            Ok(Original { origin: row.get(0)?, sort, name: row.get(2)?, ours: row.get(3)?, body: row.get(4)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn unreadable(why: &serde_json::Error) -> StoreError {
    StoreError::Row { table: "imported", why: why.to_string() }
}
