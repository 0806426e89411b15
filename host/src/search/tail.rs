//! Passages that are newer than the indexes: few, and looked through as they are.

use totalrecall_retrieval::{Covered, Scored, embed::Model, filter::Filter as Admitted, words::Document};

use crate::{
    index::{document, has_meaning},
    passage::{Group, Kind, Passage},
    store::{PassageId, Store, StoreError},
};

/// Passages that are looked through, the newest ones.
const TAIL: u64 = 4_000;
/// Of these, those that are compared by their meaning: it takes some 50 µs each.
const MEANT: usize = 400;
/// Spans that are asked for at a time.
const SPANS: usize = 256;

/// The newest passages.
pub(super) struct Tail {
    passages: Vec<Passage>,
    /// The number before theirs.
    pub(super) from: u64,
    /// The last number there is.
    pub(super) last: u64,
    /// Those that the indexes do not have either. Most of these numbers may be gone or of events that are not found; they are
    /// bounded, not counted.
    pub(super) unread: u64,
}

impl Tail {
    /// What the index that covers so much does not have.
    pub(super) fn read(store: &Store, covered: Covered) -> Result<Self, StoreError> {
        let last = store.last_passage()?.0.cast_unsigned();
        let from = covered.passages.max(last.saturating_sub(TAIL));
        let mut tail = Self { passages: Vec::new(), from, last, unread: from - covered.passages };
        let mut after = from;
        while after < last {
            let spans = store.spans_after(PassageId(after.cast_signed()), SPANS)?;
            let Some(end) = spans.last() else { break };
            after = (end.first.0 + end.count - 1).cast_unsigned();
            for span in spans {
                store.read_span::<StoreError>(span, &mut |passage| {
                    tail.passages.push(passage);
                    Ok(())
                })?;
            }
        }
        Ok(tail)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.passages.iter().map(|passage| passage.text.as_str())
    }

    pub(super) fn documents(&self) -> impl Iterator<Item = Document<'_>> {
        self.passages.iter().map(document)
    }

    /// Memories and chunks as wholes, roughly: by their parts.
    pub(super) fn groups(&self) -> impl Iterator<Item = Document<'_>> {
        let is_whole = |passage: &&Passage| matches!(passage.kind, Kind::Memory | Kind::Chunk | Kind::Session);
        self.passages.iter().filter(is_whole).map(document)
    }

    /// The cosines of those that are admitted, the newest of them, and how many were left out.
    pub(super) fn by_meaning(&self, model: &Model, query: &[f32], admitted: &Admitted) -> (Vec<Scored>, u64) {
        let is_admitted = |passage: &&Passage| {
            let group = passage.group.map_or(0, Group::number);
            has_meaning(passage.kind) && admitted.admits(group, passage.kind as u8, passage.at)
        };
        let mut meant = self.passages.iter().rev().filter(is_admitted);
        let newest = meant.by_ref().take(MEANT);
        let scored = newest.filter_map(|passage| {
            let vector = model.embed(&passage.text)?;
            let score = vector.iter().zip(query).map(|(a, b)| a * b).sum();
            let Document { id, session, .. } = document(passage);
            Some(Scored { id, session, score })
        });
        (scored.collect(), meant.count() as u64)
    }
}
