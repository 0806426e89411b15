//! The sandbox from outside: our own components, and guests that do everything they should not.
#![expect(clippy::disallowed_methods, reason = "cargo builds the test guests")]

mod builtin;
mod bytes;
mod cache;
mod contract;
#[path = "../guests/built.rs"]
mod guests;
mod hostile;
mod wasi;

use totalrecall::sandbox::{
    Limits, Sandbox, SandboxError,
    parse::Origin,
    types::{Body, Event},
};

/// An origin whose path tells a test guest what to do.
fn origin(mode: &str) -> Origin {
    Origin { path: mode.to_owned(), key: None, text_limit: 16 << 10 }
}

/// A sandbox in which an endless loop does not take long.
fn sandbox() -> Sandbox {
    Sandbox::new(None, Limits { call_seconds: 2, ..Limits::default() })
}

/// What the guest makes of `bytes` in this mode.
fn feed(sandbox: &Sandbox, guest: &str, mode: &str, bytes: &[u8]) -> Result<Vec<Event>, SandboxError> {
    sandbox.adapter(&guests::guest(guest))?.parser(&origin(mode), None)?.feed(bytes)
}

/// The texts of messages.
fn texts(events: &[Event]) -> Vec<&str> {
    let texts = events.iter().map(|event| match &event.body {
        Body::Message(message) => message.text.as_str(),
        other => panic!("not a message: {other:?}"),
    });
    texts.collect()
}
