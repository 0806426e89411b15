//! What the model "says": answers of every kind, good ones and those that a caller must survive.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};

use super::http;

/// The tool that a client offers when an object was asked for.
const HAND_OVER: &str = "StructuredOutput";

/// Token counts of an answer, which the client makes its costs of.
#[derive(Debug, Clone, Copy)]
struct Usage {
    input: u64,
    output: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 1_000, output: 100 }
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    what: What,
    usage: Usage,
}

#[derive(Debug, Clone)]
enum What {
    Object(Value),
    Text(String),
    Calls { text: String, calls: Vec<(String, Value)> },
    Status { code: u16, kind: &'static str, retry_after: Option<u32> },
    Silence,
    CutOff,
    Malformed,
}

impl Reply {
    fn new(what: What) -> Self {
        Self { what, usage: Usage::default() }
    }

    /// Hands over an object, if the client offers a way to; says it otherwise.
    pub(crate) fn good(value: Value) -> Self {
        Self::new(What::Object(value))
    }

    /// Says something.
    pub(crate) fn text(text: &str) -> Self {
        Self::new(What::Text(text.to_owned()))
    }

    /// Says something and calls tools, by their names in the client and with what they take.
    pub(crate) fn calling<'a>(text: &str, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let calls = calls.into_iter().map(|(name, input)| (name.to_owned(), input)).collect();
        Self::new(What::Calls { text: text.to_owned(), calls })
    }

    /// An answer without a word.
    pub(crate) fn empty() -> Self {
        Self::text("")
    }

    /// Words that are no JSON, whatever was asked for.
    pub(crate) fn garbage() -> Self {
        Self::text("Sure! Here is what I found: {\"findings\": [oops, `rm -rf /` ]]]")
    }

    /// The right object, said instead of handed over, however often the client insists.
    pub(crate) fn schema_missing(value: &Value) -> Self {
        Self::text(&value.to_string())
    }

    /// Not now: with what a client should wait for, in seconds.
    pub(crate) fn rate_limited(retry_after: u32) -> Self {
        Self::new(What::Status { code: 429, kind: "rate_limit_error", retry_after: Some(retry_after) })
    }

    /// Too busy.
    pub(crate) fn overloaded() -> Self {
        Self::new(What::Status { code: 529, kind: "overloaded_error", retry_after: None })
    }

    /// Broken.
    pub(crate) fn broken() -> Self {
        Self::new(What::Status { code: 500, kind: "api_error", retry_after: None })
    }

    /// Never answers, and holds the connection until the client gives up.
    pub(crate) fn slow() -> Self {
        Self::new(What::Silence)
    }

    /// Closes the connection in the middle of the answer.
    pub(crate) fn cut_off() -> Self {
        Self::new(What::CutOff)
    }

    /// A stream whose events are no JSON.
    pub(crate) fn malformed() -> Self {
        Self::new(What::Malformed)
    }

    /// What is said, and what is called.
    pub(super) fn parts(&self) -> (&str, &[(String, Value)]) {
        match &self.what {
            What::Text(text) => (text, &[]),
            What::Calls { text, calls } => (text, calls),
            _ => ("", &[]),
        }
    }

    /// Whether it never comes.
    pub(super) fn is_silence(&self) -> bool {
        matches!(self.what, What::Silence)
    }

    /// The same, having used so many tokens.
    pub(crate) fn used(mut self, input: u64, output: u64) -> Self {
        self.usage = Usage { input, output };
        self
    }
}

/// Has the model handed over its object in this conversation already, and did the client take it?
pub(super) fn is_answered(body: &Value) -> bool {
    let Some([.., said, heard]) = body["messages"].as_array().map(Vec::as_slice) else { return false };
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    blocks(said).iter().any(|block| block["name"] == HAND_OVER)
        && blocks(heard).iter().any(|block| block["type"] == "tool_result" && block["is_error"] != true)
}

/// The body of an answer that is an error.
pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// Answers a question.
pub(super) fn send(connection: &mut &TcpStream, reply: Reply, body: &Value) -> io::Result<()> {
    let streamed = body["stream"] == true;
    match &reply.what {
        What::Status { code, kind, retry_after } => {
            let after = retry_after.map(|seconds| seconds.to_string());
            let headers: Vec<_> = after.iter().map(|after| ("retry-after", after.as_str())).collect();
            http::json(connection, *code, &headers, &error(kind, "as the script says"))
        }
        What::Silence => {
            // Blocks until the client, or the end of the test, closes the connection.
            connection.read(&mut [0]).map(drop)
        }
        What::CutOff if streamed => {
            let events = events(&message(body, &[json!({ "type": "text", "text": "I was about to" })], reply.usage));
            stream_head(connection)?;
            events.iter().take(3).try_for_each(|event| http::chunk(connection, event))
        }
        What::CutOff => {
            http::head(connection, 200, "application/json", &[("content-length", "1000")])?;
            connection.write_all(b"{\"id\": \"msg_")
        }
        What::Malformed if streamed => {
            stream_head(connection)?;
            http::chunk(connection, "event: message_start\ndata: {\"type\": \"message_start\", \"mess\n\n")?;
            http::chunk(connection, "")
        }
        What::Malformed => {
            http::head(connection, 200, "application/json", &[("content-length", "5")])?;
            connection.write_all(b"{oops")
        }
        What::Object(_) | What::Text(_) | What::Calls { .. } => {
            let message = message(body, &blocks(&reply.what, body), reply.usage);
            if !streamed {
                return http::json(connection, 200, &[], &message);
            }
            stream_head(connection)?;
            events(&message).iter().try_for_each(|event| http::chunk(connection, event))?;
            http::chunk(connection, "")
        }
    }
}

fn stream_head(connection: &mut &TcpStream) -> io::Result<()> {
    http::head(connection, 200, "text/event-stream", &[("transfer-encoding", "chunked")])
}

fn blocks(what: &What, body: &Value) -> Vec<Value> {
    let offered = body["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == HAND_OVER);
    match what {
        What::Object(value) if offered => {
            vec![json!({ "type": "tool_use", "id": id("toolu"), "name": HAND_OVER, "input": value })]
        }
        What::Object(value) => vec![json!({ "type": "text", "text": value.to_string() })],
        What::Text(text) => said(text).collect(),
        What::Calls { text, calls } => {
            let call = |(name, input): &(String, Value)| json!({ "type": "tool_use", "id": id("toolu"), "name": name, "input": input });
            said(text).chain(calls.iter().map(call)).collect()
        }
        _ => Vec::new(),
    }
}

fn said(text: &str) -> impl Iterator<Item = Value> {
    (!text.is_empty()).then(|| json!({ "type": "text", "text": text })).into_iter()
}

/// Ids are distinct, as clients rely on.
pub(super) fn id(of: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{of}_{:024}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn message(body: &Value, blocks: &[Value], usage: Usage) -> Value {
    let calls = blocks.iter().any(|block| block["type"] == "tool_use");
    json!({
        "id": id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": if calls { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    })
}

/// A message as the events of a stream.
fn events(message: &Value) -> Vec<String> {
    let mut begun = message.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({ "type": "message_start", "message": begun })];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let mut empty = block.clone();
        let delta = if block["type"] == "tool_use" {
            empty["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
        } else {
            empty["text"] = json!("");
            json!({ "type": "text_delta", "text": block["text"] })
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let end = json!({ "stop_reason": message["stop_reason"], "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": end, "usage": message["usage"] }));
    events.push(json!({ "type": "message_stop" }));
    let write = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(write).collect()
}
