//! A filter as it is asked for, in words, on the command line or by an agent.

use std::path::Path;

use serde::Deserialize;

use super::Filter;
use crate::{
    passage::Kind,
    period::{self, End, PeriodError},
    project::{self, ProjectError},
    store::{Store, StoreError},
};

/// What somebody wants a search to be about.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    /// Only of this project: a folder of it or what its folder is called; without a value, that of the current folder
    #[arg(long, value_name = "DIR|NAME", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<String>,
    /// Only sessions of this tool, such as claude-code
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only this session: s12, or the tool's id of it
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Only what was said since then: 30d, 2w, 6m (months), 1y ago, or a day such as 2026-11-01
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Only what was said before then; of a day, by its end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// Only these kinds: prompt, reply, reasoning, call, result, memory, chunk, session
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', hide_possible_values = true)]
    pub kinds: Vec<Kind>,
    /// Only what has this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Only what is about this field of a project
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Option<String>,
    /// Only chunks that name this: a file, a version, a module, a ticket, a function
    #[arg(long, value_name = "NAME")]
    pub entity: Option<String>,
    /// Only sessions that used this file: a whole path, or its last parts
    #[arg(long, value_name = "FILE")]
    pub path: Option<String>,
    /// Memories that were superseded, have expired or are done, too
    #[arg(long)]
    pub outdated: bool,
}

/// What is asked for makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum AskedError {
    /// A time is none.
    #[error(transparent)]
    Period(#[from] PeriodError),
    /// The period ends before it begins.
    #[error("the period ends before it begins: its beginning must be earlier than its end")]
    Backwards,
    /// There is no such project, or there are several.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Asked {
    /// The filter that is meant by somebody in the folder `here`.
    ///
    /// # Errors
    /// See [`AskedError`].
    pub fn filter(&self, store: &Store, here: &Path, now: i64) -> Result<Filter, AskedError> {
        let time = |text: &Option<String>, end| text.as_deref().map(|text| period::parse(text, end, now)).transpose();
        let (since, until) = (time(&self.since, End::Begin)?, time(&self.until, End::End)?);
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            return Err(AskedError::Backwards);
        }
        let project = match self.project.as_deref() {
            None | Some("") => None,
            Some(".") => Some(project::find(None, here, &store.projects()?)?),
            Some(asked) => Some(project::find(Some(asked), here, &store.projects()?)?),
        };
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        Ok(Filter {
            project,
            tool: given(&self.tool),
            session: given(&self.session),
            since,
            until,
            kinds: self.kinds.clone(),
            tag: given(&self.tag),
            domain: given(&self.domain),
            entity: given(&self.entity),
            path: given(&self.path),
            holding_at: (!self.outdated).then_some(now),
        })
    }
}
