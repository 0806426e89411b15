//! An analyzer that keeps every promise but the one that is named in its data, so that a test can name another one. It sees
//! every second message.
#![cfg(target_family = "wasm")]

use std::{
    cell::RefCell,
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use totalrecall_sdk::{
    analyzer_bindings::{
        self,
        exports::totalrecall::guest::analyze::{Descriptor, Guest, GuestAnalysis, Setting, Signal, SignalKind, Value},
    },
    types::{Body, Event, Fault},
};

/// Padded with dots, so that there is room for something longer.
static PROMISE: &str = "{promise:....................}";

fn breaks(promise: &str) -> bool {
    let named = black_box(PROMISE).trim_matches(['{', '}']).trim_end_matches('.');
    named.split_once(':').is_some_and(|(_, name)| name == promise)
}

fn kind() -> &'static str {
    if breaks("kind") { "Second Message" } else { "second-message" }
}

struct Component;

impl Guest for Component {
    type Analysis = Careless;

    fn describe() -> Descriptor {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let version = if breaks("describe") { ASKED.fetch_add(1, Relaxed).to_string() } else { "0.1.0".into() };
        let kind = SignalKind {
            name: kind().into(),
            summary: "The person says something again.".into(),
            severity: if breaks("severity") { 9 } else { 1 },
            advice: if breaks("advice") { String::new() } else { "Say everything at once.".into() },
        };
        let setting = Setting {
            name: if breaks("setting") { "nth message".into() } else { "nth".into() },
            default: "2".into(),
            summary: "Which messages it sees.".into(),
        };
        let name = if breaks("name") { "Careless!" } else { "careless" };
        let signals = if breaks("none") { Vec::new() } else { vec![kind] };
        Descriptor { name: name.into(), version, signals, settings: vec![setting] }
    }
}

struct Careless(RefCell<State>);

#[derive(Default)]
struct State {
    messages: u64,
    seen: usize,
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

fn signal(line: u64, subject: &str) -> Signal {
    let evidence = match () {
        () if breaks("evidence") => vec![line, line],
        () if breaks("nowhere") => vec![line, line + 1_000],
        () => vec![line],
    };
    Signal {
        kind: if breaks("undeclared") { "another".into() } else { kind().into() },
        subject: subject.into(),
        line,
        at: breaks("time").then_some(i64::MIN),
        thread: None,
        confidence: if breaks("confidence") { 7.0 } else { 0.5 },
        detail: if breaks("detail") { "two\nlines".into() } else { "said again".into() },
        evidence,
    }
}

impl GuestAnalysis for Careless {
    fn new(_: Vec<Value>, resume: Option<Vec<u8>>) -> Self {
        let mut state = State::default();
        if let Some(resume) = resume.filter(|_| !breaks("forgetful")) {
            state.messages = u64::from(resume[0]);
        }
        if breaks("fat") {
            state.ballast = Vec::with_capacity(170 << 20);
        }
        Self(RefCell::new(state))
    }

    fn observe(&self, events: Vec<Event>) -> Result<Vec<Signal>, Fault> {
        let mut state = self.0.borrow_mut();
        black_box(&state.ballast);
        let mut signals = Vec::new();
        for event in &events {
            state.seen += 1;
            assert!(!breaks("fragile") || event.line < 1 << 40, "as told");
            if breaks("fussy") && event.copied {
                return Err(Fault::Internal("as told".into()));
            }
            if let Body::Message(message) = &event.body {
                if breaks("glutton") && message.text.len() > 4 << 20 {
                    black_box(vec![1_u8; 400 << 20]);
                }
                state.messages = (state.messages + 1) % 200;
                if state.messages.is_multiple_of(2) {
                    signals.push(signal(event.line, if breaks("golden") { "other" } else { "message" }));
                }
            }
        }
        if breaks("restless") && events.is_empty() {
            state.messages += 1;
        }
        if breaks("none") || (breaks("shaky") && state.asked) {
            signals.clear();
        }
        if breaks("slow") && state.seen > 2_000 {
            spin(events.len() * 3_000_000);
        }
        Ok(signals)
    }

    fn conclude(&self) -> Result<Vec<Signal>, Fault> {
        Ok(Vec::new())
    }

    fn checkpoint(&self) -> Vec<u8> {
        let mut state = self.0.borrow_mut();
        state.asked = true;
        let mut bytes = vec![state.messages as u8];
        if breaks("hoarder") {
            bytes.extend(vec![0; HOARD]);
        }
        bytes
    }
}

analyzer_bindings::export_analyzer_bindings!(Component with_types_in analyzer_bindings);
