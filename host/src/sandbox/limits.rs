//! What a guest may use. Every number has a reason and a key in the configuration (`[sandbox]`).

use std::time::Duration;

use serde::{Deserialize, Serialize};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A transcript's line may be 64 MB. A guest that keeps one in a growing buffer needs twice that while it grows, and
/// once more for the text it takes out of it. Memory is only taken when it is used: ordinary transcripts need a few MB.
const MEMORY_BYTES: usize = 320 * MIB;

/// The longest honest call parses a 64 MB line: below a second here, ten times that on a slow, busy machine. Time is
/// counted in ticks of a sleeping thread, so a suspended laptop does not use it up.
const CALL_SECONDS: u64 = 15;

/// Large enough that crossing the boundary costs nothing against parsing, small enough to stay in the CPU's cache.
const FEED_BYTES: usize = MIB;

/// One call's answer lies in the host's memory as a whole. A feed gives back about as much as it was given, except when
/// it completes a 64 MB line.
const ANSWER_BYTES: usize = 64 * MIB;

/// Even if each record were of 10 bytes, one feed would not complete more.
const ANSWER_ITEMS: usize = FEED_BYTES / 10;

/// Compiling takes about a second per MB. A JavaScript engine with an adapter in it has 12 MB.
const COMPONENT_BYTES: usize = 32 * MIB;

/// A guest's indirect calls go through its table; a JavaScript engine has about 10,000 functions in it.
const TABLE_ELEMENTS: usize = 100_000;

/// A component of ours is 2 core instances, one of `componentize-py` about 40.
const INSTANCES: usize = 100;

/// One memory and one table per core instance is what toolchains make.
const MEMORIES: usize = 10;
const TABLES: usize = 100;

/// Resources a guest may hold at a time. An adapter has its parsers, WASI a handful of streams.
const HANDLES: usize = 1_000;

/// Half of the stack that Rust gives to a thread, so that the host has room below the guest.
const STACK_BYTES: usize = 1_024 * KIB;

/// Steps of SQLite's machine that one of an adapter's statements may take. Listing the sessions of a 200 MB database takes
/// some millions; these are a few seconds, in which what a statement heaps up stays below a gigabyte.
const SQL_STEPS: u64 = 200_000_000;

/// Limits of guests. Bytes and counts are inclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Linear memory of one guest instance.
    pub memory_bytes: usize,
    /// Time of one call.
    pub call_seconds: u64,
    /// Bytes given to a parser in one call.
    pub feed_bytes: usize,
    /// Bytes a guest may give back in one call: records, with their texts.
    pub answer_bytes: usize,
    /// Events, signals or other records a guest may give back in one call.
    pub answer_items: usize,
    /// Size of a component.
    pub component_bytes: usize,
    /// Elements of one table.
    pub table_elements: usize,
    /// Core instances of one guest.
    pub instances: usize,
    /// Linear memories of one guest.
    pub memories: usize,
    /// Tables of one guest.
    pub tables: usize,
    /// Resources a guest holds at a time.
    pub handles: usize,
    /// Native stack of a guest's calls.
    pub stack_bytes: usize,
    /// Steps of one SQL statement of an adapter.
    pub sql_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: MEMORY_BYTES,
            call_seconds: CALL_SECONDS,
            feed_bytes: FEED_BYTES,
            answer_bytes: ANSWER_BYTES,
            answer_items: ANSWER_ITEMS,
            component_bytes: COMPONENT_BYTES,
            table_elements: TABLE_ELEMENTS,
            instances: INSTANCES,
            memories: MEMORIES,
            tables: TABLES,
            handles: HANDLES,
            stack_bytes: STACK_BYTES,
            sql_steps: SQL_STEPS,
        }
    }
}

impl Limits {
    /// Time of one call.
    pub(super) fn call_time(&self) -> Duration {
        Duration::from_secs(self.call_seconds)
    }

    /// What the configuration allows of `limit`, in the limit's unit.
    pub(super) fn allowed(&self, limit: Limit) -> usize {
        match limit {
            Limit::Memory => self.memory_bytes,
            Limit::Feed => self.feed_bytes,
            Limit::AnswerBytes => self.answer_bytes,
            Limit::AnswerItems => self.answer_items,
            Limit::ComponentBytes => self.component_bytes,
            Limit::TableElements => self.table_elements,
            Limit::Instances => self.instances,
            Limit::Memories => self.memories,
            Limit::Tables => self.tables,
            Limit::Handles => self.handles,
            Limit::Stack => self.stack_bytes,
        }
    }
}

/// A limit that counts something. Time is apart: see [`SandboxError::Deadline`](super::SandboxError::Deadline).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::memory_bytes`]
    Memory,
    /// [`Limits::feed_bytes`]
    Feed,
    /// [`Limits::answer_bytes`]
    AnswerBytes,
    /// [`Limits::answer_items`]
    AnswerItems,
    /// [`Limits::component_bytes`]
    ComponentBytes,
    /// [`Limits::table_elements`]
    TableElements,
    /// [`Limits::instances`]
    Instances,
    /// [`Limits::memories`]
    Memories,
    /// [`Limits::tables`]
    Tables,
    /// [`Limits::handles`]
    Handles,
    /// [`Limits::stack_bytes`]
    Stack,
}

impl Limit {
    /// The key in the configuration's `[sandbox]` table; it says the unit.
    pub fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory-bytes",
            Self::Feed => "feed-bytes",
            Self::AnswerBytes => "answer-bytes",
            Self::AnswerItems => "answer-items",
            Self::ComponentBytes => "component-bytes",
            Self::TableElements => "table-elements",
            Self::Instances => "instances",
            Self::Memories => "memories",
            Self::Tables => "tables",
            Self::Handles => "handles",
            Self::Stack => "stack-bytes",
        }
    }
}
