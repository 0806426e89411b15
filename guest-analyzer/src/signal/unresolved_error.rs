//! `unresolved-error`: a thread ends on a tool's error: its last result is one, and no successful result follows.
//!
//! **Why it matters.** Work was left broken, or someone gave up.
//!
//! **Example.** The tests fail, the agent says "I'll look at it", and the session is over.
//!
//! **False friends.** An error after which anything succeeded, even something else: the agent went on. A last call that was
//! refused, stopped or blocked by a rule: nothing was tried that could have been broken. It holds only until the transcript grows.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::Status;
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, PerThread, Place, Refine as _, kind, tool_error};
use crate::moment::Moment;
use crate::thresholds::Thresholds;

const NAME: &str = "unresolved-error";

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UnresolvedError {
    threads: PerThread<Option<Last>>,
}

/// The last result of a thread, if it is an error.
#[derive(Debug, Serialize, Deserialize)]
struct Last {
    place: Place,
    call: Option<u64>,
    subject: String,
}

impl Detector for UnresolvedError {
    fn kind() -> SignalKind {
        kind(
            NAME,
            4,
            "The session, or a sub-agent, ended on a tool's error.",
            "Have the agent end with what is broken and what it would try next.",
        )
    }

    fn observe(&mut self, moment: &Moment, _: &mut Vec<Signal>) {
        if moment.result().is_none() {
            return;
        }
        let failure = moment.failure().filter(|result| result.status == Status::Error && !moment.event.copied);
        *self.threads.of(&moment.event.thread) = failure.map(|result| Last {
            place: Place::of(moment.event),
            call: moment.call.map(|call| call.line),
            subject: tool_error::subject(moment, result),
        });
    }

    fn conclude(&self, _: &Thresholds, found: &mut Vec<Signal>) {
        for last in self.threads.iter().flatten() {
            let detail = format!("ended on {}", last.subject);
            found.push(last.place.clone().signal(NAME, last.subject.clone(), detail).resting_on(last.call));
        }
    }
}
