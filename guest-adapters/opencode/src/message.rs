//! Messages: who speaks, and how a response ended.
//!
//! A message's row stands before its parts, but says how it ended. That is told after them, when the next message begins.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::types::{ApiError, Body, Compaction, Interrupt, Usage};

use crate::OpenCode;
use crate::record::{Failure, Row};

/// What a message that the person stopped has as its error.
const ABORTED: &str = "MessageAbortedError";

/// Whose message it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Its row is damaged or missing.
    #[default]
    Unknown,
    User,
    Assistant,
}

/// How a response ended, if not well.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ending {
    Stopped,
    Failed { status: Option<u16>, text: String },
}

/// The message whose parts are being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) role: Role,
    pub(crate) line: u64,
    pub(crate) created: Option<i64>,
    completed: Option<i64>,
    model: String,
    /// Tokens of the last step, as the row has them.
    figures: [u64; 4],
    /// Tokens of all steps so far: up to 0.x a response had several.
    pub(crate) steps: [u64; 4],
    pub(crate) ending: Option<Ending>,
    /// A tool call was running when it was stopped.
    pub(crate) in_tool: bool,
    /// It sums up what came before.
    pub(crate) summary: bool,
    /// It is a command of the person, `!ls`, and its output.
    pub(crate) shell: bool,
    /// It is a prompt that was sent while the agent was at work.
    pub(crate) steering: bool,
}

impl OpenCode {
    /// A message's row.
    pub(crate) fn message(&mut self, row: &Row<'_>, line: u64, out: &mut Output) -> Verdict {
        let role = match row.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => return Verdict::Unknown(format!("message/{other}").into()),
        };
        if row.parts.is_some() {
            return Verdict::Unknown("message with its parts inside".into());
        }
        self.close(out);
        let (created, completed) = (row.time.created(), row.time.completed());
        let side = if role == Role::User { 'u' } else { 'a' };
        self.keys.next(row.id.as_str(), created.filter(|_| !self.home.sub_agent), side);
        self.message = Message {
            id: row.id.as_str().to_owned(),
            role,
            line,
            created,
            completed,
            model: row.model.as_str().to_owned(),
            figures: row.tokens.figures(),
            ending: ending(&row.error, out),
            summary: role == Role::Assistant && row.summary.0,
            shell: role == Role::Assistant && std::mem::take(&mut self.shell),
            steering: role == Role::User && created.is_some_and(|created| created < self.busy_until),
            ..Message::default()
        };
        self.undoing |= self.home.is_undone(row.id.as_str(), None);
        if role == Role::User {
            self.shell = false;
            return Verdict::Understood("message/user".into());
        }
        self.busy_until = self.busy_until.max(completed.unwrap_or(0));
        if let Some(news) = self.home.placed(row) {
            self.tell(line, created, None, Body::Session(news), out);
        }
        if self.message.summary && !self.compacted {
            // Before there were `compaction` parts, the summary was all that told.
            self.compaction(line, None, out);
        }
        self.compacted = false;
        Verdict::Understood("message/assistant".into())
    }

    /// Tells that the conversation is summed up.
    pub(crate) fn compaction(&mut self, line: u64, manual: Option<bool>, out: &mut Output) {
        let key = self.keys.key("compaction");
        let body = Body::Compaction(Compaction { manual, tokens_before: None });
        self.tell(line, self.message.created, Some(key), body, out);
    }

    /// Tells how the message ended whose parts were read.
    pub(crate) fn close(&mut self, out: &mut Output) {
        self.hold.release(out);
        let message = std::mem::take(&mut self.message);
        let at = message.completed.or(message.created);
        let completed = message.completed.unwrap_or(0);
        let figures = if message.steps == [0; 4] { message.figures } else { message.steps };
        if message.role == Role::Assistant && figures != [0; 4] {
            let key = self.keys.key(&format!("usage/{completed}"));
            let [input, output, cache_read, cache_write] = figures;
            let usage = Usage { model: message.model, input, output, cache_read, cache_write };
            self.tell(message.line, at, Some(key), Body::Usage(usage), out);
        }
        match message.ending {
            None => {}
            Some(Ending::Stopped) => {
                let key = self.keys.key(&format!("interrupt/{completed}"));
                let body = Body::Interrupt(Interrupt { in_tool: message.in_tool });
                self.tell(message.line, at, Some(key), body, out);
            }
            Some(Ending::Failed { status, text }) => {
                let key = self.keys.key(&format!("error/{completed}"));
                let body = Body::ApiError(ApiError { status, text, retried: false });
                self.tell(message.line, at, Some(key), body, out);
            }
        }
    }
}

fn ending(error: &Failure<'_>, out: &Output) -> Option<Ending> {
    match error.name.as_str() {
        "" if error.data.message.get().is_none() => None,
        ABORTED => Some(Ending::Stopped),
        _ => Some(Ending::Failed { status: status(error), text: text(error, out) }),
    }
}

/// The HTTP status of an error.
pub(crate) fn status(error: &Failure<'_>) -> Option<u16> {
    error.data.status.0.and_then(|status| u16::try_from(status).ok())
}

/// What an error says: `MessageOutputLengthError` is all of it that says something.
pub(crate) fn text(error: &Failure<'_>, out: &Output) -> String {
    out.cap(error.data.message.get().unwrap_or(error.name.as_str())).0
}
