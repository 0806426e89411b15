//! Whatever a client sends, the server goes on.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::agent::Agent;
use crate::support::User;

#[test]
fn unknown_methods_are_answered_and_malformed_lines_survived() {
    let user = User::new();
    let mut agent = Agent::silent(&user, user.folder());
    // Before it is greeted.
    agent.write("");
    agent.write("{");
    agent.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    agent.write(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert!(agent.ask("server/discover", json!({}))["id"].is_u64());
    agent.greet();
    for method in ["no/such", "tools/burn", "logging/setLevel", "completion/complete", "tasks/list", "rpc.discover"] {
        let answer = agent.ask(method, json!({ "level": "info", "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "b" } }));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    for line in [
        &b"{"[..],
        b"nothing",
        b"\xff\xfe{}",
        b"[]",
        b"null",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":5}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"recall\",\"arguments\":[1]}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        b"\r",
    ] {
        agent.write_bytes(line);
    }
    agent.write(&"[".repeat(100_000));
    // Parameters that do not fit are told from methods that are not there.
    let answer = agent.ask("tools/call", json!({ "name": "recall", "arguments": [1] }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(agent.ask("ping", json!({}))["result"], json!({}));
    assert!(agent.leave().success());
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_what_does() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    agent.ok("remember", json!({ "content": "x" }));
    let unknown = agent.ask("tools/call", json!({ "name": "burn", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("there are remember, recall"), "{unknown}");
    let mut refused = std::collections::BTreeSet::new();
    for (tool, arguments, why) in [
        ("remember", json!({}), "missing field `content`"),
        ("remember", json!({ "content": 5 }), "`content`: invalid type"),
        (
            "remember",
            json!({ "content": "x", "tags": { "a": 1 } }),
            "`tags`: words separated by commas, or a list of words",
        ),
        ("remember", json!({ "content": "x", "expires": "2020-01-01" }), "nor a day to come"),
        ("remember", json!({ "content": "x", "category": "poem" }), "`category`: `poem` is none of: general, decision"),
        ("remember", json!({ "content": "x", "importance": "urgent" }), "low, medium, high, critical"),
        ("remember", json!({ "content": "x", "confidence": 7 }), "between 0 and 1"),
        ("remember", json!({ "content": "x", "tags": "y".repeat(100) }), "a tag has at most"),
        ("remember", json!({ "content": "x".repeat(20_000) }), "Use `chunk`"),
        ("chunk", json!({ "content": "x".repeat(3 << 20) }), "in parts"),
        ("chunk", json!({}), "missing field `content`"),
        ("chunk", json!({ "content": "x", "chunk_type": ["session"] }), "`chunk_type`: invalid type"),
        ("recall", json!({ "limits": 3 }), "it takes "),
        ("recall", json!({ "limit": -3 }), "`limit`: invalid value"),
        ("recall", json!({ "limit": 1e30 }), "`limit`: invalid"),
        ("recall", json!({ "outdated": "maybe" }), "`outdated`: invalid type"),
        ("search", json!({ "limit": 3 }), "missing field `query`"),
        ("search", json!({ "query": "x", "project": 7 }), "`project`: invalid type"),
        ("search", json!({ "query": "x", "kinds": 7 }), "`kinds`: words separated by commas"),
        ("timeline", json!({ "limit": "many" }), "`limit`: invalid type"),
        ("timeline", json!({ "date_to": "never" }), "`never` is neither"),
        ("grep", json!({ "pattern": "x", "fuzzy_threshold": "high" }), "`fuzzy_threshold`: invalid type"),
        ("get", json!({}), "missing field `ids`"),
        ("get", json!({ "ids": "s1", "from": -1 }), "`from`: invalid value"),
        ("peek", json!({ "chunk_id": "x", "start": [] }), "`start`: invalid type"),
        ("list_chunks", json!({ "project": {} }), "`project`: invalid type"),
        ("sessions", json!({ "limit": true }), "`limit`: invalid type"),
        ("session_digest", json!({ "session": 5 }), "`session`: invalid type"),
        ("related_to_file", json!({}), "missing field `path`"),
        ("insights", json!({ "topic": ["a"] }), "`topic`: invalid type"),
        ("patterns", json!({ "recurring": 3 }), "`recurring`: invalid type"),
        ("proposals", json!({ "all": "some" }), "`all`: invalid type"),
        ("retention_run", json!({ "purge": "perhaps" }), "`purge`: invalid type"),
        ("restore", json!({}), "missing field `chunk_id`"),
        ("restore", json!({ "chunk_id": "s99" }), "`list_chunks` name what is archived"),
        ("forget", json!({}), "missing field `memory_id`"),
        ("done", json!({ "memory_id": 7 }), "`memory_id`: invalid type"),
        ("domains", json!({ "limit": 5 }), "it takes none"),
        ("retention_preview", json!({ "archive": true }), "it takes none"),
        ("grep", json!({ "pattern": "" }), "a pattern has"),
        ("grep", json!({ "pattern": "x".repeat(5_000) }), "a pattern has"),
        ("get", json!({ "ids": [] }), "takes 1 to 20"),
        ("get", json!({ "ids": vec!["s1"; 21] }), "takes 1 to 20"),
        ("related_to_file", json!({ "path": " " }), "no file is named"),
        ("status", json!({ "verbose": true }), "it takes none"),
    ] {
        let refusal = agent.refused(tool, arguments);
        assert!(refusal.contains(why), "{tool}: {refusal}");
        assert!(refusal.len() < 1_500, "{tool}: {}", refusal.len());
        refused.insert(tool);
    }
    assert_eq!(refused.len(), 22, "a tool was not asked for nonsense");
    // What models write otherwise, and what means nothing.
    assert_eq!(agent.ok("recall", json!({ "limit": "5", "query": null, "category": "", "project": "*" }))["total"], 1);
    assert_eq!(
        agent.ok("recall", json!({ "limit": 4_000_000_000_u32, "importance": "LOW", "project": "*" }))["total"],
        1
    );
}

#[test]
fn words_of_others_bring_no_control_characters() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    let dirty = "red \u{1b}[31m alert\u{1b}[0m \u{202e}txt\u{2069} \u{e0041}end\u{0}";
    agent.ok("remember", json!({ "content": dirty, "project": "*" }));
    agent.ok("chunk", json!({ "content": format!("{dirty}\nmore"), "summary": dirty }));
    let chunk = agent.ok("list_chunks", json!({}))["chunks"][0]["id"].as_str().unwrap().to_owned();
    for (tool, arguments) in [
        ("recall", json!({ "project": "*" })),
        ("search", json!({ "query": "alert" })),
        ("grep", json!({ "pattern": "alert" })),
        ("peek", json!({ "chunk_id": chunk })),
        ("get", json!({ "ids": chunk })),
        ("list_chunks", json!({})),
        ("timeline", json!({})),
    ] {
        let result = agent.call(tool, arguments);
        let is_dirty = |text: &str| text.contains(['\u{1b}', '\u{202e}', '\u{2069}', '\0', '\u{e0041}']);
        let mut texts = Vec::new();
        gather(&result, &mut texts);
        assert!(texts.iter().any(|text| text.contains("alert")), "{tool}: {result}");
        assert!(!texts.iter().any(|text| is_dirty(text)), "{tool}: {result}");
    }
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|it| gather(it, texts)),
        Value::Object(object) => object.values().for_each(|it| gather(it, texts)),
        _ => {}
    }
}

#[test]
fn any_arguments_are_answered() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    agent.ok("remember", json!({ "content": "something", "project": "*" }));
    agent.ok("chunk", json!({ "content": "something longer" }));
    let tools = agent.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tools: Vec<(String, Vec<String>)> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let names = tool["inputSchema"]["properties"]
                .as_object()
                .map(|it| it.keys().cloned().collect())
                .unwrap_or_default();
            (tool["name"].as_str().unwrap().to_owned(), names)
        })
        .collect();
    let value = prop_oneof![
        "\\PC{0,12}".prop_map(Value::from),
        "[-0-9a-f.*\"\\[(~s_/]{0,10}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(["a", 1])),
    ];
    let config = ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let agent = std::cell::RefCell::new(agent);
    runner
        .run(
            &(0..tools.len(), proptest::collection::vec((any::<prop::sample::Index>(), value), 0..5)),
            |(tool, given)| {
                let (name, parameters) = &tools[tool];
                let mut arguments = json!({});
                for (at, value) in given.into_iter().filter(|_| !parameters.is_empty()) {
                    arguments[&parameters[at.index(parameters.len())]] = value;
                }
                let result = agent.borrow_mut().call(name, arguments.clone());
                let text = result["content"][0]["text"].as_str().unwrap();
                prop_assert!(
                    !text.contains("a defect of TotalRecall") && !text.is_empty(),
                    "{} {}: {}",
                    name,
                    arguments,
                    text
                );
                Ok(())
            },
        )
        .unwrap();
    // Each of them: nothing else was said, and it lives.
    assert_eq!(agent.into_inner().ask("ping", json!({}))["result"], json!({}));
}

/// The figures that are promised are of a release build on a quiet machine: `docs/performance.md`. This is so that nobody makes it ten times slower unseen.
#[test]
fn it_is_ready_at_once_and_small() {
    let user = User::new();
    let begun = Instant::now();
    let mut agent = Agent::silent(&user, user.folder());
    agent.greet();
    let ready = begun.elapsed();
    agent.ask("tools/list", json!({}));
    let memory = resident(agent.pid());
    println!("ready in {ready:?}, {memory:?} KiB");
    assert!(ready < Duration::from_secs(5), "{ready:?}");
    assert!(memory.is_none_or(|kib| kib < 100 * 1024), "{memory:?}");
}

/// Memory of a process, in KiB, where the system tells.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
