//! `retry-loop`: the same call failed three times or more (`retry-failures`), with no success of it and no edit between.
//!
//! **Why it matters.** Doing the same again and hoping is the agent's most expensive habit.
//!
//! **Example.** `npm test` fails, is run again, fails, is run with `2>&1`, fails: one signal at the third failing result,
//! with the number of failures in the detail.
//!
//! **False friends.** Test, edit, test, edit, test is work, not a loop: an edit in between ends the run. Refused and
//! interrupted calls did not fail; calls that a rule blocked did. Commands that differ in more than white space are different
//! calls. Where the record of a call could not be read, its failure stands for it.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::ToolResult;
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, PerThread, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::text::{hash, one_line};
use crate::thresholds::Thresholds;

const NAME: &str = "retry-loop";

/// Failing calls followed at once in a thread.
const RUNS: usize = 64;

/// Lines of failing results kept.
const LINES: usize = 32;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RetryLoop {
    threads: PerThread<Vec<Run>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    fingerprint: u64,
    count: u64,
    lines: Vec<u64>,
    /// Where it became a loop, and what is called.
    hit: Option<(Place, String)>,
}

impl Detector for RetryLoop {
    fn kind() -> SignalKind {
        kind(
            NAME,
            3,
            "The same call failed three times or more with nothing changed in between.",
            "Tell the agent to read the error and change something, or to ask, after the second failure.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let Some(result) = moment.result() else { return };
        if moment.event.copied {
            return;
        }
        let runs = self.threads.of(&moment.event.thread);
        if let Some(call) = moment.success() {
            let ended = |run: &Run| call.edits_files || run.fingerprint == call.fingerprint;
            found.extend(runs.extract_if(.., |run| ended(run)).filter_map(|run| run.signal()));
            return;
        }
        if moment.failure().is_none() {
            return;
        }
        let fingerprint = moment.call.map_or_else(|| hash(&result.text), |call| call.fingerprint);
        let place = match runs.iter().position(|run| run.fingerprint == fingerprint) {
            Some(place) => place,
            None => {
                if runs.len() == RUNS {
                    found.extend(runs.remove(0).signal());
                }
                runs.push(Run { fingerprint, count: 0, lines: Vec::new(), hit: None });
                runs.len() - 1
            }
        };
        let run = &mut runs[place];
        run.count += 1;
        if run.lines.len() < LINES {
            run.lines.push(moment.event.line);
        }
        if run.count == moment.thresholds.retry_failures as u64 {
            run.hit = Some((Place::of(moment.event), subject(moment, result)));
        }
    }

    fn conclude(&self, _: &Thresholds, found: &mut Vec<Signal>) {
        found.extend(self.threads.iter().flatten().filter_map(Run::signal));
    }
}

fn subject(moment: &Moment, result: &ToolResult) -> String {
    let what = moment.call.map_or(result.text.as_str(), |call| call.gist.as_str());
    format!("{}: {}", moment.tool(), one_line(what, 100))
}

impl Run {
    fn signal(&self) -> Option<Signal> {
        let (place, subject) = self.hit.clone()?;
        let detail = format!("failed {} times with nothing changed: {subject}", self.count);
        Some(place.signal(NAME, subject, detail).resting_on(self.lines.iter().copied()))
    }
}
