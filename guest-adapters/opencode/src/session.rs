//! What the session's row says.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::Session;

use crate::record::Row;

/// The session, as far as later rows need it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Home {
    /// Its id.
    pub(crate) id: String,
    /// Another session started it.
    pub(crate) sub_agent: bool,
    /// `opencode run` made it: nobody is asked anything.
    pub(crate) headless: bool,
    /// Its folder was told.
    placed: bool,
    /// From where on it is undone: ids of a message and, maybe, of one of its parts.
    undone: Option<(String, Option<String>)>,
    /// The key of the first event that is undone.
    pub(crate) undone_key: Option<String>,
}

impl Home {
    /// Takes in the session's row.
    pub(crate) fn note(&mut self, row: &Row<'_>) -> Session {
        if let Some(id) = row.id.get() {
            id.clone_into(&mut self.id);
        }
        let parent = row.parent.get().map(|parent| row.root.get().unwrap_or(parent).to_owned());
        self.sub_agent = parent.is_some();
        self.headless = row.rules.0.iter().any(|rule| {
            // The one rule that all versions of `opencode run` give their sessions.
            rule.permission.as_str() == "question" && rule.action.as_str() == "deny"
        });
        let undone = row.revert.message.get().map(str::to_owned);
        self.undone = undone.map(|message| (message, row.revert.part.get().map(str::to_owned)));
        let cwd = row.directory.get().map(str::to_owned);
        self.placed = cwd.is_some();
        Session {
            // A sub-agent is filed under the session that started it.
            id: parent.clone().or_else(|| Some(self.id.clone())).filter(|id| !id.is_empty()),
            cwd,
            branch: None,
            title: row.title.get().map(str::to_owned),
            version: row.version.get().map(str::to_owned),
            parent,
        }
    }

    /// Takes in a message: up to 0.5, only messages say where the session works.
    pub(crate) fn placed(&mut self, row: &Row<'_>) -> Option<Session> {
        let cwd = row.path.cwd.get().filter(|_| !self.placed)?;
        self.placed = true;
        let cwd = Some(cwd.to_owned());
        Some(Session { id: None, cwd, branch: None, title: None, version: None, parent: None })
    }

    /// Is the session undone from this message, or this part of it, on?
    pub(crate) fn is_undone(&self, message: &str, part: Option<&str>) -> bool {
        self.undone.as_ref().is_some_and(|(from, of)| from == message && of.as_deref() == part)
    }

    /// The thread that events of this session belong to.
    pub(crate) fn thread(&self) -> Option<String> {
        self.sub_agent.then(|| self.id.clone())
    }
}
