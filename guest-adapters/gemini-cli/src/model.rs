//! What the model says and does: `gemini` messages.

use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::json::{Entries, Number};
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{Author, Body, Channel, Status, ToolKind, ToolResult, Usage};

use crate::record::{Call, Record, parts};
use crate::result::{Told, answer, answers, read};
use crate::{GeminiCli, Place, message, tool};

impl GeminiCli {
    /// A `gemini` message: text and thoughts once, each call once, its result once it is there.
    pub(crate) fn model(&mut self, record: &Record<'_>, place: &Place<'_>, out: &mut Output) {
        let stopped = record.calls.0.iter().any(|call| call.status.as_str() == "cancelled");
        if !stopped {
            self.settle(false, out);
        }
        let parts = parts(record.content);
        let texts = |thought: bool| -> String {
            parts.iter().filter(|part| part.thought.0 == thought).map(|part| part.text.as_str()).collect()
        };
        let mut thoughts: Vec<String> = record.thoughts.0.iter().map(thought).collect();
        if thoughts.is_empty() {
            thoughts.push(texts(true));
        }
        for (text, part, channel) in
            [(thoughts.join("\n\n"), "thoughts", Channel::Reasoning), (texts(false), "text", Channel::Reply)]
        {
            if !text.trim().is_empty() {
                self.compacted = false;
                let body = message(Author::Agent, channel, text.trim(), out);
                self.tell(place, part, body, out);
            }
        }
        self.usage(record, place, out);
        for call in record.calls.0.iter().filter(|call| call.id.get().is_some()) {
            self.call(place, call.id.as_str(), call.name.as_str(), &call.args, out);
        }
        for part in &parts {
            let call = &part.call;
            if call.id.get().is_some() {
                self.call(place, call.id.as_str(), call.name.as_str(), &call.args, out);
            }
        }
        self.results(&record.calls.0, place, out);
        self.settle(stopped, out);
    }

    fn call(&mut self, place: &Place<'_>, id: &str, name: &str, args: &Entries<'_>, out: &mut Output) {
        self.compacted = false;
        let body = Body::ToolCall(tool::call(id, name, args, out));
        self.tell_as(place.line, place.at, Some(id.to_owned()), body, out);
    }

    fn results(&mut self, calls: &[Call<'_>], place: &Place<'_>, out: &mut Output) {
        let mut refused = false;
        for call in calls.iter().filter(|call| call.id.get().is_some()) {
            let status = call.status.as_str();
            if !matches!(status, "success" | "error" | "cancelled") {
                continue;
            }
            let (text, error) = answer(call.result, call.id.as_str(), call.shown);
            let told = Told { kind: tool::kind(call.name.as_str()), status, text: &text, error };
            let at = parse_rfc3339(call.timestamp.as_str()).or(place.at);
            let ended = self.result(place.line, at, call.id.as_str(), &told, refused, out);
            refused |= ended == Status::Denied;
        }
    }

    /// Tells how a call ended. When the person refuses one, those made with it are cancelled unasked, in the words of the
    /// refusal up to 0.1x: the person refused once.
    pub(crate) fn result(
        &mut self,
        line: u64,
        at: Option<i64>,
        call: &str,
        told: &Told<'_>,
        refused: bool,
        out: &mut Output,
    ) -> Status {
        let reading = read(told);
        let again = refused && reading.status == Status::Denied;
        let status = if again { Status::Interrupted } else { reading.status };
        let (text, omitted) = out.cap(&reading.text);
        let words = reading.words.map(|words| out.cap(&words).0);
        let amended = reading.amended;
        let result =
            ToolResult { call: call.to_owned(), status, exit_code: reading.exit_code, text, omitted, words, amended };
        if self.tell_as(line, at, Some(format!("{call}/result")), Body::ToolResult(result), out) {
            self.tool_stopped = status == Status::Interrupted;
        }
        if told.kind == ToolKind::Ask && status == Status::Ok && !self.facts.is_sub_agent() {
            let answers = answers(told.text);
            if !answers.trim().is_empty() {
                let body = message(Author::Human, Channel::Answer, answers.trim(), out);
                self.tell_as(line, at, Some(format!("{call}/answer")), body, out);
            }
        }
        status
    }

    fn usage(&mut self, record: &Record<'_>, place: &Place<'_>, out: &mut Output) {
        let [input, output, cached, thoughts, tool] =
            ["input", "output", "cached", "thoughts", "tool"].map(|key| figure(&record.tokens, key));
        let usage = Usage {
            model: record.model.as_str().to_owned(),
            input: input.saturating_sub(cached).saturating_add(tool),
            output: output.saturating_add(thoughts),
            cache_read: cached,
            cache_write: 0,
        };
        if usage.input + usage.cache_read > 0 || usage.output > 0 {
            self.tell(place, "usage", Body::Usage(usage), out);
        }
    }
}

/// A thought as it reads after a resume.
fn thought(thought: &crate::record::Thought<'_>) -> String {
    match thought.subject.get() {
        Some(subject) => format!("**{subject}** {}", thought.description.as_str()),
        None => thought.description.as_str().to_owned(),
    }
}

/// The number under a key; 0 if there is none.
fn figure(tokens: &Entries<'_>, key: &str) -> u64 {
    let number = tokens.0.iter().find(|(name, _)| name == key);
    number.and_then(|(_, raw)| serde_json::from_str::<Number>(raw.get()).ok()?.0).unwrap_or(0)
}
