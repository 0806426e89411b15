//! What became of every record, so that drift of a format is reported and never silent.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::adapter_bindings::exports::totalrecall::guest::parse::{Outcome, TallyEntry};

/// Most different entries: a damaged transcript may have any number of "types".
const MOST: usize = 256;

/// Longest name of an entry, in bytes.
const LONGEST: usize = 64;

/// Counts by outcome and record type, with the first line of each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    entries: Vec<TallyEntry>,
}

impl Tally {
    /// Counts one record. `what` is its type as the tool names it, or what is wrong with it.
    pub fn count(&mut self, outcome: Outcome, what: &str, line: u64) {
        let what = &what[..what.floor_char_boundary(LONGEST)];
        let same = |entry: &TallyEntry| entry.outcome == outcome && entry.what == what;
        if let Some(entry) = self.entries.iter_mut().find(|entry| same(entry)) {
            entry.count += 1;
            return;
        }
        let what = if self.entries.len() < MOST { Cow::Borrowed(what) } else { Cow::Borrowed("other") };
        match self.entries.iter_mut().find(|entry| entry.outcome == outcome && entry.what == what) {
            Some(entry) => entry.count += 1,
            None => self.entries.push(TallyEntry { outcome, what: what.into_owned(), count: 1, first: line }),
        }
    }

    /// All counts, in the order of first appearance.
    pub fn entries(&self) -> &[TallyEntry] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_stays_small() {
        let mut tally = Tally::default();
        for line in 0..1000 {
            tally.count(Outcome::Understood, "user", line);
            tally.count(Outcome::Unknown, &format!("{line}{}", "é".repeat(100)), line);
        }
        assert_eq!(tally.entries()[0].count, 1000);
        assert_eq!(tally.entries().iter().map(|entry| entry.count).sum::<u64>(), 2000);
        assert!(tally.entries().len() <= MOST + 1);
    }
}
