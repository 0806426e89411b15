//! Events that have to wait for a later record before they can be told.
//!
//! Two things are only known afterwards. Whether a plain refusal was one, or a running tool that was interrupted: since
//! 2.1.2xx the result reads the same, and only the marker that follows tells. And the key of a prompt that nothing comes
//! before ([`keys`](crate::keys)). Meanwhile whatever follows waits behind it, so that order is kept; it is never much.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::types::{Body, Event, Status};

use crate::keys::anchored;

/// Most events that wait. More than this many records never lie between a prompt and its response.
const MOST: usize = 256;

/// What an event waits for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Wait {
    Nothing,
    /// The next record tells whether the result is a refusal.
    Refusal,
    /// The next response gives the key.
    Anchor {
        hash: u64,
        count: u32,
    },
}

/// The queue of waiting events. The first one waits for something, or there is none.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hold {
    events: Vec<(Event, Wait)>,
}

impl Hold {
    /// Passes an event on, or queues it.
    pub(crate) fn push(&mut self, event: Event, wait: Wait, out: &mut Output) {
        if self.events.is_empty() && wait == Wait::Nothing {
            out.push(event);
            return;
        }
        self.events.push((event, wait));
        if self.events.len() > MOST {
            self.give_up(out);
        }
    }

    /// Does a result wait to be told a refusal?
    pub(crate) fn refusal(&self) -> bool {
        self.events.iter().any(|(_, wait)| *wait == Wait::Refusal)
    }

    /// Waiting results are refusals, or they were interrupted.
    pub(crate) fn refusals(&mut self, interrupted: bool, out: &mut Output) {
        if self.events.is_empty() {
            return;
        }
        for (event, wait) in &mut self.events {
            if *wait != Wait::Refusal {
                continue;
            }
            *wait = Wait::Nothing;
            if interrupted && let Body::ToolResult(result) = &mut event.body {
                result.status = Status::Interrupted;
            }
        }
        self.pass(out);
    }

    /// A response has come: waiting keys hang on it.
    pub(crate) fn response(&mut self, id: &str, out: &mut Output) {
        if self.events.is_empty() {
            return;
        }
        for (event, wait) in &mut self.events {
            if let Wait::Anchor { hash, count } = *wait {
                *wait = Wait::Nothing;
                event.key = Some(anchored(hash, count, '<', id));
            }
        }
        self.pass(out);
    }

    /// Nothing more will come: events go as they are.
    pub(crate) fn give_up(&mut self, out: &mut Output) {
        for (event, _) in self.events.drain(..) {
            out.push(event);
        }
    }

    /// Passes on what waits for nothing any more.
    fn pass(&mut self, out: &mut Output) {
        let ready = self.events.iter().take_while(|(_, wait)| *wait == Wait::Nothing).count();
        for (event, _) in self.events.drain(..ready) {
            out.push(event);
        }
    }
}
