//! An adapter that keeps every promise but the one that is named in its data, so that a test can name another one.
//!
//! Its transcripts are lines of JSON: a head, then what was said, calls, results and noise.
#![cfg(target_family = "wasm")]

use std::{
    borrow::Cow,
    cell::RefCell,
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use serde::{Deserialize, Serialize};
use totalrecall_sdk::{
    Parser,
    adapter::{Adapter, Output, Record, Trouble, Verdict},
    adapter_bindings::{
        self,
        exports::totalrecall::guest::parse::{
            Checkpoint, Database, Descriptor, Files, Guest, GuestParser, Origin, Outcome, Queries, Source, TallyEntry,
            Tree,
        },
    },
    types::{Author, Body, Channel, Event, Fault, Message, Place, Status, ToolCall, ToolKind, ToolResult},
};

/// Padded with dots, so that there is room for something longer.
static PROMISE: &str = "{promise:....................}";

fn breaks(promise: &str) -> bool {
    let named = black_box(PROMISE).trim_matches(['{', '}']).trim_end_matches('.');
    named.split_once(':').is_some_and(|(_, name)| name == promise)
}

#[derive(Default, Serialize, Deserialize)]
struct Lines;

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    at: Option<i64>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    call: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

impl Adapter for Lines {
    fn describe() -> totalrecall_sdk::adapter::Descriptor {
        describe()
    }

    fn recognise(head: &[u8]) -> bool {
        head.starts_with(b"{\"type\":\"head\",\"wrong\":1")
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let entry: Entry<'_> = record.decode()?;
        let (mut text, omitted) = out.cap(&entry.text);
        if breaks("text") {
            text = entry.text.clone().into_owned();
        }
        if breaks("golden") {
            text = text.to_uppercase();
        }
        let body = match &*entry.kind {
            "head" => return Ok(Verdict::Understood("head".into())),
            "noise" => return Ok(Verdict::Skipped("noise".into())),
            "said" => Body::Message(Message { author: Author::Human, channel: Channel::Prompt, text, omitted }),
            "call" => Body::ToolCall(ToolCall {
                id: if breaks("call-id") { "same".into() } else { entry.id.clone().into_owned() },
                name: if breaks("name-of-call") { "\u{1b}[31mBash".into() } else { "Bash".into() },
                kind: ToolKind::Execute,
                paths: Vec::new(),
                command: None,
                edits: Vec::new(),
                input: text,
                omitted,
            }),
            "result" => Body::ToolResult(ToolResult {
                call: if breaks("call-id") {
                    "same".into()
                } else if breaks("result") {
                    "nowhere".into()
                } else {
                    entry.call.into_owned()
                },
                status: Status::Ok,
                exit_code: None,
                text,
                omitted,
                words: None,
                amended: false,
            }),
            other => return Ok(Verdict::Unknown(other.to_owned().into())),
        };
        out.push(Event {
            line: if breaks("line") { 0 } else { record.line },
            at: if breaks("time") { Some(i64::MAX) } else { entry.at },
            thread: None,
            key: Some(if breaks("key") { "same".into() } else { entry.id.into_owned() }),
            copied: false,
            body,
        });
        Ok(Verdict::Understood(entry.kind.into_owned().into()))
    }
}

fn describe() -> Descriptor {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    assert!(!breaks("load"), "as told");
    let root = match () {
        () if breaks("root") => "wrong/transcripts",
        () if breaks("grant") => "~/",
        () => "~/.wrong",
    };
    let glob = match () {
        () if breaks("glob") => "[",
        () if breaks("lost") => "*.none",
        () => "**/*.jsonl",
    };
    let mut sources = vec![Source::Files(Files { roots: vec![root.into()], globs: vec![glob.into()] })];
    if breaks("levels") {
        sources.push(Source::Tree(Tree { roots: vec!["~/.wrong".into()], levels: vec!["no-name/*.json".into()] }));
    }
    if breaks("sql") {
        let sessions = "SELECT a, b FROM nowhere".into();
        let queries = vec![Queries { sessions, rows: "SELECT 1 WHERE :key".into() }];
        sources.push(Source::Database(Database { paths: vec!["~/.wrong/wrong.db".into()], queries }));
    }
    let version = if breaks("describe") { ASKED.fetch_add(1, Relaxed).to_string() } else { "0.1.0".into() };
    let name = if breaks("name") { "Wrong Name" } else { "wrong" };
    Descriptor { name: name.into(), version, tool: "wrong".into(), sources }
}

struct Component;

impl Guest for Component {
    type Parser = Wrong;

    fn describe() -> Descriptor {
        describe()
    }

    fn recognise(head: Vec<u8>) -> bool {
        assert!(!breaks("nervous") || std::str::from_utf8(&head).is_ok(), "as told");
        breaks("greedy") || (!breaks("shy") && Lines::recognise(&head))
    }
}

struct Wrong(RefCell<Inner>);

struct Inner {
    parser: Parser<Lines>,
    /// The last bytes ended inside a line.
    inside: bool,
    fed: u64,
    lines: usize,
    /// Bytes since the last newline.
    open: usize,
    asked: bool,
    ballast: Vec<u8>,
}

/// Some nanoseconds a step: each needs the one before.
fn spin(steps: usize) {
    let mut number = 1_u64;
    for _ in 0..steps {
        number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).rotate_left(17));
    }
}

/// What a hoarder adds to its state.
const HOARD: usize = 2 << 20;

impl GuestParser for Wrong {
    fn new(origin: Origin, resume: Option<Vec<u8>>) -> Self {
        let mut resume = resume;
        if breaks("hoarder") {
            resume.iter_mut().for_each(|state| state.truncate(state.len() - HOARD));
        }
        let state = if breaks("forgetful") { None } else { resume.as_deref() };
        let parser = Parser::new(origin, state);
        let ballast = if breaks("fat") { Vec::with_capacity(170 << 20) } else { Vec::new() };
        Self(RefCell::new(Inner { parser, inside: false, fed: 0, lines: 0, open: 0, asked: false, ballast }))
    }

    fn feed(&self, bytes: Vec<u8>) -> Result<Vec<Event>, Fault> {
        let mut inner = self.0.borrow_mut();
        black_box(&inner.ballast);
        assert!(!breaks("fragile") || !bytes.iter().any(|byte| matches!(byte, 0 | 0xff)), "as told");
        let mut events = inner.parser.feed(&bytes)?;
        if breaks("restless") && inner.inside {
            events.clear();
        }
        inner.inside = bytes.last().is_some_and(|last| *last != b'\n');
        inner.fed += bytes.len() as u64;
        inner.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
        inner.open = bytes.iter().rev().take_while(|byte| **byte != b'\n').count()
            + if bytes.contains(&b'\n') { 0 } else { inner.open };
        let broken = inner.parser.tally().iter().any(|entry| entry.outcome == Outcome::Broken);
        if breaks("fussy") && broken {
            return Err(Fault::Malformed(Place { line: 1, why: "as told".into() }));
        }
        if breaks("despair") && broken {
            events.clear();
        }
        if breaks("glutton") && inner.open > 4 << 20 {
            black_box(vec![1_u8; 400 << 20]);
        }
        if breaks("shaky") && inner.asked {
            events.truncate(events.len() / 2);
        }
        if breaks("slow") && inner.lines > 2_000 {
            spin(bytes.len() * 10_000);
        }
        Ok(events)
    }

    fn finish(&self) -> Result<Vec<Event>, Fault> {
        self.0.borrow_mut().parser.finish()
    }

    fn checkpoint(&self) -> Checkpoint {
        let mut inner = self.0.borrow_mut();
        inner.asked = true;
        let mut checkpoint = inner.parser.checkpoint();
        if breaks("hasty") {
            checkpoint.offset = inner.fed;
        }
        if breaks("hoarder") {
            checkpoint.state.extend(vec![0; HOARD]);
        }
        checkpoint
    }

    fn tally(&self) -> Vec<TallyEntry> {
        let mut tally = self.0.borrow().parser.tally();
        if breaks("silent") {
            tally.retain(|entry| entry.outcome != Outcome::Unknown);
        }
        if breaks("short") {
            tally.retain(|entry| entry.outcome != Outcome::Skipped);
        }
        tally
    }
}

adapter_bindings::export_adapter_bindings!(Component with_types_in adapter_bindings);
