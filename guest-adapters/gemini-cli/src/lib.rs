//! Gemini CLI chats to events: one document up to 0.38, a log to be replayed since.
//!
//! Both hold the same messages. The document (`….json`) is written anew each time; of the log (`….jsonl`) each line is a
//! message, written again whenever it changes, or says what becomes of the messages before it:
//!
//! | line | means |
//! | --- | --- |
//! | `{"sessionId", "projectHash", …}` | the session; again at each resume |
//! | `{"id", "type", …}` | a message, new or in place of the one with this id |
//! | `{"$set": {…}}` | fields of the session; `messages` replaces them all |
//! | `{"$rewindTo": id}` | that message and all after it were taken back |
//!
//! So an event is told when its key is first seen, and what a later line repeats of it is stepped over. [`record`] decodes,
//! [`user`] and [`model`] read the two sides, [`result`] how calls ended, [`notice`] what the client says, [`tool`] knows
//! the tools, [`session`] what is said of the session.
//!
//! What the format cannot tell: the client's version and the branch (never written); the folder, but for what the context
//! message or `/dir` says (the folder's hash is one way); what was typed as a slash command (only its effect), or as a
//! command of the user's own, whose text stands as if it were typed; words of a refusal, which the client does not ask for;
//! and retries of the model's service.

mod model;
mod notice;
mod record;
mod result;
mod session;
mod tool;
mod user;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Framing, Origin, Output, Source, Trouble, Verdict};
use totalrecall_sdk::hash::{Hashes, hash64};
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{Author, Body, Channel, Event, Interrupt, Message};

use crate::record::Record;
use crate::session::{Facts, Home};

/// Reads one chat. The state is eight bytes for each event told, and what is said of the session.
#[derive(Default, Serialize, Deserialize)]
pub struct GeminiCli {
    #[serde(skip)]
    home: Home,
    facts: Facts,
    /// Keys of the events told.
    seen: Hashes,
    /// Key of the first message: a rewind to one that is not here takes back everything.
    first: String,
    /// The person stopped the agent: line and time. Whether a tool ran then is told by the message after it.
    stopped: Option<(u64, Option<i64>, Option<String>)>,
    /// The last thing told was a tool that the person stopped.
    tool_stopped: bool,
    /// A compaction was told and the model has said nothing since: the client's notice of it may follow.
    compacted: bool,
}

totalrecall_sdk::export_adapter!(GeminiCli);

/// Where a message stands.
struct Place<'a> {
    line: u64,
    at: Option<i64>,
    /// Its id, made unique where it is not.
    id: Option<&'a str>,
}

impl Adapter for GeminiCli {
    fn describe() -> Descriptor {
        Descriptor {
            name: "gemini-cli".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool: "gemini-cli".into(),
            sources: vec![Source::Files(Files {
                // The variable stands in the home folder's place.
                roots: vec!["${GEMINI_CLI_HOME:-~/}/.gemini/tmp".into()],
                // Sub-agents' chats lie in a folder named after their session.
                globs: vec![
                    "*/chats/*.json".into(),
                    "*/chats/*.jsonl".into(),
                    "*/chats/*/*.json".into(),
                    "*/chats/*/*.jsonl".into(),
                ],
            })],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        // Both shapes begin with the session; Qwen Code's first ones differ in the name of the model's messages.
        let start = &head[..head.len().min(1024)];
        let names = |key: &[u8]| memmem::find(start, key).is_some();
        let qwen = [&b"\"type\": \"qwen\""[..], b"\"type\":\"qwen\""];
        head.starts_with(b"{")
            && names(b"\"sessionId\"")
            && names(b"\"projectHash\"")
            && !qwen.iter().any(|kind| memmem::find(head, kind).is_some())
    }

    fn begin(&mut self, origin: &Origin) {
        self.home = Home::new(&origin.path);
    }

    fn framing(&self) -> Framing {
        if self.home.document { Framing::Whole } else { Framing::Lines }
    }

    fn record(&mut self, line: &totalrecall_sdk::adapter::Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let record: Record<'_> = line.decode()?;
        if let Some(id) = record.rewind_to.get() {
            self.rewind(id, line.line, out);
            return Ok(Verdict::Understood("$rewindTo".into()));
        }
        if record.id.get().is_some() {
            let known = self.message(&record, line.line, out);
            let kind = record.kind.get().unwrap_or("message").to_owned().into();
            return Ok(if known { Verdict::Understood(kind) } else { Verdict::Unknown(kind) });
        }
        if let Some(set) = record.set {
            let set: Record<'_> = serde_json::from_str(set.get())?;
            return Ok(self.chat(&set, "$set", line.line, out));
        }
        if record.session.get().is_some() {
            return Ok(self.chat(&record, "session", line.line, out));
        }
        Ok(Verdict::Unknown("without a type".into()))
    }

    fn finish(&mut self, out: &mut Output) {
        self.settle(false, out);
    }
}

impl GeminiCli {
    /// What is said of the session, and all its messages if they are there.
    fn chat(&mut self, chat: &Record<'_>, what: &'static str, line: u64, out: &mut Output) -> Verdict {
        if let Some(news) = self.facts.note(chat, &self.home) {
            let at = parse_rfc3339(chat.start.as_str());
            self.push(line, at, None, Body::Session(news), out);
        }
        let mut unknown = None;
        for message in &chat.messages.0 {
            if !self.message(message, line, out) {
                unknown.get_or_insert(message.kind.as_str());
            }
        }
        match unknown {
            Some(kind) => Verdict::Unknown(format!("message {kind}").into()),
            None => Verdict::Understood(what.into()),
        }
    }

    /// A message; false if it is of a type never seen.
    fn message(&mut self, message: &Record<'_>, line: u64, out: &mut Output) -> bool {
        let id = message.id.get().map(|id| self.facts.unique(id));
        let place = Place { line, at: parse_rfc3339(message.timestamp.as_str()), id: id.as_deref() };
        match message.kind.as_str() {
            "user" => self.user(message, &place, out),
            "gemini" => self.model(message, &place, out),
            "info" | "warning" | "error" => self.notice(message, &place, out),
            _ => return false,
        }
        if self.first.is_empty()
            && let Some(id) = id
        {
            self.first = id;
        }
        true
    }

    /// The person took back a message and all after it.
    fn rewind(&mut self, id: &str, line: u64, out: &mut Output) {
        let key = self.facts.unique(id);
        let known = self.seen.contains(hash64(&key));
        let key = if known { key } else { self.first.clone() };
        if !key.is_empty() {
            self.push(line, None, None, Body::Rewind(key), out);
        }
    }

    /// Tells of an interruption that waited for the message after it.
    fn settle(&mut self, in_tool: bool, out: &mut Output) {
        if let Some((line, at, key)) = self.stopped.take() {
            self.push(line, at, key, Body::Interrupt(Interrupt { in_tool }), out);
        }
    }

    /// Tells an event of a message, once; `part` names it within the message.
    fn tell(&mut self, place: &Place<'_>, part: &str, body: Body, out: &mut Output) {
        let key = place.id.map(|id| if part.is_empty() { id.to_owned() } else { format!("{id}/{part}") });
        self.tell_as(place.line, place.at, key, body, out);
    }

    /// Tells an event, unless one with its key was told.
    fn tell_as(&mut self, line: u64, at: Option<i64>, key: Option<String>, body: Body, out: &mut Output) -> bool {
        let new = key.as_ref().is_none_or(|key| self.seen.insert(hash64(key)));
        if new {
            self.tool_stopped = false;
            self.push(line, at, key, body, out);
        }
        new
    }

    fn push(&self, line: u64, at: Option<i64>, key: Option<String>, body: Body, out: &mut Output) {
        out.push(Event { line, at, thread: self.facts.thread(), key, copied: false, body });
    }
}

/// A message within the host's limit.
fn message(author: Author, channel: Channel, text: &str, out: &Output) -> Body {
    let (text, omitted) = out.cap(text);
    Body::Message(Message { author, channel, text, omitted })
}
