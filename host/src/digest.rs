//! What a session did, in short: for whoever asks for it, and for what the next session is told.

use serde::Serialize;

use crate::{
    clean::clean,
    passage::{Kind, Passage},
    search::Reference,
    store::{Origin, SessionId, SessionRow, Store, StoreError},
};

/// Prompts, and files, of a digest.
const MOST: usize = 20;
/// Longest prompt and reply in it, in characters.
const SHORT: usize = 280;

/// A session in short.
#[derive(Clone, Debug, Serialize)]
pub struct Digest {
    /// What it is called.
    pub id: Reference,
    /// The tool's id of it.
    pub native_id: String,
    /// The tool.
    pub tool: String,
    /// Title; text of others, as all that follows.
    pub title: Option<String>,
    /// The project it is filed under.
    pub project: Option<String>,
    /// Branch of that folder.
    pub branch: Option<String>,
    /// Path of its main transcript.
    pub path: Option<String>,
    /// First and last event, in milliseconds since the Unix epoch.
    pub started_at: Option<i64>,
    /// See above.
    pub ended_at: Option<i64>,
    /// Messages of the person and of the agent.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Of these, edits.
    pub edits: u64,
    /// Files it changed, those it changed most first.
    pub files: Vec<String>,
    /// Files that are left out.
    pub files_left_out: usize,
    /// The person's words, in their order, each shortened: the first ones and the last one.
    pub prompts: Vec<Said>,
    /// Prompts that are left out.
    pub prompts_left_out: usize,
    /// The agent's last words, shortened.
    pub last_reply: Option<Said>,
    /// Tags.
    pub tags: Vec<String>,
    /// Since when its words are put away: none of them is told here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<i64>,
    /// Since when nothing is left of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged_at: Option<i64>,
}

/// Something that was said.
#[derive(Clone, Debug, Serialize)]
pub struct Said {
    /// What it is called.
    pub id: Reference,
    /// When.
    pub at: Option<i64>,
    /// What, on one line.
    pub text: String,
}

impl Said {
    /// A passage of an event, shortened to so many characters.
    pub fn of(passage: &Passage, most: usize) -> Option<Self> {
        let id = Reference::Event(passage.place?.event);
        Some(Self { id, at: passage.at, text: short(&passage.text, most) })
    }
}

/// A text on one line, without control characters, of at most so many characters.
pub fn short(text: &str, most: usize) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The session in short. None: there is none of that number.
///
/// # Errors
/// As for any read.
pub fn digest(store: &Store, session: SessionId) -> Result<Option<Digest>, StoreError> {
    let Some(row) = store.session(session)? else { return Ok(None) };
    let (mut prompts, mut last_reply, mut left_out) = (Vec::<Said>::new(), None, 0);
    store.each_passage_of(session, &[Kind::Prompt, Kind::Reply], &mut |passage| {
        match passage.kind {
            Kind::Prompt => {
                let Some(said) = Said::of(&passage, SHORT) else { return Ok(()) };
                // The last one takes the last place.
                if prompts.len() == MOST {
                    prompts.pop();
                    left_out += 1;
                }
                prompts.push(said);
            }
            Kind::Reply => last_reply = Some(passage),
            _ => {}
        }
        Ok::<_, StoreError>(())
    })?;
    let mut files: Vec<String> = store.changes(session)?.into_iter().map(|(path, _)| path).collect();
    let files_left_out = files.len().saturating_sub(MOST);
    files.truncate(MOST);
    let SessionRow { native_id, tool, title, project, branch, path, started_at, ended_at, .. } = row;
    Ok(Some(Digest {
        id: Reference::Session(session),
        native_id,
        tool,
        title: title.map(|title| short(&title, SHORT)),
        project,
        branch,
        path,
        started_at,
        ended_at,
        messages: row.messages,
        tool_calls: row.tool_calls,
        edits: row.edits,
        files,
        files_left_out,
        prompts,
        prompts_left_out: left_out,
        last_reply: last_reply.and_then(|reply| Said::of(&reply, SHORT)),
        tags: store.marks(Origin::Session, session.0, "tag")?,
        archived_at: row.archived_at,
        purged_at: row.purged_at,
    }))
}
