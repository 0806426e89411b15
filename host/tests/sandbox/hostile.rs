//! Guests that misbehave while they run. Each time the host survives, names the limit, and the next parse works.

use totalrecall::sandbox::{Limit, Limits, Sandbox, SandboxError};

use crate::{feed, guests, origin, sandbox, texts};

/// Lets the hostile guest do its thing, and sees that an honest parse works after it.
fn provoke(sandbox: &Sandbox, mode: &str) -> SandboxError {
    let adapter = sandbox.adapter(&guests::guest("hostile")).expect("a sound component");
    let mut victim = adapter.parser(&origin("echo"), None).expect("a parser");
    let result = adapter.parser(&origin(mode), None).and_then(|mut parser| parser.feed(b"bytes"));
    let error = result.err().unwrap_or_else(|| panic!("{mode} goes unnoticed"));
    assert_eq!(texts(&victim.feed(b"still here").expect("an older instance works")), ["still here"]);
    assert_eq!(texts(&feed(sandbox, "hostile", "echo", b"as ever").expect("a new one works")), ["as ever"]);
    error
}

/// Provokes a limit, and gives what was asked for.
fn exceed(sandbox: &Sandbox, mode: &str, expected: Limit) -> Option<usize> {
    let error = provoke(sandbox, mode);
    assert!(error.to_string().contains(&format!("`{}`", expected.key())), "{error}");
    assert_eq!(error.kind(), "limit");
    match error {
        SandboxError::Limit { limit, asked, allowed, .. } => {
            assert_eq!(limit, expected);
            assert!(asked.is_none_or(|asked| asked > allowed));
            asked
        }
        other => panic!("not a limit: {other}"),
    }
}

#[test]
fn an_endless_loop_ends() {
    let error = provoke(&sandbox(), "loop");
    assert_eq!(error.kind(), "deadline");
    assert_eq!(error.to_string(), "hostile went past the limit `call-seconds`: `feed` was still running after 2 s");
}

#[test]
fn memory_is_limited() {
    assert!(exceed(&sandbox(), "memory", Limit::Memory).is_some());
}

#[test]
fn initial_memory_is_limited() {
    let sandbox = Sandbox::new(None, Limits { memory_bytes: 1 << 16, ..Limits::default() });
    let error = sandbox.adapter(&guests::guest("hostile")).err().expect("no room to begin with");
    assert!(matches!(error, SandboxError::Limit { limit: Limit::Memory, asked: Some(_), .. }), "{error}");
}

#[test]
fn a_line_of_64_mb_fits() {
    let line = vec![b'x'; 1 << 20];
    assert_eq!(texts(&feed(&sandbox(), "hostile", "keep-64-mb", &line).expect("enough memory")), ["xxxxxxxxxx"]);
}

#[test]
fn answers_are_limited() {
    let sandbox = sandbox();
    assert_eq!(exceed(&sandbox, "events", Limit::AnswerItems), Some(120_000));
    assert_eq!(exceed(&sandbox, "string", Limit::AnswerBytes), None);
    assert_eq!(exceed(&sandbox, "strings", Limit::AnswerBytes), None);
    assert_eq!(exceed(&sandbox, "big-fault", Limit::AnswerBytes), None);
}

#[test]
fn a_feed_is_limited() {
    let sandbox = Sandbox::new(None, Limits { feed_bytes: 10, ..Limits::default() });
    let error = feed(&sandbox, "hostile", "echo", b"eleven byte").expect_err("too much");
    assert_eq!(error.to_string(), "hostile went past the limit `feed-bytes`: it asked for 11, 10 are allowed");
}

#[test]
fn recursion_is_limited() {
    exceed(&sandbox(), "recursion", Limit::Stack);
}

#[test]
fn size_of_a_component_is_limited() {
    let sandbox = Sandbox::new(None, Limits { component_bytes: 1_000, ..Limits::default() });
    let error = sandbox.adapter(&guests::guest("hostile")).err().expect("too large");
    assert!(matches!(error, SandboxError::Limit { limit: Limit::ComponentBytes, asked: Some(_), .. }), "{error}");
}

#[test]
fn counts_of_instances_memories_tables_and_elements_are_limited() {
    let guest = guests::guest("hostile");
    for (limits, expected) in [
        (Limits { instances: 0, ..Limits::default() }, Limit::Instances),
        (Limits { memories: 0, ..Limits::default() }, Limit::Memories),
        (Limits { tables: 0, ..Limits::default() }, Limit::Tables),
        (Limits { table_elements: 1, ..Limits::default() }, Limit::TableElements),
        (Limits { handles: 0, ..Limits::default() }, Limit::Handles),
    ] {
        let sandbox = Sandbox::new(None, limits);
        let error = sandbox.adapter(&guest).and_then(|adapter| adapter.parser(&origin("echo"), None)).err();
        let error = error.expect("too many");
        assert!(matches!(error, SandboxError::Limit { limit, .. } if limit == expected), "{expected:?}: {error}");
    }
}

#[test]
fn a_crash_is_told() {
    let sandbox = sandbox();
    for (mode, call) in [("trap", "feed"), ("crash-at-once", "parser")] {
        let error = provoke(&sandbox, mode);
        assert_eq!(error.kind(), "trap");
        assert!(error.to_string().contains(&format!("crashed in `{call}`")), "{error}");
    }
}

#[test]
fn a_crashed_guest_stays_down() {
    let sandbox = sandbox();
    let adapter = sandbox.adapter(&guests::guest("hostile")).expect("an adapter");
    let mut parser = adapter.parser(&origin("trap"), None).expect("a parser");
    parser.feed(b"").expect_err("a crash");
    assert_eq!(parser.feed(b"").expect_err("no second life").kind(), "trap");
    assert_eq!(parser.checkpoint().expect_err("nor a checkpoint").kind(), "trap");
}

#[test]
fn invalid_answers_are_refused() {
    let sandbox = sandbox();
    let error = provoke(&sandbox, "utf8");
    assert_eq!(error.kind(), "bad-answer");
    assert!(error.to_string().contains("utf-8"), "{error}");

    let adapter = sandbox.adapter(&guests::guest("hostile")).expect("an adapter");
    let parser = |mode| adapter.parser(&origin(mode), None).expect("a parser");
    let error = parser("list").checkpoint().expect_err("a list that is not there");
    assert_eq!(error.kind(), "bad-answer", "{error}");
    let error = parser("enum").tally().expect_err("an outcome that does not exist");
    assert_eq!(error.kind(), "bad-answer", "{error}");
}

#[test]
fn faults_come_through() {
    let sandbox = sandbox();
    for (mode, kind, words) in [
        ("unsupported", "unsupported-format", "hostile: unknown format v99"),
        ("malformed", "malformed", "hostile: line 7 is damaged: a hole"),
        ("limit", "guest-limit", "hostile: gave up at its own limit depth"),
        ("internal", "guest-internal", "hostile: oops"),
    ] {
        let error = provoke(&sandbox, mode);
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, words));
    }
}

#[test]
fn a_head_is_cut() -> Result<(), SandboxError> {
    let adapter = sandbox().adapter(&guests::guest("hostile"))?;
    assert!(adapter.recognise(&vec![0; 1 << 20])?, "it says yes to exactly 64 KiB");
    Ok(())
}

#[test]
fn memory_comes_back() -> Result<(), SandboxError> {
    // Each of these holds 64 MB; together they would be more than the machine has.
    let sandbox = sandbox();
    let adapter = sandbox.adapter(&guests::guest("hostile"))?;
    let line = vec![b'x'; 1 << 20];
    for _ in 0..10 {
        adapter.parser(&origin("keep-64-mb"), None)?.feed(&line)?;
    }
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/statm").expect("a process has a size");
        let pages: usize = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("resident pages");
        assert!(pages * 4096 < 600 << 20, "{pages} pages are still in use");
    }
    Ok(())
}
