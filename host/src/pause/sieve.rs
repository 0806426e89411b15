//! What of a transcript lies in a pause. An event is told by its time and by the folder that its session is in.
//!
//! * Without a time it has that of the event before it; before the first time, that one; where there is none at all, the
//!   file's own.
//! * A session is in the project in which it began, and in the one in which it is now; where it has not said that yet, in the
//!   one that it says first.
//! * What a session is (its id, folder, branch, version) is kept for what follows, and dropped if nothing does. Its title and
//!   its later summaries tell of what was dropped, so they are dropped, too.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Pause, Pauses};
use crate::event::{Body, Channel, Event, Session};

const HOUR: i64 = 3_600_000;

/// Of tools that say less than when each thing happened: how much earlier, and how much later it may have been. Aider writes
/// when a run began, in the time of a zone that it does not name (up to 14 hours from UTC), for everything in the run. One that
/// is longer than a day is rare.
const VAGUE: &[(&str, i64, i64)] = &[("aider", 14 * HOUR, 38 * HOUR)];

/// What has to be known of the events before, to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time of the last event that had one.
    last: Option<i64>,
    /// Folder that the session began in.
    began: Option<String>,
    /// Folder that it is in.
    cwd: Option<String>,
    /// Events that were dropped.
    pub dropped: u64,
    /// What was said of the session and waits for an event that is kept.
    held: Option<(u64, Option<String>, Session)>,
}

/// What a transcript says first, wherever it says that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// The first time.
    pub at: Option<i64>,
    /// The first folder.
    pub cwd: Option<String>,
}

impl Ahead {
    /// Takes in an event.
    pub fn learn(&mut self, event: &Event) {
        self.at = self.at.or(event.at.filter(|at| crate::event::is_plausible(*at)));
        if let (None, Body::Session(session)) = (&self.cwd, &event.body) {
            self.cwd.clone_from(&session.cwd);
        }
    }
}

/// Passes on the events of one transcript that lie in no pause.
#[derive(Debug)]
pub struct Sieve {
    pauses: Pauses,
    /// How it stands now.
    pub state: State,
    ahead: Ahead,
    /// The time of events without any.
    otherwise: i64,
    before: i64,
    after: i64,
    /// Which pauses hold the folders that were seen.
    places: HashMap<String, Vec<bool>>,
    kept: u64,
}

impl Sieve {
    /// For a transcript of a tool. `state`: from where an earlier reading ended. `otherwise`: when the file was written.
    pub fn new(pauses: Pauses, tool: &str, state: State, ahead: Ahead, otherwise: i64) -> Self {
        let vague = VAGUE.iter().find(|(name, ..)| *name == tool);
        let (before, after) = vague.map_or((0, 0), |(_, before, after)| (*before, *after));
        Self { pauses, state, ahead, otherwise, before, after, places: HashMap::new(), kept: 0 }
    }

    /// Was there ever a pause?
    pub fn has_pauses(&self) -> bool {
        !self.pauses.0.is_empty()
    }

    /// Was everything dropped that was seen, and anything seen?
    pub fn kept_nothing(&self) -> bool {
        self.kept == 0 && (self.state.dropped > 0 || self.state.held.is_some())
    }

    /// When the next event happened, and whether that is in a pause. To be asked of every event, in their order.
    pub fn tell(&mut self, event: &Event) -> (i64, bool) {
        if let Body::Session(Session { cwd: Some(cwd), .. }) = &event.body {
            self.state.cwd = Some(cwd.clone());
            self.state.began.get_or_insert_with(|| cwd.clone());
        }
        self.state.last = event.at.or(self.state.last);
        let at = self.state.last.or(self.ahead.at).unwrap_or(self.otherwise);
        (at, self.is_paused(at))
    }

    fn is_paused(&mut self, at: i64) -> bool {
        let (first, last) = (at.saturating_sub(self.before), at.saturating_add(self.after));
        if !self.pauses.0.iter().any(|pause| pause.overlaps(first, last)) {
            return false;
        }
        let began = self.state.began.as_ref().or(self.ahead.cwd.as_ref());
        let folders: Vec<String> = began.into_iter().chain(&self.state.cwd).cloned().collect();
        for folder in &folders {
            self.look_at(folder);
        }
        let is_held = |index: usize, pause: &Pause| {
            pause.place.is_none()
                || folders.iter().any(|folder| self.places.get(folder).is_some_and(|held| held[index]))
        };
        self.pauses.0.iter().enumerate().any(|(index, pause)| pause.overlaps(first, last) && is_held(index, pause))
    }

    fn look_at(&mut self, folder: &str) {
        if !self.places.contains_key(folder) {
            let holds = |pause: &Pause| pause.place.as_ref().is_some_and(|place| place.holds(folder));
            self.places.insert(folder.to_owned(), self.pauses.0.iter().map(holds).collect());
        }
    }

    /// Folders of paused projects that were told by their repository and not by their name.
    pub fn to_remember(&self) -> impl Iterator<Item = (&super::Place, &str)> {
        self.places.iter().flat_map(|(folder, held)| {
            let held = self.pauses.0.iter().zip(held).filter(|(_, held)| **held);
            held.filter_map(|(pause, _)| pause.place.as_ref())
                .filter(|place| !place.knows(folder))
                .map(move |place| (place, folder.as_str()))
        })
    }

    /// Drops an event.
    pub fn drop(&mut self, event: Event) {
        let Event { line, thread, body, .. } = event;
        let Body::Session(said) = body else {
            self.state.dropped += 1;
            return;
        };
        // The title is of what was said.
        self.state.dropped += u64::from(said.title.is_some());
        let said = Session { title: None, ..said };
        if said == nothing() {
            return;
        }
        let (_, _, held) = self.state.held.get_or_insert_with(|| (line, thread, nothing()));
        *held = joined(std::mem::replace(held, nothing()), said);
    }

    /// Passes an event on, with what waits for it; or drops it if it tells of what was dropped.
    pub fn keep(&mut self, mut event: Event, kept: &mut Vec<Event>) {
        if self.state.dropped > 0 {
            let is_summary = match &mut event.body {
                Body::Message(message) => message.channel == Channel::Summary,
                Body::Session(session) => session.title.take().is_some() && *session == nothing(),
                _ => false,
            };
            if is_summary {
                self.state.dropped += 1;
                return;
            }
        }
        if let Some((line, thread, held)) = self.state.held.take() {
            match &mut event.body {
                Body::Session(session) => *session = joined(held, std::mem::replace(session, nothing())),
                _ => {
                    let body = Body::Session(held);
                    kept.push(Event { line, at: None, thread, key: None, copied: false, body });
                }
            }
        }
        self.kept += 1;
        kept.push(event);
    }
}

/// What is known of a session after something more was said of it.
fn joined(known: Session, said: Session) -> Session {
    Session {
        id: said.id.or(known.id),
        cwd: said.cwd.or(known.cwd),
        branch: said.branch.or(known.branch),
        title: said.title.or(known.title),
        version: said.version.or(known.version),
        parent: said.parent.or(known.parent),
    }
}

fn nothing() -> Session {
    Session { id: None, cwd: None, branch: None, title: None, version: None, parent: None }
}
