//! The tree that a session's entries form, of which only the branch in use is remembered.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::hash::hash64;

use crate::record::Entry;

/// Entries of the branch in use, from old to new.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Branches {
    path: VecDeque<Step>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Step {
    id: u64,
    /// Its key, if it gave events.
    key: Option<u64>,
}

impl Branches {
    /// Going back further than this is not noticed. 16 KiB of checkpoint are enough.
    const LONGEST: usize = 1000;

    /// Comes before an entry: if that does not follow the last one, gives the first entry of what is abandoned.
    pub(crate) fn leave(&mut self, entry: &Entry<'_>) -> Option<u64> {
        // Before version 3 there are no ids, and no branches.
        entry.id.get()?;
        let kept = match entry.parent.get().map(hash64) {
            Some(parent) => self.path.iter().rposition(|step| step.id == parent).map(|at| at + 1),
            // Back to the beginning.
            None => Some(0),
        };
        // A parent that is not known lies on another branch, or too far back: where that leaves this one is not known.
        let kept = kept.unwrap_or(self.path.len());
        self.path.drain(kept..).find_map(|step| step.key)
    }

    /// Adds an entry, with its key if it gave events.
    pub(crate) fn enter(&mut self, entry: &Entry<'_>, key: Option<u64>) {
        let Some(id) = entry.id.get().map(hash64) else { return };
        if self.path.len() == Self::LONGEST {
            self.path.pop_front();
        }
        self.path.push_back(Step { id, key });
    }
}
