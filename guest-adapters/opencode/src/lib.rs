//! OpenCode sessions to events: of the database (1.2.0 and on), and of the trees of files before it.
//!
//! A session is its row followed by those of its messages, each followed by its parts. A row changes in place (a tool call
//! goes from running to completed), so a session that has changed is read anew.
//!
//! | module | reads |
//! | --- | --- |
//! | [`source`] | what is asked for: the database's queries, the trees' levels |
//! | [`session`] | id, folder, title, version, parent |
//! | [`message`] | who speaks, usage, errors, interrupts |
//! | [`part`] | texts, thoughts, tool calls, compactions |
//! | [`result`] | how tool calls ended |
//!
//! Others help: [`record`] has the fields, [`keys`] makes copies recognisable, [`hold`] puts results after all the calls that
//! were made along with theirs, [`tool`] and [`patch`] know the tools.
//!
//! Not read: messages that have their parts inside (up to 0.3; they are counted as unknown), and the tables of the coming
//! second model (`session_message` and its like), which 1.18 creates and leaves empty.

mod hold;
mod keys;
mod message;
mod part;
mod patch;
mod record;
mod result;
mod session;
mod source;
mod tool;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Origin, Output, Record, Trouble, Verdict};
use totalrecall_sdk::types::{Body, Event};

use crate::hold::Hold;
use crate::keys::Keys;
use crate::message::Message;
use crate::record::Row;
use crate::session::Home;

/// Reads one session.
#[derive(Default, Serialize, Deserialize)]
pub struct OpenCode {
    home: Home,
    keys: Keys,
    message: Message,
    hold: Hold,
    /// Time until which the agent was at work.
    busy_until: i64,
    /// The last message of the person announces a command of theirs, which the next one carries out.
    shell: bool,
    /// A compaction was told, and its summary may follow.
    compacted: bool,
    /// Hash of the person's last prompt.
    last_prompt: u64,
    /// Hash of the prompt that is put again after a compaction, under the person's name.
    put_again: Option<u64>,
    /// What is told from here on is undone.
    undoing: bool,
    /// The last row.
    line: u64,
}

totalrecall_sdk::export_adapter!(OpenCode);

impl Adapter for OpenCode {
    fn describe() -> Descriptor {
        Descriptor {
            name: "opencode".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool: "opencode".into(),
            sources: source::sources(),
        }
    }

    fn recognise(head: &[u8]) -> bool {
        let first = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        first.is_some_and(|line| {
            let names = |key: &[u8], id: &[u8]| {
                memmem::find_iter(line, key).any(|at| {
                    let value = line[at + key.len()..].trim_ascii_start();
                    value.strip_prefix(b":").is_some_and(|value| value.trim_ascii_start().starts_with(id))
                })
            };
            line.trim_ascii_start().starts_with(b"{")
                && (names(b"\"id\"", b"\"ses_") || names(b"\"messageID\"", b"\"msg_") || names(b"\"id\"", b"\"msg_"))
        })
    }

    fn begin(&mut self, origin: &Origin) {
        if self.home.id.is_empty() {
            self.home.id = origin.key.clone().unwrap_or_default();
        }
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let row: Row<'_> = record.decode()?;
        self.line = record.line;
        Ok(if row.message.get().is_some() {
            self.part(&row, record.line, out)
        } else if row.role.get().is_some() {
            self.message(&row, record.line, out)
        } else if row.id.as_str().starts_with("ses_") || row.directory.get().is_some() {
            let news = self.home.note(&row);
            self.tell(record.line, row.time.created(), None, Body::Session(news), out);
            Verdict::Understood("session".into())
        } else {
            Verdict::Unknown("neither session nor message nor part".into())
        })
    }

    fn finish(&mut self, out: &mut Output) {
        self.close(out);
        if let Some(key) = self.home.undone_key.take() {
            self.tell(self.line, None, None, Body::Rewind(key), out);
        }
    }
}

impl OpenCode {
    /// Passes an event on.
    fn tell(&mut self, line: u64, at: Option<i64>, key: Option<String>, body: Body, out: &mut Output) {
        let event = self.event(line, at, key, body);
        out.push(event);
    }

    fn event(&mut self, line: u64, at: Option<i64>, key: Option<String>, body: Body) -> Event {
        if self.undoing && self.home.undone_key.is_none() {
            self.home.undone_key.clone_from(&key);
        }
        Event { line, at, thread: self.home.thread(), key, copied: false, body }
    }
}
