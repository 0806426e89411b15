//! What the person says and what tools give back: both stand in `user` records, with much that is neither.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::types::{Author, Body, Channel, Compaction, Interrupt, Status, ToolKind, ToolResult};

use crate::hold::Wait;
use crate::markers::{self, Said};
use crate::record::{Block, Content, Record};
use crate::result::{self, Reading};
use crate::{ClaudeCode, Place, keys, message, named};
use totalrecall_sdk::json::{Entries, Text, object};

/// In a `toolUseResult`: the person stopped the tool.
static INTERRUPTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"interrupted\":true"));

/// In a `toolUseResult`: the person changed the edit before accepting it.
static MODIFIED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"userModified\":true"));

/// How the client answers `/compact`.
const COMPACTED: &str = "Compacted";

/// The person's words of one record, put together: they are one message.
#[derive(Default)]
struct Words {
    channel: Option<Channel>,
    text: String,
}

impl Words {
    fn add(&mut self, channel: Channel, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.channel.get_or_insert(channel);
    }
}

impl ClaudeCode {
    /// A `user` record.
    pub(crate) fn user(&mut self, record: &Record<'_>, place: &Place, out: &mut Output) -> Verdict {
        let main = !place.sub_agent || self.home.agent.is_some();
        if main && self.hold.refusal() {
            let interrupted = record.interrupted.get().is_some();
            if interrupted || !is_plain_refusal(record) {
                self.hold.refusals(interrupted, out);
            }
        }
        let (mut nth, mut words, mut images, mut what) = (0, Words::default(), 0, "");
        match &record.message.content {
            Content::Nothing => {}
            Content::Text(text) => self.said(record, place, text, &mut nth, &mut words, out),
            Content::Blocks(blocks) => {
                let mut after_result = false;
                for block in blocks {
                    match block.kind.as_str() {
                        "tool_result" => {
                            after_result = true;
                            what = "tool_result";
                            self.result(record, place, block, out);
                        }
                        "text" => {
                            self.said(record, place, block.text.as_str(), &mut nth, &mut words, out);
                            // Sent with an approval, or (2.1.x) while the tool ran.
                            if after_result && words.channel == Some(Channel::Prompt) {
                                words.channel = Some(Channel::Comment);
                            }
                        }
                        "image" | "document" => images += 1,
                        _ => {}
                    }
                }
            }
        }
        if images > 0 && words.text.is_empty() && nth == 0 && what.is_empty() && !record.meta.0 {
            words.add(Channel::Prompt, "[image]");
        }
        if let Some(channel) = words.channel {
            self.words(record, place, channel, &words.text, &mut nth, out);
        }
        Verdict::Understood(named("user", what))
    }

    /// A text of a user record (or of `system/local_command`): tells what it is, or adds it to the person's words.
    fn said(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        text: &str,
        nth: &mut usize,
        words: &mut Words,
        out: &mut Output,
    ) {
        let (what, text, body) = match markers::read(text, record) {
            Said::Nothing => return,
            Said::Human(channel, text) => return words.add(channel, &text),
            Said::Interrupt { in_tool } => ("interrupt", Cow::Borrowed(""), Body::Interrupt(Interrupt { in_tool })),
            Said::Summary(text) => {
                self.compaction(record, place, None, nth, out);
                self.keys.summary(&text);
                let body = message(Author::Harness, Channel::Summary, &text, out);
                ("summary", text, body)
            }
            Said::Harness(channel, text) => {
                if text.starts_with(COMPACTED) {
                    self.compaction(record, place, Some(true), nth, out);
                }
                let body = message(Author::Harness, channel, &text, out);
                ("notice", text, body)
            }
        };
        self.tell_keyed(record, place, (what, &text), nth, body, out);
    }

    /// Up to 1.x a summary, or the answer to `/compact`, is all that tells of a compaction; later a record does, and
    /// these follow it.
    fn compaction(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        manual: Option<bool>,
        nth: &mut usize,
        out: &mut Output,
    ) {
        if !std::mem::replace(&mut self.compacted, true) {
            let compaction = Body::Compaction(Compaction { manual, tokens_before: None });
            self.tell_keyed(record, place, ("compaction", ""), nth, compaction, out);
        }
    }

    /// Tells a message of the person; in a sub-agent's thread, of the model that started it.
    fn words(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        channel: Channel,
        text: &str,
        nth: &mut usize,
        out: &mut Output,
    ) {
        let author = if place.sub_agent { Author::Agent } else { Author::Human };
        let body = message(author, channel, text, out);
        let (key, wait) = self.keys.key(record, "prompt", text, *nth);
        *nth += 1;
        let hangs = record.parent.get().filter(|_| !place.sub_agent && channel == Channel::Prompt);
        if wait == Wait::Nothing
            && let (Some(parent), Some(key)) = (hangs, &key)
            && let Some(abandoned) = self.prompts.note(parent, key)
        {
            self.tell(place, None, Body::Rewind(abandoned), out);
        }
        self.tell_later(place, key, body, wait, out);
    }

    /// A text that is no record of its own: of `system/local_command`.
    pub(crate) fn spoken(&mut self, record: &Record<'_>, place: &Place, text: &str, out: &mut Output) {
        let (mut nth, mut words) = (0, Words::default());
        self.said(record, place, text, &mut nth, &mut words, out);
        if let Some(channel) = words.channel {
            self.words(record, place, channel, &words.text, &mut nth, out);
        }
    }

    /// A text that was put before the model while it worked: from the queue, or from an attachment.
    pub(crate) fn sent_at_work(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        text: &str,
        key: Option<String>,
        out: &mut Output,
    ) {
        let (author, channel, text) = match markers::read(text, record) {
            Said::Human(Channel::Prompt, text) => (Author::Human, Channel::Steering, text),
            Said::Human(channel, text) => (Author::Human, channel, text),
            Said::Harness(channel, text) => (Author::Harness, channel, text),
            Said::Summary(text) => (Author::Harness, Channel::Summary, text),
            Said::Nothing | Said::Interrupt { .. } => return,
        };
        let author = if place.sub_agent && author == Author::Human { Author::Agent } else { author };
        let body = message(author, channel, &text, out);
        let key = key.or_else(|| self.keys.key(record, "steering", &text, 0).0);
        self.tell(place, key, body, out);
    }

    fn tell_keyed(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        (what, text): (&str, &str),
        nth: &mut usize,
        body: Body,
        out: &mut Output,
    ) {
        let (key, wait) = self.keys.key(record, what, text, *nth);
        *nth += 1;
        self.tell_later(place, key, body, wait, out);
    }

    /// A `tool_result` block.
    fn result(&mut self, record: &Record<'_>, place: &Place, block: &Block<'_>, out: &mut Output) {
        let content = block.content.text();
        let text = markers::without_reminders(&content);
        let text = text.trim_end();
        let permission = &record.permission;
        let decision = permission.decision.get().map(|decision| (decision, permission.source.as_str()));
        let reading = result::read(text, block.error.0, decision);
        let call = block.call.as_str();
        let open = self.calls.close(call);
        let mut status = reading.status;
        if status == Status::Ok && record.tool_result.says(&INTERRUPTED) {
            status = Status::Interrupted;
        }
        if let Some(response) = open.map(|open| open.response) {
            status = self.of_siblings(status, &reading, response);
        }
        let wait = if reading.unsure && !place.sub_agent { Wait::Refusal } else { Wait::Nothing };
        let (shown, omitted) = out.cap(result::untagged(text));
        let result = ToolResult {
            call: call.to_owned(),
            status,
            exit_code: reading.exit_code,
            text: shown,
            omitted,
            words: reading.words.map(|words| out.cap(words).0),
            amended: record.tool_result.says(&MODIFIED),
        };
        let key = (!call.is_empty()).then(|| keys::of_this_record(record, place, format!("{call}/result")));
        self.tell_later(place, key, Body::ToolResult(result), wait, out);
        if open.is_some_and(|open| open.kind == ToolKind::Ask) && !place.sub_agent {
            self.answers(record, place, call, text, out);
        }
    }

    /// Calls of one response wait together: when the person refuses or stops one, the others end with the same text. The
    /// person refused once, so the others count as blocked, unless they come with words of their own.
    fn of_siblings(&mut self, status: Status, reading: &Reading<'_>, response: u64) -> Status {
        let words = reading.words.map_or(0, hash64);
        match status {
            Status::Denied => {
                let same = self.refused.is_some_and(|(last, said)| last == response && (words == 0 || words == said));
                self.refused = Some((response, if same { self.refused.map_or(0, |(_, said)| said) } else { words }));
                if same { Status::Blocked } else { Status::Denied }
            }
            Status::Interrupted => {
                self.refused = Some((response, words));
                status
            }
            other => other,
        }
    }

    /// Answers to the questions of `AskUserQuestion`: the record has them as fields; where these are missing, the
    /// result's text quotes them.
    fn answers(&mut self, record: &Record<'_>, place: &Place, call: &str, text: &str, out: &mut Output) {
        let asked: Asked<'_> = serde_json::from_slice(record.tool_result.0).unwrap_or_default();
        let asked = asked.answers.0;
        let fields = asked.iter().map(|(_, raw)| serde_json::from_str(raw.get()).unwrap_or_default());
        let mut answers: Vec<_> = fields.filter_map(|Text(answer)| answer).collect();
        if answers.is_empty() {
            answers = quoted_answers(text).map(Cow::Borrowed).collect();
        }
        let text = answers.join("\n");
        if !text.trim().is_empty() {
            let body = message(Author::Human, Channel::Answer, text.trim(), out);
            self.tell(place, Some(format!("{call}/answer")), body, out);
        }
    }
}

/// The answers in `… "Which one?"="The first", "And then?"="Stop". You can …`.
fn quoted_answers(text: &str) -> impl Iterator<Item = &str> {
    text.split("\"=\"").skip(1).filter_map(|rest| {
        let end = rest.find("\", \"").or_else(|| rest.find("\". ")).or_else(|| rest.rfind('"'))?;
        Some(&rest[..end])
    })
}

object! {
    /// `toolUseResult` of `AskUserQuestion`.
    pub(crate) struct Asked<'a> {
        "answers" => answers: Entries<'a>,
    }
}

/// Is the record one more result that may be a refusal or not?
fn is_plain_refusal(record: &Record<'_>) -> bool {
    match &record.message.content {
        Content::Blocks(blocks) => blocks.iter().all(|block| {
            block.kind.as_str() == "tool_result" && result::read(&block.content.text(), block.error.0, None).unsure
        }),
        _ => false,
    }
}
