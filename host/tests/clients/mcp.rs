//! The MCP server with the client of the protocol's own SDK, which checks what it is told.

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
};

use serde_json::{Value, json};

use crate::{
    api::Reply,
    npm::Package,
    person::{Person, Ran},
    tests,
};

tests! {
    every_tool_answers_as_it_says_that_it_does,
    resources_and_prompts_can_be_had,
    what_is_wrong_is_told_apart,
}

/// The newest when these tests were written.
const VERSION: &str = "1.32.2";

static SDK: OnceLock<PathBuf> = OnceLock::new();

/// Installs it, if it was not yet. An error is a sentence that says why it is missing and what to do.
pub(crate) fn install() -> Result<(), String> {
    let find = |folder: &Path| {
        let client = folder.join("node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js");
        client.is_file().then_some(client)
    };
    let package =
        Package { title: "The MCP SDK", name: "@modelcontextprotocol/sdk", version: Some(VERSION.to_owned()), find };
    SDK.set(package.install()?).unwrap();
    Ok(())
}

/// What comes of some questions to a server: `result` or `error` of each.
fn ask(person: &Person, questions: &[(&str, Value)]) -> (Value, Vec<Value>) {
    let sdk = SDK.get().unwrap().ancestors().nth(4).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/mcp/client.mjs");
    let node = person_path("node");
    let mut command = person.command(&node);
    command.arg(script).arg(sdk).arg(env!("CARGO_BIN_EXE_totalrecall")).arg(person.work()).arg("mcp");
    let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    client.stdin.take().unwrap().write_all(json!(questions).to_string().as_bytes()).unwrap();
    let ran: Ran = client.wait_with_output().unwrap().into();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran}");
    let told = ran.json();
    let answers = told["told"].as_array().unwrap().clone();
    assert_eq!(answers.len(), questions.len());
    (told["greeting"].clone(), answers)
}

/// A program of this machine, which people of the tests do not have on their PATH.
fn person_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file()).unwrap()
}

fn call(tool: &'static str, arguments: &Value) -> (&'static str, Value) {
    ("callTool", json!({ "name": tool, "arguments": arguments }))
}

fn every_tool_answers_as_it_says_that_it_does() {
    let person = Person::asking([Reply::text("Hello.")]);
    let questions = [
        ("listTools", json!({})),
        call("remember", &json!({ "content": "The port is 8080.", "tags": "net" })),
        call("remember", &json!({ "content": "Write the page.", "category": "todo" })),
        call("recall", &json!({})),
        call("search", &json!({ "query": "port" })),
        call("grep", &json!({ "pattern": "80.0" })),
        call("chunk", &json!({ "content": "# What was done\nThe server.\nThe page is open.", "domain": "docs" })),
        call("chunk", &json!({ "content": "x", "chunk_type": "insight" })),
        call("list_chunks", &json!({})),
        call("peek", &json!({ "chunk_id": "2036-06-01_work_001_docs", "start": 1 })),
        call("get", &json!({ "ids": ["2036-06-01_work_001_docs"] })),
        call("sessions", &json!({})),
        call("timeline", &json!({ "project": "." })),
        call("domains", &json!({})),
        call("related_to_file", &json!({ "path": "src/page.rs" })),
        call("insights", &json!({})),
        call("patterns", &json!({ "recurring": true })),
        call("proposals", &json!({})),
        call("status", &json!({})),
        call("retention_preview", &json!({})),
        call("retention_run", &json!({})),
        call("restore", &json!({ "chunk_id": "2036-06-01_work_001_docs" })),
        call("session_digest", &json!({ "session": "s1" })),
        call("done", &json!({ "memory_id": "00000000" })),
        call("forget", &json!({ "memory_id": "00000000" })),
    ];
    let (greeting, answers) = ask(&person, &questions);
    assert_eq!(greeting["server"]["name"], "totalrecall");
    assert!(greeting["instructions"].as_str().unwrap().contains("`recall`"), "{greeting}");
    let listed = answers[0]["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let called: BTreeSet<_> = questions[1..].iter().map(|(_, asked)| asked["name"].as_str().unwrap()).collect();
    assert_eq!(names, called, "a tool was not called");
    let refused = ["session_digest", "done", "forget"];
    for ((_, asked), answer) in questions.iter().zip(&answers).skip(1) {
        let result = &answer["result"];
        let is_refused = refused.contains(&asked["name"].as_str().unwrap());
        assert_eq!(result["isError"], is_refused, "{asked}: {answer}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{asked}: {answer}");
    }
    // It belongs to the folder that the client said it works in.
    let work = person.work().canonicalize().unwrap();
    assert_eq!(answers[1]["result"]["structuredContent"]["project"], work.to_str().unwrap());
    assert_eq!(answers[9]["result"]["structuredContent"]["text"], "The server.\nThe page is open.\n");
}

fn resources_and_prompts_can_be_had() {
    let person = Person::asking([Reply::text("Hello.")]);
    let (greeting, answers) = ask(
        &person,
        &[
            ("listResources", json!({})),
            ("listResourceTemplates", json!({})),
            ("readResource", json!({ "uri": "totalrecall://insights" })),
            ("listPrompts", json!({})),
            ("getPrompt", json!({ "name": "hand-over" })),
            ("getPrompt", json!({ "name": "what-do-we-know-about", "arguments": { "topic": "ports" } })),
        ],
    );
    assert_eq!(greeting["can"], json!({ "tools": {}, "resources": {}, "prompts": {} }));
    assert_eq!(answers[0]["result"]["resources"][0]["uri"], "totalrecall://insights");
    assert_eq!(answers[1]["result"]["resourceTemplates"][0]["uriTemplate"], "totalrecall://session/{id}");
    assert!(answers[2]["error"]["message"].as_str().unwrap().contains("totalrecall worker"), "{}", answers[2]);
    assert_eq!(answers[3]["result"]["prompts"].as_array().unwrap().len(), 2);
    for answer in &answers[4..] {
        assert_eq!(answer["result"]["messages"][0]["role"], "user", "{answer}");
    }
    assert!(!person.state().exists(), "looking made a home");
}

fn what_is_wrong_is_told_apart() {
    let person = Person::asking([Reply::text("Hello.")]);
    let (_, answers) = ask(
        &person,
        &[
            ("ping", json!({})),
            ("no/such/method", json!({})),
            call("burn", &json!({})),
            call("remember", &json!({})),
            ("ping", json!({})),
        ],
    );
    assert_eq!(answers[1]["error"]["code"], -32601, "{}", answers[1]);
    assert_eq!(answers[2]["error"]["code"], -32602, "{}", answers[2]);
    assert_eq!(answers[3]["result"]["isError"], true, "{}", answers[3]);
    assert_eq!(answers[4]["result"], json!({}));
}
