//! Sessions: what the events of a transcript say about the conversation as a whole.

use crate::event::{Body, Event, Session};

/// What is known of a session so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The tool's own id.
    pub id: Option<String>,
    /// Working directory it began in: what the session is filed under.
    pub project: Option<String>,
    /// Working directory now.
    pub cwd: Option<String>,
    /// Branch of the version control.
    pub branch: Option<String>,
    /// Title, as the tool or the person gave it.
    pub title: Option<String>,
    /// Version of the tool.
    pub version: Option<String>,
    /// The session that this one is a sub-agent or a fork of.
    pub parent: Option<String>,
    /// Time of the earliest event, milliseconds since the Unix epoch.
    pub started_at: Option<i64>,
    /// Time of the latest event, milliseconds since the Unix epoch.
    pub ended_at: Option<i64>,
}

impl Facts {
    /// Is the transcript a sub-agent's? Adapters give those the id of the session they belong to, as id and as parent;
    /// a fork has an id of its own.
    pub fn is_subagent(&self) -> bool {
        self.parent.is_some() && self.parent == self.id
    }

    /// Takes in what an event says. Copied history is older than the session and says nothing of its times.
    pub fn learn(&mut self, event: &Event) {
        if let Some(at) = event.at.filter(|_| !event.copied) {
            self.started_at = Some(self.started_at.map_or(at, |start| start.min(at)));
            self.ended_at = Some(self.ended_at.map_or(at, |end| end.max(at)));
        }
        if let Body::Session(session) = &event.body {
            self.learn_session(session);
        }
    }

    fn learn_session(&mut self, session: &Session) {
        let newer = |known: &mut Option<String>, said: &Option<String>| {
            if said.is_some() {
                known.clone_from(said);
            }
        };
        newer(&mut self.id, &session.id);
        newer(&mut self.cwd, &session.cwd);
        newer(&mut self.branch, &session.branch);
        newer(&mut self.title, &session.title);
        newer(&mut self.version, &session.version);
        newer(&mut self.parent, &session.parent);
        if self.project.is_none() {
            self.project.clone_from(&session.cwd);
        }
    }
}
