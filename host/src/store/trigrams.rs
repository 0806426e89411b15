//! A filter of trigrams for each run of events, so that looking for an expression passes over those that cannot match it. Rows go
//! by numbers of passages, as indexes do: where a number is gone, its filter says nothing, and what has none is looked through.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::{
    Origin, PassageId, Span, Store, StoreError, TranscriptId,
    event::{MESSAGE, TOOL_CALL, TOOL_RESULT},
    passage::transcript_of,
};
use crate::search::{Needs, Trigrams};

/// Bytes of text that share a filter, at least. Fewer take more room, more are passed over less often.
const TEXT: usize = 64 << 10;
/// Spans that are read at a time, and written together.
const SPANS: usize = 256;
const COVERED: &str = "trigrams";

/// Events and their filters in the order of spans, by no index: then nothing is sorted, for which all filters would be in memory.
const CANDIDATES: &str =
    "SELECT s.first, s.count, s.origin, s.source, t.first, t.last, t.filter FROM span s NOT INDEXED
    LEFT JOIN trigram t ON t.first >= s.first AND t.first < s.first + s.count
    WHERE s.origin = ?1 ORDER BY s.first, t.first";

/// A filter of the passages from `first` to `last`.
struct Row {
    first: i64,
    last: i64,
    filter: Vec<u8>,
}

/// Takes out the filters of what is cut from a span: from `kept` passages on. One of what is kept as well still holds for that.
pub(super) fn cut(db: &Connection, span: &Span, kept: i64) -> Result<(), StoreError> {
    let (first, cut, end) = (span.first.0, span.first.0 + kept, span.first.0 + span.count);
    db.prepare_cached("DELETE FROM trigram WHERE first >= ?1 AND first < ?2")?.execute([cut, end])?;
    db.prepare_cached("UPDATE trigram SET last = ?2 - 1 WHERE first >= ?1 AND first < ?2 AND last >= ?2")?
        .execute([first, cut])?;
    Ok(())
}

impl Store {
    /// Makes filters of what has none yet, until it is told to stop.
    ///
    /// # Errors
    /// As for any write. What was done before stays.
    pub fn renew_trigrams(&mut self, stop: &dyn Fn() -> bool) -> Result<(), StoreError> {
        let mut covered = self.meta(COVERED)?.and_then(|covered| covered.parse().ok()).unwrap_or(0);
        let mut trigrams = Trigrams::new();
        while !stop() {
            let spans = self.spans_after(PassageId(covered), SPANS)?;
            let Some(last) = spans.last() else { return Ok(()) };
            covered = last.first.0 + last.count - 1;
            let mut rows = Vec::new();
            for span in spans.iter().filter(|span| span.origin == Origin::Event) {
                self.filters(span, &mut trigrams, &mut rows)?;
            }
            self.write(|db| {
                // What was taken out meanwhile is to leave nothing behind.
                let mut add = db.prepare_cached(
                    "INSERT OR REPLACE INTO trigram (first, last, filter) SELECT ?1, ?2, ?3
                     WHERE (SELECT first + count FROM span WHERE first <= ?1 ORDER BY first DESC LIMIT 1) > ?2",
                )?;
                for Row { first, last, filter } in &rows {
                    add.execute(params![first, last, filter])?;
                }
                db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?
                    .execute(params![COVERED, covered.to_string()])?;
                Ok(())
            })?;
        }
        Ok(())
    }

    fn filters(&self, span: &Span, trigrams: &mut Trigrams, rows: &mut Vec<Row>) -> Result<(), StoreError> {
        let mut find = self.db.prepare_cached(&format!(
            "SELECT id, text FROM event WHERE id >= ?1 AND id < ?2 AND copied = 0
             AND kind IN ({MESSAGE}, {TOOL_CALL}, {TOOL_RESULT}) AND text IS NOT NULL ORDER BY id"
        ))?;
        let mut found = find.query([span.source, span.source + span.count])?;
        let (mut first, mut bytes) = (span.first.0, 0);
        while let Some(row) = found.next()? {
            let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            trigrams.add(text);
            bytes += text.len();
            if bytes >= TEXT {
                let last = span.first.0 + row.get::<_, i64>(0)? - span.source;
                rows.push(Row { first, last, filter: trigrams.take() });
                (first, bytes) = (last + 1, 0);
            }
        }
        let last = span.first.0 + span.count - 1;
        if first <= last {
            rows.push(Row { first, last, filter: trigrams.take() });
        }
        Ok(())
    }

    /// Throws all filters away; the next renewal makes them anew.
    ///
    /// # Errors
    /// As for any write.
    pub fn clear_trigrams(&mut self) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute("DELETE FROM trigram", [])?;
            db.execute("DELETE FROM meta WHERE key = ?1", [COVERED])?;
            Ok(())
        })
    }

    /// The events that may match, of each transcript that has any: from each first one to the last, in their order. Nothing of
    /// sessions that were put away, which are in no span.
    pub(super) fn candidates(&self, needs: &Needs) -> Result<HashMap<TranscriptId, Vec<(i64, i64)>>, StoreError> {
        let mut find = self.db.prepare_cached(CANDIDATES)?;
        let mut candidates: HashMap<TranscriptId, Vec<(i64, i64)>> = HashMap::new();
        let mut add = |from: i64, until: i64| {
            if from <= until {
                candidates.entry(transcript_of(from)).or_default().push((from, until));
            }
        };
        let mut rows = find.query([Origin::Event])?;
        // What follows of the last span, as ids of events.
        let (mut span, mut from) = (None, 0);
        while let Some(row) = rows.next()? {
            let this = Span::read(row)?;
            if span != Some(this) {
                span.inspect(|span: &Span| add(from, span.source + span.count - 1));
                (span, from) = (Some(this), this.source);
            }
            let filter = row.get_ref(6)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
            if filter.is_some_and(|filter| !needs.may_be_in(filter)) {
                let event = |passage: i64| this.source + passage - this.first.0;
                add(from, event(row.get(4)?) - 1);
                from = event(row.get(5)?) + 1;
            }
        }
        span.inspect(|span| add(from, span.source + span.count - 1));
        // Transcripts that were read on have several spans, not always in the order of their events.
        candidates.values_mut().for_each(|ranges| ranges.sort_unstable());
        Ok(candidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(store: &Store) -> Vec<(i64, i64)> {
        let mut find = store.db.prepare("SELECT first, last FROM trigram ORDER BY first").unwrap();
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn filters_are_read_one_after_the_other() {
        let home = tempfile::TempDir::new().unwrap();
        let store = Store::open(home.path()).unwrap();
        let mut explain = store.db.prepare(&format!("EXPLAIN QUERY PLAN {CANDIDATES}")).unwrap();
        let steps = explain.query_map([0], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(steps.iter().all(|step| !step.contains("TEMP B-TREE")), "{steps:?}");
    }

    #[test]
    fn what_is_cut_takes_its_filters_along_and_no_others() {
        let home = tempfile::TempDir::new().unwrap();
        let store = Store::open(home.path()).unwrap();
        let put = |rows: &[(i64, i64)]| {
            for (first, last) in rows {
                let sql = "INSERT INTO trigram (first, last, filter) VALUES (?1, ?2, x'00')";
                store.db.execute(sql, [first, last]).unwrap();
            }
        };
        let span = Span { first: PassageId(10), count: 20, origin: Origin::Event, source: 7 << 32 };
        put(&[(1, 9), (10, 14), (15, 19), (20, 29), (30, 40)]);
        cut(&store.db, &span, 8).unwrap();
        assert_eq!(filters(&store), [(1, 9), (10, 14), (15, 17), (30, 40)]);
        cut(&store.db, &span, 0).unwrap();
        assert_eq!(filters(&store), [(1, 9), (30, 40)]);
    }
}
