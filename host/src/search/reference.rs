//! References: what a hit is called, so that more of it can be asked for. They are short, because agents read and write them,
//! and they stay as long as what they refer to.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::{
    passage::Passage,
    store::{Origin, SessionId, Store, StoreError},
};

/// Something that can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// `e12.345`: an event, by its transcript and its place there.
    Event(i64),
    /// `s12`: a session.
    Session(SessionId),
    /// Eight hexadecimal digits: a memory.
    Memory(String),
    /// `2026-11-30_ledger_001`: a chunk.
    Chunk(String),
}

/// It refers to nothing.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "`{0}` is no reference: they look like e12.345 (an event), s12 (a session), 1f3a77c2 (a memory) or 2026-11-30_name_001 (a chunk)"
)]
pub struct ReferenceError(String);

/// Bits of an event's row that count within its transcript.
const ORDINAL: u32 = 32;

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(row) => write!(f, "e{}.{}", row >> ORDINAL, row & ((1 << ORDINAL) - 1)),
            Self::Session(session) => write!(f, "s{}", session.0),
            Self::Memory(name) | Self::Chunk(name) => f.write_str(name),
        }
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let wrong = || ReferenceError(crate::clean::clean(text).chars().take(80).collect());
        let number = |text: &str, most: i64| text.parse::<i64>().ok().filter(|it| (0..most).contains(it));
        if let Some((transcript, ordinal)) = text.strip_prefix('e').and_then(|rest| rest.split_once('.')) {
            let transcript = number(transcript, 1 << (62 - ORDINAL)).ok_or_else(wrong)?;
            let ordinal = number(ordinal, 1 << ORDINAL).ok_or_else(wrong)?;
            return Ok(Self::Event((transcript << ORDINAL) + ordinal));
        }
        if let Some(session) = text.strip_prefix('s').and_then(|rest| number(rest, i64::MAX)) {
            return Ok(Self::Session(SessionId(session)));
        }
        if text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Ok(Self::Memory(text.to_owned()));
        }
        // Chunks that come from elsewhere may be named otherwise; what all names have is that they are one word.
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '#' | '&');
        if text.contains('_') && text.len() <= 200 && text.chars().all(is_name) && !text.starts_with('.') {
            return Ok(Self::Chunk(text.to_owned()));
        }
        Err(wrong())
    }
}

impl Reference {
    /// What a passage is called. None: it is gone.
    ///
    /// # Errors
    /// As for any read.
    pub fn of(store: &Store, passage: &Passage) -> Result<Option<Self>, StoreError> {
        if let Some(place) = passage.place {
            return Ok(Some(Self::Event(place.event)));
        }
        let Some(group) = passage.group else { return Ok(None) };
        Ok(match group.origin {
            Origin::Session => Some(Self::Session(SessionId(group.row))),
            Origin::Memory => store.memory_row(group.row)?.map(|memory| Self::Memory(memory.id)),
            Origin::Chunk => store.chunk_row(group.row)?.map(|chunk| Self::Chunk(chunk.id)),
            Origin::Event => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_as_it_is_written() {
        for text in
            ["e12.345", "s7", "1f3a77c2", "2026-11-30_ledger_001", "2025-01-02_003", "2026-01-01_a.b_001_BILL-1"]
        {
            assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "e1",
            "e-1.2",
            "e1.99999999999",
            "e9999999999999.1",
            "s",
            "sx",
            "1F3A77C2",
            "../x_1",
            "a_b\nc",
            "a b_c",
            ".._x",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }
}
