//! Rows: what the fields of sessions, messages and parts are.
//!
//! A file of the tree is the object as the tool has it. A row of the database is the `data` column with the ids put in
//! front, which the tool keeps in columns of their own; so both are read alike.

use serde::Deserialize;
use totalrecall_sdk::json::{Flag, List, Number, Raw, Text, object};

object! {
    /// A session, a message or a part. What the fields mean depends on which it is.
    pub(crate) struct Row<'a> {
        "id" => id: Text<'a>,
        /// Of a part.
        "messageID" => message: Text<'a>,
        "time" => time: Time<'a>,

        "directory" => directory: Text<'a>,
        "title" => title: Text<'a>,
        "version" => version: Text<'a>,
        /// Of a session: the one that started it as a sub-agent. Of a message: the prompt it answers.
        "parentID" => parent: Text<'a>,
        /// Of a session in the database: the one at the top.
        "rootID" => root: Text<'a>,
        "revert" => revert: Revert<'a>,
        /// Rules that hold in this session only.
        "permission" => rules: List<Rule<'a>>,

        "role" => role: Text<'a>,
        "modelID" => model: Text<'a>,
        "path" => path: Path<'a>,
        "tokens" => tokens: Tokens<'a>,
        /// Of a message: how it ended. Of a `retry`: what failed.
        "error" => error: Failure<'a>,
        /// True: the message sums up what came before. Of other messages and of sessions an object of figures.
        "summary" => summary: Flag,

        /// Of a message up to 0.3, which has its parts inside.
        "parts" => parts: Raw<'a>,

        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "synthetic" => synthetic: Flag,
        "ignored" => ignored: Flag,
        "tool" => tool: Text<'a>,
        "callID" => call: Text<'a>,
        "state" => state: State<'a>,
        /// Of a `compaction`: no one asked for it.
        "auto" => auto: Flag,
        /// Of a `compaction`: the last prompt did not fit any more, and is put again afterwards.
        "overflow" => overflow: Flag,
        /// Of a `subtask`: the command that was typed, and what it stands for.
        "command" => command: Text<'a>,
        "prompt" => prompt: Text<'a>,
    }
}

object! {
    /// Milliseconds since the Unix epoch: `created` and `completed` of messages, `start` and `end` of parts.
    pub(crate) struct Time<'a> {
        "created" => created: Raw<'a>,
        "completed" => completed: Raw<'a>,
        "start" => start: Raw<'a>,
        "end" => end: Raw<'a>,
    }
}

impl Time<'_> {
    /// When a message was created.
    pub(crate) fn created(&self) -> Option<i64> {
        time(self.created)
    }

    /// When a message was complete.
    pub(crate) fn completed(&self) -> Option<i64> {
        time(self.completed)
    }

    /// When a part began; a `retry` has it as `created`.
    pub(crate) fn start(&self) -> Option<i64> {
        time(self.start).or_else(|| time(self.created))
    }

    /// When a part ended.
    pub(crate) fn end(&self) -> Option<i64> {
        time(self.end)
    }
}

object! {
    /// Tokens of a response, or of one step of it.
    pub(crate) struct Tokens<'a> {
        /// Without those that came from the cache.
        "input" => input: Number,
        /// Without `reasoning`.
        "output" => output: Number,
        "reasoning" => reasoning: Number,
        "cache" => cache: Cache<'a>,
    }
}

object! {
    /// Tokens of the prompt that were read from the provider's cache, or written to it.
    pub(crate) struct Cache<'a> {
        "read" => read: Raw<'a>,
        "write" => write: Raw<'a>,
    }
}

impl Tokens<'_> {
    /// Input, output, read from and written to the cache.
    pub(crate) fn figures(&self) -> [u64; 4] {
        let output = self.output.0.unwrap_or(0).saturating_add(self.reasoning.0.unwrap_or(0));
        [self.input.0.unwrap_or(0), output, number(self.cache.read), number(self.cache.write)]
    }
}

object! {
    /// What went wrong.
    pub(crate) struct Failure<'a> {
        /// `APIError`, `ProviderAuthError`, `MessageAbortedError`, `UnknownError` …
        "name" => name: Text<'a>,
        "data" => data: Details<'a>,
    }
}

object! {
    /// What an error says. Headers and bodies of responses are never decoded.
    pub(crate) struct Details<'a> {
        "message" => message: Text<'a>,
        "statusCode" => status: Number,
    }
}

object! {
    /// From where on the session is undone.
    pub(crate) struct Revert<'a> {
        "messageID" => message: Text<'a>,
        "partID" => part: Text<'a>,
    }
}

object! {
    /// A rule of a session.
    pub(crate) struct Rule<'a> {
        "permission" => permission: Text<'a>,
        "action" => action: Text<'a>,
    }
}

object! {
    /// Where the agent worked.
    pub(crate) struct Path<'a> {
        "cwd" => cwd: Text<'a>,
    }
}

object! {
    /// How far a tool call has come.
    pub(crate) struct State<'a> {
        /// `pending`, `running`, `completed`, `error`.
        "status" => status: Text<'a>,
        "input" => input: Raw<'a>,
        "output" => output: Text<'a>,
        "error" => error: Text<'a>,
        "metadata" => metadata: Metadata<'a>,
        "time" => time: Time<'a>,
    }
}

object! {
    /// What a tool tells besides its output, which is repeated here.
    pub(crate) struct Metadata<'a> {
        /// Exit code of a command; null when it was killed.
        "exit" => exit: Raw<'a>,
        /// Of a `question`: what was chosen or typed, per question.
        "answers" => answers: List<List<Text<'a>>>,
    }
}

impl Metadata<'_> {
    /// The exit code of a command.
    pub(crate) fn exit(&self) -> Option<i32> {
        self.exit.and_then(|raw| raw.get().parse().ok())
    }
}

fn time(raw: Raw<'_>) -> Option<i64> {
    // A number with a fraction is none of the tool's.
    raw.and_then(|raw| raw.get().parse().ok()).filter(|time| *time >= 0)
}

fn number(raw: Raw<'_>) -> u64 {
    raw.and_then(|raw| raw.get().parse().ok()).unwrap_or(0)
}

/// A value decoded on its own; what is not one is the default.
pub(crate) fn decode<'a, T: Default + Deserialize<'a>>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
