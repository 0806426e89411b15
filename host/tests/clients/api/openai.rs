//! The same answers as Codex and OpenCode take them: of the Responses API, and of Chat Completions. Both ask for streams.

use std::{
    io::{self, Read as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{http, reply, reply::Reply};

/// Where Codex asks.
pub(super) const RESPONSES: &str = "/v1/responses";

/// Where OpenCode asks, by a provider that says it is compatible.
pub(super) const CHAT: &str = "/v1/chat/completions";

/// An answer to Codex: a text, and calls of functions.
pub(super) fn responses(connection: &mut &TcpStream, reply: &Reply, body: &Value) -> io::Result<()> {
    if reply.is_silence() {
        // Until the client, or the end of the test, closes the connection.
        return connection.read(&mut [0]).map(drop);
    }
    let (text, calls) = reply.parts();
    let mut items = Vec::new();
    if !text.is_empty() {
        let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
        items.push(json!({
            "type": "message", "id": reply::id("msg"), "role": "assistant", "status": "completed", "content": content,
        }));
    }
    for (name, input) in calls {
        items.push(json!({
            "type": "function_call", "id": reply::id("fc"), "call_id": reply::id("call"), "name": name,
            "arguments": input.to_string(), "status": "completed",
        }));
    }
    let usage = json!({
        "input_tokens": 1_000, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 100, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 1_100,
    });
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": body["model"],
            "output": output, "usage": usage, "parallel_tool_calls": true, "tools": [], "tool_choice": "auto",
        })
    };
    let mut events = vec![json!({ "type": "response.created", "response": response("in_progress", &[]) })];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item }));
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": response("completed", &items) }));
    let events = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = number.into();
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    });
    stream(connection, events)
}

/// An answer to OpenCode.
pub(super) fn chat(connection: &mut &TcpStream, reply: &Reply, body: &Value) -> io::Result<()> {
    if reply.is_silence() {
        // Until the client, or the end of the test, closes the connection.
        return connection.read(&mut [0]).map(drop);
    }
    let (text, calls) = reply.parts();
    let id = reply::id("chatcmpl");
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({
            "id": id, "object": "chat.completion.chunk", "created": 1, "model": body["model"],
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    };
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": text }), None)];
    for (index, (name, input)) in calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": input.to_string() });
        let call = json!({ "index": index, "id": reply::id("call"), "type": "function", "function": function });
        chunks.push(chunk(json!({ "tool_calls": [call] }), None));
    }
    let mut last = chunk(json!({}), Some(if calls.is_empty() { "stop" } else { "tool_calls" }));
    last["usage"] = json!({ "prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100 });
    chunks.push(last);
    let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    stream(connection, lines.chain(["data: [DONE]\n\n".to_owned()]))
}

fn stream(connection: &mut &TcpStream, events: impl Iterator<Item = String>) -> io::Result<()> {
    http::head(connection, 200, "text/event-stream", &[("transfer-encoding", "chunked")])?;
    for event in events {
        http::chunk(connection, &event)?;
    }
    http::chunk(connection, "")
}
