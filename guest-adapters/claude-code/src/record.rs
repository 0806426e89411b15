//! The records of a transcript: which they are, told without decoding them, and their fields.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr2, memchr3};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use totalrecall_sdk::json::{Flag, Number, Raw, Span, Text, not_there, object};

object! {
    /// A record of the conversation. What its fields mean depends on `type`.
    pub(crate) struct Record<'a> {
        "type" => kind: Text<'a>,
        "uuid" => uuid: Text<'a>,
        "parentUuid" => parent: Text<'a>,
        "sessionId" => session: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        "version" => version: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "gitBranch" => branch: Text<'a>,
        "message" => message: Message<'a>,
        "requestId" => request: Text<'a>,
        /// Of a sub-agent. Up to 1.0.x such records stand inline; later they have files of their own.
        "isSidechain" => sidechain: Flag,
        "agentId" => agent: Text<'a>,
        "isMeta" => meta: Flag,
        "isCompactSummary" => summary: Flag,
        "isVisibleInTranscriptOnly" => only_shown: Flag,
        "isApiErrorMessage" => api_error: Flag,
        "apiErrorStatus" => api_status: Number,
        /// Since 2.1.2xx: who caused the record.
        "origin" => origin: Origin<'a>,
        /// Since 2.1.19x: typed, queued, sdk, system.
        "promptSource" => prompt_source: Text<'a>,
        /// Since 2.1.2xx: harness, local, recorded.
        "rowSource" => row_source: Text<'a>,
        /// The tool call a skill's body belongs to.
        "sourceToolUseID" => source_call: Text<'a>,
        /// Since 2.1.2xx, on an interrupt marker: the response that was cut off.
        "interruptedMessageId" => interrupted: Text<'a>,
        /// Since 2.1.332, on a tool's result.
        "permissionDecision" => permission: Permission<'a>,
        /// Most of a transcript's bytes stand here, and nearly nothing that the message does not say.
        "toolUseResult" => tool_result: Span<'a>,
        // system records
        "subtype" => subtype: Text<'a>,
        "content" => content: Text<'a>,
        "compactMetadata" => compact: CompactMetadata<'a>,
        "error" => error: Raw<'a>,
        "cause" => cause: Raw<'a>,
        // queue-operation records
        "operation" => operation: Text<'a>,
        // attachment and progress records
        "attachment" => attachment: Raw<'a>,
        "data" => data: Raw<'a>,
        // names
        /// Of a session made with `/branch`.
        "forkedFrom" => forked_from: ForkedFrom<'a>,
        "customTitle" => custom_title: Text<'a>,
        "aiTitle" => ai_title: Text<'a>,
        "summary" => title: Text<'a>,
        /// The record that a summary is the title of.
        "leafUuid" => leaf: Text<'a>,
    }
}

object! {
    /// The session that a session was made from.
    pub(crate) struct ForkedFrom<'a> {
        "sessionId" => session: Text<'a>,
    }
}

object! {
    /// Who caused a record.
    pub(crate) struct Origin<'a> {
        "kind" => kind: Text<'a>,
    }
}

object! {
    /// How a tool call was allowed or refused.
    pub(crate) struct Permission<'a> {
        "decision" => decision: Text<'a>,
        "source" => source: Text<'a>,
    }
}

object! {
    /// Of a compaction.
    pub(crate) struct CompactMetadata<'a> {
        "trigger" => trigger: Text<'a>,
        "preTokens" => before: Number,
    }
}

object! {
    /// A message of the model's API.
    pub(crate) struct Message<'a> {
        "id" => id: Text<'a>,
        "model" => model: Text<'a>,
        "content" => content: Content<'a>,
        "usage" => usage: Usage<'a>,
    }
}

object! {
    /// Tokens of a response.
    pub(crate) struct Usage<'a> {
        "input_tokens" => input: Number,
        "output_tokens" => output: Number,
        "cache_read_input_tokens" => cache_read: Number,
        "cache_creation_input_tokens" => cache_write: Number,
        "service_tier" => tier: Text<'a>,
    }
}

object! {
    /// A block of a message's content. Base64 of images and signatures of thoughts are never decoded.
    pub(crate) struct Block<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "thinking" => thinking: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "input" => input: Raw<'a>,
        "tool_use_id" => call: Text<'a>,
        "content" => content: Content<'a>,
        "is_error" => error: Flag,
    }
}

/// Content of a message or of a tool's result: a string, or blocks.
#[derive(Debug, Default)]
pub(crate) enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl<'a> Content<'a> {
    /// All its text, blocks on lines of their own; an image reads `[image]`.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Nothing => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => match blocks.as_slice() {
                [only] => Cow::Borrowed(block_text(only)),
                blocks => Cow::Owned(blocks.iter().map(block_text).collect::<Vec<_>>().join("\n")),
            },
        }
    }
}

fn block_text<'b>(block: &'b Block<'_>) -> &'b str {
    match block.kind.as_str() {
        "text" => block.text.as_str(),
        "image" => "[image]",
        "document" => "[document]",
        _ => block.text.as_str(),
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
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }

            not_there!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            not_there!(map);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// What a line is, as far as its first bytes tell.
#[derive(Debug, PartialEq)]
pub(crate) enum Peek<'a> {
    /// Its `type`, and for an attachment the type of that.
    Type(&'a str, &'a str),
    /// Its type comes late: decode it.
    Unsure,
}

/// Finds the `type` of a record among its first fields, without decoding or checking what follows. Most bytes of a
/// transcript belong to records that are of no use here: this is what makes reading fast.
pub(crate) fn peek(line: &[u8]) -> Peek<'_> {
    fields(line).unwrap_or(Peek::Unsure)
}

fn fields(line: &[u8]) -> Option<Peek<'_>> {
    let mut rest = blank(line).strip_prefix(b"{")?;
    loop {
        let (key, after) = string(blank(rest))?;
        let value = blank(blank(after).strip_prefix(b":")?);
        match key {
            b"type" => {
                let (kind, _) = string(value)?;
                return Some(Peek::Type(std::str::from_utf8(kind).ok()?, ""));
            }
            b"attachment" => {
                let (kind, _) = string(value.strip_prefix(b"{\"type\":")?)?;
                return Some(Peek::Type("attachment", std::str::from_utf8(kind).ok()?));
            }
            _ => {}
        }
        rest = match value.first()? {
            b'"' => string(value)?.1,
            // The message, or another object: what is inside is not looked through twice.
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
        at += memchr2(b'"', b'\\', &text[at..])?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        at += 2;
        if at > text.len() {
            return None;
        }
    }
}

/// Does another record begin within this line? Then it is torn, and not to be stepped over as what it begins as.
pub(crate) fn holds_another(line: &[u8]) -> bool {
    static RECORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"{\"parentUuid\":"));
    RECORD.find(line.get(1..).unwrap_or_default()).is_some()
}

/// Shorter ones are not worth a copy of the line.
const LONG: usize = 1024;

/// Where a long `toolUseResult` stands in a line: the whole field with the comma before it, and its value. Looking for
/// its end is several times faster than having it parsed.
pub(crate) fn long_tool_result(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    static FIELD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b",\"toolUseResult\":"));
    let start = FIELD.find(line)?;
    let value = start + FIELD.needle().len();
    let end = value + value_end(&line[value..])?;
    (end - value >= LONG && !holds_another(line)).then_some((start..end, value..end))
}

/// The length of the string, object or list at the beginning.
fn value_end(bytes: &[u8]) -> Option<usize> {
    let (open, close) = match bytes.first()? {
        b'"' => return Some(bytes.len() - string(bytes)?.1.len()),
        b'{' => (b'{', b'}'),
        b'[' => (b'[', b']'),
        _ => return None,
    };
    let (mut depth, mut at) = (0usize, 0);
    loop {
        at += memchr3(b'"', open, close, &bytes[at..])?;
        match bytes[at] {
            b'"' => at = bytes.len() - string(&bytes[at..])?.1.len(),
            byte => {
                at += 1;
                depth = if byte == open { depth + 1 } else { depth - 1 };
                if depth == 0 {
                    return Some(at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tool_results_are_found() {
        let text = "x \\\" } ] {".repeat(LONG / 4);
        for value in [format!(r#""{text}""#), format!(r#"{{"a":[{{"b":"{text}"}}]}}"#), format!(r#"["{text}",[]]"#)] {
            let line = format!(r#"{{"a":1,"toolUseResult":{value},"b":2}}"#);
            let (field, found) = long_tool_result(line.as_bytes()).unwrap();
            assert_eq!(&line[found], value);
            assert_eq!(format!("{}{}", &line[..field.start], &line[field.end..]), r#"{"a":1,"b":2}"#);
            let torn = &line[..line.len() - 20];
            assert_eq!(long_tool_result(torn.as_bytes()), None);
        }
        assert_eq!(long_tool_result(br#"{"a":1,"toolUseResult":"short"}"#), None);
    }

    #[test]
    fn types_are_told_from_the_first_fields() {
        assert_eq!(peek(br#"{"type":"progress","x"#), Peek::Type("progress", ""));
        assert_eq!(peek(br#" {"parentUuid":null, "a":"x\"y\\", "n":1,"type":"user""#), Peek::Type("user", ""));
        assert_eq!(
            peek(br#"{"parentUuid":null,"attachment":{"type":"file","a":{}},"type":"attachment"}"#),
            Peek::Type("attachment", "file")
        );
        for line in ["", "{", "[]", r#"{"message":{"type":"message"},"type":"assistant"}"#, r#"{"a":"\"#, r#"{"a":1}"#]
        {
            assert_eq!(peek(line.as_bytes()), Peek::Unsure, "{line}");
        }
    }
}
