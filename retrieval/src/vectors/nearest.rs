//! The rows that are nearest to something, of a stream of rows.

/// Keeps at least the `keep` nearest rows of those it is shown, with the earlier one where two are equally near.
pub(super) struct Nearest {
    keep: usize,
    /// Distance in the upper half, row in the lower: so they are ordered as numbers.
    found: Vec<u64>,
    /// What is as far as this or farther is not among them.
    limit: u32,
}

impl Nearest {
    pub(super) fn new(keep: usize) -> Self {
        // The surplus is sorted out when it is as large as what is kept, which costs little a row.
        Self { keep, found: Vec::with_capacity(keep.saturating_mul(2)), limit: if keep == 0 { 0 } else { u32::MAX } }
    }

    pub(super) fn admits(&self, distance: u32) -> bool {
        distance < self.limit
    }

    pub(super) fn push(&mut self, row: usize, distance: u32) {
        self.found.push(u64::from(distance) << 32 | row as u64);
        if self.found.len() == self.keep.saturating_mul(2) {
            let (_, farthest, _) = self.found.select_nth_unstable(self.keep - 1);
            self.limit = (*farthest >> 32) as u32;
            self.found.truncate(self.keep);
        }
    }

    /// The rows, in no order.
    pub(super) fn rows(mut self) -> impl Iterator<Item = usize> {
        if self.found.len() > self.keep {
            self.found.select_nth_unstable(self.keep);
            self.found.truncate(self.keep);
        }
        self.found.into_iter().map(|entry| (entry & u64::from(u32::MAX)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_nearest_of_many() {
        let distances: Vec<u32> = (0..1_000).map(|row| (row * 7_919) % 1_009).collect();
        let mut nearest = Nearest::new(10);
        for (row, distance) in distances.iter().enumerate() {
            if nearest.admits(*distance) {
                nearest.push(row, *distance);
            }
        }
        let mut found: Vec<u32> = nearest.rows().map(|row| distances[row]).collect();
        found.sort_unstable();
        let mut expected = distances;
        expected.sort_unstable();
        assert_eq!(found, expected[..10]);
    }
}
