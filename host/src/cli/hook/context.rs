//! What the agent is told of earlier sessions: when one begins, and in asides.

use std::{path::Path, time::Instant};

use super::ClientEvent;
use crate::{
    clock, config,
    inject::{
        self,
        aside::{self, Occasion},
    },
    paths::Home,
};

/// How Codex names its transcripts.
const CODEX: &str = "rollout-";

/// For the session that begins or goes on. The settings are the worker's matter: it prepares nothing where nothing is wanted.
pub(super) fn of(home: &Home, event: &ClientEvent) -> Option<String> {
    if config::session_memory_option() == Some(false) || !is_heard(event) {
        return None;
    }
    inject::tell(home.path(), event.cwd.as_deref()?, session(event), event.source.as_deref(), clock::now())
}

/// About what the session does now. Without knowing which one it is, the same would be told again and again.
pub(super) fn aside(
    home: &Home,
    event: &ClientEvent,
    occasion: &Occasion,
    option: Option<bool>,
    begun: Instant,
) -> Option<String> {
    if !is_heard(event) {
        return None;
    }
    aside::tell(home, event.cwd.as_deref()?, session(event)?, occasion, option, (begun, clock::now()))
}

fn session(event: &ClientEvent) -> Option<&str> {
    event.session_id.as_deref().filter(|id| !id.is_empty())
}

/// Does the client give its model what we tell it? Codex calls the same hooks; what it does with context, and with a refusal, and how it
/// writes them down was not tried: we might learn from ourselves. What we have put into OpenCode, whose transcripts are a database,
/// shows the person a line and has no use for the rest.
pub(super) fn is_heard(event: &ClientEvent) -> bool {
    let path = event.transcript_path.as_deref().unwrap_or(Path::new(""));
    let is_of_codex = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(CODEX));
    !is_of_codex && path.extension().is_none_or(|extension| extension != "db")
}
