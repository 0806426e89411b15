//! Every text that is stored, for whoever looks all of them through: what kind of row it is in, and how it is written anew.

use rusqlite::{Connection, params, params_from_iter, types::Value};

use super::{
    Origin, SessionId, Store, StoreError, TranscriptId,
    archive::{self, Shelf},
    copied::ids,
    event::{self, Words},
    mark, passage, touch,
};
use crate::{chunk, event::Event, passage::parts};

/// Where texts are stored besides events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextSort {
    /// Titles of sessions, and what the person says of them.
    Session,
    /// What analyzers say.
    Signal,
    /// Findings.
    Finding,
    /// Findings of another program.
    Imported,
    /// Patterns and proposals as another program had them.
    Original,
    /// Memories.
    Memory,
    /// Chunks.
    Chunk,
    /// Tags and other marks.
    Mark,
}

/// A row that has texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextId {
    /// A number.
    Row(i64),
    /// A key of several columns.
    Key(Vec<String>),
}

/// The texts of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The row.
    pub id: TextId,
    /// How a person finds it.
    pub place: String,
    /// They; a JSON document is one.
    pub texts: Vec<Option<String>>,
}

/// How texts of a sort are stored.
struct Table {
    name: &'static str,
    /// Columns by which a row is told.
    key: &'static [&'static str],
    /// An expression for where it is.
    place: &'static str,
    texts: &'static [&'static str],
}

const SESSION_OF: &str = "'s' || (SELECT session_id FROM transcript WHERE id = transcript_id)";

impl TextSort {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Session,
        Self::Signal,
        Self::Finding,
        Self::Imported,
        Self::Original,
        Self::Memory,
        Self::Chunk,
        Self::Mark,
    ];

    /// Are its texts JSON documents?
    pub fn is_json(self) -> bool {
        matches!(self, Self::Finding | Self::Imported | Self::Original)
    }

    fn table(self) -> Table {
        let table = |name, place, texts| Table { name, key: &["id"], place, texts };
        match self {
            Self::Session => table("session", "'s' || id", &["title", "renamed", "acknowledged"]),
            Self::Signal => table("signal", SESSION_OF, &["subject", "detail"]),
            Self::Finding => table("finding", "'s' || session_id", &["body"]),
            Self::Imported => table("imported", "'finding of ' || origin", &["body"]),
            Self::Original => Table {
                name: "original",
                key: &["origin", "kind", "name", "ours"],
                place: "kind || ' of ' || origin",
                texts: &["body"],
            },
            Self::Memory => table("memory", "name", &["content"]),
            Self::Chunk => table("chunk", "name", &["summary", "content"]),
            Self::Mark => Table {
                name: "mark",
                key: &["origin", "source", "sort", "value"],
                place: "CASE origin WHEN 1 THEN (SELECT name FROM memory WHERE id = source)
                    WHEN 2 THEN (SELECT name FROM chunk WHERE id = source) ELSE 's' || source END",
                texts: &["value"],
            },
        }
    }
}

impl Store {
    /// Is anything stored that a person or an agent has written?
    ///
    /// # Errors
    /// As for any read.
    pub fn has_texts(&self) -> Result<bool, StoreError> {
        let any = "SELECT EXISTS (SELECT 1 FROM event) OR EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM chunk)
             OR EXISTS (SELECT 1 FROM finding) OR EXISTS (SELECT 1 FROM imported)";
        Ok(self.db.prepare_cached(any)?.query_row([], |row| row.get(0))?)
    }

    /// All transcripts that events are stored of.
    ///
    /// # Errors
    /// As for any read.
    pub fn with_events(&self) -> Result<Vec<TranscriptId>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT id FROM transcript t WHERE EXISTS
                (SELECT 1 FROM event e WHERE e.id >= t.id << 32 AND e.id < (t.id + 1) << 32) ORDER BY id",
        )?;
        let found = find.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(found)
    }

    /// Events of a transcript behind a row, by their rows, at most `limit`.
    ///
    /// # Errors
    /// As for any read.
    pub fn event_rows(
        &self,
        transcript: TranscriptId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<(i64, Event)>, StoreError> {
        let (first, last) = ids(transcript, 0);
        let sql = format!("SELECT {} FROM event WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3", event::COLUMNS);
        let mut find = self.db.prepare_cached(&sql)?;
        let from = after.map_or(first, |after| after + 1);
        let mut rows = find.query(params![from, last, limit as i64])?;
        let mut events = Vec::new();
        let mut shelf = Shelf::new(&self.db);
        while let Some(row) = rows.next()? {
            let (id, words) = (row.get(0)?, Words::of(row)?);
            let is_away = words.text.is_none() && event::has_words(row.get(event::KIND)?);
            let words = if is_away { shelf.words(id)? } else { words };
            events.push((id, event::read_with(&self.db, &self.labels, row, words)?));
        }
        Ok(events)
    }

    /// Writes the texts of a transcript's events anew; its passages get new numbers, so that every index forgets the old ones.
    /// A session that was put away comes back for it.
    ///
    /// # Errors
    /// As for any write.
    pub fn rewrite_events(&mut self, transcript: TranscriptId, events: &[(i64, Event)]) -> Result<(), StoreError> {
        let mut find = self.db.prepare_cached("SELECT session_id FROM transcript WHERE id = ?1")?;
        if let Some(session) = find.query_row([transcript], |row| row.get::<_, Option<SessionId>>(0))? {
            archive::bring_back(&self.db, session)?;
        }
        drop(find);
        for (row, event) in events {
            event::rewrite(&self.db, *row, event)?;
        }
        passage::renumber(&self.db, transcript)?;
        touch::renew(&self.db, transcript)?;
        self.db
            .prepare_cached("DELETE FROM file WHERE NOT EXISTS (SELECT 1 FROM touch WHERE file_id = file.id)")?
            .execute([])?;
        Ok(())
    }

    /// All texts of a sort, handed over one row after the other.
    ///
    /// # Errors
    /// As for any read; those of `look`.
    pub fn each_text<E: From<StoreError>>(
        &self,
        sort: TextSort,
        mut look: impl FnMut(Text) -> Result<(), E>,
    ) -> Result<(), E> {
        let Table { name, key, place, texts } = sort.table();
        let columns = [key, texts].concat().join(", ");
        let sql = format!("SELECT ifnull({place}, ''), {columns} FROM {name} ORDER BY {}", key.join(", "));
        let mut find = self.db.prepare_cached(&sql).map_err(StoreError::from)?;
        let mut rows = find.query([]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let read = || -> rusqlite::Result<Text> {
                let id = if key == ["id"] {
                    TextId::Row(row.get(1)?)
                } else {
                    let column = |at| match row.get(at)? {
                        Value::Integer(number) => Ok(number.to_string()),
                        Value::Text(text) => Ok(text),
                        _ => Err(rusqlite::Error::InvalidQuery),
                    };
                    TextId::Key((1..=key.len()).map(column).collect::<Result<_, _>>()?)
                };
                let texts = (0..texts.len()).map(|at| row.get(1 + key.len() + at)).collect::<Result<_, _>>()?;
                Ok(Text { id, place: row.get(0)?, texts })
            };
            let mut text = read().map_err(StoreError::from)?;
            if let (TextSort::Chunk, TextId::Row(row), [_, content @ None]) = (sort, &text.id, &mut text.texts[..]) {
                *content = self.archived_chunk_text(*row)?;
            }
            look(text)?;
        }
        Ok(())
    }

    /// Writes the texts of a row anew. What is made of them follows: numbers of passages, marks, hashes.
    ///
    /// # Errors
    /// As for any write.
    pub fn rewrite_text(&mut self, sort: TextSort, text: &Text) -> Result<(), StoreError> {
        if let (TextSort::Chunk, TextId::Row(row)) = (sort, &text.id) {
            self.restore_chunk(*row)?;
        }
        let Table { name, key, texts, .. } = sort.table();
        let set: Vec<String> = texts.iter().map(|column| format!("{column} = ?")).collect();
        let is: Vec<String> = key.iter().map(|column| format!("CAST({column} AS TEXT) = ?")).collect();
        // A mark that is there already under its new name need not be there twice.
        let sql = match &text.id {
            TextId::Row(_) => format!("UPDATE {name} SET {} WHERE id = ?", set.join(", ")),
            TextId::Key(_) => format!("UPDATE OR REPLACE {name} SET {} WHERE {}", set.join(", "), is.join(" AND ")),
        };
        let values = text.texts.iter().map(|text| text.clone().map_or(Value::Null, Value::Text));
        let id = match &text.id {
            TextId::Row(row) => vec![Value::Integer(*row)],
            TextId::Key(key) => key.iter().cloned().map(Value::Text).collect(),
        };
        self.db.prepare_cached(&sql)?.execute(params_from_iter(values.chain(id)))?;
        match (sort, &text.id) {
            (TextSort::Session, TextId::Row(row)) => passage::renew_session(&self.db, SessionId(*row)),
            (TextSort::Memory, TextId::Row(row)) => passage::replace(&self.db, Origin::Memory, *row, 1),
            (TextSort::Chunk, TextId::Row(row)) => renew_chunk(&self.db, *row, text.texts[1].as_deref()),
            (TextSort::Mark, TextId::Key(key)) => renew_marked(&self.db, key, text.texts[0].as_deref()),
            _ => Ok(()),
        }
    }
}

fn renew_chunk(db: &Connection, row: i64, content: Option<&str>) -> Result<(), StoreError> {
    let Some(content) = content else { return Ok(()) };
    db.prepare_cached("UPDATE chunk SET hash = ?2, tokens = ?3 WHERE id = ?1")?.execute(params![
        row,
        chunk::hash(content),
        chunk::tokens(content).cast_signed()
    ])?;
    db.prepare_cached("DELETE FROM mark WHERE origin = ?1 AND source = ?2 AND sort = 'entity'")?
        .execute(params![Origin::Chunk, row])?;
    let entities = chunk::entities(content);
    mark::set(db, Origin::Chunk, row, entities.iter().map(|entity| ("entity", entity)))?;
    passage::replace(db, Origin::Chunk, row, parts(content).len() as i64)
}

/// Marks are in passages of what they mark, and in columns of memories and chunks.
fn renew_marked(db: &Connection, key: &[String], new: Option<&str>) -> Result<(), StoreError> {
    let [origin, source, sort, old] = key else { return Ok(()) };
    let Ok(source) = source.parse::<i64>() else { return Ok(()) };
    if let (table @ ("memory" | "chunk"), column @ ("domain" | "ticket")) = (
        match origin.as_str() {
            "1" => "memory",
            "2" => "chunk",
            _ => "",
        },
        sort.as_str(),
    ) {
        db.prepare_cached(&format!("UPDATE {table} SET {column} = ?3 WHERE id = ?1 AND {column} = ?2"))?
            .execute(params![source, old, new])?;
    }
    match origin.as_str() {
        "1" => passage::replace(db, Origin::Memory, source, 1),
        "3" => passage::renew_session(db, SessionId(source)),
        _ => Ok(()),
    }
}
