//! The records of a rollout: which they are, told without decoding them, and their fields.

use std::borrow::Cow;
use std::marker::PhantomData;

use memchr::memchr2;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use totalrecall_sdk::json::{Entries, List, Number, Raw, Text, not_there, object};

object! {
    /// A line since 0.3x: what it is, and its payload.
    pub(crate) struct Line<'a> {
        "timestamp" => timestamp: Text<'a>,
        /// Since 0.171 ("paginated").
        "ordinal" => ordinal: Number,
        "type" => kind: Text<'a>,
        "payload" => payload: Payload<'a>,
    }
}

object! {
    /// The payload of a line, of any type; up to 0.2x the line itself. What its fields mean depends on the types of both.
    pub(crate) struct Payload<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "turn_id" => turn: Text<'a>,
        "internal_chat_message_metadata_passthrough" => passed: Passed<'a>,
        // session_meta; up to 0.2x the first line
        "timestamp" => timestamp: Text<'a>,
        "instructions" => instructions: Raw<'a>,
        "cwd" => cwd: Text<'a>,
        "cli_version" => version: Text<'a>,
        "git" => git: Git<'a>,
        /// `cli`, `exec`, `vscode` …, or an object for a sub-agent.
        "source" => source: Raw<'a>,
        "forked_from_id" => forked_from: Text<'a>,
        "parent_thread_id" => parent: Text<'a>,
        /// Since 0.171; for a sub-agent, the thread at the root of all.
        "session_id" => session: Text<'a>,
        "history_mode" => history_mode: Text<'a>,
        // turn_context
        "model" => model: Text<'a>,
        // response items
        "role" => role: Text<'a>,
        "content" => content: Content<'a>,
        "summary" => summary: Content<'a>,
        "name" => name: Text<'a>,
        "namespace" => namespace: Text<'a>,
        "arguments" => arguments: Text<'a>,
        "call_id" => call: Text<'a>,
        "output" => output: Content<'a>,
        "input" => input: Text<'a>,
        "action" => action: Action<'a>,
        "status" => status: Text<'a>,
        // events
        "message" => message: Text<'a>,
        "images" => images: List<Raw<'a>>,
        "local_images" => local_images: List<Raw<'a>>,
        "item" => item: Item<'a>,
        "info" => info: Info<'a>,
        "reason" => reason: Text<'a>,
        "num_turns" => num_turns: Number,
        "thread_name" => thread_name: Text<'a>,
        "error" => error: Failure<'a>,
        "codex_error_info" => error_info: Raw<'a>,
        "result" => result: Raw<'a>,
        // token_usage_record
        "usage" => usage: Tokens<'a>,
        "thread_token_usage" => thread_usage: Tokens<'a>,
        // up to 0.2x
        "record_type" => record_type: Text<'a>,
    }
}

object! {
    /// What the client passes along with a response item, since 0.171.
    pub(crate) struct Passed<'a> {
        "turn_id" => turn: Text<'a>,
    }
}

object! {
    /// State of the repository when the session began.
    pub(crate) struct Git<'a> {
        "branch" => branch: Text<'a>,
    }
}

object! {
    /// Of a `local_shell_call` or a `web_search_call`.
    pub(crate) struct Action<'a> {
        "command" => command: List<Text<'a>>,
        "query" => query: Text<'a>,
        "url" => url: Text<'a>,
        "pattern" => pattern: Text<'a>,
    }
}

object! {
    /// Of `item_completed`: something that was said or done, whole.
    pub(crate) struct Item<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "content" => content: Content<'a>,
        "command" => command: List<Text<'a>>,
        "source" => source: Text<'a>,
        "status" => status: Text<'a>,
        "aggregated_output" => output: Raw<'a>,
        "exit_code" => exit_code: Raw<'a>,
        "changes" => changes: Entries<'a>,
        "stdout" => stdout: Text<'a>,
        "stderr" => stderr: Text<'a>,
        "server" => server: Text<'a>,
        "tool" => tool: Text<'a>,
        "namespace" => namespace: Text<'a>,
        "arguments" => arguments: Raw<'a>,
        "result" => result: Raw<'a>,
        "error" => error: Raw<'a>,
        "path" => path: Text<'a>,
        "query" => query: Text<'a>,
        "prompt" => prompt: Text<'a>,
    }
}

object! {
    /// Of `token_count`.
    pub(crate) struct Info<'a> {
        "total_token_usage" => total: Tokens<'a>,
        "last_token_usage" => last: Tokens<'a>,
    }
}

object! {
    /// Tokens, of one response or of all so far.
    pub(crate) struct Tokens<'a> {
        "input_tokens" => input: Number,
        /// Part of the input.
        "cached_input_tokens" => cached: Number,
        /// Part of the input; since 0.171.
        "cache_write_input_tokens" => written: Number,
        "output_tokens" => output: Number,
        "total_tokens" => total: Raw<'a>,
    }
}

impl Tokens<'_> {
    /// All of them.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total?.get().parse().ok()
    }
}

object! {
    /// An error, as `task_complete` has it since 0.171.
    pub(crate) struct Failure<'a> {
        "message" => message: Text<'a>,
        "codex_error_info" => info: Raw<'a>,
    }
}

object! {
    /// A part of a content.
    pub(crate) struct Part<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
    }
}

object! {
    /// How some versions write a failed output.
    pub(crate) struct Wrapped<'a> {
        "content" => content: Content<'a>,
        "success" => success: Raw<'a>,
    }
}

/// Content of a message, or a tool's output: a string, parts, or either within an object.
#[derive(Debug, Default)]
pub(crate) enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
    Wrapped(Box<Wrapped<'a>>),
}

impl Content<'_> {
    /// All its text. Parts stand on lines of their own unless they end with one; an image reads `[image]`.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Nothing => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Wrapped(wrapped) => wrapped.content.text(),
            Self::Parts(parts) => match parts.as_slice() {
                [only] => Cow::Borrowed(only.shown()),
                parts => {
                    let mut text = String::new();
                    for shown in parts.iter().map(Part::shown).filter(|shown| !shown.is_empty()) {
                        if !text.is_empty() && !text.ends_with('\n') {
                            text.push('\n');
                        }
                        text.push_str(shown);
                    }
                    Cow::Owned(text)
                }
            },
        }
    }

    /// The output says that it is a failure.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Wrapped(wrapped) if wrapped.success.is_some_and(|success| success.get() == "false"))
    }
}

impl Part<'_> {
    fn shown(&self) -> &str {
        match self.kind.as_str() {
            "input_image" | "image" | "local_image" | "localImage" => "[image]",
            _ => self.text.as_str(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Any<'a> {
            type Value = Content<'a>;

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Content<'a>, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Content<'a>, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'a>, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content<'a>, A::Error> {
                Wrapped::deserialize(MapAccessDeserializer::new(map)).map(|it| Content::Wrapped(Box::new(it)))
            }

            not_there!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// What a line is, as far as its first bytes tell.
#[derive(Debug, PartialEq)]
pub(crate) enum Peek<'a> {
    /// The types of the line and of its payload; the latter is empty where it does not come first.
    Line(&'a str, &'a str),
    /// A type, and no payload: the line is an item itself.
    Item(&'a str),
    /// Its first fields do not tell.
    Unsure,
}

/// Finds the types among the first fields of a line, without decoding or checking what follows.
pub(crate) fn peek(line: &[u8]) -> Peek<'_> {
    let mut kind = None;
    match fields(line, &mut kind) {
        Some(payload) => Peek::Line(kind.unwrap_or_default(), payload),
        None => kind.map_or(Peek::Unsure, Peek::Item),
    }
}

/// The payload's type, if there is a payload after the line's type.
fn fields<'a>(line: &'a [u8], kind: &mut Option<&'a str>) -> Option<&'a str> {
    let mut rest = blank(line).strip_prefix(b"{")?;
    loop {
        let (key, after) = string(blank(rest))?;
        let value = blank(blank(after).strip_prefix(b":")?);
        match key {
            b"type" if kind.is_none() => *kind = Some(std::str::from_utf8(string(value)?.0).ok()?),
            b"payload" if kind.is_some() => {
                let inner = value.strip_prefix(b"{")?;
                let first = inner.strip_prefix(b"\"type\":").and_then(string);
                return Some(first.and_then(|(kind, _)| std::str::from_utf8(kind).ok()).unwrap_or_default());
            }
            _ => {}
        }
        rest = match value.first()? {
            b'"' => string(value)?.1,
            b'{' | b'[' => return None,
            _ => &value[memchr2(b',', b'}', value)?..],
        };
        rest = blank(rest).strip_prefix(b",")?;
    }
}

fn blank(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_start()
}

/// A string at the beginning, still escaped, and what follows it.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = bytes.strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_from_the_first_fields() {
        let line = r#"{"timestamp":"t","ordinal":7, "type":"event_msg","payload":{"type":"token_count","info":"#;
        assert_eq!(peek(line.as_bytes()), Peek::Line("event_msg", "token_count"));
        assert_eq!(peek(br#"{"type":"session_meta","payload":{"id":"1","type":"x""#), Peek::Line("session_meta", ""));
        assert_eq!(peek(br#"{"type":"message","id":null,"role":"user","content":[]}"#), Peek::Item("message"));
        for line in ["", "{", "[]", r#"{"record_type":"state"}"#, r#"{"payload":{},"type":"x"}"#, r#"{"a":"\"#] {
            assert_eq!(peek(line.as_bytes()), Peek::Unsure, "{line}");
        }
    }

    #[test]
    fn contents_of_every_shape() {
        let text = |json: &str| serde_json::from_str::<Content<'_>>(json).unwrap().text().into_owned();
        assert_eq!(text(r#""a""#), "a");
        assert_eq!(text(r#"[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"}]"#), "a\n[image]");
        assert_eq!(text(r#"{"content":"no","success":false}"#), "no");
        assert_eq!(text("7") + &text("null") + &text("[]"), "");
        assert!(serde_json::from_str::<Content<'_>>(r#"{"success":false}"#).unwrap().is_failure());
    }
}
