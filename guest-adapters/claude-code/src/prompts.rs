//! Going back: a prompt that hangs where an earlier one hung replaces it.
//!
//! Both stay in the file; the later one has the `parentUuid` of the one that was abandoned.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::hash::hash64;

/// Prompts one may go back to. Farther back, a rewind is not noticed.
const MOST: usize = 256;

/// The last prompts of the person: where each hangs, and its key.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prompts {
    last: VecDeque<(u64, String)>,
}

impl Prompts {
    /// Takes in a prompt; gives the key of the earlier one it replaces. What came after that one is abandoned too.
    pub(crate) fn note(&mut self, parent: &str, key: &str) -> Option<String> {
        let parent = hash64(parent);
        let abandoned = self.last.iter().position(|(known, _)| *known == parent);
        let replaced = abandoned.and_then(|at| self.last.drain(at..).next().map(|(_, key)| key));
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        self.last.push_back((parent, key.to_owned()));
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_in_an_earlier_place_replaces_what_followed() {
        let mut prompts = Prompts::default();
        assert_eq!(prompts.note("a", "1"), None);
        assert_eq!(prompts.note("b", "2"), None);
        assert_eq!(prompts.note("c", "3"), None);
        assert_eq!(prompts.note("b", "4").as_deref(), Some("2"));
        assert_eq!(prompts.note("c", "5"), None);
        assert_eq!(prompts.note("b", "6").as_deref(), Some("4"));
    }
}
