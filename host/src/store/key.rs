//! Keys tell copies. What a key says is the adapter's affair: the store needs only to know whether two are equal, so
//! it keeps 64 bits of hash of each, and every later stage sees the key as these 16 hexadecimal digits. That is how
//! an event reads back exactly as the analyzer saw it, at a quarter of the bytes that tools spend on a key.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use crate::event::{Body, Event};

/// Hashes keys of one tool.
#[derive(Debug)]
pub(super) struct Keys {
    buffer: Vec<u8>,
    tool: usize,
}

impl Keys {
    pub(super) fn of(tool: &str) -> Self {
        let mut buffer = tool.as_bytes().to_vec();
        buffer.push(0);
        Self { tool: buffer.len(), buffer }
    }

    fn hash(&mut self, key: &str) -> i64 {
        self.buffer.truncate(self.tool);
        self.buffer.extend_from_slice(key.as_bytes());
        xxh3_64(&self.buffer).cast_signed()
    }

    fn rename(&mut self, key: &mut String) -> i64 {
        let hash = self.hash(key);
        *key = name(hash);
        hash
    }

    /// Renames the keys in an event to their hashes; gives the event's own.
    pub(super) fn rename_in(&mut self, event: &mut Event) -> Option<i64> {
        if let Body::Rewind(to) = &mut event.body {
            self.rename(to);
        }
        event.key.as_mut().map(|key| self.rename(key))
    }
}

/// How a hash is written in [`Event::key`].
pub(super) fn name(hash: i64) -> String {
    let mut name = String::with_capacity(16);
    // Writing to a string cannot fail.
    let _ = write!(name, "{:016x}", hash.cast_unsigned());
    name
}

/// The hash in a key that was renamed.
pub(super) fn parse(name: &str) -> Option<i64> {
    (name.len() == 16).then(|| u64::from_str_radix(name, 16).ok()).flatten().map(u64::cast_signed)
}
