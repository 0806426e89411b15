//! Numbers of passages, which indexes go by. A number is given once: what changes gets a new one, and the old one is noted as
//! removed until every index has taken it out. So an index is brought up to date by what follows the last number and the
//! last removal that it knows, and a hit whose number is gone is told by that alone.
//!
//! Events that were stored together share a row, because there are millions of them.

pub(super) mod read;

pub use read::InContext;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::{PassageId, SessionId, Store, StoreError, TranscriptId, copied::ids, event::ORDINAL_BITS, trigrams};

/// What passages are of. Numbers are for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// An event of a session.
    Event = 0,
    /// A memory.
    Memory = 1,
    /// A chunk.
    Chunk = 2,
    /// A session as a whole.
    Session = 3,
}

impl ToSql for Origin {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

impl Origin {
    pub(super) fn of(number: i64) -> Option<Self> {
        [Self::Event, Self::Memory, Self::Chunk, Self::Session].into_iter().find(|it| *it as i64 == number)
    }
}

/// Passages whose numbers follow each other, of sources that do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Number of the first.
    pub first: PassageId,
    /// How many they are.
    pub count: i64,
    /// What they are of.
    pub origin: Origin,
    /// Events: the id of the first one's row. Otherwise the row of the memory, chunk or session that all of them are of.
    pub source: i64,
}

impl Span {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let origin = row.get(2)?;
        let origin = Origin::of(origin).ok_or(rusqlite::Error::IntegralValueOutOfRange(2, origin))?;
        Ok(Self { first: row.get(0)?, count: row.get(1)?, origin, source: row.get(3)? })
    }

    /// What of it is not after a number; none: nothing.
    pub fn until(self, number: PassageId) -> Option<Self> {
        let count = self.count.min(number.0 - self.first.0 + 1);
        (count > 0).then_some(Self { count, ..self })
    }

    /// What is left of it from a number on.
    fn from(self, number: PassageId) -> Self {
        let skipped = (number.0 - self.first.0).clamp(0, self.count);
        let source = if self.origin == Origin::Event { self.source + skipped } else { self.source };
        Self { first: PassageId(self.first.0 + skipped), count: self.count - skipped, source, ..self }
    }
}

/// Numbers whose passages are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Counts removals; rises.
    pub id: i64,
    /// The first number.
    pub first: PassageId,
    /// How many.
    pub count: i64,
}

const NEXT: &str = "next-passage";

/// Spans with numbers after one, found by their first numbers: they do not overlap, so it may be in the last one that begins before.
const SPANS_AFTER: &str = "SELECT first, count, origin, source FROM span
    WHERE first >= ifnull((SELECT max(first) FROM span WHERE first <= ?1), 0) AND first + count > ?1 + 1
    ORDER BY first LIMIT ?2";

/// The number of an event, looked for among those of its transcript only: most events before it are of others.
const OF_EVENT: &str = "SELECT first + ?2 - source FROM span
    WHERE origin = ?1 AND source BETWEEN (?2 >> 32) << 32 AND ?2 AND source + count > ?2
    ORDER BY source DESC LIMIT 1";

/// Gives numbers to `count` passages of a source.
pub(super) fn add(db: &Connection, origin: Origin, source: i64, count: i64) -> Result<(), StoreError> {
    if count == 0 {
        return Ok(());
    }
    let mut take = db.prepare_cached(
        "INSERT INTO meta (key, value) VALUES (?1, 1 + ?2)
         ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + ?2 RETURNING CAST(value AS INTEGER)",
    )?;
    let next: i64 = take.query_row(params![NEXT, count], |row| row.get(0))?;
    db.prepare_cached("INSERT INTO span (first, count, origin, source) VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        next - count,
        count,
        origin,
        source
    ])?;
    Ok(())
}

/// Takes out all passages of a source that is no event.
pub(super) fn remove(db: &Connection, origin: Origin, source: i64) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT INTO removal (first, count) SELECT first, count FROM span WHERE origin = ?1 AND source = ?2",
    )?
    .execute(params![origin, source])?;
    db.prepare_cached("DELETE FROM span WHERE origin = ?1 AND source = ?2")?.execute(params![origin, source])?;
    Ok(())
}

/// Gives a source that has changed, and is no event, new numbers.
pub(super) fn replace(db: &Connection, origin: Origin, source: i64, count: i64) -> Result<(), StoreError> {
    remove(db, origin, source)?;
    add(db, origin, source, count)
}

/// A session that is there has changed.
pub(super) fn renew_session(db: &Connection, session: SessionId) -> Result<(), StoreError> {
    if db.prepare_cached("SELECT 1 FROM session WHERE id = ?1")?.exists([session])? {
        replace(db, Origin::Session, session.0, 1)?;
    }
    Ok(())
}

/// Takes out the passages of a transcript's events from an ordinal on.
pub(super) fn cut_events(db: &Connection, transcript: TranscriptId, from: i64) -> Result<(), StoreError> {
    let (from, last) = ids(transcript, from);
    let (start, _) = ids(transcript, 0);
    let mut find = db.prepare_cached(
        "SELECT first, count, origin, source FROM span
         WHERE origin = ?1 AND source BETWEEN ?2 AND ?3 AND source + count > ?4",
    )?;
    let spans: Vec<Span> =
        find.query_map(params![Origin::Event, start, last, from], Span::read)?.collect::<Result<_, _>>()?;
    for span in spans {
        let kept = (from - span.source).max(0);
        trigrams::cut(db, &span, kept)?;
        db.prepare_cached("INSERT INTO removal (first, count) VALUES (?1, ?2)")?
            .execute([span.first.0 + kept, span.count - kept])?;
        if kept == 0 {
            db.prepare_cached("DELETE FROM span WHERE first = ?1")?.execute([span.first])?;
        } else {
            db.prepare_cached("UPDATE span SET count = ?2 WHERE first = ?1")?.execute(params![span.first, kept])?;
        }
    }
    Ok(())
}

/// Gives numbers to a transcript's events that have none yet, up to an ordinal.
pub(super) fn add_events(db: &Connection, transcript: TranscriptId, end: i64) -> Result<(), StoreError> {
    let (start, last) = ids(transcript, 0);
    let mut find =
        db.prepare_cached("SELECT max(source + count) FROM span WHERE origin = ?1 AND source BETWEEN ?2 AND ?3")?;
    let numbered: Option<i64> = find.query_row(params![Origin::Event, start, last], |row| row.get(0))?;
    let from = numbered.unwrap_or(start);
    add(db, Origin::Event, from, (start + end - from).max(0))
}

/// Gives all of a transcript's events new numbers: what an index is to make of them has changed.
pub(super) fn renumber(db: &Connection, transcript: TranscriptId) -> Result<(), StoreError> {
    let (start, last) = ids(transcript, 0);
    cut_events(db, transcript, 0)?;
    // Of a session that is put away indexes have nothing but its title.
    let is_away =
        "SELECT 1 FROM transcript t JOIN archive a ON a.origin = ?2 AND a.source = t.session_id WHERE t.id = ?1";
    if db.prepare_cached(is_away)?.exists(params![transcript, Origin::Session])? {
        return Ok(());
    }
    let end: Option<i64> = db
        .prepare_cached("SELECT max(id) FROM event WHERE id BETWEEN ?1 AND ?2")?
        .query_row([start, last], |row| row.get(0))?;
    add_events(db, transcript, end.map_or(0, |end| end + 1 - start))
}

/// The transcript of an event's row.
pub(super) fn transcript_of(event: i64) -> TranscriptId {
    TranscriptId(event >> ORDINAL_BITS)
}

impl Store {
    /// Spans that hold numbers after this one, in their order, at most `limit`. The first one is cut to what follows it.
    ///
    /// # Errors
    /// As for any read.
    pub fn spans_after(&self, after: PassageId, limit: usize) -> Result<Vec<Span>, StoreError> {
        let mut find = self.db.prepare_cached(SPANS_AFTER)?;
        let spans = find.query_map(params![after, limit as i64], Span::read)?;
        Ok(spans.map(|span| span.map(|span| span.from(PassageId(after.0 + 1)))).collect::<Result<_, _>>()?)
    }

    /// The span of a passage, and the passage's place in it; none: it is gone.
    fn span_of(&self, passage: PassageId) -> Result<Option<(Span, i64)>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT first, count, origin, source FROM span WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
        )?;
        let whole = find.query_row([passage], Span::read).optional()?;
        Ok(whole.map(|whole| (whole, passage.0 - whole.first.0)).filter(|(whole, place)| *place < whole.count))
    }

    /// The number of an event's passage.
    ///
    /// # Errors
    /// As for any read.
    pub fn passage_of_event(&self, event: i64) -> Result<Option<PassageId>, StoreError> {
        let mut find = self.db.prepare_cached(OF_EVENT)?;
        Ok(find.query_row(params![Origin::Event, event], |row| row.get(0)).optional()?)
    }

    /// The last number that was given; 0: none was.
    ///
    /// # Errors
    /// As for any read.
    pub fn last_passage(&self) -> Result<PassageId, StoreError> {
        let next = self.meta(NEXT)?.and_then(|next| next.parse::<i64>().ok());
        Ok(PassageId(next.map_or(0, |next| next - 1)))
    }

    /// Removals after this one, in their order.
    ///
    /// # Errors
    /// As for any read.
    pub fn removals_after(&self, after: i64) -> Result<Vec<Removal>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT id, first, count FROM removal WHERE id > ?1 ORDER BY id")?;
        let removals =
            find.query_map([after], |row| Ok(Removal { id: row.get(0)?, first: row.get(1)?, count: row.get(2)? }))?;
        Ok(removals.collect::<Result<_, _>>()?)
    }

    /// Forgets removals that every index has taken in.
    ///
    /// # Errors
    /// As for any write.
    pub fn forget_removals(&mut self, until: i64) -> Result<(), StoreError> {
        self.db.prepare_cached("DELETE FROM removal WHERE id <= ?1")?.execute([until])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_looked_up_and_not_gone_through() {
        let home = tempfile::TempDir::new().unwrap();
        let store = Store::open(home.path()).unwrap();
        for sql in [SPANS_AFTER, OF_EVENT] {
            let mut explain = store.db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = explain.query_map([1, 1], |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            assert!(steps.iter().all(|step| !step.contains("SCAN span")), "{steps:?}");
            let bounds = if sql == OF_EVENT { "source>? AND source<?" } else { "rowid>?" };
            assert!(steps.iter().any(|step| step.contains(bounds)), "{steps:?}");
        }
    }

    #[test]
    fn spans_after_a_number_are_what_follows_it() {
        let home = tempfile::TempDir::new().unwrap();
        let store = Store::open(home.path()).unwrap();
        for (origin, source, count) in
            [(Origin::Event, 7 << 32, 5), (Origin::Memory, 3, 1), (Origin::Event, 8 << 32, 4)]
        {
            add(&store.db, origin, source, count).unwrap();
        }
        remove(&store.db, Origin::Memory, 3).unwrap();
        let after = |number| -> Vec<(i64, i64, i64)> {
            let spans = store.spans_after(PassageId(number), 9).unwrap();
            spans.iter().map(|span| (span.first.0, span.count, span.source)).collect()
        };
        assert_eq!(after(0), [(1, 5, 7 << 32), (7, 4, 8 << 32)]);
        assert_eq!(after(2), [(3, 3, (7 << 32) + 2), (7, 4, 8 << 32)]);
        for number in [5, 6] {
            assert_eq!(after(number), [(7, 4, 8 << 32)]);
        }
        assert_eq!(after(10), []);
        assert_eq!(store.passage_of_event((8 << 32) + 3).unwrap(), Some(PassageId(10)));
        for nothing in [(8 << 32) + 4, (9 << 32), (7 << 32) + 5] {
            assert_eq!(store.passage_of_event(nothing).unwrap(), None);
        }
    }
}
