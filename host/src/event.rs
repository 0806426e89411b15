//! Events: what happened in a session, in the words of the contract. The types are the newest contract's, so nothing
//! is copied between the sandbox and the rest of the program.

pub use crate::sandbox::types::{
    ApiError, Author, Body, Channel, Compaction, Edit, Event, Interrupt, Message, Session, Status, ToolCall, ToolKind,
    ToolResult, Usage,
};

impl Event {
    /// The key by which copies of this event are found in other transcripts of the tool. None when the tool wrote
    /// nothing to tell copies by.
    pub fn key_hash(&self, tool: &str) -> Option<u64> {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.update(tool.as_bytes());
        hasher.update(&[0]);
        hasher.update(self.key.as_deref()?.as_bytes());
        Some(hasher.digest())
    }
}
