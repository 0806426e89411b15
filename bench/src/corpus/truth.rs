//! What was planted.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::writer::Tool;

/// Signals by kind.
pub type Counts = BTreeMap<String, u64>;

/// The truth about a corpus, written beside it as `truth.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Truth {
    /// Whose transcripts these are.
    #[serde(default)]
    pub tool: Tool,
    /// Oldest first.
    pub sessions: Vec<SessionTruth>,
}

/// The truth about one session.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SessionTruth {
    /// As the transcript says.
    pub session_id: String,
    /// The main transcript, relative to the corpus.
    pub path: PathBuf,
    /// The transcripts of its sub-agents, relative to the corpus.
    pub subagent_files: Vec<PathBuf>,
    /// The session this one began as a copy of. What was copied counts there, not here.
    pub forked_from: Option<String>,
    /// Milliseconds since 1970.
    pub started_at: i64,
    /// Milliseconds since 1970.
    pub ended_at: i64,
    /// Lines of the main transcript.
    pub records: u64,
    /// Signals of the main thread.
    pub counts: Counts,
    /// Signals of all sub-agents together.
    pub counts_subagents: Counts,
    /// Each of them, main thread first.
    #[serde(default)]
    pub planted: Vec<Planted>,
}

/// A signal, and where it has to be seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Planted {
    /// Which.
    pub kind: String,
    /// The transcript, relative to the corpus.
    pub path: PathBuf,
    /// Line of the transcript, as its tool's adapter counts them: from 1. Of a database these are the rows of its query.
    pub line: u64,
}

impl Truth {
    /// Signals of all sessions by kind: main threads, sub-agents.
    pub fn totals(&self) -> (Counts, Counts) {
        let mut totals = (Counts::new(), Counts::new());
        for session in &self.sessions {
            for (all, one) in [(&mut totals.0, &session.counts), (&mut totals.1, &session.counts_subagents)] {
                for (kind, count) in one {
                    *all.entry(kind.clone()).or_default() += count;
                }
            }
        }
        totals
    }
}
