//! `churn`: one file was changed again and again: three successful edits or more in a thread of a session (`churn-edits`), within
//! `churn-window-minutes` if that is set.
//!
//! **Why it matters.** Work in many small corrections to one file is often guessing; sometimes it is simply a big change.
//! The number of edits is in the detail, so a reader can tell.
//!
//! **Example.** `main.go` edited five times in a session: one signal at the third edit's call, with all five as evidence.
//!
//! **False friends.** Failed and refused edits change nothing and do not count. A call with several replacements is one edit.
//! Edits by shell commands (`sed -i`) are not seen.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::text::hash;
use crate::thresholds::Thresholds;

const NAME: &str = "churn";

/// Lines of edits kept per file. More add nothing that a reader would look up.
const EDITS: usize = 64;

/// Files followed. A session that changes more has another problem; the file that was quiet longest is forgotten.
const FILES: usize = 4096;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Churn {
    files: Vec<File>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    /// Hash of thread and path: most files are edited once, and their paths need not be kept.
    key: u64,
    count: u64,
    /// Lines of the calls.
    lines: Vec<u64>,
    /// Times of the last calls, as many as make churn.
    times: Vec<Option<i64>>,
    /// Where it became churn, and the path as shown.
    hit: Option<(Place, String)>,
}

impl Detector for Churn {
    fn kind() -> SignalKind {
        kind(
            NAME,
            2,
            "One file was edited again and again in one session.",
            "Ask for the whole change to be thought through first; split a file that every change goes through.",
        )
    }

    fn observe(&mut self, moment: &Moment, _: &mut Vec<Signal>) {
        let Some(call) = moment.success().filter(|call| call.edits_files && !moment.event.copied) else { return };
        let mut seen = Vec::new();
        for edit in &call.edits {
            let path = moment.shown(&edit.path);
            if seen.contains(&path) {
                continue;
            }
            let thread = moment.event.thread.as_deref();
            let file = self.file(hash(&format!("{}\n{path}", thread.unwrap_or_default())));
            file.count += 1;
            if file.lines.len() < EDITS {
                file.lines.push(call.line);
            }
            file.times.push(call.at);
            let needed = moment.thresholds.churn_edits;
            if file.times.len() > needed {
                file.times.remove(0);
            }
            if file.hit.is_none() && file.times.len() == needed && within(&file.times, moment.thresholds) {
                let place = Place { line: call.line, at: call.at, thread: moment.event.thread.clone() };
                file.hit = Some((place, path.clone()));
            }
            seen.push(path);
        }
    }

    fn conclude(&self, _: &Thresholds, found: &mut Vec<Signal>) {
        let mut signals: Vec<Signal> = self.files.iter().filter_map(File::signal).collect();
        signals.sort_by_key(|signal| signal.line);
        found.append(&mut signals);
    }
}

impl Churn {
    fn file(&mut self, key: u64) -> &mut File {
        let file = match self.files.iter().rposition(|file| file.key == key) {
            Some(place) => self.files.remove(place),
            None => File { key, count: 0, lines: Vec::new(), times: Vec::new(), hit: None },
        };
        if self.files.len() == FILES {
            let quiet = self.files.iter().position(|file| file.hit.is_none()).unwrap_or(0);
            self.files.remove(quiet);
        }
        // The file changed last is at the end: looked up first, forgotten last.
        self.files.push(file);
        let last = self.files.len() - 1;
        &mut self.files[last]
    }
}

impl File {
    fn signal(&self) -> Option<Signal> {
        let (place, path) = self.hit.clone()?;
        let detail = format!("{path} was edited {} times", self.count);
        Some(place.signal(NAME, path, detail).resting_on(self.lines.iter().copied()))
    }
}

fn within(times: &[Option<i64>], thresholds: &Thresholds) -> bool {
    if thresholds.churn_window_minutes == 0 {
        return true;
    }
    let window = i64::try_from(thresholds.churn_window_minutes).unwrap_or(i64::MAX).saturating_mul(60_000);
    match (times.first(), times.last()) {
        // An edit without a time cannot be shown to lie outside the window.
        (Some(Some(first)), Some(Some(last))) => last.saturating_sub(*first) <= window,
        _ => true,
    }
}
