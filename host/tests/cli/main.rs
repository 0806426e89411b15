//! The program as its users run it: the real binary in a home of its own, with nothing of this machine in its environment.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start the program, are told by BLESS to write golden files, and may fail"
)]

#[cfg(unix)]
mod action;
mod adapters;
mod components;
mod damage;
mod doctor;
mod export;
mod filters;
mod gate;
mod golden;
#[path = "../guests/built.rs"]
mod guests;
#[cfg(target_os = "linux")]
mod hook_failures;
mod hooks;
mod import;
mod import_memory;
mod index;
mod injection;
mod insights;
mod kit;
#[cfg(unix)]
mod learn;
mod life;
mod mcp;
mod memory;
mod models;
mod patterns;
mod pause;
mod pull;
mod retention;
mod rules;
mod search;
mod secrets;
mod sessions;
mod spend;
mod support;
mod surface;
mod verdicts;
mod wiring;
