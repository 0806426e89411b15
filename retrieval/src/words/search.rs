//! Finding the best documents of an index.

use super::{Filter, Plan, Scored, folder::Error, folder::guarded, index::WordIndex};
use std::{cmp::Ordering, cmp::Reverse, collections::BinaryHeap};
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{SegmentReader, Term};

impl WordIndex {
    /// The `limit` best documents that hold any word of the query and pass the filter, best first. Of phrases all words must
    /// be there; whether they stand in their order can tell who has the texts ([`Query::holds`](super::Query::holds)).
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(&self, plan: &Plan, filter: &Filter, limit: usize) -> Result<Vec<Scored>, Error> {
        let mut best = Best::new(limit);
        let is_hopeless = plan.terms.iter().any(|planned| planned.is_required && planned.df == 0);
        if limit == 0 || is_hopeless || !plan.is_known() {
            return Ok(Vec::new());
        }
        guarded(|| {
            let weight = self.query(plan).weight(EnableScoring::enabled_from_searcher(&self.searcher))?;
            for segment in self.searcher.segment_readers() {
                let columns = Columns::open(segment)?;
                // Pruning skips whole blocks whose best score is below the threshold. The filter only makes it rise later,
                // so what is found is right whatever is filtered.
                weight.for_each_pruning(best.threshold(), segment, &mut |document, score| {
                    if !segment.is_deleted(document) && columns.admitted(document, filter) {
                        let id = columns.id.first(document).unwrap_or_default();
                        let session = columns.session.first(document).unwrap_or_default();
                        best.push(Scored { id, session, score });
                    }
                    best.threshold()
                })?;
            }
            Ok(best.into_sorted())
        })
    }

    fn query(&self, plan: &Plan) -> BooleanQuery {
        let known = plan.terms.iter().filter(|planned| planned.df > 0);
        let clauses = known.map(|planned| {
            let term = Term::from_field_text(self.fields.text, &planned.term);
            let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            let occur = if planned.is_required { Occur::Must } else { Occur::Should };
            // A boost is passed on to the term's own scorer, so pruning goes on to work.
            (occur, if planned.weight() < 1.0 { Box::new(BoostQuery::new(query, planned.weight())) } else { query })
        });
        BooleanQuery::new(clauses.collect())
    }
}

/// The fields of a segment's documents.
struct Columns {
    id: Column<u64>,
    session: Column<u64>,
    kind: Column<u64>,
    /// Absent if no document has a time.
    at: Option<Column<i64>>,
}

impl Columns {
    fn open(segment: &SegmentReader) -> Result<Self, Error> {
        let columns = segment.fast_fields();
        Ok(Self {
            id: columns.u64("id")?,
            session: columns.u64("session")?,
            kind: columns.u64("kind")?,
            at: columns.column_opt("at")?,
        })
    }

    fn admitted(&self, document: u32, filter: &Filter) -> bool {
        (!filter.is_about_sessions()
            || self.session.first(document).is_some_and(|session| filter.admits_session(session)))
            && (filter.kinds.is_none()
                || self
                    .kind
                    .first(document)
                    .is_some_and(|kind| u8::try_from(kind).is_ok_and(|kind| filter.admits_kind(kind))))
            && (filter.is_timeless() || filter.admits_time(self.at.as_ref().and_then(|at| at.first(document))))
    }
}

/// The best so far.
pub(super) struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Entry>>,
}

/// Ordered by score; of the same score the newer passage is better.
struct Entry(Scored);

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::with_capacity(limit.min(1024) + 1) }
    }

    pub(super) fn push(&mut self, scored: Scored) {
        self.heap.push(Reverse(Entry(scored)));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// What a score has to exceed.
    fn threshold(&self) -> f32 {
        let is_full = self.heap.len() == self.limit;
        self.heap.peek().filter(|_| is_full).map_or(f32::MIN, |Reverse(Entry(worst))| worst.score)
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(Entry(scored))| scored).collect()
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.score.total_cmp(&other.0.score).then(self.0.id.cmp(&other.0.id))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}
