//! Sessions of [pi](https://github.com/badlogic/pi-mono), a coding agent for the terminal.
//!
//! A session is `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`: a header, then one entry a line. Since version 3 of
//! the format an entry has an `id` and names its `parentId`; going back in a session and on from there makes a branch, in
//! the same file. Events are given in the order of the file, and a branch begins with a `rewind`.

mod branches;
mod record;
mod tool;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Output, Record, Source, Trouble, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{
    ApiError, Author, Body, Channel, Compaction, Event, Interrupt, Message, Session, Status, Usage,
};

use branches::Branches;
use record::{Entry, Said, Tokens};

/// What later entries need to know of earlier ones, and nothing else: this is the checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Pi {
    branches: Branches,
    /// The last message was a tool's result: the agent is at work.
    at_work: bool,
    /// That result was of a tool that the person stopped.
    stopped: bool,
}

totalrecall_sdk::export_adapter!(Pi);

impl Adapter for Pi {
    fn describe() -> Descriptor {
        let roots = vec!["${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions".to_owned()];
        let files = Files { roots, globs: vec!["**/*.jsonl".to_owned()] };
        Descriptor {
            name: "pi".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tool: "pi".to_owned(),
            sources: vec![Source::Files(files)],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header = serde_json::from_slice::<Entry<'_>>(first).unwrap_or_default();
        header.kind.as_str() == "session" && header.id.get().is_some() && header.cwd.get().is_some()
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let entry: Entry<'_> = record.decode()?;
        let mut told = Told::new(record, &entry, out);
        if entry.kind.as_str() == "session" {
            told.push(session(&entry));
            return Ok(Verdict::Understood("session".into()));
        }
        // The branch first: what this entry says is said there.
        if let Some(abandoned) = self.branches.leave(&entry) {
            told.aside("rewind", Body::Rewind(key(abandoned)));
        }
        let verdict = self.entry(&entry, &mut told);
        self.branches.enter(&entry, (told.count > 0).then_some(told.entry));
        Ok(verdict)
    }
}

impl Pi {
    fn entry(&mut self, entry: &Entry<'_>, told: &mut Told<'_>) -> Verdict {
        match entry.kind.as_str() {
            "message" => self.message(entry, told),
            "compaction" => {
                told.push(Body::Compaction(Compaction { manual: None, tokens_before: entry.tokens_before.0 }));
                told.message(Author::Harness, Channel::Summary, entry.summary.as_str());
                Verdict::Understood("compaction".into())
            }
            // What pi says of a branch that was left.
            "branch_summary" => {
                told.message(Author::Harness, Channel::Summary, entry.summary.as_str());
                Verdict::Understood("branch_summary".into())
            }
            // Text that an extension puts into the conversation.
            "custom_message" => {
                told.message(Author::Harness, Channel::Notice, &record::text(entry.content));
                Verdict::Understood("custom_message".into())
            }
            "session_info" => {
                told.push(Body::Session(Session { title: entry.name.get().map(str::to_owned), ..nothing() }));
                Verdict::Understood("session_info".into())
            }
            "model_change" => Verdict::Skipped("model_change".into()),
            "thinking_level_change" => Verdict::Skipped("thinking_level_change".into()),
            "custom" => Verdict::Skipped("custom".into()),
            "label" => Verdict::Skipped("label".into()),
            other => Verdict::Unknown(other.to_owned().into()),
        }
    }

    fn message(&mut self, entry: &Entry<'_>, told: &mut Told<'_>) -> Verdict {
        let said = &entry.message;
        let (at_work, stopped) = (self.at_work, self.stopped);
        (self.at_work, self.stopped) = (false, false);
        match said.role.as_str() {
            "user" => {
                let channel = if at_work { Channel::Steering } else { Channel::Prompt };
                told.message(Author::Human, channel, &record::text(said.content));
                Verdict::Understood("message/user".into())
            }
            "assistant" => {
                assistant(said, stopped, told);
                Verdict::Understood("message/assistant".into())
            }
            "toolResult" => {
                let result = tool::result(said, told.out);
                self.at_work = true;
                self.stopped = result.status == Status::Interrupted;
                told.push(Body::ToolResult(result));
                Verdict::Understood("message/toolResult".into())
            }
            // A command that the person ran with `!`.
            "bashExecution" => {
                told.message(Author::Human, Channel::Shell, said.command.as_str());
                told.message(Author::Harness, Channel::Shell, said.output.as_str());
                Verdict::Understood("message/bashExecution".into())
            }
            "custom" | "hookMessage" => {
                told.message(Author::Harness, Channel::Notice, &record::text(said.content));
                Verdict::Understood("message/custom".into())
            }
            other => Verdict::Unknown(format!("message/{other}").into()),
        }
    }
}

/// A response of the model, and how it ended.
fn assistant(said: &Said<'_>, stopped: bool, told: &mut Told<'_>) {
    let end = said.stop.as_str();
    for part in record::parts(said.content) {
        match part.kind.as_str() {
            "text" => told.message(Author::Agent, Channel::Reply, part.text.as_str()),
            "thinking" => told.message(Author::Agent, Channel::Reasoning, part.thinking.as_str()),
            // Calls of a response that was cut off are never made.
            "toolCall" if !matches!(end, "aborted" | "error") => {
                let call = tool::call(&part, told.out);
                told.push(Body::ToolCall(call));
            }
            _ => {}
        }
    }
    match end {
        "aborted" => told.push(Body::Interrupt(Interrupt { in_tool: stopped })),
        "error" => {
            let message = said.error.as_str();
            let status = message.split_whitespace().next().and_then(|first| first.parse().ok());
            let (text, _) = told.out.cap(message);
            told.push(Body::ApiError(ApiError { status, text, retried: false }));
        }
        _ => {}
    }
    let tokens: Tokens = record::decode(said.usage);
    let [input, output, cache_read, cache_write] =
        [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write].map(|count| count.0.unwrap_or_default());
    if input + output + cache_read + cache_write > 0 {
        let model = said.model.as_str().to_owned();
        told.aside("usage", Body::Usage(Usage { model, input, output, cache_read, cache_write }));
    }
}

fn session(header: &Entry<'_>) -> Body {
    // A branch into a file of its own names the file it left: `<time>_<id>.jsonl`.
    let origin = header.parent_session.get().or(header.branched_from.get());
    let parent = origin.and_then(|path| path.rsplit(['/', '\\', '_']).next()?.strip_suffix(".jsonl"));
    Body::Session(Session {
        id: header.id.get().map(str::to_owned),
        cwd: header.cwd.get().map(str::to_owned),
        parent: parent.map(str::to_owned),
        ..nothing()
    })
}

fn nothing() -> Session {
    Session { id: None, cwd: None, branch: None, title: None, version: None, parent: None }
}

/// Pushes the events of one entry.
struct Told<'a> {
    out: &'a mut Output,
    line: u64,
    at: Option<i64>,
    /// Tells the entry from all others, in all files it is copied to.
    entry: u64,
    /// Events so far.
    count: usize,
}

impl<'a> Told<'a> {
    fn new(record: &Record<'_>, entry: &Entry<'_>, out: &'a mut Output) -> Self {
        // Ids are of 32 bits, which is not enough for all of a person's sessions: the time is part of the key. A branch
        // into a new file copies both. Entries before version 3 have no id, and are copied as they are.
        let entry_key = match entry.id.get() {
            Some(id) => hash64(format!("{id} {}", entry.timestamp.as_str())),
            None => hash64(record.bytes),
        };
        Self { out, line: record.line, at: parse_rfc3339(entry.timestamp.as_str()), entry: entry_key, count: 0 }
    }

    /// The first event of an entry has the entry's key, which is what a `rewind` names; those after it are numbered.
    fn push(&mut self, body: Body) {
        let key = if self.count == 0 { key(self.entry) } else { format!("{}/{}", key(self.entry), self.count) };
        self.count += 1;
        self.event(key, body);
    }

    /// An event beside the conversation.
    fn aside(&mut self, what: &str, body: Body) {
        self.event(format!("{}/{what}", key(self.entry)), body);
    }

    fn message(&mut self, author: Author, channel: Channel, text: &str) {
        if !text.trim().is_empty() {
            let (text, omitted) = self.out.cap(text);
            self.push(Body::Message(Message { author, channel, text, omitted }));
        }
    }

    fn event(&mut self, key: String, body: Body) {
        self.out.push(Event { line: self.line, at: self.at, thread: None, key: Some(key), copied: false, body });
    }
}

fn key(entry: u64) -> String {
    format!("{entry:016x}")
}
