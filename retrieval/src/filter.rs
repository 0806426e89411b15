//! Which passages may be found at all. It is applied before anything is ranked, so that `k` results are `k` results.

use std::collections::HashSet;

/// Conditions that a passage must meet; all of them. The default lets everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only passages of these sessions.
    pub sessions: Option<HashSet<u64>>,
    /// Only passages of these kinds.
    pub kinds: Option<Kinds>,
    /// Only passages of this time and later; milliseconds since the Unix epoch.
    pub from: Option<i64>,
    /// Only passages of before this time; likewise, exclusive.
    pub until: Option<i64>,
}

impl Filter {
    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_none() && self.kinds.is_none() && self.from.is_none() && self.until.is_none()
    }

    /// Whether a passage of this session, kind and time may be found.
    pub fn admits(&self, session: u64, kind: u8, at: i64) -> bool {
        self.kinds.is_none_or(|kinds| kinds.contains(kind))
            && self.from.is_none_or(|from| at >= from)
            && self.until.is_none_or(|until| at < until)
            && self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&session))
    }
}

/// A set of kinds of passages, which are numbers below 64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds(u64);

impl Kinds {
    /// Whether the kind is in the set. One of 64 and above is in none.
    pub fn contains(self, kind: u8) -> bool {
        kind < 64 && self.0 >> kind & 1 == 1
    }
}

impl FromIterator<u8> for Kinds {
    fn from_iter<I: IntoIterator<Item = u8>>(kinds: I) -> Self {
        Self(kinds.into_iter().filter(|kind| *kind < 64).fold(0, |set, kind| set | 1 << kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_must_hold() {
        let filter = Filter {
            sessions: Some(HashSet::from([7])),
            kinds: Some(Kinds::from_iter([1, 3])),
            from: Some(100),
            until: Some(200),
        };
        assert!(filter.admits(7, 3, 100));
        assert!(!filter.admits(8, 3, 100));
        assert!(!filter.admits(7, 2, 100));
        assert!(!filter.admits(7, 3, 99));
        assert!(!filter.admits(7, 3, 200));
        assert!(Filter::default().admits(0, 255, i64::MIN));
    }
}
