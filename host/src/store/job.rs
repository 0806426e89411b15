use std::io::{self, Read, Seek};

use super::{Edges, SessionId, Stamp, TranscriptId};
use crate::sandbox::parse::Checkpoint;

/// A transcript to read, with what is known from reading it before.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its row.
    pub transcript: TranscriptId,
    /// Adapter that found it.
    pub adapter: String,
    /// Tool that wrote it.
    pub tool: String,
    /// The file, or the database.
    pub path: String,
    /// The session's key in a database, '' for a file.
    pub key: String,
    /// The person named it, so it may lie anywhere.
    pub named: bool,
    /// How it looked when it was last dealt with, if it ever was.
    pub stamp: Option<Stamp>,
    /// Adapter component that parsed what is stored.
    pub parsed_by: Option<String>,
    /// Analyzer component and settings behind the stored signals; none if they do not fit the events any more.
    pub analyzed_by: Option<String>,
    /// Where its reading ended.
    pub resume: Option<Resume>,
    /// Failures since it last was as it is.
    pub attempts: u32,
    /// The tool has deleted it; what is stored of it stays.
    pub expired: bool,
    /// Session it was filed under.
    pub session: Option<SessionId>,
    /// Gets a transaction of its own: it is large, or it was begun before and the process died.
    pub(super) alone: bool,
}

/// State to go on from.
#[derive(Clone, Debug)]
pub struct Resume {
    /// The parser's.
    pub checkpoint: Checkpoint,
    /// Of the bytes before it.
    pub edges: Edges,
    /// The analysis'.
    pub analysis: Vec<u8>,
    /// Of the looking for pauses; none: that was not done yet.
    pub sieve: Option<String>,
}

impl Job {
    /// Whether the file that is open now is the stored one with bytes appended, and was read by the same components:
    /// then the state to go on from. Otherwise the transcript is to be read from its beginning.
    ///
    /// A rewritten middle behind an unchanged head and seam is not noticed; no known tool writes so.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn resume(
        &self,
        parsed_by: &str,
        analyzed_by: &str,
        now: &Stamp,
        file: &mut (impl Read + Seek),
    ) -> io::Result<Option<&Resume>> {
        let (Some(resume), Some(before)) = (&self.resume, &self.stamp) else { return Ok(None) };
        let same_producers =
            self.parsed_by.as_deref() == Some(parsed_by) && self.analyzed_by.as_deref() == Some(analyzed_by);
        // Of the same size but written to: what changed is inside.
        let rewritten = now.size == before.size && now.mtime_ns != before.mtime_ns;
        let offset = resume.checkpoint.offset;
        if !same_producers || rewritten || now.version.is_some() || now.size < offset || offset == 0 {
            return Ok(None);
        }
        match Edges::read(file, offset) {
            Ok(edges) => Ok((edges == resume.edges).then_some(resume)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}
