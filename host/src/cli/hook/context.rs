//! What the agent is told of earlier sessions when one begins.

use std::path::Path;

use super::ClientEvent;
use crate::{clock, config, inject, paths::Home};

/// How Codex names its transcripts.
const CODEX: &str = "rollout-";

/// For the session that begins or goes on. The settings are the worker's matter: it prepares nothing where nothing is wanted.
pub(super) fn of(home: &Home, event: &ClientEvent) -> Option<String> {
    if config::session_memory_option() == Some(false) || is_of_codex(event) {
        return None;
    }
    let session = event.session_id.as_deref().filter(|id| !id.is_empty());
    inject::tell(home.path(), event.cwd.as_deref()?, session, event.source.as_deref(), clock::now())
}

/// Codex calls the same hooks. What it does with context, and with a refusal, and how it writes them down was not tried: we might learn
/// from ourselves.
pub(super) fn is_of_codex(event: &ClientEvent) -> bool {
    let name = event.transcript_path.as_deref().and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().starts_with(CODEX)
}
