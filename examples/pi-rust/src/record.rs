//! The shapes of entries. What a field holds is read if it is what it should be, and is not there otherwise.

use std::borrow::Cow;

use serde::Deserialize;
use totalrecall_sdk::json::{Flag, List, Number, Raw, Text, object};

object! {
    /// A line: the header, or an entry of any type.
    pub(crate) struct Entry<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "parentId" => parent: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        // Of the header.
        "cwd" => cwd: Text<'a>,
        "parentSession" => parent_session: Text<'a>,
        // Before version 3.
        "branchedFrom" => branched_from: Text<'a>,
        // Of a message.
        "message" => message: Said<'a>,
        // Of a compaction and a branch's summary.
        "summary" => summary: Text<'a>,
        "tokensBefore" => tokens_before: Number,
        // Of an extension's message.
        "content" => content: Raw<'a>,
        // Of the session's name.
        "name" => name: Text<'a>,
    }
}

object! {
    /// A message of any role.
    pub(crate) struct Said<'a> {
        "role" => role: Text<'a>,
        "content" => content: Raw<'a>,
        "model" => model: Text<'a>,
        "usage" => usage: Raw<'a>,
        "stopReason" => stop: Text<'a>,
        "errorMessage" => error: Text<'a>,
        // Of a tool's result.
        "toolCallId" => call: Text<'a>,
        "toolName" => tool: Text<'a>,
        "isError" => failed: Flag,
        // Of a command that the person ran.
        "command" => command: Text<'a>,
        "output" => output: Text<'a>,
    }
}

/// Tokens of a response.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) input: Number,
    pub(crate) output: Number,
    pub(crate) cache_read: Number,
    pub(crate) cache_write: Number,
}

object! {
    /// A part of a content.
    pub(crate) struct Part<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "thinking" => thinking: Text<'a>,
        // Of a tool call.
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "arguments" => arguments: Raw<'a>,
    }
}

/// The parts of a content; none if it is a string.
pub(crate) fn parts<'a>(content: Raw<'a>) -> Vec<Part<'a>> {
    decode::<List<Part<'a>>>(content).0
}

/// All text of a content.
pub(crate) fn text(content: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = decode::<Text<'_>>(content).0 {
        return text;
    }
    let texts: Vec<_> = parts(content).into_iter().filter_map(|part| part.text.0).collect();
    Cow::Owned(texts.join("\n"))
}

/// A value as `T`; the default if it is something else.
pub(crate) fn decode<'a, T: Default + Deserialize<'a>>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
