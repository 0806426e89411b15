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

/// Name of the folder that programs are started in.
const FOLDER: &str = "analysis";

/// Held, shared, by every process that may be asking.
pub(super) const LOCK: &str = "model.lock";

/// The folder that programs are started in: empty, and in our home.
pub fn folder(home: &Home) -> PathBuf {
    home.path().join(FOLDER)
}

/// Tells whether a tool worked in the folder that programs are started in, or below it.
#[derive(Debug, Clone)]
pub struct OwnFolder([PathBuf; 2]);

impl OwnFolder {
    /// As we call it, and as a program that asks the system where it is has it: without links.
    pub fn new(home: &Home) -> Self {
        let folder = folder(home);
        let real = home.path().canonicalize().map_or_else(|_| folder.clone(), |home| home.join(FOLDER));
        Self([folder, real])
    }

    /// Is it there that the tool worked?
    pub fn holds(&self, worked_in: &str) -> bool {
        self.0.iter().any(|folder| Path::new(worked_in).starts_with(folder))
    }
}

/// Is this the text of a question of ours? OpenCode 1.18 keeps a prompt of its command line in quotes.
pub fn is_own_prompt(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '"').starts_with(MARK)
}

/// Looks at a session's events, as they are read, for signs that it is one of ours.
#[derive(Debug)]
pub struct Own {
    folder: OwnFolder,
    has_begun: bool,
    found: bool,
}

impl Own {
    /// For a transcript that is read from its beginning.
    pub fn new(home: &Home) -> Self {
        Self { folder: OwnFolder::new(home), has_begun: false, found: false }
    }

    /// Takes in an event.
    pub fn learn(&mut self, event: &Event) {
        match &event.body {
            Body::Session(session) => {
                self.found |= session.cwd.as_ref().is_some_and(|cwd| self.folder.holds(cwd));
            }
            Body::Message(message) if message.author == Author::Human && !self.has_begun => {
                self.has_begun = true;
                self.found |= is_own_prompt(&message.text);
            }
            _ => {}
        }
    }

    /// Is it one of ours?
    pub fn is_found(&self) -> bool {
        self.found
    }
}
