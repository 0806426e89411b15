//! Search over everything that is kept: by words, by meaning, or by both.

mod reference;

pub use reference::{Reference, ReferenceError};

use crate::{passage::Kind, project::Project};

/// What a search is about. Everything that is asked for must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of this project.
    pub project: Option<Project>,
    /// Only sessions of this tool.
    pub tool: Option<String>,
    /// Only this session, by its native id or by its reference.
    pub session: Option<String>,
    /// Only what was said from then on, in milliseconds since the Unix epoch.
    pub since: Option<i64>,
    /// Only what was said before then.
    pub until: Option<i64>,
    /// Only these kinds of passages; empty: all.
    pub kinds: Vec<Kind>,
    /// Only what is marked with this tag.
    pub tag: Option<String>,
    /// Only what is about this field of a project.
    pub domain: Option<String>,
    /// Only what names this.
    pub entity: Option<String>,
    /// Only sessions that used this file: a whole path, or its last parts.
    pub path: Option<String>,
}

impl Filter {
    /// Does it ask for certain sessions, memories or chunks?
    pub fn is_about_groups(&self) -> bool {
        self.project.is_some()
            || [&self.tool, &self.session, &self.tag, &self.domain, &self.entity, &self.path]
                .iter()
                .any(|it| it.is_some())
    }
}
