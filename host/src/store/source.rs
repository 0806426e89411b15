//! Sources as a whole: how databases looked, and what stands in the way of reading.

use rusqlite::OptionalExtension as _;

use super::{Store, StoreError};

/// Something that stands in the way, besides single transcripts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Trouble {
    /// The adapter or analyzer.
    pub component: String,
    /// The file or folder.
    pub place: String,
    /// One line for a person.
    pub why: String,
    /// What to do about it.
    pub hint: String,
    /// When it began.
    pub since: i64,
}

const PUT: &str = "INSERT OR REPLACE INTO trouble (component, place, why, hint, since) VALUES (?1, ?2, ?3, ?4, ?5)";

impl Store {
    /// How a database looked when all its sessions were queued or known.
    ///
    /// # Errors
    /// As for any read.
    pub fn source(&self, adapter: &str, path: &str) -> Result<Option<String>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT stamp FROM source WHERE adapter = ?1 AND path = ?2")?;
        Ok(find.query_row([adapter, path], |row| row.get(0)).optional()?)
    }

    /// Notes how a database looks; none: it is to be looked at again.
    ///
    /// # Errors
    /// As for any write.
    pub fn set_source(&mut self, adapter: &str, path: &str, stamp: Option<&str>) -> Result<(), StoreError> {
        self.write(|db| {
            match stamp {
                Some(stamp) => db
                    .prepare_cached("INSERT OR REPLACE INTO source (adapter, path, stamp) VALUES (?1, ?2, ?3)")?
                    .execute([adapter, path, stamp])?,
                None => db
                    .prepare_cached("DELETE FROM source WHERE adapter = ?1 AND path = ?2")?
                    .execute([adapter, path])?,
            };
            Ok(())
        })
    }

    /// Replaces what stands in the way of a component. What stood there before keeps its time.
    ///
    /// # Errors
    /// As for any write.
    pub fn set_troubles(&mut self, component: &str, troubles: &[Trouble]) -> Result<(), StoreError> {
        let before: Vec<_> = self.troubles()?.into_iter().filter(|trouble| trouble.component == component).collect();
        let is_same = |a: &Trouble, b: &Trouble| (&a.place, &a.why, &a.hint) == (&b.place, &b.why, &b.hint);
        if before.len() == troubles.len() && troubles.iter().all(|new| before.iter().any(|old| is_same(old, new))) {
            return Ok(());
        }
        self.write(|db| {
            db.prepare_cached("DELETE FROM trouble WHERE component = ?1")?.execute([component])?;
            let mut put = db.prepare_cached(PUT)?;
            for new in troubles {
                let since = before.iter().find(|old| is_same(old, new)).map_or(new.since, |old| old.since);
                put.execute(rusqlite::params![component, new.place, new.why, new.hint, since])?;
            }
            Ok(())
        })
    }

    /// Forgets what stood in the way of components that are none of these.
    ///
    /// # Errors
    /// As for any write.
    pub fn keep_troubles_of(&mut self, components: &[&str]) -> Result<(), StoreError> {
        for trouble in self.troubles()? {
            if !components.contains(&trouble.component.as_str()) {
                self.set_troubles(&trouble.component, &[])?;
            }
        }
        Ok(())
    }

    /// Adds one, or replaces the one of this component and place.
    ///
    /// # Errors
    /// As for any write.
    pub fn add_trouble(&mut self, new: &Trouble) -> Result<(), StoreError> {
        self.write(|db| {
            db.prepare_cached(PUT)?.execute(rusqlite::params![
                new.component,
                new.place,
                new.why,
                new.hint,
                new.since
            ])?;
            Ok(())
        })
    }

    /// Everything that stands in the way.
    ///
    /// # Errors
    /// As for any read.
    pub fn troubles(&self) -> Result<Vec<Trouble>, StoreError> {
        let mut find = self
            .db
            .prepare_cached("SELECT component, place, why, hint, since FROM trouble ORDER BY component, place")?;
        let rows = find.query_map([], |row| {
            let (component, place, why) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Trouble { component, place, why, hint: row.get(3)?, since: row.get(4)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
