//! Which session a transcript belongs to. A session is told by its tool, its native id and its main transcript: two
//! files with one id are two sessions. Transcripts of sub-agents join the session of that id in their project folder;
//! if only they are known, they make the session, which its main transcript takes over when it comes.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{Job, SessionId, StoreError, TranscriptId, deleted};
use crate::event::{Author, Body, Event};

/// What a transcript is to its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The conversation itself.
    Main,
    /// A sub-agent's.
    Agent,
}

/// What a transcript says of its session. None says nothing, or nothing new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFacts {
    /// The tool's id of the session; for a sub-agent the id of the session that it works for.
    pub native_id: String,
    /// What the transcript is to it.
    pub role: Role,
    /// The project it is filed under.
    pub project: Option<String>,
    /// Folder the tool worked in.
    pub cwd: Option<String>,
    /// Branch of that folder.
    pub branch: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Version of the tool.
    pub version: Option<String>,
    /// Native id of the session that this one goes on from.
    pub parent: Option<String>,
}

/// What happened, in numbers. Copied events are counted nowhere: they are counted where they first happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Events of the main thread.
    pub events: u64,
    /// Messages of the person and of the model, there.
    pub messages: u64,
    /// Tool calls, there.
    pub tool_calls: u64,
    /// Tool calls that edit or create, there.
    pub edits: u64,
    /// Events of sub-agents.
    pub agent_events: u64,
    /// Time of the earliest event, sub-agents included.
    pub started_at: Option<i64>,
    /// Time of the latest.
    pub ended_at: Option<i64>,
}

impl Counts {
    /// Counts one more event.
    pub fn add(&mut self, event: &Event) {
        if event.copied {
            return;
        }
        if let Some(at) = event.at {
            self.started_at = Some(self.started_at.map_or(at, |first| first.min(at)));
            self.ended_at = Some(self.ended_at.map_or(at, |last| last.max(at)));
        }
        if event.thread.is_some() {
            self.agent_events += 1;
            return;
        }
        self.events += 1;
        match &event.body {
            Body::Message(message) => self.messages += u64::from(message.author != Author::Harness),
            Body::ToolCall(call) => {
                use crate::event::ToolKind::{Create, Edit};
                self.tool_calls += 1;
                self.edits += u64::from(matches!(call.kind, Edit | Create));
            }
            _ => {}
        }
    }

    /// Writes them into a transcript's row.
    pub(super) fn save(&self, db: &Connection, transcript: TranscriptId) -> rusqlite::Result<()> {
        let mut save = db.prepare_cached(
            "UPDATE transcript SET events = ?2, messages = ?3, tool_calls = ?4, edits = ?5, agent_events = ?6,
                started_at = ?7, ended_at = ?8
             WHERE id = ?1",
        )?;
        let [events, messages, tool_calls, edits, agent_events] =
            [self.events, self.messages, self.tool_calls, self.edits, self.agent_events].map(u64::cast_signed);
        save.execute(params![
            transcript,
            events,
            messages,
            tool_calls,
            edits,
            agent_events,
            self.started_at,
            self.ended_at
        ])
        .map(drop)
    }
}

/// The project folder of a transcript: where the main transcript lies. A sub-agent's lies there, too, or below a folder
/// named by the session.
fn folder(job: &Job, native_id: &str) -> String {
    let path = Path::new(&job.path);
    let named = path.ancestors().skip(1).find(|folder| folder.file_name().is_some_and(|name| name == native_id));
    named.unwrap_or(path).parent().map_or_else(String::new, |folder| folder.to_string_lossy().into_owned())
}

/// Finds or makes the transcript's session and adds what the transcript says of it. `anew`: this transcript was read
/// from its beginning, so what it said before is void.
pub(super) fn file(db: &Connection, job: &Job, facts: &SessionFacts, anew: bool) -> Result<SessionId, StoreError> {
    let folder = folder(job, &facts.native_id);
    let id = match facts.role {
        Role::Main => main_session(db, job, facts, &folder)?,
        Role::Agent => agent_session(db, job, facts, &folder)?,
    };
    let (project, cwd, branch, version) = (&facts.project, &facts.cwd, &facts.branch, &facts.version);
    if facts.role == Role::Agent {
        // A sub-agent has a title and a parent of its own; the rest it shares until the main transcript says otherwise.
        db.prepare_cached(
            "UPDATE session SET project = ifnull(project, ?2), cwd = ifnull(cwd, ?3), branch = ifnull(branch, ?4),
                version = ifnull(version, ?5)
             WHERE id = ?1",
        )?
        .execute(params![id, project, cwd, branch, version])?;
        return Ok(id);
    }
    if anew {
        db.prepare_cached(
            "UPDATE session SET project = NULL, cwd = NULL, branch = NULL, title = NULL, version = NULL, parent = NULL
             WHERE id = ?1",
        )?
        .execute([id])?;
    }
    db.prepare_cached(
        "UPDATE session SET project = ifnull(?2, project), cwd = ifnull(?3, cwd), branch = ifnull(?4, branch),
            version = ifnull(?5, version), title = ifnull(?6, title), parent = ifnull(?7, parent)
         WHERE id = ?1",
    )?
    .execute(params![id, project, cwd, branch, version, facts.title, facts.parent])?;
    Ok(id)
}

fn main_session(db: &Connection, job: &Job, facts: &SessionFacts, folder: &str) -> Result<SessionId, StoreError> {
    let id = params![job.transcript, job.tool, facts.native_id];
    let own = db
        .prepare_cached("SELECT id FROM session WHERE main_transcript = ?1 AND tool = ?2 AND native_id = ?3")?
        .query_row(id, |row| row.get(0))
        .optional()?;
    if let Some(own) = own {
        return Ok(own);
    }
    // The file holds another session now.
    db.prepare_cached("UPDATE session SET main_transcript = NULL WHERE main_transcript = ?1")?
        .execute([job.transcript])?;
    // Sub-agents whose main transcript was not known: in this folder, or anywhere if the id is theirs alone.
    let orphan = db
        .prepare_cached(
            "SELECT id FROM session
             WHERE tool = ?1 AND native_id = ?2 AND main_transcript IS NULL AND (folder = ?3
                OR 1 = (SELECT count(*) FROM session WHERE tool = ?1 AND native_id = ?2))
             ORDER BY folder != ?3, id LIMIT 1",
        )?
        .query_row(params![job.tool, facts.native_id, folder], |row| row.get(0))
        .optional()?;
    if let Some(orphan) = orphan {
        db.prepare_cached("UPDATE session SET main_transcript = ?2, folder = ?3 WHERE id = ?1")?.execute(params![
            orphan,
            job.transcript,
            folder
        ])?;
        return Ok(orphan);
    }
    new_session(db, job, facts, folder, Some(job.transcript))
}

fn agent_session(db: &Connection, job: &Job, facts: &SessionFacts, folder: &str) -> Result<SessionId, StoreError> {
    // Of two main files with this id in this folder, the one that is named by the id.
    let known = db
        .prepare_cached(
            "SELECT s.id FROM session s LEFT JOIN transcript t ON t.id = s.main_transcript
             WHERE s.tool = ?1 AND s.native_id = ?2 AND (s.folder = ?3
                OR 1 = (SELECT count(*) FROM session WHERE tool = ?1 AND native_id = ?2))
             ORDER BY s.folder != ?3, s.main_transcript IS NULL, instr(ifnull(t.path, ''), '/' || ?2 || '.') = 0, s.id
             LIMIT 1",
        )?
        .query_row(params![job.tool, facts.native_id, folder], |row| row.get(0))
        .optional()?;
    match known {
        Some(known) => Ok(known),
        None => new_session(db, job, facts, folder, None),
    }
}

fn new_session(
    db: &Connection,
    job: &Job,
    facts: &SessionFacts,
    folder: &str,
    main: Option<TranscriptId>,
) -> Result<SessionId, StoreError> {
    let mut put =
        db.prepare_cached("INSERT INTO session (tool, native_id, folder, main_transcript) VALUES (?1, ?2, ?3, ?4)")?;
    Ok(SessionId(put.insert(params![job.tool, facts.native_id, folder, main])?))
}

/// Brings a session in line with its transcripts: sums, times, and the mark that its findings are to be made again. A
/// session without transcripts goes, and its findings with it.
pub(super) fn settle(db: &Connection, session: SessionId) -> Result<(), StoreError> {
    let gone = db
        .prepare_cached(
            "DELETE FROM session WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM transcript WHERE session_id = ?1)",
        )?
        .execute([session])?;
    if gone > 0 {
        return deleted::clear_row(db, session);
    }
    db.prepare_cached(
        "UPDATE session SET findings_stale = 1,
            (started_at, ended_at, events, messages, tool_calls, edits, agent_events) =
            (SELECT min(started_at), max(ended_at), sum(events), sum(messages), sum(tool_calls), sum(edits),
                sum(agent_events)
             FROM transcript WHERE session_id = ?1)
         WHERE id = ?1",
    )?
    .execute([session])?;
    Ok(())
}

/// Takes a session away with everything that is known of it.
pub(super) fn clear(db: &Connection, session: SessionId) -> Result<(), StoreError> {
    db.prepare_cached("DELETE FROM session WHERE id = ?1")?.execute([session])?;
    deleted::clear_row(db, session)
}
