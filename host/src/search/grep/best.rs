//! The lines that are shown, while all are counted.

use std::cmp::Reverse;

use super::{Line, Raw};
use crate::store::StoredText;

/// The order of lines: nearest first, then newest first, then as they stand in their text.
type Order = (Reverse<Option<u8>>, Reverse<Option<i64>>, Reverse<i64>, usize);

/// The first lines of those that were offered, in their order.
pub(super) struct Best {
    limit: usize,
    lines: Vec<(Order, Raw, Line)>,
    /// What is not before this is not among the first.
    worst: Option<Order>,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, lines: Vec::new(), worst: None }
    }

    /// Takes the line that begins at a byte of the text in if it is among the first; only then it is made.
    pub(super) fn offer(
        &mut self,
        text: &StoredText<'_>,
        start: usize,
        score: Option<u8>,
        line: impl FnOnce() -> Line,
    ) {
        let order = (Reverse(score), Reverse(text.at), Reverse(text.row), start);
        if self.worst.as_ref().is_some_and(|worst| order > *worst) {
            return;
        }
        self.lines.push((order, Raw::of(text), line()));
        if self.lines.len() > self.limit * 2 + 64 {
            self.cut();
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.cut();
    }

    fn cut(&mut self) {
        self.lines.sort_by_key(|(order, ..)| *order);
        self.lines.truncate(self.limit);
        if self.lines.len() == self.limit {
            self.worst = self.lines.last().map(|(order, ..)| *order);
        }
    }

    pub(super) fn into_sorted(mut self) -> Vec<(Raw, Line)> {
        self.cut();
        self.lines.into_iter().map(|(_, raw, line)| (raw, line)).collect()
    }
}
