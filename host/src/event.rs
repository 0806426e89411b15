//! Events: what happened in a session, in the words of the contract. The types are the newest contract's, so nothing
//! is copied between the sandbox and the rest of the program.

pub use crate::sandbox::types::{
    ApiError, Author, Body, Channel, Compaction, Edit, Event, Interrupt, Message, Session, Status, ToolCall, ToolKind,
    ToolResult, Usage,
};
