//! How near a part of a line is to a pattern.

/// A pattern whose nearest place in a line is asked for.
pub(super) struct Fuzzy {
    pattern: Vec<char>,
}

/// Longest pattern, and longest line, that are compared, in characters; what is longer is cut.
const PATTERN: usize = 128;
const LINE: usize = 2_000;

impl Fuzzy {
    pub(super) fn new(pattern: &str) -> Self {
        Self { pattern: pattern.chars().flat_map(char::to_lowercase).take(PATTERN).collect() }
    }

    /// How near the nearest part of a line is, 0 to 100, and the byte at which it ends: the share of the pattern's characters
    /// that need not be changed, left out or added to find it there (Sellers 1980, "The theory and computation of
    /// evolutionary distances": an edit distance whose beginning in the text is free).
    pub(super) fn score(&self, line: &str) -> (u8, usize) {
        let length = self.pattern.len();
        if length == 0 {
            return (0, 0);
        }
        let mut row: Vec<usize> = (0..=length).collect();
        let mut best = (length, 0);
        for (at, c) in line.char_indices().take(LINE) {
            let c = c.to_lowercase().next().unwrap_or(c);
            let mut diagonal = row[0];
            for (i, wanted) in self.pattern.iter().enumerate() {
                let changed = diagonal + usize::from(*wanted != c);
                diagonal = row[i + 1];
                row[i + 1] = changed.min(row[i] + 1).min(diagonal + 1);
            }
            if row[length] < best.0 {
                best = (row[length], at);
            }
        }
        let kept = length - best.0;
        (u8::try_from(kept * 100 / length).unwrap_or(100), best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::Fuzzy;

    #[test]
    fn the_nearest_part_counts() {
        let fuzzy = Fuzzy::new("retry limit");
        assert_eq!(fuzzy.score("the Retry Limit is five").0, 100);
        assert_eq!(fuzzy.score("the rety limit").0, 90);
        assert!(fuzzy.score("nothing of it").0 < 60);
        assert_eq!(fuzzy.score("").0, 0);
        assert_eq!(Fuzzy::new("").score("anything").0, 0);
    }

    proptest::proptest! {
        #[test]
        fn what_is_there_is_wholly_there(before in "\\PC{0,20}", pattern in "[a-z ]{1,20}", after in "\\PC{0,20}") {
            let line = format!("{before}{pattern}{after}");
            proptest::prop_assert_eq!(Fuzzy::new(&pattern).score(&line).0, 100);
        }
    }
}
