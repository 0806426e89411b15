//! Private keys in PEM and PGP armour: whole, cut off at either end, indented, numbered as editors show lines, or on one
//! line with `\n` written out.

use super::span::Span;

/// Finds key blocks while the marks `-----BEGIN` and `-----END` are shown to it in order.
#[derive(Default)]
pub(super) struct Blocks {
    /// Where the block that is open begins, and where its body does.
    open: Option<(usize, usize)>,
    /// Up to here everything belongs to blocks that are done.
    done: usize,
}

pub(super) const BEGIN: &str = "-----BEGIN ";
pub(super) const END: &str = "-----END ";

/// Fewest base64 characters that are a key, and not a program that looks for keys.
const LEAST: usize = 24;

impl Blocks {
    /// `-----BEGIN ` was seen at `at`.
    pub(super) fn begin(&mut self, text: &[u8], at: usize, spans: &mut Vec<Span>) {
        self.cut_off(text, at, spans);
        if let Some(body) = label_end(text, at + BEGIN.len()) {
            self.open = Some((at, body));
        }
    }

    /// `-----END ` was seen at `at`.
    pub(super) fn end(&mut self, text: &[u8], at: usize, spans: &mut Vec<Span>) {
        let Some(end) = label_end(text, at + END.len()) else { return };
        let whole = self.open.take().filter(|&(_, body)| body <= at && base64_in(&text[body..at]) >= LEAST);
        let start = match whole {
            Some((start, _)) => start,
            None => {
                let start = body_before(text, self.done, at);
                if base64_in(&text[start..at]) < LEAST {
                    return;
                }
                start
            }
        };
        spans.push(Span::structure(start, end, "private-key"));
        self.done = end;
    }

    /// No more marks before `limit`: what is open was cut off.
    pub(super) fn cut_off(&mut self, text: &[u8], limit: usize, spans: &mut Vec<Span>) {
        let Some((start, body)) = self.open.take() else { return };
        let end = body_after(text, body, limit);
        if end > body && base64_in(&text[body..end]) >= 8 {
            spans.push(Span::structure(start, end, "private-key"));
            self.done = end;
        }
    }
}

/// Where a label ends that is a private key's, its dashes included. The dashes may be cut off.
fn label_end(text: &[u8], at: usize) -> Option<usize> {
    let window = &text[at..text.len().min(at + 64)];
    let label = window.iter().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b' ').count();
    memchr::memmem::find(&window[..label], b"PRIVATE KEY")?;
    let dashes = window[label..].iter().take(5).take_while(|&&b| b == b'-').count();
    Some(at + label + dashes)
}

/// Characters of base64 in lines that are nothing else.
fn base64_in(body: &[u8]) -> usize {
    lines(body).filter_map(base64_line).sum()
}

/// Where the rows of base64 that begin at `at` end.
fn body_after(text: &[u8], at: usize, limit: usize) -> usize {
    let mut end = at;
    for line in lines(&text[at..limit]) {
        let inside = base64_line(line).is_some() || is_armour(line);
        if !inside {
            break;
        }
        end = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
    }
    end
}

/// Where the rows of base64 that end at `at` begin. The first of them may itself be cut off.
fn body_before(text: &[u8], floor: usize, at: usize) -> usize {
    let line = memchr::memrchr(b'\n', &text[floor..at]).map_or(floor, |i| floor + i + 1);
    // The mark's own line may begin with a number, too.
    let mut begin = if is_margin(&text[line..at]) { line } else { at };
    while begin > floor {
        let before = &text[floor..begin];
        // Steps over the line break, `\n` written out or real.
        let trimmed = before.strip_suffix(b"\\n").or_else(|| before.strip_suffix(b"\n")).unwrap_or(before);
        let trimmed = trimmed.strip_suffix(b"\r").unwrap_or(trimmed);
        let real = memchr::memrchr(b'\n', trimmed).map_or(0, |i| i + 1);
        let written = memchr::memmem::rfind(trimmed, b"\\n").map_or(0, |i| i + 2);
        let line = &trimmed[real.max(written)..];
        if base64_line(line).is_none() && !is_armour(line) {
            // A line that only ends in base64 was joined to something else by the cut.
            let tail = line.iter().rev().take_while(|b| is_base64(**b)).count();
            return if tail >= 16 { floor + real.max(written) + line.len() - tail } else { begin };
        }
        begin = floor + real.max(written);
    }
    begin
}

/// Lines, also where the break is written out as `\n`.
fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|&byte| byte == b'\n').flat_map(|line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let whole = rest?;
            match memchr::memmem::find(whole, b"\\n") {
                Some(at) => {
                    rest = Some(&whole[at + 2..]);
                    Some(&whole[..at])
                }
                None => {
                    rest = None;
                    Some(whole)
                }
            }
        })
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// How much base64 a line holds that holds nothing else but what sources and editors put around it: indentation, quotes,
/// a line number with its arrow or tab, a comment's mark.
fn base64_line(line: &[u8]) -> Option<usize> {
    let around = |b: &u8| {
        b.is_ascii_whitespace()
            || matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'+' | b',' | b'>' | b'#' | b'|' | b'*' | b'-')
    };
    let trim = |mut line: &[u8]| {
        let skip = line.iter().take_while(|b| around(b)).count();
        line = &line[skip..];
        let skip = line.iter().rev().take_while(|b| around(b) && **b != b'+').count();
        line.len() - skip
    };
    let start = line.iter().take_while(|b| around(b)).count();
    let mut inner = &line[start..start + trim(line)];
    let digits = inner.iter().take_while(|b| b.is_ascii_digit()).count();
    let after = &inner[digits..];
    if digits > 0
        && let Some(rest) = after.strip_prefix("→".as_bytes()).or_else(|| after.strip_prefix(b"\t"))
    {
        inner = rest.trim_ascii_start();
    }
    (!inner.is_empty() && inner.iter().all(|b| is_base64(*b))).then_some(inner.len())
}

/// What an editor puts before a line: spaces, its number, an arrow.
fn is_margin(start: &[u8]) -> bool {
    let rest = start.trim_ascii();
    let rest = rest.strip_suffix("→".as_bytes()).unwrap_or(rest);
    rest.iter().all(u8::is_ascii_digit)
}

/// Blank lines and the headers of armour: `Proc-Type: 4,ENCRYPTED`, `DEK-Info: …`, `Version: …`.
fn is_armour(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty()
        || line == b"\""
        || [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"].iter().any(|header| line.starts_with(header))
}
