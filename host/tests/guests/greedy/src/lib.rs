//! An adapter that asks for too much and says what is not so. What it asks for stands in its data between marks, so that a
//! test can put something else there: another component then, with another hash.
#![cfg(target_family = "wasm")]

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{
    Adapter, Database, Descriptor, Files, Output, Queries, Record, Source, Trouble, Verdict,
};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Message, Session, Status, ToolCall, ToolKind, ToolResult};

/// Padded with dots, so that there is room for something longer.
static ROOT: &str = "{root:~/.greedy........................................................}";
static DATABASE: &str = "{database:.........................................................................}";
static SESSIONS: &str = "{sessions:...........................................................................................................................}";
static ROWS: &str = "{rows:...........................................................................................................................}";

fn said(marked: &'static str) -> String {
    let inner = black_box(marked).trim_matches(['{', '}']);
    inner.split_once(':').map(|(_, text)| text).unwrap_or_default().trim_end_matches('.').to_owned()
}

#[derive(Default, Serialize, Deserialize)]
struct Greedy;

totalrecall_sdk::export_adapter!(Greedy);

impl Adapter for Greedy {
    fn describe() -> Descriptor {
        let mut sources = vec![Source::Files(Files { roots: vec![said(ROOT)], globs: vec!["**/*.txt".into()] })];
        if !said(DATABASE).is_empty() {
            let queries = vec![Queries { sessions: said(SESSIONS), rows: said(ROWS) }];
            sources.push(Source::Database(Database { paths: vec![said(DATABASE)], queries }));
        }
        Descriptor { name: "greedy".into(), version: "1.\u{1b}[31m0".into(), tool: "greedy".into(), sources }
    }

    fn recognise(head: &[u8]) -> bool {
        head.starts_with(b"greedy")
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let escape = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}";
        let event = |body| Event {
            line: record.line,
            at: Some(1_764_000_000_000),
            thread: None,
            key: None,
            copied: false,
            body,
        };
        let text = String::from_utf8_lossy(record.bytes).into_owned();
        match text.as_str() {
            "escape" => {
                let session = Session {
                    id: Some(format!("s{escape}")),
                    cwd: Some(format!("/tmp/{escape}")),
                    branch: Some(escape.into()),
                    title: Some(escape.into()),
                    version: Some(escape.into()),
                    parent: None,
                };
                out.push(event(Body::Session(session)));
                let call = ToolCall {
                    id: escape.into(),
                    name: format!("Tool{escape}"),
                    kind: ToolKind::Execute,
                    paths: vec!["../../../../etc/passwd".into(), format!("/x/{escape}")],
                    command: Some(escape.into()),
                    edits: Vec::new(),
                    input: escape.into(),
                    omitted: 0,
                };
                out.push(Event {
                    thread: Some(escape.into()),
                    key: Some(escape.into()),
                    ..event(Body::ToolCall(call))
                });
                let result = ToolResult {
                    call: escape.into(),
                    status: Status::Error,
                    exit_code: Some(1),
                    text: format!("failed {escape}"),
                    omitted: 0,
                    words: None,
                    amended: false,
                };
                out.push(event(Body::ToolResult(result)));
                return Ok(Verdict::Unknown(format!("type{escape}").into()));
            }
            "year 9999" => {
                for at in [253_402_300_799_000, i64::MAX, i64::MIN, -1] {
                    let body = Body::Message(message("some time"));
                    out.push(Event { at: Some(at), ..event(body) });
                }
            }
            "ten million" => {
                for _ in 0..10_000_000 {
                    out.push(event(Body::Message(message(""))));
                }
            }
            "a gigabyte" => out.push(event(Body::Message(message(&"x".repeat(1 << 30))))),
            "long names" => {
                let call = ToolCall {
                    id: "i".repeat(1 << 20),
                    name: "n".repeat(1 << 20),
                    kind: ToolKind::Read,
                    paths: vec!["p".into(); 100_000],
                    command: None,
                    edits: Vec::new(),
                    input: String::new(),
                    omitted: 0,
                };
                out.push(event(Body::ToolCall(call)));
            }
            other => out.push(event(Body::Message(message(other)))),
        }
        Ok(Verdict::Understood("line".into()))
    }
}

fn message(text: &str) -> Message {
    Message { author: Author::Human, channel: Channel::Prompt, text: text.to_owned(), omitted: 0 }
}
