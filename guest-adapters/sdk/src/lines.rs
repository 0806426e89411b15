//! Bytes cut anywhere to whole lines.
//!
//! A line that lies in one chunk is handed on where it lies; only a line that spans chunks is put together in a buffer. A
//! carriage return before the newline and a byte order mark before the first line do not belong to a line.

use memchr::memchr;

/// Longest line that is put together. A longer one is stepped over: no record of worth is this long, and the guest's
/// memory is bounded.
pub const LONGEST: usize = 64 << 20;

/// Past this size room for the longest line is made at once: a wasm memory never shrinks, and growing step by step would
/// leave holes in it that add up to several times the line.
const GIANT: usize = 8 << 20;

/// Buffers above this size are given back once their line is dealt with.
const KEPT: usize = 1 << 20;

/// One line, without its end.
#[derive(Debug, PartialEq)]
pub enum Line<'a> {
    /// The whole line.
    Whole(&'a [u8]),
    /// A line over [`LONGEST`]; its bytes are gone.
    TooLong,
}

/// Cuts a stream of bytes into lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// Complete lines so far.
    number: u64,
    /// Bytes of the complete lines so far.
    offset: u64,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// Bytes after the last newline. More than `partial` holds when the line is too long.
    open: u64,
    /// Newlines mean nothing: it is all one.
    whole: bool,
}

impl Lines {
    /// Goes on after `number` complete lines of `offset` bytes in all.
    pub fn resume(number: u64, offset: u64) -> Self {
        Self { number, offset, ..Self::default() }
    }

    /// Takes everything for one line that never ends.
    pub fn whole() -> Self {
        Self { whole: true, ..Self::default() }
    }

    /// Complete lines so far.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of the complete lines so far: where to read on.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next bytes and calls `each` with every line they complete and its 1-based number.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(u64, Line<'_>)) {
        while !self.whole
            && let Some(end) = memchr(b'\n', bytes)
        {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            self.number += 1;
            if self.open == 0 {
                each(self.number, Line::Whole(bare(line, self.number)));
            } else {
                self.push(line);
                if self.open > LONGEST as u64 {
                    each(self.number, Line::TooLong);
                } else {
                    each(self.number, Line::Whole(bare(&self.partial, self.number)));
                }
            }
            self.offset += self.open + 1 + if self.open == 0 { line.len() as u64 } else { 0 };
            self.open = 0;
            self.forget();
        }
        self.push(bytes);
    }

    /// The unterminated rest and the number it will have as a line; None when there is none, or it is too long.
    pub fn rest(&self) -> Option<(u64, &[u8])> {
        let number = self.number + 1;
        (self.open > 0 && !self.is_too_long()).then(|| (number, bare(&self.partial, number)))
    }

    /// Is the unterminated rest over [`LONGEST`]?
    pub fn is_too_long(&self) -> bool {
        self.open > LONGEST as u64
    }

    fn push(&mut self, bytes: &[u8]) {
        self.open += bytes.len() as u64;
        if self.open > LONGEST as u64 {
            self.forget();
            return;
        }
        let needed = self.partial.len() + bytes.len();
        if needed > self.partial.capacity() && needed > GIANT {
            self.partial.reserve_exact(LONGEST - self.partial.len());
        }
        self.partial.extend_from_slice(bytes);
    }

    fn forget(&mut self) {
        if self.partial.capacity() > KEPT {
            self.partial = Vec::new();
        } else {
            self.partial.clear();
        }
    }
}

/// The line without a carriage return at its end and, if it is the first, without a byte order mark.
fn bare(line: &[u8], number: u64) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, u64, Option<Vec<u8>>) {
        let (mut reader, mut found) = (Lines::default(), Vec::new());
        for chunk in chunks {
            reader.feed(chunk, |_, line| match line {
                Line::Whole(line) => found.push(line.to_vec()),
                Line::TooLong => found.push(b"too long".to_vec()),
            });
        }
        (found, reader.offset(), reader.rest().map(|(_, rest)| rest.to_vec()))
    }

    #[test]
    fn cuts_marks_and_rests() {
        let (found, offset, rest) = lines(&[b"\xef\xbb", b"\xbfone\r", b"\ntwo\n\nthr", b"ee"]);
        assert_eq!(found, [b"one".to_vec(), b"two".to_vec(), b"".to_vec()]);
        assert_eq!((offset, rest), (13, Some(b"three".to_vec())));
    }

    #[test]
    fn giants_are_stepped_over() {
        let part = vec![b'x'; 1 << 20];
        let mut reader = Lines::default();
        let mut seen = Vec::new();
        reader.feed(b"a\n", |number, line| seen.push((number, line == Line::TooLong)));
        for _ in 0..65 {
            reader.feed(&part, |number, line| seen.push((number, line == Line::TooLong)));
        }
        assert!(reader.rest().is_none());
        reader.feed(b"\nb\n", |number, line| seen.push((number, line == Line::TooLong)));
        assert_eq!(seen, [(1, false), (2, true), (3, false)]);
        assert_eq!(reader.offset(), 2 + (65 << 20) + 3);
        assert_eq!(reader.partial.capacity(), 0);
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_lines(text in "[a\r\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..8)) {
            let whole = lines(&[text.as_bytes()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            prop_assert_eq!(lines(&chunks), whole);
        }
    }
}
