//! What the model says and does.
//!
//! One response is several records with the same `message.id`, one per block (one record with several blocks in old
//! versions); each repeats the usage, growing.

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::types::{ApiError, Author, Body, Channel, Usage};

use crate::record::{Block, Content, Record};
use crate::{ClaudeCode, Place, keys, message, tool};

impl ClaudeCode {
    /// An `assistant` record.
    pub(crate) fn assistant(&mut self, record: &Record<'_>, place: &Place, out: &mut Output) -> Verdict {
        let main = !place.sub_agent || self.home.agent.is_some();
        if main {
            self.hold.refusals(false, out);
        }
        if record.api_error.0 || record.message.model.as_str() == "<synthetic>" {
            return self.written_by_client(record, place, out);
        }
        if main {
            self.deliver(out);
            self.compacted = false;
            if let Some(id) = record.message.id.get() {
                self.hold.response(id, out);
                self.keys.response(id);
            }
        }
        match &record.message.content {
            Content::Nothing => {}
            Content::Text(text) => self.reply(record, place, text, Channel::Reply, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    self.block(record, place, block, out);
                }
            }
        }
        self.usage(record, place, out);
        Verdict::Understood("assistant".into())
    }

    fn block(&mut self, record: &Record<'_>, place: &Place, block: &Block<'_>, out: &mut Output) {
        match block.kind.as_str() {
            "text" => self.reply(record, place, block.text.as_str(), Channel::Reply, out),
            // Recent models leave the thought empty and sign it.
            "thinking" => self.reply(record, place, block.thinking.as_str(), Channel::Reasoning, out),
            "tool_use" | "server_tool_use" => {
                let call = tool::call(block, out);
                let response = record.message.id.get().unwrap_or(record.uuid.as_str());
                self.calls.open(&call.id, response, call.kind);
                let key = Some(call.id.clone()).filter(|id| !id.is_empty());
                let key = key.map(|id| keys::of_this_record(record, place, id));
                self.tell(place, key, Body::ToolCall(call), out);
            }
            _ => {}
        }
    }

    fn reply(&mut self, record: &Record<'_>, place: &Place, text: &str, channel: Channel, out: &mut Output) {
        let text = text.trim();
        if !text.is_empty() {
            let body = message(Author::Agent, channel, text, out);
            self.tell(place, keys::block(record, place, text), body, out);
        }
    }

    /// Tells the usage of a response when it is new or has grown.
    fn usage(&mut self, record: &Record<'_>, place: &Place, out: &mut Output) {
        let usage = &record.message.usage;
        let figures = [usage.input, usage.output, usage.cache_read, usage.cache_write].map(|it| it.0.unwrap_or(0));
        let Some(key) = keys::usage(record) else { return };
        let (last, told) = self.usage;
        let hash = hash64(&key);
        if figures == [0; 4] || (last == hash && figures.iter().zip(told).all(|(now, told)| *now <= told)) {
            return;
        }
        self.usage = (hash, figures);
        let [input, output, cache_read, cache_write] = figures;
        let model = record.message.model.as_str().to_owned();
        self.tell(place, Some(key), Body::Usage(Usage { model, input, output, cache_read, cache_write }), out);
    }

    /// A record that the client wrote in the model's place: an API error that reached the person; the part of a response
    /// that was there when it was interrupted (2.1.120); or nothing at all.
    fn written_by_client(&mut self, record: &Record<'_>, place: &Place, out: &mut Output) -> Verdict {
        let text = record.message.content.text();
        let text = text.trim();
        // Written when a session is resumed, and when a command needs no answer.
        if text.is_empty() || text == "No response requested." {
            return Verdict::Skipped("assistant/synthetic".into());
        }
        if !record.api_error.0 && !ERRORS.iter().any(|start| text.starts_with(start)) {
            self.reply(record, place, text, Channel::Reply, out);
            return Verdict::Understood("assistant/synthetic".into());
        }
        let (key, wait) = self.keys.key(record, "api-error", text, 0);
        let status = record.api_status.0.and_then(|status| u16::try_from(status).ok()).or_else(|| status(text));
        let body = Body::ApiError(ApiError { status, text: out.cap(text).0, retried: false });
        self.tell_later(place, key, body, wait, out);
        Verdict::Understood("assistant/api-error".into())
    }
}

/// How errors begin in records without `isApiErrorMessage`.
const ERRORS: [&str; 3] = ["API Error", "Invalid API key", "Not logged in"];

/// The HTTP status of `API Error: 400 {…}`; before 2.1.x it stands in the text only.
fn status(text: &str) -> Option<u16> {
    let number = text.split_once("API Error: ")?.1.trim_start_matches(|char: char| !char.is_ascii_digit());
    let status = number.get(..3)?.parse().ok()?;
    let ends = !number[3..].starts_with(|char: char| char.is_ascii_alphanumeric());
    (ends && (100..600).contains(&status)).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_in_texts() {
        assert_eq!(status(r#"API Error: 400 {"type":"error"}"#), Some(400));
        assert_eq!(status("API Error (503)"), None);
        assert_eq!(status("API Error: Request timed out"), None);
        assert_eq!(status("Not logged in · Please run /login"), None);
    }
}
