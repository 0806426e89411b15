//! Cursor's chats to events, from the editor's database.
//!
//! A session is a *composer*: `composerData:<id>` says what it is called and in which order its messages stand, each
//! message is `bubbleId:<composer>:<id>` (up to 0.4x they stand in the composer itself). [`query`] asks for them; a row is
//! the composer first, then a message each, with at most one tool call. [`bubble`] reads messages, [`tool`] calls and how
//! they ended.
//!
//! What the format cannot tell: messages that the person went back over (the list names only those that remain); when a
//! call ended; the texts of an edit made with `edit_file` (a sketch with gaps) or `edit_file_v2` (kept elsewhere, under
//! hashes), of which the file is told; why a call was refused; compactions; tokens that were paid for (the counts of some
//! messages are estimates); the editor's version. A stopped call and one that was skipped are both `cancelled`, unless the
//! refusal is noted. Chats of the terminal client lie elsewhere, as files.

mod bubble;
mod query;
mod tool;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{
    Adapter, Database, Descriptor, Origin, Output, Queries, Record, Source, Trouble, Verdict,
};
use totalrecall_sdk::hash::{Hashes, hash64};
use totalrecall_sdk::json::{Number, Raw, Text, object};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Message, Session};

use crate::bubble::Bubble;

/// Reads one composer.
#[derive(Default, Serialize, Deserialize)]
pub struct Cursor {
    /// The composer's id.
    key: String,
    /// It is a sub-agent's, whose session is another.
    thread: Option<String>,
    folder: String,
    model: String,
    /// Keys of the events told: a list may name a message twice.
    seen: Hashes,
}

totalrecall_sdk::export_adapter!(Cursor);

object! {
    /// A row: the composer, or a message of it.
    struct Row<'a> {
        "composer" => composer: Text<'a>,
        "name" => name: Text<'a>,
        "createdAt" => created: Number,
        "model" => model: Text<'a>,
        "folder" => folder: Text<'a>,
        "branch" => branch: Text<'a>,
        /// Of a sub-agent's composer.
        "parent" => parent: Text<'a>,
        /// 1 for one of several tries at a prompt, which is a chat of its own.
        "isOneOfSeveral" => one_of_several: Number,
        // a message
        "id" => id: Text<'a>,
        "bubble" => bubble: Raw<'a>,
    }
}

/// Where a message stands.
struct Place {
    line: u64,
    at: Option<i64>,
    key: String,
}

impl Adapter for Cursor {
    fn describe() -> Descriptor {
        let paths = [
            "${XDG_CONFIG_HOME:-~/.config}/Cursor/User/globalStorage/state.vscdb",
            "~/Library/Application Support/Cursor/User/globalStorage/state.vscdb",
            "${APPDATA:-~/AppData/Roaming}/Cursor/User/globalStorage/state.vscdb",
        ];
        let queries = Queries { sessions: query::SESSIONS.into(), rows: query::ROWS.into() };
        Descriptor {
            name: "cursor".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool: "cursor".into(),
            sources: vec![Source::Database(Database { paths: paths.map(Into::into).into(), queries: vec![queries] })],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        head.starts_with(br#"{"composer":"#)
    }

    fn begin(&mut self, origin: &Origin) {
        if let Some(key) = &origin.key {
            self.key.clone_from(key);
        }
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let row: Row<'_> = record.decode()?;
        if row.composer.get().is_some() {
            self.composer(&row, record.line, out);
            return Ok(Verdict::Understood("composer".into()));
        }
        let Some(raw) = row.bubble else {
            return Ok(match row.id.0 {
                // The list names it, and there is nothing of it.
                Some(_) => Verdict::Skipped("bubble without content".into()),
                None => Verdict::Unknown("row".into()),
            });
        };
        let bubble: Bubble<'_> = serde_json::from_str(raw.get())?;
        Ok(self.bubble(row.id.as_str(), &bubble, record.line, out))
    }
}

impl Cursor {
    fn composer(&mut self, row: &Row<'_>, line: u64, out: &mut Output) {
        let id = row.composer.as_str();
        if self.key.is_empty() {
            id.clone_into(&mut self.key);
        }
        row.model.as_str().clone_into(&mut self.model);
        row.folder.as_str().clone_into(&mut self.folder);
        let parent = row.parent.get().map(str::to_owned);
        let sub_agent = parent.is_some() && row.one_of_several.0 != Some(1);
        self.thread = sub_agent.then(|| id.to_owned());
        let owned = |text: &Text<'_>| text.get().map(str::to_owned);
        let session = Session {
            id: Some(parent.clone().filter(|_| sub_agent).unwrap_or_else(|| id.to_owned())),
            cwd: owned(&row.folder),
            branch: owned(&row.branch),
            // A sub-agent's name is not its session's.
            title: owned(&row.name).filter(|_| !sub_agent),
            version: None,
            parent,
        };
        let at = row.created.0.and_then(|at| i64::try_from(at).ok());
        self.push(line, at, None, Body::Session(session), out);
    }

    /// Tells an event, unless one with its key was told.
    fn tell(&mut self, place: &Place, part: &str, body: Body, out: &mut Output) {
        let key = if part.is_empty() { place.key.clone() } else { format!("{}/{part}", place.key) };
        if self.seen.insert(hash64(&key)) {
            self.push(place.line, place.at, Some(key), body, out);
        }
    }

    fn push(&self, line: u64, at: Option<i64>, key: Option<String>, body: Body, out: &mut Output) {
        out.push(Event { line, at, thread: self.thread.clone(), key, copied: false, body });
    }
}

/// A message within the host's limit.
fn message(author: Author, channel: Channel, text: &str, out: &Output) -> Body {
    let (text, omitted) = out.cap(text);
    Body::Message(Message { author, channel, text, omitted })
}
