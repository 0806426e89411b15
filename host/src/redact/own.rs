//! Takes out what `[privacy]` names. Marks are looked for with one expression a list, whose matches are short; what stands
//! around a mark is then read once, so that a text is read in linear time whatever stands in it. Patterns are the person's
//! own: they are matched in pieces of limited length, because looking for all matches of an expression may read a text once
//! for each of them.

use std::net::Ipv6Addr;

use memchr::{memchr2, memmem};
use regex::Regex;

use super::{named, span::Span};

/// What is taken out besides secrets.
#[derive(Debug)]
pub(super) struct Own {
    fields: Option<Regex>,
    hosts: Option<Regex>,
    addresses: Option<Regex>,
    patterns: Vec<Regex>,
}

/// What may be a private address, or begin one.
const ADDRESSES: &str = r"(?i)\b(?:10|172|192)\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|\bfd[0-9a-f]{2}:";

/// Longest piece of a line that a pattern is matched in, and how much of it the next one sees again: a match that is longer
/// than that may be cut.
const PIECE: usize = 8 << 10;
const OVERLAP: usize = 1 << 10;

/// Longest name of a host, by DNS.
const HOST: usize = 253;

/// Longest list or object that is read to its end.
const NESTED: usize = 4 << 10;

const MARKER: &[u8] = b"[redacted:";

impl Own {
    pub(super) fn new(fields: Option<Regex>, hosts: Option<Regex>, addresses: bool, patterns: Vec<Regex>) -> Self {
        let addresses = addresses.then(|| Regex::new(ADDRESSES).ok()).flatten();
        Self { fields, hosts, addresses, patterns }
    }

    /// Adds what is to be taken out of `text`.
    pub(super) fn spans(&self, text: &str, spans: &mut Vec<Span>) {
        if let Some(fields) = &self.fields {
            each(fields, text, |start, end| field(text.as_bytes(), start, end, spans));
        }
        if let Some(hosts) = &self.hosts {
            each(hosts, text, |start, end| host(text.as_bytes(), start, end, spans));
        }
        if let Some(addresses) = &self.addresses {
            each(addresses, text, |start, end| address(text.as_bytes(), start, end, spans));
        }
        if !self.patterns.is_empty() {
            let markers = markers(text.as_bytes());
            for piece in pieces(text) {
                for pattern in &self.patterns {
                    for found in pattern.find_iter(&text[piece.0..piece.1]) {
                        let (start, end) = (piece.0 + found.start(), piece.0 + found.end());
                        let before = markers.partition_point(|marker| marker.1 <= start);
                        if start < end && markers.get(before).is_none_or(|marker| marker.0 >= end) {
                            spans.push(Span::named(start, end, "pattern"));
                        }
                    }
                }
            }
        }
    }
}

/// Calls `look` with each match; it says where to go on, which is behind the match's beginning.
fn each(regex: &Regex, text: &str, mut look: impl FnMut(usize, usize) -> Option<usize>) {
    let mut at = 0;
    while let Some(found) = regex.find_at(text, at) {
        let next = look(found.start(), found.end()).unwrap_or(found.start() + 1);
        at = text.ceil_char_boundary(next.max(found.start() + 1));
        if at >= text.len() {
            break;
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The value of a field whose name stands at `start..end`. Gives where it ends.
fn field(text: &[u8], start: usize, end: usize, spans: &mut Vec<Span>) -> Option<usize> {
    // A flag is the name behind its hyphens.
    let hyphens = text[..start].iter().rev().take_while(|byte| **byte == b'-').count();
    let before = text[..start - hyphens].last();
    let is_part = before.is_some_and(|byte| is_name(*byte)) || text.get(end).is_some_and(|byte| is_name(*byte));
    if is_part || is_in_marker(text, start) {
        return None;
    }
    let assigned = named::operator(text, end, &text[start - hyphens.min(2)..end])?;
    let is_header = text[end..assigned.at].contains(&b':');
    let (from, to) = value(text, &assigned, is_header)?;
    let kept = text[from..to].trim_ascii();
    if !kept.is_empty() && marker_at(kept, 0) != Some(kept.len()) {
        let from = from + text[from..to].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        spans.push(Span::named(from, from + kept.len(), "field"));
    }
    Some(to)
}

/// Where a value lies. In quotes it ends with them; a list or an object is taken whole; behind a colon, as in a header, it may
/// have blanks.
fn value(text: &[u8], assigned: &named::Assigned, is_header: bool) -> Option<(usize, usize)> {
    let at = assigned.at;
    let slashes = text[at..].iter().take(8).take_while(|byte| **byte == b'\\').count();
    if let Some(&quote @ (b'"' | b'\'' | b'`')) = text.get(at + slashes) {
        let start = at + slashes + 1;
        return Some((start, quoted_end(text, start, quote, slashes)));
    }
    if assigned.quoted {
        return None;
    }
    if matches!(text.get(at), Some(b'[' | b'{')) && marker_at(text, at).is_none() {
        return Some((at, nested_end(text, at)));
    }
    let mut end = at;
    while let Some(byte) = text.get(end) {
        if let Some(after) = marker_at(text, end) {
            end = after;
            continue;
        }
        let ends = match byte {
            b'<' | b'\n' | b'\r' => true,
            _ if assigned.element => false,
            b'"' | b'\'' | b'`' | b'>' | b',' | b';' | b')' | b']' | b'}' | b'&' | b'|' => true,
            b'\\' => matches!(text.get(end + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\')),
            byte => byte.is_ascii_whitespace() && !is_header,
        };
        if ends {
            break;
        }
        end += 1;
    }
    Some((at, end))
}

/// Where a quoted value ends: at the same quote, escaped as often; without one, with its line.
fn quoted_end(text: &[u8], start: usize, quote: u8, slashes: usize) -> usize {
    let mut from = start;
    while let Some(found) = memchr2(quote, b'\n', &text[from..]) {
        let at = from + found;
        let before = text[start..at].iter().rev().take(8).take_while(|byte| **byte == b'\\').count();
        if text[at] == b'\n' || before <= slashes {
            return at - before.min(slashes);
        }
        from = at + 1;
    }
    text.len()
}

/// Where a list or an object that begins at `at` ends: behind its last bracket; a longer one with a line.
fn nested_end(text: &[u8], at: usize) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let longest = text.len().min(at + NESTED);
    for (i, byte) in text[at..longest].iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + i + 1;
                }
            }
            _ => {}
        }
    }
    longest + memchr::memchr(b'\n', &text[longest..]).unwrap_or(text.len() - longest)
}

/// Where the marker that begins at `at` ends; none: there is none.
fn marker_at(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(MARKER)?;
    let kind = rest.iter().take(40).take_while(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'0'..=b'9'));
    let end = at + MARKER.len() + kind.count();
    (text.get(end) == Some(&b']')).then_some(end + 1)
}

/// Does this place lie in a marker? What was taken out already stays as it is: a marker in a marker would never end.
fn is_in_marker(text: &[u8], at: usize) -> bool {
    let window = at.saturating_sub(MARKER.len() + 40);
    let begin = memchr::memrchr(b'[', &text[window..at]);
    begin.and_then(|begin| marker_at(text, window + begin)).is_some_and(|end| end > at)
}

/// All markers, in order.
fn markers(text: &[u8]) -> Vec<(usize, usize)> {
    memmem::find_iter(text, MARKER).filter_map(|at| Some((at, marker_at(text, at)?))).collect()
}

/// A host that is listed, or one below it.
fn host(text: &[u8], start: usize, end: usize, spans: &mut Vec<Span>) -> Option<usize> {
    let goes_on = match text.get(end) {
        Some(b'.') => text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric),
        Some(byte) => is_name(*byte),
        None => false,
    };
    if goes_on || is_in_marker(text, start) {
        return None;
    }
    let start = match text[..start].last() {
        Some(b'.') => {
            let above = &text[start.saturating_sub(HOST)..start];
            let labels = above.iter().rev().take_while(|byte| is_name(**byte) || **byte == b'.').count();
            // A point that ends a sentence is no part of what follows it.
            start - labels + above[above.len() - labels..].iter().take_while(|byte| **byte == b'.').count()
        }
        Some(byte) if is_name(*byte) => return None,
        _ => start,
    };
    spans.push(Span::named(start, end, "host"));
    Some(end)
}

/// An address of a private network.
fn address(text: &[u8], start: usize, end: usize, spans: &mut Vec<Span>) -> Option<usize> {
    let before = text[..start].last().copied().unwrap_or(b' ');
    if text[start] | 0x20 == b'f' {
        let run = text[start..].iter().take(46);
        let mut length = run.take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')).count();
        while length > 0 && matches!(text[start + length - 1], b'.') {
            length -= 1;
        }
        // A colon may end a sentence, or stand before a port.
        let is_one = |length: usize| {
            let address = std::str::from_utf8(&text[start..start + length]).ok()?;
            address.parse::<Ipv6Addr>().ok().map(|_| length)
        };
        let trimmed = length - usize::from(text[start..start + length].ends_with(b":"));
        let length = is_one(length).or_else(|| is_one(trimmed))?;
        if before == b':' {
            return None;
        }
        spans.push(Span::named(start, start + length, "address"));
        return Some(start + length);
    }
    // Part of a longer row of numbers: a version, not an address.
    let goes_on = match text.get(end) {
        Some(b'.') => text.get(end + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'_',
        None => false,
    };
    if goes_on || matches!(before, b'.' | b'-' | b'_') {
        return None;
    }
    let mut numbers = text[start..end].split(|byte| *byte == b'.').map(|number| {
        std::str::from_utf8(number).ok().and_then(|number| number.parse::<u16>().ok()).filter(|number| *number < 256)
    });
    let [a, b, c, d] = std::array::from_fn(|_| numbers.next().flatten());
    let is_private = match (a?, b?, c?, d?) {
        (10, ..) | (192, 168, ..) => true,
        (172, b, ..) => (16..32).contains(&b),
        _ => false,
    };
    if is_private {
        spans.push(Span::named(start, end, "address"));
    }
    Some(end)
}

/// The lines of a text, long ones in pieces that overlap.
fn pieces(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let most = text.floor_char_boundary(start + PIECE);
        let line = memchr::memchr(b'\n', &text.as_bytes()[start..most]).map(|end| start + end);
        let piece = (start, line.unwrap_or(most));
        start = match line {
            Some(end) => end + 1,
            None if most == text.len() => most,
            None => text.floor_char_boundary(most - OVERLAP),
        };
        Some(piece)
    })
}
