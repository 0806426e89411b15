//! Texts sent while the agent was at work.
//!
//! They are queued, and the queue's operations are logged since 2.0: `enqueue` with the text, then
//!
//! * `dequeue`: a user record with the text follows (one for several texts that were waiting);
//! * `popAll`: taken back into the editor, never sent;
//! * `remove`: put before the model with the next tool result. Since 2.1.8x an attachment `queued_command` says the same;
//!   before that the text of the `enqueue` is the only trace of what the person said.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Most texts that wait.
const MOST: usize = 256;

/// A queued text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queued {
    /// The line of the `enqueue`.
    pub(crate) line: u64,
    pub(crate) at: Option<i64>,
    pub(crate) text: String,
}

/// The queue as logged.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    waiting: VecDeque<Queued>,
    /// Removed from the queue, with no attachment saying so yet.
    removed: Vec<Queued>,
}

impl Queue {
    /// `enqueue`.
    pub(crate) fn enqueue(&mut self, queued: Queued) {
        if self.waiting.len() == MOST {
            self.waiting.pop_front();
        }
        self.waiting.push_back(queued);
    }

    /// `dequeue`: the first text is on its way into a record of its own.
    pub(crate) fn dequeue(&mut self) {
        self.waiting.pop_front();
    }

    /// `remove`; up to 2.1.25x it does not say which text.
    pub(crate) fn remove(&mut self, text: Option<&str>) {
        let named = text.and_then(|text| self.waiting.iter().position(|queued| queued.text == text));
        if let Some(queued) = self.waiting.remove(named.unwrap_or(0)) {
            self.removed.push(queued);
            self.removed.truncate(MOST);
        }
    }

    /// `popAll`: nothing was sent.
    pub(crate) fn pop_all(&mut self) {
        self.waiting.clear();
    }

    /// An attachment says that this text was delivered.
    pub(crate) fn attached(&mut self, text: &str) {
        if let Some(at) = self.removed.iter().position(|queued| queued.text.trim() == text.trim()) {
            self.removed.remove(at);
        }
    }

    /// The texts that were delivered without an attachment: all that are left when the model answers.
    pub(crate) fn delivered(&mut self) -> Vec<Queued> {
        std::mem::take(&mut self.removed)
    }

    /// Is there anything for [`delivered`](Self::delivered)?
    pub(crate) fn has_delivered(&self) -> bool {
        !self.removed.is_empty()
    }
}
