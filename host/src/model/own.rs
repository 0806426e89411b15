//! Sessions of our own making. No program that we start is to keep any, and ours does not; should one do so all the same, it
//! would be read as a session of the person, and asked about, and so on without end. So it is recognised by where it was
//! held, and by how it begins.

use std::path::{Path, PathBuf};

use crate::{
    event::{Author, Body, Event},
    paths::Home,
};

/// First line of every question.
pub const MARKER: &str = "[totalrecall:analysis] A program asks this, not a person.";

/// What tells it, whatever is changed about the rest.
const MARK: &str = "[totalrecall:analysis]";

/// Held, shared, by every process that may be asking.
pub(super) const LOCK: &str = "model.lock";

/// The folder that programs are started in: empty, and in our home.
pub fn folder(home: &Home) -> PathBuf {
    home.path().join("analysis")
}

/// Looks at a session's events for signs that it is one of ours.
#[derive(Debug)]
pub struct Own {
    folder: PathBuf,
    has_begun: bool,
    found: bool,
}

impl Own {
    /// For a transcript that is read from its beginning.
    pub fn new(home: &Home) -> Self {
        // As a program that asks the system where it is would have it.
        let folder = folder(home);
        let folder = home.path().canonicalize().map_or(folder, |home| home.join("analysis"));
        Self { folder, has_begun: false, found: false }
    }

    /// Takes in an event.
    pub fn learn(&mut self, event: &Event) {
        match &event.body {
            Body::Session(session) => {
                let is_ours = |cwd: &String| Path::new(cwd).starts_with(&self.folder);
                self.found |= session.cwd.as_ref().is_some_and(is_ours);
            }
            Body::Message(message) if message.author == Author::Human && !self.has_begun => {
                self.has_begun = true;
                // OpenCode 1.18 keeps a prompt of its command line in quotes.
                self.found |=
                    message.text.trim_start_matches(|c: char| c.is_whitespace() || c == '"').starts_with(MARK);
            }
            _ => {}
        }
    }

    /// Is it one of ours?
    pub fn is_found(&self) -> bool {
        self.found
    }
}
