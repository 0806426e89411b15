//! The guests as ordinary code: what the sandbox is compared with.

use anyhow::{Result, anyhow};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use totalrecall_analyzer::Friction;
use totalrecall_claude_code::ClaudeCode;
use totalrecall_codex::Codex;
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::adapter::{Adapter, Origin};
use totalrecall_sdk::types::Event;
use totalrecall_sdk::{Analysis, Parser, Signal};

use crate::writer::Tool;

/// Bytes given to a parser at once, here and in the sandbox.
pub const CHUNK: usize = 1 << 20;

/// What the host keeps of a text, unless configured otherwise.
pub const TEXT_LIMIT: u32 = 16 * 1024;

/// Parses a transcript and analyses what it says. `each` sees the events of every call before the analyzer does, and may
/// change them.
///
/// # Errors
/// When the file cannot be read, or a guest gives up.
pub fn signals(tool: Tool, path: &Path, each: impl FnMut(&mut [Event])) -> Result<Vec<Signal>> {
    let file = File::open(path)?;
    let origin = Origin { path: path.to_string_lossy().into_owned(), key: None, text_limit: TEXT_LIMIT };
    match tool {
        Tool::ClaudeCode => read::<ClaudeCode>(origin, file, each),
        Tool::Codex => read::<Codex>(origin, file, each),
        Tool::OpenCode => read::<OpenCode>(Origin { key: key(tool, path), ..origin }, file, each),
    }
}

/// The key of the session in a file: rows of a database have their session's id.
pub fn key(tool: Tool, path: &Path) -> Option<String> {
    (tool == Tool::OpenCode).then(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?
}

/// The same, of anything that can be read.
///
/// # Errors
/// As [`signals`].
pub fn read<A: Adapter>(
    origin: Origin,
    mut from: impl Read,
    mut each: impl FnMut(&mut [Event]),
) -> Result<Vec<Signal>> {
    let path = origin.path.clone();
    let mut parser = Parser::<A>::new(origin, None);
    let mut analysis = Analysis::<Friction>::new(&[], None);
    let gave_up = |fault| anyhow!("{path}: {fault:?}");
    let mut signals = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = from.read(&mut chunk)?;
        let mut events = match read {
            0 => parser.finish().map_err(gave_up)?,
            _ => parser.feed(&chunk[..read]).map_err(gave_up)?,
        };
        each(&mut events);
        signals.extend(analysis.observe(&events).map_err(gave_up)?);
        if read == 0 {
            signals.extend(analysis.conclude().map_err(gave_up)?);
            return Ok(signals);
        }
    }
}

/// What transcripts have said already: said again, it is a copy. The host does the same.
#[derive(Debug, Default)]
pub struct Known(HashSet<String>);

impl Known {
    /// [`signals`] of the next transcript.
    ///
    /// # Errors
    /// As [`signals`].
    pub fn signals(&mut self, tool: Tool, path: &Path) -> Result<Vec<Signal>> {
        let mut new = HashSet::new();
        let signals = signals(tool, path, |events| {
            for event in events {
                if let Some(key) = &event.key {
                    event.copied |= self.0.contains(key);
                    new.insert(key.clone());
                }
            }
        })?;
        self.0.extend(new);
        Ok(signals)
    }
}
