//! A document and a log of the same messages say the same.

use serde_json::{Value, json};
use totalrecall_gemini_cli::GeminiCli;
use totalrecall_sdk::types::Event;
use totalrecall_trail::{case, read_in_pieces};

fn read(path: &str, text: &str) -> Vec<Event> {
    let mut events = read_in_pieces::<GeminiCli>(path, text.as_bytes(), &[]);
    for event in &mut events {
        event.line = 0;
    }
    events
}

fn document() -> Value {
    let case = case::<GeminiCli>("document");
    serde_json::from_slice(&case.bytes(&case.transcripts()[0])).unwrap()
}

fn line(value: &Value) -> String {
    value.to_string() + "\n"
}

/// As the client migrates a document to a log: a header and the messages.
#[test]
fn migrated() {
    let document = document();
    let header = json!({"sessionId": document["sessionId"], "projectHash": document["projectHash"],
        "startTime": document["startTime"]});
    let messages: String = document["messages"].as_array().unwrap().iter().map(line).collect();
    let log = line(&header) + &messages;
    assert_eq!(read("a.jsonl", &log), read("a.json", &document.to_string()));
}

/// As the client writes while it works: first the text, then the calls, then how they ended.
#[test]
fn bit_by_bit() {
    let document = document();
    let mut log = line(&json!({"sessionId": document["sessionId"], "projectHash": document["projectHash"],
        "startTime": document["startTime"]}));
    for message in document["messages"].as_array().unwrap() {
        let mut first = message.clone();
        let calls = first.as_object_mut().unwrap().remove("toolCalls");
        log += &line(&first);
        if let Some(calls) = calls {
            let mut running = calls.clone();
            for call in running.as_array_mut().unwrap() {
                call["status"] = json!("executing");
                call.as_object_mut().unwrap().remove("result");
            }
            first["toolCalls"] = running;
            log += &line(&first);
            first["toolCalls"] = calls;
            log += &line(&first);
        }
        log += &line(&json!({"$set": {"lastUpdated": document["lastUpdated"]}}));
    }
    assert_eq!(read("a.jsonl", &log), read("a.json", &document.to_string()));
}

/// As one `$set`, and as a document in a file that is named like a log.
#[test]
fn all_at_once() {
    let document = document();
    let expected = read("a.json", &document.to_string());
    assert_eq!(read("a.jsonl", &line(&document)), expected);
    let header = json!({"sessionId": document["sessionId"], "projectHash": document["projectHash"],
        "startTime": document["startTime"]});
    let set = json!({"$set": {"messages": document["messages"]}});
    assert_eq!(read("a.jsonl", &(line(&header) + &line(&set))), expected);
}

/// A document's later version says what the earlier one said, and more.
#[test]
fn snapshots_grow() {
    let whole = document();
    let all = read("a.json", &whole.to_string());
    for kept in 0..8 {
        let mut earlier = whole.clone();
        earlier["messages"].as_array_mut().unwrap().truncate(kept);
        let events = read("a.json", &earlier.to_string());
        assert_eq!(events[..], all[..events.len()], "{kept} messages");
    }
}

/// A document of which half is written is a fault, not half of the truth.
#[test]
fn torn_documents_are_faults() {
    let text = document().to_string();
    let mut parser = totalrecall_trail::parser::<GeminiCli>("a.json", 400, None);
    parser.feed(&text.as_bytes()[..text.len() / 2]).unwrap();
    parser.finish().unwrap_err();
}
