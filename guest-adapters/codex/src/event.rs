//! Events of the client: what was typed, what went wrong, and where the conversation turned.

use std::borrow::Cow;

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::json::{Raw, object};
use totalrecall_sdk::types::{ApiError, Author, Body, Channel, Compaction, Interrupt, Usage};

use crate::record::{Failure, Payload, Tokens};
use crate::{Codex, Place, message, session, skipped};

/// Failed calls whose output has not come yet.
const FAILED: usize = 64;

impl Codex {
    /// An `event_msg`.
    pub(crate) fn event(&mut self, event: &Payload<'_>, place: Place, out: &mut Output) -> Verdict {
        let kind = event.kind.as_str();
        match kind {
            "item_completed" => return self.item(event, place, out),
            "task_started" | "turn_started" => {
                self.turn(event.turn.as_str());
                self.prompts.begins();
            }
            "task_complete" | "turn_complete" => {
                self.turn(event.turn.as_str());
                self.went_wrong(event.error.message.as_str(), event.error.info, false, place, out);
                self.prompts.ends();
            }
            "user_message" => {
                self.turn(event.turn.as_str());
                let pictures = event.images.0.len() + event.local_images.0.len();
                let text = match event.message.as_str().trim() {
                    "" if pictures > 0 => "[image]",
                    text => text,
                };
                self.prompted(text, place, out);
            }
            "injected_message" => self.notice(event.message.as_str(), place, out),
            "turn_aborted" => self.aborted(event, place, out),
            "token_count" => self.tokens(&event.info.last, event.info.total.total(), place, out),
            "error" => self.went_wrong(event.message.as_str(), event.error_info, false, place, out),
            "stream_error" => self.went_wrong(event.message.as_str(), event.error_info, true, place, out),
            "context_compacted" => self.compaction("", place, out),
            "thread_rolled_back" => self.back(event.num_turns.0.unwrap_or(0), place, out),
            "thread_name_updated" => {
                if let Some(title) = self.facts.titled(event.thread_name.as_str()) {
                    let news = totalrecall_sdk::types::Session { title: Some(title), ..session::nothing() };
                    self.tell(place, None, Body::Session(news), out);
                }
            }
            "mcp_tool_call_end" => self.ended(event),
            _ => {
                return match skipped("event_msg", kind) {
                    Some(known) => Verdict::Skipped(known.into()),
                    None => Verdict::Unknown(format!("event_msg/{kind}").into()),
                };
            }
        }
        Verdict::Understood(format!("event_msg/{kind}").into())
    }

    /// The turn was given up. A sub-agent's is by its parent, or along with it: nobody stopped it.
    fn aborted(&mut self, event: &Payload<'_>, place: Place, out: &mut Output) {
        self.settle(out);
        self.turn(event.turn.as_str());
        self.prompts.ends();
        if matches!(event.reason.as_str(), "interrupted" | "") && self.facts.thread.is_none() {
            let in_tool = self.stopped || self.calls.any_of(self.keys.now());
            let key = self.keys.named("interrupt");
            self.tell(place, Some(key), Body::Interrupt(Interrupt { in_tool }), out);
        }
        self.stopped = false;
    }

    /// Turns were taken back.
    fn back(&mut self, turns: u64, place: Place, out: &mut Output) {
        if let Some(abandoned) = self.prompts.back(turns) {
            let key = self.keys.named("rewind");
            self.tell(place, Some(key), Body::Rewind(abandoned), out);
        }
    }

    /// Tokens of a response, when they are new. `total` is what the thread took so far: it tells repeats.
    pub(crate) fn tokens(&mut self, last: &Tokens<'_>, total: Option<u64>, place: Place, out: &mut Output) {
        let number = |number: totalrecall_sdk::json::Number| number.0.unwrap_or(0);
        let (all, cached, written) = (number(last.input), number(last.cached), number(last.written));
        let output = number(last.output);
        let Some(total) = total.filter(|_| all + output > 0) else { return };
        self.size = Some(all.saturating_add(output));
        // Told again when the next turn begins.
        if self.usage.replace(total) == Some(total) {
            return;
        }
        let key = format!("{}/u{total}", self.keys.now());
        let usage = Usage {
            model: self.facts.model.clone(),
            input: all.saturating_sub(cached).saturating_sub(written),
            output,
            cache_read: cached,
            cache_write: written,
        };
        self.tell(place, Some(key), Body::Usage(usage), out);
    }

    /// A `compacted` line: the summary that stands for what was said before, and perhaps all messages that are kept.
    pub(crate) fn compacted(&mut self, compacted: &Payload<'_>, place: Place, out: &mut Output) -> Verdict {
        self.settle(out);
        self.compaction(compacted.message.as_str(), place, out);
        Verdict::Understood("compacted".into())
    }

    /// A compaction; a line and an event tell of the same one.
    pub(crate) fn compaction(&mut self, summary: &str, place: Place, out: &mut Output) {
        if std::mem::replace(&mut self.compacted, true) {
            return;
        }
        let key = self.keys.named("compaction");
        // One in a turn of its own may have been asked for, or come before a prompt.
        let manual = self.prompts.at_work().then_some(false);
        let body = Compaction { manual, tokens_before: self.size.take() };
        self.tell(place, Some(key), Body::Compaction(body), out);
        let summary = summary.trim();
        if !summary.is_empty() {
            let key = self.keys.text('s', summary);
            let body = message(Author::Harness, Channel::Summary, summary, out);
            self.tell(place, Some(key), body, out);
        }
    }

    /// An error of the service, which `task_complete` may repeat.
    fn went_wrong(&mut self, text: &str, info: Raw<'_>, retried: bool, place: Place, out: &mut Output) {
        let text = text.trim();
        if text.is_empty() || std::mem::replace(&mut self.error, hash64(text)) == hash64(text) {
            return;
        }
        self.settle(out);
        let key = self.keys.text('e', text);
        let status = info.and_then(|info| number_after(info.get(), "http_status_code\":")).or_else(|| status(text));
        let body = Body::ApiError(ApiError { status, text: out.cap(&said(text)).0, retried });
        self.tell(place, Some(key), body, out);
    }

    /// An MCP tool ended; its output does not say how.
    fn ended(&mut self, event: &Payload<'_>) {
        let result = event.result.map(|result| result.get()).unwrap_or_default();
        let failed = result.starts_with("{\"Err\"")
            || result.contains("\"isError\":true")
            || result.contains("\"is_error\":true");
        if failed && self.failed.len() < FAILED {
            self.failed.push(hash64(event.call.as_str()));
        }
    }
}

/// What an error says: some are the service's answer as it came.
fn said(text: &str) -> Cow<'_, str> {
    object! {
        struct Answer<'a> {
            "error" => error: Failure<'a>,
        }
    }
    let answer: Answer<'_> = match text.starts_with('{') {
        true => serde_json::from_str(text).unwrap_or_default(),
        false => Answer::default(),
    };
    answer.error.message.0.filter(|message| !message.is_empty()).unwrap_or(Cow::Borrowed(text))
}

/// The HTTP status that an error's text names.
fn status(text: &str) -> Option<u16> {
    ["unexpected status ", "last status: ", "status code ", "HTTP error: ", "(status "]
        .iter()
        .find_map(|before| number_after(text, before))
}

fn number_after(text: &str, before: &str) -> Option<u16> {
    let number = text.split_once(before)?.1.trim_start();
    let end = number.find(|char: char| !char.is_ascii_digit()).unwrap_or(number.len());
    number[..end].parse().ok().filter(|status| (100..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_service_are_unwrapped() {
        assert_eq!(said(r#"{"error": {"message": "no such model", "type": "x"}}"#), "no such model");
        for text in ["no", "{}", r#"{"error":"x"}"#] {
            assert_eq!(said(text), text);
        }
    }

    #[test]
    fn statuses_in_texts() {
        assert_eq!(status("unexpected status 503 Service Unavailable: no"), Some(503));
        assert_eq!(status("exceeded retry limit, last status: 429 Too Many Requests"), Some(429));
        assert_eq!(status("stream disconnected before completion"), None);
        let info = r#"{"response_too_many_failed_attempts":{"http_status_code":500}}"#;
        assert_eq!(number_after(info, "http_status_code\":"), Some(500));
    }
}
