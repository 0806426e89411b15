//! Guests that import WASI find an empty world, whatever they try.

use std::time::Instant;

use totalrecall::sandbox::{Limit, SandboxError};

use crate::{feed, guests, sandbox, texts};

#[test]
fn there_is_nothing_to_see() -> Result<(), SandboxError> {
    assert!(sandbox().adapter(&guests::guest("nosy"))?.imports_wasi());
    let events = feed(&sandbox(), "nosy", "look", b"")?;
    let seen = texts(&events);
    assert_eq!(
        seen[..9],
        [
            "environment []",
            "arguments []",
            "cwd None",
            "folders 0",
            "stdin false",
            "stdout true",
            "connect Err(\"access-denied\")",
            "lookup Err(\"permanent-resolver-failure\")",
            "time 0",
        ]
    );
    // The tenth are random numbers, the same in every run.
    assert_eq!(texts(&feed(&sandbox(), "nosy", "look", b"")?), seen);
    Ok(())
}

#[test]
fn sleeping_takes_no_time() -> Result<(), SandboxError> {
    let start = Instant::now();
    feed(&sandbox(), "nosy", "sleep", b"")?;
    assert!(start.elapsed().as_secs() < 60);
    Ok(())
}

#[test]
fn waiting_for_ever_ends() {
    let error = feed(&sandbox(), "nosy", "wait", b"").expect_err("an end");
    assert!(matches!(error, SandboxError::Deadline { .. } | SandboxError::Limit { .. }), "{error}");
}

#[test]
fn the_host_does_not_fill_up() {
    let error = feed(&sandbox(), "nosy", "handles", b"").expect_err("a limit");
    assert!(matches!(error, SandboxError::Limit { limit: Limit::Handles, .. }), "{error}");
    let error = feed(&sandbox(), "nosy", "random", b"").expect_err("a limit");
    assert_eq!(error.kind(), "bad-answer", "{error}");
}

#[test]
fn exit_ends_the_guest_only() {
    let error = feed(&sandbox(), "nosy", "exit", b"").expect_err("an end");
    assert_eq!(error.kind(), "trap", "{error}");
}
