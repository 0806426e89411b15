//! `api-error`: the model's service failed. One outage is one signal.
//!
//! **Why it matters.** Lost time that no rule in a project can help, but that explains a bad session.
//!
//! **Example.** Ten retried "overloaded" errors, then one that reaches the person: one signal at the last record, ten retries in
//! the detail. Retries that end well are one signal at the first of them.
//!
//! **False friends.** Errors of the person's own program that speak of an API, and a limit that the client only warns of.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{ApiError as Failure, Author, Body};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, PerThread, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::template::template;
use crate::thresholds::Thresholds;

const NAME: &str = "api-error";

/// Lines of retries kept as evidence.
const LINES: usize = 32;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ApiError {
    threads: PerThread<Option<Outage>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Outage {
    first: Place,
    subject: String,
    retries: u64,
    lines: Vec<u64>,
}

impl Detector for ApiError {
    fn kind() -> SignalKind {
        kind(
            NAME,
            1,
            "The model's service failed; retries of one outage are one signal.",
            "Check the account, its limits and the service's status page.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let event = moment.event;
        if event.copied {
            return;
        }
        let outage = self.threads.of(&event.thread);
        match &event.body {
            Body::ApiError(failure) if failure.retried => {
                let outage = outage.get_or_insert_with(|| Outage {
                    first: Place::of(event),
                    subject: subject(failure),
                    retries: 0,
                    lines: Vec::new(),
                });
                outage.retries += 1;
                if outage.lines.len() < LINES {
                    outage.lines.push(event.line);
                }
            }
            Body::ApiError(failure) => {
                let (retries, lines) = outage.take().map_or((0, Vec::new()), |outage| (outage.retries, outage.lines));
                let subject = subject(failure);
                let detail = match retries {
                    0 => format!("{subject}; not retried"),
                    _ => format!("{subject}; failed after {retries} retries"),
                };
                found.push(Place::of(event).signal(NAME, subject, detail).resting_on(lines));
            }
            // The model answered: the retries helped.
            Body::ToolCall(_) | Body::Usage(_) => found.extend(outage.take().map(|outage| outage.signal())),
            Body::Message(message) if message.author == Author::Agent => {
                found.extend(outage.take().map(|outage| outage.signal()));
            }
            _ => {}
        }
    }

    fn conclude(&self, _: &Thresholds, found: &mut Vec<Signal>) {
        found.extend(self.threads.iter().flatten().map(Outage::signal));
    }
}

impl Outage {
    fn signal(&self) -> Signal {
        let detail = format!("{}; {} retries", self.subject, self.retries);
        self.first.clone().signal(NAME, self.subject.clone(), detail).resting_on(self.lines.iter().copied())
    }
}

fn subject(failure: &Failure) -> String {
    match (failure.status, failure.text.trim()) {
        (Some(status), _) => format!("HTTP {status}"),
        (None, "") => "no answer".into(),
        (None, text) => template(text),
    }
}
