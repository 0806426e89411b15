//! What is to be replaced.

/// A part of a text that is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// How surely it is of this kind: of two spans that overlap, the surer one names it.
    rank: usize,
}

impl Span {
    /// A key in a provider's format, known by its mark: the longer, the surer (`sk-ant-`, `sk-`).
    pub(super) fn key(start: usize, end: usize, kind: &'static str, mark: &str) -> Self {
        Self { start, end, kind, rank: 1 + mark.len() }
    }

    /// A secret that is known by what is around it.
    pub(super) fn structure(start: usize, end: usize, kind: &'static str) -> Self {
        Self { start, end, kind, rank: 1 }
    }

    /// A value that is secret because of what it is called.
    pub(super) fn named(start: usize, end: usize, kind: &'static str) -> Self {
        Self { start, end, kind, rank: 0 }
    }
}

/// Sorts, and joins what overlaps.
pub(super) fn join(spans: &mut Vec<Span>) {
    spans.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans.dedup_by(|next, kept| {
        let overlaps = next.start < kept.end;
        if overlaps {
            kept.end = kept.end.max(next.end);
            if next.rank > kept.rank {
                (kept.kind, kept.rank) = (next.kind, next.rank);
            }
        }
        overlaps
    });
}
