//! Our blocks in a file of rules: text in, text out, so that everything else in the file stays as it is, byte for byte.
//!
//! A block is a rule between two comments that name its proposal, the first with a hash of what stands between them, by which
//! a change by hand is told. Claude Code (as of 2.1.332) takes comments out before the model sees the file, imported files
//! included; for other tools they cost some tokens.
//!
//! ```text
//! <!-- totalrecall:rule p-tool-error-edit-file-not-read-1c9f00aa27 5f0c11d2 -->
//! - Read a file before you edit it.
//! <!-- seen in 7 sessions, last on 2026-11-28 -->
//! <!-- /totalrecall:rule p-tool-error-edit-file-not-read-1c9f00aa27 -->
//! ```

use std::ops::Range;

/// What begins a block, with the id behind.
const OPEN: &str = "<!-- totalrecall:rule ";
/// What ends one.
const CLOSE: &str = "<!-- /totalrecall:rule ";
const END: &str = " -->";

/// A block of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The proposal it holds.
    pub id: String,
    /// From the first byte of its first line to behind the line break of its last.
    pub range: Range<usize>,
    /// Lines between the markers.
    pub inner: String,
    /// Whether they are as they were written.
    pub is_ours: bool,
}

/// The file cannot be changed without losing something of the person's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The block does not say what was written there.
    #[error("the rule {0} was changed by hand there")]
    Edited(String),
    /// There is a beginning without its end, so no one can say where it ends.
    #[error("the rule {0} has no end marker there")]
    Open(String),
    /// The file is in an encoding in which our bytes would be no text.
    #[error("the file is in UTF-16")]
    Utf16,
}

/// Lines between the markers of a rule: the rule, and where it comes from.
pub(super) fn inner(text: &str, occurrences: u32, last_seen: &str) -> String {
    let sessions = if occurrences == 1 { "session" } else { "sessions" };
    format!("- {text}\n<!-- seen in {occurrences} {sessions}, last on {last_seen} -->\n")
}

/// All blocks of ours, in the order of the file.
///
/// # Errors
/// `Open` for a block that is not ended, `Utf16`.
pub(super) fn blocks(file: &[u8]) -> Result<Vec<Block>, BlockError> {
    encoding(file)?;
    let mut found = Vec::new();
    let mut open: Option<(String, Option<String>, usize, usize)> = None;
    for line in lines(file) {
        let text = String::from_utf8_lossy(&file[line.clone()]);
        let text = text.trim_start_matches('\u{feff}').trim();
        if let Some(rest) = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(END)) {
            if let Some((id, ..)) = open {
                return Err(BlockError::Open(id));
            }
            let mut words = rest.split_whitespace();
            let Some(id) = words.next() else { continue };
            let start = without_mark(file, line.clone()).start;
            open = Some((id.to_owned(), words.next().map(str::to_owned), start, line.end));
        } else if let Some(id) = text.strip_prefix(CLOSE).and_then(|rest| rest.strip_suffix(END)) {
            let Some((opened, sum, start, inside)) = open.take_if(|(opened, ..)| opened == id) else { continue };
            // Editors that change line endings have not changed the rule.
            let inner = String::from_utf8_lossy(&file[inside..line.start]).replace("\r\n", "\n");
            let is_ours = sum.is_some_and(|sum| sum == hash(&inner));
            found.push(Block { id: opened, range: start..line.end, inner, is_ours });
        }
    }
    match open {
        Some((id, ..)) => Err(BlockError::Open(id)),
        None => Ok(found),
    }
}

/// A file with a rule in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Put {
    /// The file's new content.
    pub file: Vec<u8>,
    /// Bytes of line breaks that were put between what was there and the first block.
    pub gap: usize,
}

/// Puts a rule into a file: in place of the same rule, else behind the last block, else at the end.
///
/// # Errors
/// `Edited` if the block is there and was changed by hand, unless it says the same.
pub(super) fn put(file: &[u8], id: &str, inner: &str) -> Result<Put, BlockError> {
    let blocks = blocks(file)?;
    let eol = line_ending(file);
    let block = format!("{OPEN}{id} {}{END}\n{inner}{CLOSE}{id}{END}\n", hash(inner)).replace('\n', eol);
    if let Some(there) = blocks.iter().find(|block| block.id == id) {
        if there.inner == inner {
            return Ok(Put { file: file.to_vec(), gap: 0 });
        }
        if !there.is_ours {
            return Err(BlockError::Edited(id.to_owned()));
        }
        return Ok(Put { file: splice(file, there.range.clone(), block.as_bytes()), gap: 0 });
    }
    let at = blocks.last().map_or(file.len(), |last| last.range.end);
    let gap = if blocks.is_empty() { gap(file, eol) } else { line_break(&file[..at], eol) };
    let mut new = gap.clone().into_bytes();
    new.extend_from_slice(block.as_bytes());
    // A gap behind a block that lost its line break is that block's, not the file's.
    let gap = if blocks.is_empty() { gap.len() } else { 0 };
    Ok(Put { file: splice(file, at..at, &new), gap })
}

/// Takes a rule out of a file. `gap` is what [`put`] said when it put the first one in; it goes with the last one, if nothing
/// was written behind.
///
/// # Errors
/// `Edited` if it was changed by hand, unless `even_if_edited`.
pub(super) fn take(file: &[u8], id: &str, gap: usize, even_if_edited: bool) -> Result<Option<Vec<u8>>, BlockError> {
    let blocks = blocks(file)?;
    let Some(block) = blocks.iter().find(|block| block.id == id) else { return Ok(None) };
    if !block.is_ours && !even_if_edited {
        return Err(BlockError::Edited(id.to_owned()));
    }
    let range = if blocks.len() == 1 { with_gap(file, block.range.clone(), gap) } else { block.range.clone() };
    Ok(Some(splice(file, range, b"")))
}

/// Enlarges what is taken out by the line breaks in front that were put there with it, if nothing stands behind.
pub(super) fn with_gap(file: &[u8], range: Range<usize>, gap: usize) -> Range<usize> {
    let start = range.start.saturating_sub(gap);
    let is_gap = file[start..range.start].iter().all(|byte| matches!(byte, b'\r' | b'\n'));
    if range.end == file.len() && is_gap { start..range.end } else { range }
}

/// What must stand between a file's end and a paragraph of ours: an empty line, because what is glued to a block of HTML or
/// to a list becomes part of it.
pub(super) fn gap(file: &[u8], eol: &str) -> String {
    if without_mark(file, 0..file.len()).is_empty() {
        return String::new();
    }
    let mut last = lines(file).rev().map(|line| &file[line]);
    let last_line = last.next().unwrap_or_default();
    let is_blank = last_line.iter().all(u8::is_ascii_whitespace);
    match (last_line.ends_with(b"\n"), is_blank) {
        (true, true) => String::new(),
        (true, false) => eol.to_owned(),
        (false, true) => eol.to_owned(),
        (false, false) => eol.repeat(2),
    }
}

fn line_break(before: &[u8], eol: &str) -> String {
    if before.is_empty() || before.ends_with(b"\n") { String::new() } else { eol.to_owned() }
}

/// The line ending that a file has: that of its first line.
pub(super) fn line_ending(file: &[u8]) -> &'static str {
    match file.iter().position(|byte| *byte == b'\n') {
        Some(at) if at > 0 && file[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// The lines of a file with their line breaks.
pub(super) fn lines(file: &[u8]) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for end in memchr::memchr_iter(b'\n', file).map(|at| at + 1) {
        ranges.push(start..end);
        start = end;
    }
    if start < file.len() {
        ranges.push(start..file.len());
    }
    ranges.into_iter()
}

/// A line, or more, of a file without the byte order mark that the file may begin with.
pub(super) fn without_mark(file: &[u8], range: Range<usize>) -> Range<usize> {
    let mark = b"\xef\xbb\xbf";
    if range.start == 0 && file[..range.end].starts_with(mark) { mark.len()..range.end } else { range }
}

pub(super) fn encoding(file: &[u8]) -> Result<(), BlockError> {
    if file.starts_with(b"\xff\xfe") || file.starts_with(b"\xfe\xff") { Err(BlockError::Utf16) } else { Ok(()) }
}

pub(super) fn splice(file: &[u8], range: Range<usize>, new: &[u8]) -> Vec<u8> {
    let mut spliced = Vec::with_capacity(file.len() + new.len());
    spliced.extend_from_slice(&file[..range.start]);
    spliced.extend_from_slice(new);
    spliced.extend_from_slice(&file[range.end..]);
    spliced
}

fn hash(inner: &str) -> String {
    // Against accidents, not against forgery: whoever forges it may as well write the rule.
    format!("{:08x}", xxhash_rust::xxh3::xxh3_64(inner.as_bytes()) as u32)
}

#[cfg(test)]
mod tests;
