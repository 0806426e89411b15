//! Claude Code transcripts (every version from 1.0 on) to events.
//!
//! One line is one record; a response of the model is several records, one per block. [`record`] tells what a line is and
//! steps over most of them undecoded; then each kind has a module:
//!
//! | module | reads |
//! | --- | --- |
//! | [`assistant`] | the model's texts, thoughts, tool calls, usage; API errors |
//! | [`user`] | prompts, and whatever else stands where a prompt would ([`markers`]) |
//! | [`result`] | how tool calls ended |
//! | [`system`] | compactions, retried API errors, commands |
//! | [`attachment`] | steering texts, hook output |
//! | [`queue`] | steering texts of versions without attachments |
//! | [`session`] | id, folder, branch, title, version |
//!
//! Others help: [`keys`] makes copies recognisable, [`hold`] keeps back what the next record decides, [`thread`] sorts
//! sub-agents, [`prompts`] notices going back, [`tool`] knows the tools.

mod assistant;
mod attachment;
mod hold;
mod keys;
mod markers;
mod prompts;
mod queue;
mod record;
mod result;
mod session;
mod system;
mod thread;
mod tool;
mod user;

use std::borrow::Cow;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Origin, Output, Source, Trouble, Verdict};
use totalrecall_sdk::hash::{Hashes, hash64};
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{Author, Body, Channel, Event, Message};

use crate::hold::{Hold, Wait};
use crate::keys::Keys;
use crate::prompts::Prompts;
use crate::queue::{Queue, Queued};
use crate::record::{Content, Peek, Record};
use crate::session::{Facts, Home};
use crate::thread::Threads;
use crate::tool::Calls;
use totalrecall_sdk::json::{Raw, Span, Text, object};

/// Reads one transcript. The state is what later records need; it stays small however long the transcript is, but for
/// eight bytes per record that tell a record written twice.
#[derive(Default, Serialize, Deserialize)]
pub struct ClaudeCode {
    #[serde(skip)]
    home: Home,
    facts: Facts,
    seen: Hashes,
    threads: Threads,
    keys: Keys,
    hold: Hold,
    calls: Calls,
    /// The response of which a call was refused or interrupted last, and a hash of the person's words.
    refused: Option<(u64, u64)>,
    queue: Queue,
    prompts: Prompts,
    /// The last usage told: hash of its key, and its figures.
    usage: (u64, [u64; 4]),
    /// A compaction was told, and the model has not answered since: its summary and the client's notice may follow.
    compacted: bool,
}

totalrecall_sdk::export_adapter!(ClaudeCode);

/// Where a record stands.
struct Place {
    line: u64,
    at: Option<i64>,
    thread: Option<String>,
    /// Of a sub-agent: its prompts are the model's.
    sub_agent: bool,
}

/// Types of no use here: what a later line says again, figures, pictures of requests. Stepped over undecoded.
const SKIPPED: [&str; 20] = [
    "file-history-snapshot",
    "file-history-delta",
    "progress",
    "permission-mode",
    "mode",
    "last-prompt",
    "agent-name",
    "agent-color",
    "agent-setting",
    "pr-link",
    "worktree-state",
    "fork-context-ref",
    "started",
    "result",
    "cost-state",
    "tools-used",
    "atis-latch",
    "api-request",
    "api-request-shape",
    "api-request-blob",
];

impl Adapter for ClaudeCode {
    fn describe() -> Descriptor {
        Descriptor {
            name: "claude-code".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool: "claude-code".into(),
            sources: vec![Source::Files(Files {
                // The second was used for a short time in 2025.
                roots: vec!["${CLAUDE_CONFIG_DIR:-~/.claude}/projects".into(), "~/.config/claude/projects".into()],
                globs: vec!["**/*.jsonl".into()],
            })],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        head.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(64).any(is_ours)
    }

    fn begin(&mut self, origin: &Origin) {
        self.home = Home::new(origin);
    }

    fn record(&mut self, line: &totalrecall_sdk::adapter::Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        if let Peek::Type(kind, attachment) = record::peek(line.bytes)
            && let Some(what) = skipped(kind, attachment, line.bytes)
        {
            // A torn record may swallow the next one on its line.
            if record::holds_another(line.bytes) {
                return Err(Trouble::Unreadable("torn record"));
            }
            return Ok(Verdict::Skipped(what.into()));
        }
        let Some((field, value)) = record::long_tool_result(line.bytes) else {
            return self.decoded(&line.decode()?, line.line, out);
        };
        let rest = [&line.bytes[..field.start], &line.bytes[field.end..]].concat();
        let mut record: Record<'_> = serde_json::from_slice(&rest)?;
        record.tool_result = Span(&line.bytes[value]);
        self.decoded(&record, line.line, out)
    }

    fn finish(&mut self, out: &mut Output) {
        self.hold.give_up(out);
        self.deliver(out);
    }
}

/// Is the line one of this tool's? Others write a similar envelope (Qwen Code), but no `content`.
fn is_ours(line: &[u8]) -> bool {
    if let Peek::Type(kind, attachment) = record::peek(line) {
        let trace = |needle: &[u8]| memmem::find(line, needle).is_some();
        match kind {
            "attachment" if !attachment.is_empty() => return trace(b"\"parentUuid\""),
            "summary" | "last-prompt" => return trace(b"\"leafUuid\""),
            "file-history-snapshot" => return trace(b"\"messageId\""),
            "custom-title" | "ai-title" | "agent-name" | "queue-operation" | "permission-mode" | "mode"
            | "atis-latch" | "progress" => return trace(b"\"sessionId\""),
            "user" | "assistant" | "system" if trace(b"\"isSidechain\"") => return true,
            "user" | "assistant" | "attachment" => {}
            _ => return false,
        }
    } else if memmem::find(line, b"\"isSidechain\"").is_some() {
        return true;
    }
    let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else { return false };
    matches!(record.kind.as_str(), "user" | "assistant")
        && !matches!(record.message.content, Content::Nothing)
        && parse_rfc3339(record.timestamp.as_str()).is_some()
}

/// The name of a record that is stepped over.
fn skipped(kind: &str, attachment: &str, line: &[u8]) -> Option<&'static str> {
    if kind == "attachment" {
        return attachment::skipped(attachment);
    }
    if kind == "progress" && memmem::find(line, b"\"agent_progress\"").is_some() {
        return None;
    }
    SKIPPED.iter().find(|known| **known == kind).copied()
}

object! {
    /// `data` of a progress record: since 2.0.7x up to 2.1.8x, a message of a running sub-agent.
    pub(crate) struct Progress<'a> {
        "type" => kind: Text<'a>,
        "agentId" => agent: Text<'a>,
        "message" => message: Raw<'a>,
    }
}

impl ClaudeCode {
    /// A record of any type that may matter.
    fn decoded(&mut self, record: &Record<'_>, line: u64, out: &mut Output) -> Result<Verdict, Trouble> {
        let kind = record.kind.as_str();
        match kind {
            "user" | "assistant" | "system" | "attachment" => {}
            "progress" => return self.progress(record, line, out),
            "queue-operation" => return Ok(self.queued(record, line)),
            "summary" | "custom-title" | "ai-title" => {
                let Self { facts, seen, .. } = self;
                if let Some(news) = facts.name(record, |uuid| seen.contains(uuid)) {
                    let place = Place { line, at: None, thread: self.home.agent.clone(), sub_agent: false };
                    self.tell(&place, None, Body::Session(news), out);
                }
                return Ok(Verdict::Understood(kind.to_owned().into()));
            }
            "" => return Ok(Verdict::Unknown("without a type".into())),
            _ => {
                return Ok(match SKIPPED.iter().find(|known| **known == kind) {
                    Some(known) => Verdict::Skipped((*known).into()),
                    None => Verdict::Unknown(kind.to_owned().into()),
                });
            }
        }
        if self.is_again(record) {
            return Ok(Verdict::Skipped(format!("{kind} written again").into()));
        }
        let thread = match &self.home.agent {
            Some(agent) => Some(agent.clone()),
            None if !record.sidechain.0 => None,
            None => Some(record.agent.get().map_or_else(|| self.threads.inline(record), str::to_owned)),
        };
        let place = Place { line, at: parse_rfc3339(record.timestamp.as_str()), sub_agent: thread.is_some(), thread };
        // Where an inline sub-agent works is not where the session does.
        if !place.sub_agent || self.home.agent.is_some() {
            let news = [self.facts.note(record, &self.home), self.facts.summarised(record.uuid.as_str())];
            for news in news.into_iter().flatten() {
                self.tell(&place, None, Body::Session(news), out);
            }
        }
        self.conversation(record, &place, out)
    }

    /// A record of the conversation, the main one or a sub-agent's.
    fn conversation(&mut self, record: &Record<'_>, place: &Place, out: &mut Output) -> Result<Verdict, Trouble> {
        Ok(match record.kind.as_str() {
            "user" => self.user(record, place, out),
            "assistant" => self.assistant(record, place, out),
            "system" => self.system(record, place, out),
            "attachment" => self.attachment(record, place, out)?,
            other => Verdict::Unknown(other.to_owned().into()),
        })
    }

    /// A message of a sub-agent, repeated in the main file while it works. The host knows it by its keys as a copy of
    /// what the sub-agent's own file says, if there is one.
    fn progress(&mut self, record: &Record<'_>, line: u64, out: &mut Output) -> Result<Verdict, Trouble> {
        let what = "progress/agent_progress";
        let data: Progress<'_> = match record.data {
            Some(data) => serde_json::from_str(data.get())?,
            None => Progress::default(),
        };
        let (Some(agent), Some(message)) = (data.agent.get(), data.message) else {
            return Ok(Verdict::Skipped("progress".into()));
        };
        let message: Record<'_> = serde_json::from_str(message.get())?;
        if self.is_again(&message) {
            return Ok(Verdict::Skipped("progress/agent_progress written again".into()));
        }
        let at = parse_rfc3339(message.timestamp.get().unwrap_or(record.timestamp.as_str()));
        let place = Place { line, at, thread: Some(agent.to_owned()), sub_agent: true };
        self.conversation(&message, &place, out)?;
        Ok(Verdict::Understood(what.into()))
    }

    /// Was this record read before? Damaged uuids (a redaction tool may make many of them equal) do not count.
    fn is_again(&mut self, record: &Record<'_>) -> bool {
        let uuid = record.uuid.as_str();
        let whole = uuid.len() == 36 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        whole && !self.seen.insert(hash64(uuid))
    }

    /// A `queue-operation`.
    fn queued(&mut self, record: &Record<'_>, line: u64) -> Verdict {
        match record.operation.as_str() {
            "enqueue" => self.queue.enqueue(Queued {
                line,
                at: parse_rfc3339(record.timestamp.as_str()),
                text: record.content.as_str().to_owned(),
            }),
            "dequeue" => self.queue.dequeue(),
            "remove" => self.queue.remove(record.content.get()),
            "popAll" => self.queue.pop_all(),
            other => return Verdict::Unknown(format!("queue-operation/{other}").into()),
        }
        Verdict::Understood("queue-operation".into())
    }

    /// Tells the texts that were put before the model without an attachment saying so.
    fn deliver(&mut self, out: &mut Output) {
        // Since 2.1.9x every delivery has its attachment.
        let attached = self.facts.version() >= [2, 1, 90];
        if !self.queue.has_delivered() {
            return;
        }
        for queued in self.queue.delivered() {
            if !attached && !markers::is_command(&queued.text) {
                let record = Record::default();
                let place = Place { line: queued.line, at: queued.at, thread: None, sub_agent: false };
                let key = format!("queue/{:016x}/{}", hash64(&queued.text), queued.at.unwrap_or_default());
                self.sent_at_work(&record, &place, &queued.text, Some(key), out);
            }
        }
    }

    /// Passes an event on.
    fn tell(&mut self, place: &Place, key: Option<String>, body: Body, out: &mut Output) {
        self.tell_later(place, key, body, Wait::Nothing, out);
    }

    /// Passes an event on once what it waits for has come.
    fn tell_later(&mut self, place: &Place, key: Option<String>, body: Body, wait: Wait, out: &mut Output) {
        let (line, at, thread) = (place.line, place.at, place.thread.clone());
        self.hold.push(Event { line, at, thread, key, copied: false, body }, wait, out);
    }
}

/// A message within the host's limit.
fn message(author: Author, channel: Channel, text: &str, out: &Output) -> Body {
    let (text, omitted) = out.cap(text);
    Body::Message(Message { author, channel, text, omitted })
}

/// `user` for a record without a subtype, else `system/api_error`.
fn named(kind: &'static str, subtype: &str) -> Cow<'static, str> {
    if subtype.is_empty() { kind.into() } else { format!("{kind}/{subtype}").into() }
}
