//! The components that TotalRecall comes with.

use std::time::Instant;

use totalrecall::sandbox::{Guest, Limits, Sandbox, SandboxError};

use crate::origin;

#[test]
fn they_load_and_import_nothing() -> Result<(), SandboxError> {
    let sandbox = Sandbox::new(None, Limits::default());
    for guest in Guest::builtin_adapters() {
        let adapter = sandbox.adapter(&guest)?;
        assert_eq!(adapter.descriptor().name, guest.name());
        assert_eq!(adapter.hash(), Guest::new("copy", guest.bytes().to_vec()).hash());
        assert!(!adapter.imports_wasi(), "{} would see WASI", guest.name());
    }
    let analyzer = sandbox.analyzer(&Guest::builtin_analyzer())?;
    assert!(!analyzer.imports_wasi());
    assert!(!analyzer.descriptor().signals.is_empty());
    Ok(())
}

#[test]
fn an_adapter_is_no_analyzer() {
    let sandbox = Sandbox::new(None, Limits::default());
    let error = sandbox.adapter(&Guest::builtin_analyzer()).err().expect("a wrong world");
    assert_eq!(error.kind(), "wrong-world");
    assert!(error.to_string().contains("totalrecall:guest/analyze"), "{error}");
}

/// Nothing a person needs to see, but `--nocapture` shows where the time goes.
#[test]
fn a_session_goes_through() -> Result<(), Box<dyn std::error::Error>> {
    let cache = tempfile::tempdir()?;
    for round in ["cold", "warm"] {
        let start = Instant::now();
        let sandbox = Sandbox::new(Some(cache.path().join("components")), Limits::default());
        let adapter = sandbox.adapter(&Guest::builtin_adapters().next().expect("an adapter"))?;
        let analyzer = sandbox.analyzer(&Guest::builtin_analyzer())?;
        let loaded = start.elapsed();
        let mut parser = adapter.parser(&origin("/somewhere/session.jsonl"), None)?;
        let mut events = parser.feed(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n")?;
        let checkpoint = parser.checkpoint()?;
        events.extend(parser.finish()?);
        parser.tally()?;
        let mut analysis = analyzer.analysis(&[], None)?;
        analysis.observe(&events)?;
        analysis.checkpoint()?;
        analysis.conclude()?;
        println!("{round}: load {loaded:?}, all {:?}", start.elapsed());
        drop(adapter.parser(&origin("/somewhere/session.jsonl"), Some(&checkpoint.state))?);
        let (start, rounds) = (Instant::now(), 200);
        for _ in 0..rounds {
            adapter.parser(&origin("/somewhere/session.jsonl"), None)?;
        }
        println!("{round}: a parser {:?}", start.elapsed() / rounds);
    }
    Ok(())
}
