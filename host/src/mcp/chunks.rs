//! `chunk`, `peek` and `list_chunks`: longer texts that are saved on purpose.

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Limit, ROOM, Room, Words, counted, line, number, part, when},
};
use crate::{
    chunk::{self, Chunk, NewChunk, Sort},
    project::ProjectError,
    store::{Origin, Store},
};

/// Most chunks in a list.
const MOST: u32 = 500;
/// What the predecessor called a memory among the types of chunks.
const INSIGHT: &str = "insight";

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct SaveChunk {
    /// The text
    content: String,
    /// One line about it; its first line unless given
    #[serde(default)]
    summary: String,
    /// Words to find it by, separated by commas
    #[serde(default)]
    tags: Words,
    /// The project: a folder, or a name. Empty: the project of this session
    #[serde(default)]
    project: String,
    /// Issue it belongs to
    #[serde(default)]
    ticket: String,
    /// Field of the project it is about
    #[serde(default)]
    domain: String,
    /// session (what was done), snapshot (the conversation as it is), debug (how something was tracked down); session unless given
    #[serde(default)]
    chunk_type: String,
    /// The tool's id of the session it was said in; this one, where the client tells
    #[serde(default)]
    session: String,
}

/// What became of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Saved {
    /// Its id, or that of the one with the same text. Empty: nothing was saved
    id: String,
    /// The same text was saved before; nothing was added
    known: bool,
    kind: String,
    summary: String,
    /// Estimate: one for every four characters
    tokens: u64,
    /// Secrets that were taken out before it was stored
    redacted: u64,
    #[serde(skip)]
    notices: Vec<String>,
}

impl Tool for SaveChunk {
    const NAME: &'static str = "chunk";
    const TITLE: &'static str = "Save a longer text";
    const DESCRIPTION: &'static str = "Saves a text of more than a few sentences, to be found and read in later sessions: what a session did and left undone, a \
        conversation before it is compacted, how a hard problem was tracked down. At most 2 MiB; secrets are taken out; the same text \
        is not saved twice. For one statement use remember.";
    const EFFECT: Effect = Effect::Adds;
    type Answer = Saved;

    fn run(self, desk: &Desk) -> Result<Saved, Refusal> {
        let sort = match self.chunk_type.trim() {
            "" => Sort::default(),
            INSIGHT => {
                let redirect =
                    "Nothing was saved: an insight is a memory. Use `remember` for it, with one statement at a time.";
                return Ok(Saved { notices: vec![redirect.to_owned()], ..Saved::default() });
            }
            named => Sort::named(named).ok_or_else(|| {
                Refusal::new(
                    format!("`{}` is no type of chunk", line(named)),
                    "The types are session, snapshot, debug.",
                )
            })?,
        };
        let redactor = desk.redactor()?;
        if self.content.trim().is_empty() {
            return Err(chunk::ChunkError::Empty.into());
        }
        let mut store = desk.store_to_write()?;
        let project = match desk.project_named(&self.project, &store.projects()?) {
            // Chunks are filed under names, too, as of what is no folder here.
            Err(ProjectError::Unknown { .. }) => Some(line(&self.project)),
            found => found?,
        };
        let session = desk.session(&self.session);
        let word = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        let new = NewChunk {
            content: self.content,
            summary: self.summary,
            sort,
            tags: self.tags.0,
            project,
            session: session.clone(),
            domain: word(self.domain),
            ticket: word(self.ticket),
            ..NewChunk::default()
        };
        let saved = chunk::save(&mut store, &redactor, new, desk.now)?;
        desk.follow(&store, session.as_deref().filter(|_| !saved.known));
        Ok(Saved {
            id: saved.chunk.id,
            known: saved.known,
            kind: saved.chunk.kind.name().to_owned(),
            summary: saved.chunk.summary,
            tokens: saved.chunk.tokens,
            redacted: saved.redacted,
            notices: desk.pause_notice().into_iter().collect(),
        })
    }
}

impl Answer for Saved {
    const QUOTES: bool = false;

    fn text(&self) -> String {
        if self.id.is_empty() {
            return String::new();
        }
        let what = if self.known { "The same text was saved before, as" } else { "Saved as" };
        format!("{what} {} ({}, {} tokens): {}", self.id, self.kind, self.tokens, self.summary)
    }

    fn notices(&self) -> Vec<String> {
        let redacted = (self.redacted > 0).then(|| {
            format!("{} taken out before it was stored.", counted(self.redacted, "secret was", "secrets were"))
        });
        self.notices.iter().cloned().chain(redacted).collect()
    }
}

/// The text of a chunk, an archived one's as well.
pub(super) fn text_of(store: &Store, chunk: &Chunk) -> Result<String, Refusal> {
    let text = store.kept_chunk_text(chunk.row)?;
    text.ok_or_else(|| Refusal::Failed(format!("nothing is left of the text of {}", chunk.id), None))
}

/// What is to be known of one that is archived.
pub(super) fn archived(id: &str) -> String {
    format!("{id} is archived, so search does not find its text: `restore` brings it back.")
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Peek {
    /// Its id, as `list_chunks` and `search` tell it
    chunk_id: String,
    /// The first line, from 0
    #[serde(default)]
    start: u32,
    /// The line before which it ends; -1: the end
    #[serde(default = "to_the_end")]
    end: i64,
}

fn to_the_end() -> i64 {
    -1
}

/// Lines of a chunk.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Lines {
    id: String,
    summary: String,
    /// The first line that is shown, from 0
    start: usize,
    /// The line before which it ends
    end: usize,
    /// Lines there are
    lines: usize,
    text: String,
    /// It is put away: its text is not found by searching
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
    #[serde(skip)]
    is_cut: bool,
    /// The last line that is shown is so long that it is cut
    #[serde(skip)]
    is_line_cut: bool,
}

impl Tool for Peek {
    const NAME: &'static str = "peek";
    const TITLE: &'static str = "Read lines of a chunk";
    const DESCRIPTION: &'static str = "Lines of a chunk that was saved with chunk, all of them unless told otherwise. At most some 6,000 tokens at once; what is longer \
        is cut, and says with which line it goes on. list_chunks tells ids and sizes.";
    const EFFECT: Effect = Effect::Reads;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("id", "chunk_id")];
    type Answer = Lines;

    fn run(self, desk: &Desk) -> Result<Lines, Refusal> {
        let store = desk.store()?;
        let Some(chunk) = store.chunk(self.chunk_id.trim())? else {
            return Err(Refusal::new(
                format!("there is no chunk `{}`", line(&self.chunk_id)),
                "`list_chunks` tells their ids.",
            ));
        };
        // Before it is cut: a key has several lines, and none of them alone is one.
        let redactor = desk.redactor()?;
        let text = text_of(&store, &chunk)?;
        let text = redactor.redact(&text);
        let lines: Vec<&str> = text.lines().collect();
        let end = usize::try_from(self.end).unwrap_or(lines.len()).min(lines.len());
        let start = (self.start as usize).min(end);
        let (mut shown, mut room) = (String::new(), ROOM);
        let (mut last, mut is_line_cut) = (start, false);
        for line in &lines[start..end] {
            let length = line.chars().count() + 1;
            // Of a line that is too long by itself there is at least its beginning.
            if length > room {
                if last == start {
                    shown.push_str(part(line, 0, room).0);
                    last += 1;
                    is_line_cut = true;
                }
                break;
            }
            room -= length;
            last += 1;
            shown.push_str(line);
            shown.push('\n');
        }
        desk.note(&[(Origin::Chunk, chunk.row)]);
        Ok(Lines {
            id: chunk.id,
            summary: chunk.summary,
            start,
            end: last,
            lines: lines.len(),
            text: shown,
            archived: chunk.archived,
            is_cut: last < end,
            is_line_cut,
        })
    }
}

impl Answer for Lines {
    fn text(&self) -> String {
        format!("{}, lines {} to {} of {}: {}\n{}", self.id, self.start, self.end, self.lines, self.summary, self.text)
    }

    fn notices(&self) -> Vec<String> {
        let cut = self.is_cut.then(|| {
            format!(
                "Only lines {} to {} of {} are shown: start {} goes on.",
                self.start, self.end, self.lines, self.end
            )
        });
        let line =
            self.is_line_cut.then(|| format!("Line {} is cut: get with the id and `from` goes on in it.", self.start));
        let archived = self.archived.then(|| archived(&self.id));
        cut.into_iter().chain(line).chain(archived).collect()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ListChunks {
    /// At most so many
    #[serde(default = "number::<20>")]
    limit: u32,
    /// Only of this project: a folder, or what it is called; `.` is the project of this session. Empty: all
    #[serde(default)]
    project: String,
}

/// Chunks, newest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct List {
    chunks: Vec<Told>,
    /// How many there are
    total: u64,
    /// Tokens of all of them
    tokens: u64,
    #[serde(skip)]
    cut: Option<String>,
}

/// A chunk without its text.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Told {
    id: String,
    kind: String,
    summary: String,
    tokens: u64,
    at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// It is put away: its text is not found by searching
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
}

impl Told {
    pub(super) fn of(chunk: &Chunk) -> Self {
        Self {
            id: chunk.id.clone(),
            kind: chunk.kind.name().to_owned(),
            summary: line(&chunk.summary),
            tokens: chunk.tokens,
            at: when(chunk.created_at),
            tags: chunk.tags.clone(),
            project: chunk.project.clone(),
            archived: chunk.archived,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{} {} {} ({} tokens)", self.id, self.kind, self.at, self.tokens);
        if self.archived {
            text.push_str(", archived");
        }
        if !self.tags.is_empty() {
            let _ = write!(text, " [{}]", self.tags.join(", "));
        }
        let _ = write!(text, "\n   {}", self.summary);
        text
    }
}

impl Tool for ListChunks {
    const NAME: &'static str = "list_chunks";
    const TITLE: &'static str = "List saved chunks";
    const DESCRIPTION: &'static str = "The chunks that were saved, newest first, with size and one line about each, archived ones included. Some 40 tokens each. \
        To find one by what it says, use search with kinds chunk.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = List;

    fn run(self, desk: &Desk) -> Result<List, Refusal> {
        let store = desk.store()?;
        let filter = super::about::About { project: self.project, ..Default::default() }.filter(&store, desk)?;
        let groups = store.groups(&filter)?;
        let admits = |chunk: &&Chunk| {
            let group = crate::passage::Group { origin: Origin::Chunk, row: chunk.row };
            groups.as_ref().is_none_or(|groups| groups.contains(&group.number()))
        };
        let all = store.chunks()?;
        let of_it: Vec<&Chunk> = all.iter().filter(admits).collect();
        let (mut room, limit) = (Room::default(), Limit { asked: self.limit, most: MOST });
        let chunks = room.first(of_it.iter().map(|chunk| Told::of(chunk)), limit.count(), Told::text);
        let total = of_it.len() as u64;
        Ok(List {
            total,
            tokens: of_it.iter().map(|chunk| chunk.tokens).sum(),
            cut: limit.cut(&room, chunks.len(), total, "chunks"),
            chunks,
        })
    }
}

impl Answer for List {
    fn text(&self) -> String {
        let mut text = format!("{}, {} tokens\n", counted(self.total, "chunk", "chunks"), self.tokens);
        for chunk in &self.chunks {
            let _ = writeln!(text, "{}", chunk.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let none = (self.total == 0).then(|| "No chunk is saved.".to_owned());
        none.into_iter().chain(self.cut.clone()).collect()
    }
}
