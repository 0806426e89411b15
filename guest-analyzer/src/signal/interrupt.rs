//! `interrupt`: the person stopped the agent while it wrote or while a tool ran.
//!
//! **Why it matters.** Someone watched, and what they saw was going wrong or took too long.
//!
//! **Example.** Escape while `npm test` runs: the tool's result says interrupted, then the client writes a marker. That is one
//! interrupt, seen in the marker's record.
//!
//! **False friends.** The marker after a refusal belongs to the refusal (`permission-denied`). A killed process
//! (exit code 137 without the marker) is an error like any other.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{Author, Body, Status};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, PerThread, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::text::one_line;
use crate::thresholds::Thresholds;

const NAME: &str = "interrupt";

/// Results of one interrupt that are kept as evidence: a client runs some tens of calls in parallel at most.
const RESULTS: usize = 32;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Interrupted {
    threads: PerThread<Pending>,
}

/// What waits for the marker that explains it.
#[derive(Debug, Default, Serialize, Deserialize)]
enum Pending {
    #[default]
    Nothing,
    /// A call was refused: a marker that follows belongs to it.
    Refused,
    /// Tools were stopped: a marker that follows is the record of the interrupt.
    Stopped { first: Place, tool: String, gist: String, lines: Vec<u64> },
}

impl Detector for Interrupted {
    fn kind() -> SignalKind {
        kind(
            NAME,
            2,
            "The person stopped the agent while it wrote or while a tool ran.",
            "Look at what ran: should the agent have asked, taken another way, or set a time limit?",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let event = moment.event;
        if event.copied {
            return;
        }
        let pending = self.threads.of(&event.thread);
        match &event.body {
            Body::ToolResult(result) if result.status == Status::Denied => {
                found.extend(std::mem::replace(pending, Pending::Refused).settled());
            }
            Body::ToolResult(result) if result.status == Status::Interrupted => match pending {
                Pending::Stopped { lines, .. } if lines.len() < RESULTS => lines.push(event.line),
                Pending::Stopped { .. } => {}
                Pending::Refused => {}
                Pending::Nothing => {
                    *pending = Pending::Stopped {
                        first: Place::of(event),
                        tool: moment.tool().to_owned(),
                        gist: moment.call.map(|call| one_line(&call.gist, 80)).unwrap_or_default(),
                        lines: vec![event.line],
                    };
                }
            },
            Body::Interrupt(interrupt) => {
                let place = Place::of(event);
                match std::mem::take(pending) {
                    Pending::Refused => {}
                    Pending::Stopped { tool, gist, lines, .. } => {
                        found.push(signal(place, &tool, &gist).resting_on(lines));
                    }
                    Pending::Nothing if interrupt.in_tool => {
                        let (tool, gist) =
                            moment.open.map_or(("", String::new()), |call| (&call.name, one_line(&call.gist, 80)));
                        found.push(signal(place, tool, &gist));
                    }
                    Pending::Nothing => found.push(signal(place, "", "")),
                }
            }
            // The conversation went on: no marker will come any more.
            Body::ToolCall(_) => found.extend(std::mem::take(pending).settled()),
            Body::Message(message) if message.author != Author::Harness => {
                found.extend(std::mem::take(pending).settled());
            }
            _ => {}
        }
    }

    fn conclude(&self, _: &Thresholds, found: &mut Vec<Signal>) {
        found.extend(self.threads.iter().filter_map(Pending::settled));
    }
}

impl Pending {
    /// The interrupt, if no marker follows.
    fn settled(&self) -> Option<Signal> {
        match self {
            Self::Stopped { first, tool, gist, lines } => {
                Some(signal(first.clone(), tool, gist).resting_on(lines.iter().copied()))
            }
            _ => None,
        }
    }
}

fn signal(place: Place, tool: &str, gist: &str) -> Signal {
    let (subject, detail) = match (tool, gist) {
        ("", _) => ("reply".to_owned(), "stopped the agent while it wrote".to_owned()),
        (tool, "") => (tool.to_owned(), format!("stopped {tool}")),
        (tool, gist) => (tool.to_owned(), format!("stopped {tool} `{gist}`")),
    };
    place.signal(NAME, subject, detail)
}
