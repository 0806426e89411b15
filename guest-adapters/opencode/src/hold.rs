//! Results of calls that were made together.
//!
//! A call and its result are one row, so the result of the first call stands before the second call. But what one response
//! calls for runs at once: first all were called, then each ended, and where the person refused one or stopped them all,
//! that is one thing that happened.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::types::{Body, Event, Status};

/// Most events held back: a response makes some tens of calls at once.
const MOST: usize = 64;

/// Results whose siblings may follow.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hold {
    events: Vec<Event>,
}

impl Hold {
    /// Keeps an event until no call can be one of its siblings any more.
    pub(crate) fn push(&mut self, event: Event, out: &mut Output) {
        if self.events.len() == MOST {
            self.release(out);
        }
        self.events.push(event);
    }

    /// Passes on what was held back, in the order of their times.
    pub(crate) fn release(&mut self, out: &mut Output) {
        if self.events.is_empty() {
            return;
        }
        // Those without a time last: they have not ended.
        self.events.sort_by_key(|event| event.at.unwrap_or(i64::MAX));
        self.refuse_once();
        self.events.drain(..).for_each(|event| out.push(event));
    }

    /// Refusing one call refuses all that wait with it, in the same words but the person's. Their refusal is one; the
    /// others were stopped by it.
    fn refuse_once(&mut self) {
        let refused = |event: &Event| match &event.body {
            Body::ToolResult(result) if result.status == Status::Denied => Some(result.words.is_some()),
            _ => None,
        };
        let with_words = self.events.iter().any(|event| refused(event) == Some(true));
        let mut first = !with_words;
        for event in &mut self.events {
            if refused(event) != Some(false) || std::mem::take(&mut first) {
                continue;
            }
            if let Body::ToolResult(result) = &mut event.body {
                result.status = Status::Interrupted;
            }
        }
    }
}
