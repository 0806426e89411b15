//! The built-in components say what the same code says natively, byte for byte, and import nothing.

use totalrecall::{
    conformance::cases,
    sandbox::{Adapter, Guest, Limits, Sandbox, parse},
};
use totalrecall_analyzer::Friction;
use totalrecall_sdk::adapter_bindings::exports::totalrecall::guest::parse as native;

use crate::support::{fixtures, tools};

/// Small enough to cut every transcript, odd so that it cuts anywhere.
const CHUNK: usize = 4_099;

const TEXT_LIMIT: u32 = 16 << 10;

#[test]
fn native_and_sandboxed_runs_give_the_same_bytes() {
    let sandbox = Sandbox::new(Some(env!("CARGO_TARGET_TMPDIR").into()), Limits::default());
    let mut compared = Vec::new();
    for guest in Guest::builtin_adapters() {
        let adapter = sandbox.adapter(&guest).unwrap();
        assert!(!adapter.imports_wasi());
        let count = match guest.name() {
            "claude-code" => compare::<totalrecall_claude_code::ClaudeCode>(&sandbox, &adapter),
            "aider" => compare::<totalrecall_aider::Aider>(&sandbox, &adapter),
            "cursor" => compare::<totalrecall_cursor::Cursor>(&sandbox, &adapter),
            "codex" => compare::<totalrecall_codex::Codex>(&sandbox, &adapter),
            "gemini-cli" => compare::<totalrecall_gemini_cli::GeminiCli>(&sandbox, &adapter),
            "opencode" => compare::<totalrecall_opencode::OpenCode>(&sandbox, &adapter),
            other => panic!("{other}: a new adapter wants a comparison here"),
        };
        assert!(count > 0, "{}: nothing to compare", guest.name());
        compared.push(guest.name().to_owned());
    }
    compared.sort();
    assert_eq!(compared, tools());
}

/// Runs all fixtures of an adapter both ways; gives how many transcripts there were.
fn compare<A: totalrecall_sdk::Adapter>(sandbox: &Sandbox, adapter: &Adapter) -> usize {
    let analyzer = sandbox.analyzer(&Guest::builtin_analyzer()).unwrap();
    assert!(!analyzer.imports_wasi());
    let mut compared = 0;
    for case in cases(&fixtures().join(&adapter.descriptor().tool)).unwrap() {
        for (found, bytes) in case.lay_out(&adapter.descriptor().sources).unwrap().transcripts().unwrap() {
            let path = found.path.to_string_lossy().into_owned();
            let key = (!found.key.is_empty()).then(|| found.key.clone());
            let origin = parse::Origin { path: path.clone(), key: key.clone(), text_limit: TEXT_LIMIT };
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
            let last = (analysis.conclude().unwrap(), checkpoint.state, parser.tally().unwrap());
            sandboxed += &serde_json::to_string(&last).unwrap();

            let origin = native::Origin { path: path.clone(), key, text_limit: TEXT_LIMIT };
            let mut parser = totalrecall_sdk::Parser::<A>::new(origin, None);
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
            let last = (analysis.conclude().unwrap(), checkpoint.state, parser.tally());
            natively += &serde_json::to_string(&last).unwrap();

            assert!(natively == sandboxed, "{path}");
            compared += 1;
        }
    }
    compared
}
