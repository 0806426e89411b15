//! Short texts that repeat are stored once. Both directions are remembered, as each event asks for two or three.

use std::{cell::RefCell, collections::HashMap};

use rusqlite::{Connection, OptionalExtension};

/// What is remembered of the table `label`.
#[derive(Debug, Default)]
pub(super) struct Labels {
    ids: RefCell<HashMap<String, i64>>,
    texts: RefCell<HashMap<i64, String>>,
}

impl Labels {
    /// The text's number; a new one if it has none.
    pub(super) fn id(&self, db: &Connection, text: &str) -> rusqlite::Result<i64> {
        if let Some(&id) = self.ids.borrow().get(text) {
            return Ok(id);
        }
        let known = db.prepare_cached("SELECT id FROM label WHERE text = ?1")?.query_row([text], |row| row.get(0));
        let id = match known.optional()? {
            Some(id) => id,
            None => db.prepare_cached("INSERT INTO label (text) VALUES (?1)")?.insert([text])?,
        };
        self.ids.borrow_mut().insert(text.to_owned(), id);
        Ok(id)
    }

    /// The text of a number; none if nothing has it.
    pub(super) fn text(&self, db: &Connection, id: i64) -> rusqlite::Result<Option<String>> {
        if let Some(text) = self.texts.borrow().get(&id) {
            return Ok(Some(text.clone()));
        }
        let mut find = db.prepare_cached("SELECT text FROM label WHERE id = ?1")?;
        let text: Option<String> = find.query_row([id], |row| row.get(0)).optional()?;
        if let Some(text) = &text {
            self.texts.borrow_mut().insert(id, text.clone());
        }
        Ok(text)
    }

    /// Forgets everything: a transaction that may have added labels was given up.
    pub(super) fn forget(&self) {
        self.ids.borrow_mut().clear();
        self.texts.borrow_mut().clear();
    }
}
