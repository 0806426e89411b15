//! What stands in a chat.

use serde_json::value::RawValue;
use totalrecall_sdk::json::{Entries, Flag, List, Raw, Text, object};

object! {
    /// A line of a log, a document, or a message in one of them: which it is, the fields that are there tell.
    pub(crate) struct Record<'a> {
        // a message
        "id" => id: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
        /// user, gemini, info, warning, error.
        "type" => kind: Text<'a>,
        "content" => content: Raw<'a>,
        /// Since 0.2x: what was typed, where `content` holds more (files that it names).
        "displayContent" => shown: Raw<'a>,
        "thoughts" => thoughts: List<Thought<'a>>,
        /// Tokens of the response. `input` holds the `cached` ones, `output` does not hold the `thoughts`.
        "tokens" => tokens: Entries<'a>,
        "model" => model: Text<'a>,
        "toolCalls" => calls: List<Call<'a>>,
        // a session
        "sessionId" => session: Text<'a>,
        "startTime" => start: Text<'a>,
        /// main, subagent.
        "kind" => sort: Text<'a>,
        "summary" => summary: Text<'a>,
        "directories" => directories: List<Text<'a>>,
        "messages" => messages: List<Record<'a>>,
        // a change
        "$set" => set: Raw<'a>,
        "$rewindTo" => rewind_to: Text<'a>,
    }
}

object! {
    /// What the model thought, summed up.
    pub(crate) struct Thought<'a> {
        "subject" => subject: Text<'a>,
        "description" => description: Text<'a>,
    }
}

object! {
    /// A tool call with how it ended.
    pub(crate) struct Call<'a> {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => args: Entries<'a>,
        "result" => result: Raw<'a>,
        /// success, error, cancelled; before that, how far it is.
        "status" => status: Text<'a>,
        /// When it ended.
        "timestamp" => timestamp: Text<'a>,
        "resultDisplay" => shown: Raw<'a>,
    }
}

object! {
    /// A part of a content.
    pub(crate) struct Part<'a> {
        "text" => text: Text<'a>,
        "thought" => thought: Flag,
        "functionCall" => call: FunctionCall<'a>,
        "functionResponse" => response: FunctionResponse<'a>,
        "inlineData" => data: Raw<'a>,
        "fileData" => file: Raw<'a>,
    }
}

object! {
    /// A tool call as the model's API has it.
    pub(crate) struct FunctionCall<'a> {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => args: Entries<'a>,
    }
}

object! {
    /// A tool's result as the model's API has it.
    pub(crate) struct FunctionResponse<'a> {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "response" => response: Raw<'a>,
    }
}

object! {
    /// What a tool answered.
    pub(crate) struct Response<'a> {
        "output" => output: Text<'a>,
        "error" => error: Text<'a>,
    }
}

/// The parts of a content, which is a text, a part, or a list of both.
pub(crate) fn parts(content: Raw<'_>) -> Vec<Part<'_>> {
    let Some(content) = content else { return Vec::new() };
    match content.get().as_bytes().first() {
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
            items.into_iter().map(part).collect()
        }
        Some(b'"' | b'{') => vec![part(content)],
        _ => Vec::new(),
    }
}

fn part(raw: &RawValue) -> Part<'_> {
    if raw.get().starts_with('"') {
        return Part { text: serde_json::from_str(raw.get()).unwrap_or_default(), ..Part::default() };
    }
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// All texts of a content, put together.
pub(crate) fn text(content: Raw<'_>) -> String {
    parts(content).iter().map(|part| part.text.as_str()).collect()
}
