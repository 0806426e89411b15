//! Search over everything that is kept: by words, by meaning, or by both. What is asked for is filtered first and ranked then,
//! from what the passages say, what their sessions say as wholes, and what they mean.

mod around;
mod asked;
mod excerpt;
mod grep;
mod hit;
mod reader;
mod reference;
mod run;
mod tail;
mod trigrams;

pub use around::{Around, Away, Moment, Step, around, put_away, timeline};
pub use asked::{Asked, AskedError};
pub use grep::{Grep, Line, Lines};
pub use hit::{Hit, Source};
pub use reference::{Reference, ReferenceError};
pub use run::{SearchError, Searcher};
pub(crate) use trigrams::{Needs, Trigrams};

use serde::Serialize;
use totalrecall_retrieval::fuse;

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
    /// Only memories that hold at this time, in milliseconds since the Unix epoch. None: those that were superseded, have expired
    /// or are done, too.
    pub holding_at: Option<i64>,
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

/// A search.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Words of which any may be there, `"phrases"` that must be, and `prefixes*`.
    pub query: String,
    /// What it is about.
    pub filter: Filter,
    /// Most hits.
    pub limit: usize,
}

/// What a search found.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// The best, best first.
    pub hits: Vec<Hit>,
    /// How many are relevant in all.
    pub total: usize,
    /// There are at least so many: not all were looked at.
    pub is_more: bool,
    /// Whether they answer what was asked. Without an answer they are near it at best.
    pub confidence: Confidence,
    /// Words that nothing holds, and what was searched for in their place.
    pub corrected: Vec<(String, String)>,
    /// Of the hits, what was put away: found by title, marks and summary, and to be brought back for its text.
    pub archived: Vec<Archived>,
    /// Beginnings of words that more words have than are searched for.
    pub cut_prefixes: Vec<String>,
    /// So many passages have the words of the phrases, and no more were looked at for whether they stand in their order. None: all
    /// were.
    pub phrases_looked_up: Option<usize>,
    /// Passages that no index has yet and that were too many to look through.
    pub unindexed: u64,
    /// Share of passages that could be found by their meaning, 0 to 1.
    pub meaning: f32,
}

/// Whether there is an answer among what was found. How often that is wrong: `docs/search.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// There is none.
    #[default]
    Nothing,
    /// There may be one: good enough for somebody who asked.
    Maybe,
    /// There probably is: good enough to be told without being asked.
    Likely,
}

impl From<fuse::Confidence> for Confidence {
    fn from(confidence: fuse::Confidence) -> Self {
        match confidence {
            fuse::Confidence::Nothing => Self::Nothing,
            fuse::Confidence::Maybe => Self::Maybe,
            fuse::Confidence::Likely => Self::Likely,
        }
    }
}

/// Something that was put away.
#[derive(Clone, Debug, Serialize)]
pub struct Archived {
    /// What it is called.
    pub id: Reference,
    /// Its title or summary.
    pub title: String,
}
