//! The built-in components say what the same code says natively, byte for byte, and import nothing.

use std::fs;

use totalrecall::sandbox::{Guest, Limits, Sandbox, parse};
use totalrecall_analyzer::Friction;
use totalrecall_claude_code::ClaudeCode;
use totalrecall_sdk::adapter_bindings::exports::totalrecall::guest::parse as native;

use crate::{life::walk, support::fixtures};

/// Small enough to cut every transcript, odd so that it cuts anywhere.
const CHUNK: usize = 4_099;

const TEXT_LIMIT: u32 = 16 << 10;

#[test]
fn native_and_sandboxed_runs_give_the_same_bytes() {
    let sandbox = Sandbox::new(Some(env!("CARGO_TARGET_TMPDIR").into()), Limits::default());
    let adapters: Vec<_> = Guest::builtin_adapters().collect();
    assert_eq!(adapters.len(), 1, "a new adapter wants a comparison here");
    let adapter = sandbox.adapter(&adapters[0]).unwrap();
    let analyzer = sandbox.analyzer(&Guest::builtin_analyzer()).unwrap();
    assert!(!adapter.imports_wasi() && !analyzer.imports_wasi());

    let mut compared = 0;
    for path in walk(&fixtures()).into_iter().filter(|path| path.components().any(|it| it.as_os_str() == "transcripts"))
    {
        let bytes = fs::read(&path).unwrap();
        let path = path.to_string_lossy().into_owned();
        let origin = parse::Origin { path: path.clone(), key: None, text_limit: TEXT_LIMIT };
        let (mut parser, mut analysis) =
            (adapter.parser(&origin, None).unwrap(), analyzer.analysis(&[], None).unwrap());
        let mut sandboxed = String::new();
        let mut told = |events: Vec<totalrecall::event::Event>| {
            let signals = analysis.observe(&events).unwrap();
            sandboxed += &serde_json::to_string(&(events, signals)).unwrap();
        };
        for chunk in bytes.chunks(CHUNK) {
            told(parser.feed(chunk).unwrap());
        }
        let checkpoint = parser.checkpoint().unwrap();
        told(parser.finish().unwrap());
        sandboxed +=
            &serde_json::to_string(&(analysis.conclude().unwrap(), checkpoint.state, parser.tally().unwrap())).unwrap();

        let origin = native::Origin { path: path.clone(), key: None, text_limit: TEXT_LIMIT };
        let mut parser = totalrecall_sdk::Parser::<ClaudeCode>::new(origin, None);
        let mut analysis = totalrecall_sdk::Analysis::<Friction>::new(&[], None);
        let mut natively = String::new();
        let mut told = |events: Vec<totalrecall_sdk::types::Event>| {
            let signals = analysis.observe(&events).unwrap();
            natively += &serde_json::to_string(&(events, signals)).unwrap();
        };
        for chunk in bytes.chunks(CHUNK) {
            told(parser.feed(chunk).unwrap());
        }
        let checkpoint = parser.checkpoint();
        told(parser.finish().unwrap());
        natively += &serde_json::to_string(&(analysis.conclude().unwrap(), checkpoint.state, parser.tally())).unwrap();

        assert!(natively == sandboxed, "{path}");
        compared += 1;
    }
    assert!(compared >= 30, "{compared} transcripts");
}
