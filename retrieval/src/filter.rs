//! What may be found at all.

use std::collections::HashSet;

/// Restricts a search. Applied before ranking: as many results are found as there would be in a store of only these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of these sessions.
    pub sessions: Option<HashSet<u64>>,
    /// Not of these.
    pub without: HashSet<u64>,
    /// Only of these kinds.
    pub kinds: Option<Kinds>,
    /// Not before, in milliseconds since 1970. What has no time is not found.
    pub from: Option<i64>,
    /// Before, in milliseconds since 1970. What has no time is not found.
    pub until: Option<i64>,
}

impl Filter {
    /// Whether it lets everything through.
    pub fn is_open(&self) -> bool {
        !self.is_about_sessions() && self.kinds.is_none() && self.is_timeless()
    }

    /// Whether it lets a passage of this session, kind and time through.
    pub fn admits(&self, session: u64, kind: u8, at: Option<i64>) -> bool {
        self.admits_session(session) && self.admits_kind(kind) && self.admits_time(at)
    }

    pub(crate) fn admits_session(&self, session: u64) -> bool {
        self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&session)) && !self.without.contains(&session)
    }

    pub(crate) fn is_about_sessions(&self) -> bool {
        self.sessions.is_some() || !self.without.is_empty()
    }

    pub(crate) fn admits_kind(&self, kind: u8) -> bool {
        self.kinds.is_none_or(|kinds| kinds.contains(kind))
    }

    pub(crate) fn admits_time(&self, at: Option<i64>) -> bool {
        self.is_timeless()
            || at.is_some_and(|at| self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until))
    }

    pub(crate) fn is_timeless(&self) -> bool {
        self.from.is_none() && self.until.is_none()
    }
}

/// A set of kinds of passages, which are numbers below 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u64);

impl Kinds {
    /// Whether `kind` is in the set. No kind from 64 on is.
    pub fn contains(self, kind: u8) -> bool {
        kind < 64 && self.0 >> kind & 1 == 1
    }
}

impl FromIterator<u8> for Kinds {
    fn from_iter<T: IntoIterator<Item = u8>>(kinds: T) -> Self {
        Self(kinds.into_iter().filter(|kind| *kind < 64).fold(0, |set, kind| set | 1 << kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let open = Filter::default();
        assert!(open.is_open() && open.admits(7, 3, Some(50)) && open.admits(0, 255, None));
        let sessions = |ids: &[u64]| Filter { sessions: Some(ids.iter().copied().collect()), ..Filter::default() };
        assert!(sessions(&[7, 8]).admits(7, 3, Some(50)) && !sessions(&[8]).admits(7, 3, Some(50)));
        let without = Filter { without: [8].into(), ..sessions(&[7, 8]) };
        assert!(without.admits(7, 3, None) && !without.admits(8, 3, None) && !without.is_open());
        let kinds = |kinds: &[u8]| Filter { kinds: Some(kinds.iter().copied().collect()), ..Filter::default() };
        assert!(kinds(&[3, 63]).admits(7, 3, Some(50)) && !kinds(&[2, 67]).admits(7, 3, Some(50)));
        let span = |from, until| Filter { from, until, ..Filter::default() };
        assert!(span(Some(50), Some(51)).admits(7, 3, Some(50)));
        assert!(!span(Some(51), None).admits(7, 3, Some(50)) && !span(None, Some(50)).admits(7, 3, Some(50)));
        assert!(!span(None, Some(50)).admits(7, 3, None));
    }
}
