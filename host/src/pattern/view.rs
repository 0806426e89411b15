//! Views: the part of a library that someone asked for. What belongs together is decided by everything that was read, so
//! that a pattern is the same in every view; a view decides what of it is counted.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Session;
use crate::finding::Finding;

/// A part of the library; by default all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct View {
    /// The folder of the project that was asked for; none: all projects.
    pub project: Option<String>,
    /// The folders whose sessions are the project's: its own, those below it, its worktrees.
    pub folders: BTreeSet<String>,
    /// When the period begins; milliseconds since the Unix epoch.
    pub since: Option<i64>,
    /// When it ends; exclusive.
    pub until: Option<i64>,
}

impl View {
    /// Whether it is everything.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The time that is taken for now: the end of the period, if that is over.
    pub fn now(&self, now: i64) -> i64 {
        self.until.map_or(now, |until| until.min(now))
    }

    /// Whether trends, which look back beyond the beginning of a period, are made of the session.
    pub fn compares(&self, session: &Session) -> bool {
        (self.project.is_none() || self.folders.contains(&session.project))
            && self.until.is_none_or(|until| session.ended_at < until)
    }

    /// Whether the session is of the view: it ended within the period.
    pub fn counts(&self, session: &Session) -> bool {
        self.compares(session) && self.since.is_none_or(|since| session.ended_at >= since)
    }

    /// Whether a finding of the session is: it was last seen within the period.
    pub fn counts_finding(&self, session: &Session, finding: &Finding) -> bool {
        let last = finding.last_at.unwrap_or(session.ended_at);
        self.counts(session) && self.since.is_none_or(|since| last >= since)
    }
}
