//! Pauses: times of which nothing is learned, everywhere or in one project. They are kept in a small file of the home, so that
//! a hook can look without opening the store, and they are kept for ever: a transcript may be read again years later, and what
//! was said in a pause is left out then, too.

mod file;
mod place;
mod sieve;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use file::{Changed, FILE, LOCK, PauseError, begin, end, load};
pub use place::Place;
pub use sieve::{Ahead, Sieve, State};

pub(crate) use file::remember;

/// A time of which nothing is learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it began, in milliseconds since the Unix epoch. What happened at that very moment is left out.
    pub from: i64,
    /// When it ended; what happened at that very moment is learned. None: it goes on.
    pub until: Option<i64>,
    /// Where; none: everywhere.
    pub place: Option<Place>,
}

impl Pause {
    /// Does it go on?
    pub fn is_open(&self) -> bool {
        self.until.is_none()
    }

    /// Does it overlap with these times, both included?
    pub fn overlaps(&self, first: i64, last: i64) -> bool {
        self.from <= last && self.until.is_none_or(|until| first < until)
    }
}

/// All pauses that there ever were, in the order in which they began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses(pub Vec<Pause>);

impl Pauses {
    /// Those that go on.
    pub fn open(&self) -> impl Iterator<Item = &Pause> {
        self.0.iter().filter(|pause| pause.is_open())
    }

    /// The pause that a session in the folder `cwd` is in now. Where the folder is not known, a pause of any project may be
    /// meant. Nothing but the folder's repository is looked for, and that only while a project is paused.
    pub fn covers(&self, cwd: Option<&Path>) -> Option<&Pause> {
        let holds = |place: &Place| cwd.is_none_or(|cwd| place.holds(&cwd.to_string_lossy()));
        self.open().find(|pause| pause.place.as_ref().is_none_or(holds))
    }
}

/// For hooks: is nothing to be done for a session in this folder? A file of pauses that cannot be read counts as a pause: what
/// is not noted now is found by the next `reconcile`, but what was learned against the person's word cannot be taken back.
pub fn is_paused(home: &Path, cwd: Option<&Path>) -> bool {
    let Ok(pauses) = load(home) else { return true };
    let Some(pause) = pauses.covers(cwd) else { return false };
    if let (Some(place), Some(cwd)) = (&pause.place, cwd) {
        // A worktree may be gone when the transcript is read. That it could not be noted changes nothing now.
        let _ = remember(home, place, &cwd.to_string_lossy());
    }
    true
}
