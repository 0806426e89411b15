//! The guests as ordinary code: what the sandbox is compared with.

use anyhow::{Result, anyhow};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use totalrecall_analyzer::Friction;
use totalrecall_claude_code::ClaudeCode;
use totalrecall_sdk::adapter::Origin;
use totalrecall_sdk::types::Event;
use totalrecall_sdk::{Analysis, Parser, Signal};

/// Bytes given to a parser at once, here and in the sandbox.
pub const CHUNK: usize = 1 << 20;

/// What the host keeps of a text, unless configured otherwise.
pub const TEXT_LIMIT: u32 = 16 * 1024;

/// Parses a transcript and analyses what it says. `each` sees the events of every call before the analyzer does, and may
/// change them.
///
/// # Errors
/// When the file cannot be read, or a guest gives up.
pub fn signals(path: &Path, mut each: impl FnMut(&mut [Event])) -> Result<Vec<Signal>> {
    let origin = Origin { path: path.to_string_lossy().into_owned(), key: None, text_limit: TEXT_LIMIT };
    let mut parser = Parser::<ClaudeCode>::new(origin, None);
    let mut analysis = Analysis::<Friction>::new(&[], None);
    let gave_up = |fault| anyhow!("{}: {fault:?}", path.display());
    let mut signals = Vec::new();
    let mut file = File::open(path)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk)?;
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
