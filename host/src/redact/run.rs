//! Runs of characters: how far a key goes.

/// Characters that a key consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Digit,
    /// Hexadecimal digits.
    Hex,
    /// `A-Z0-9`.
    Upper,
    /// `A-Za-z0-9`.
    Alnum,
    /// Base64 for URLs: `A-Za-z0-9_-`.
    Url,
    /// `A-Za-z0-9_-.`
    Dotted,
    /// `A-Za-z0-9_-.~`
    Tilde,
    /// `A-Za-z0-9_-/`
    Path,
    /// Base64, both alphabets, with padding: `A-Za-z0-9+/=_-`.
    Base64,
    /// Base64 that went through URL encoding: `A-Za-z0-9%+/=_-.`
    Percent,
    /// What a header's credentials may hold: `A-Za-z0-9_-.~+/=:`.
    Credentials,
}

const CLASSES: usize = Class::Credentials as usize + 1;

/// For each byte the classes it belongs to, a bit each.
const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        let alnum = b.is_ascii_alphanumeric();
        let url = alnum || b == b'_' || b == b'-';
        let base64 = url || b == b'+' || b == b'/' || b == b'=';
        let holds = [
            (Class::Digit, b.is_ascii_digit()),
            (Class::Hex, b.is_ascii_hexdigit()),
            (Class::Upper, b.is_ascii_digit() || b.is_ascii_uppercase()),
            (Class::Alnum, alnum),
            (Class::Url, url),
            (Class::Dotted, url || b == b'.'),
            (Class::Tilde, url || b == b'.' || b == b'~'),
            (Class::Path, url || b == b'/'),
            (Class::Base64, base64),
            (Class::Percent, base64 || b == b'.' || b == b'%'),
            (Class::Credentials, base64 || b == b'.' || b == b'~' || b == b':'),
        ];
        let mut class = 0;
        while class < holds.len() {
            if holds[class].1 {
                table[byte] |= 1 << holds[class].0 as u16;
            }
            class += 1;
        }
        byte += 1;
    }
    table
};

impl Class {
    /// Is this byte one of the class?
    pub(super) fn has(self, byte: u8) -> bool {
        TABLE[byte as usize] & (1 << self as u16) != 0
    }

    /// Where the run that begins at `at` ends.
    pub(super) fn end(self, text: &[u8], at: usize) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        at + rest.iter().position(|&byte| !self.has(byte)).unwrap_or(rest.len())
    }

    /// Where the run that ends at `at` begins. Keys that are known by their middle are short: no more than 256
    /// characters are looked at.
    pub(super) fn begin(self, text: &[u8], at: usize) -> usize {
        at - text[at.saturating_sub(256)..at].iter().rev().take_while(|&&byte| self.has(byte)).count()
    }
}

/// Remembers the last run of each class, so that a text full of marks inside one long run is still read only once.
pub(super) struct Runs {
    classes: [(usize, usize); CLASSES],
    value: (usize, usize),
}

impl Runs {
    pub(super) fn new() -> Self {
        Self { classes: [(0, 0); CLASSES], value: (0, 0) }
    }

    /// Where a value without quotes that begins at `at` ends: before a space, a quote, a bracket, or an escape that
    /// stands for one.
    pub(super) fn value_end(&mut self, text: &[u8], at: usize) -> usize {
        let (start, end) = self.value;
        if start <= at && at < end {
            return end;
        }
        let rest = text.get(at..).unwrap_or_default();
        let ends = |i: usize, byte: u8| match byte {
            b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';' | b')' | b']' | b'}' | b'&' | b'|' => true,
            b'\\' => matches!(rest.get(i + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\')),
            _ => byte.is_ascii_whitespace(),
        };
        let end = at + rest.iter().enumerate().position(|(i, &byte)| ends(i, byte)).unwrap_or(rest.len());
        self.value = (at, end);
        end
    }

    /// [`Class::end`].
    pub(super) fn end(&mut self, text: &[u8], at: usize, class: Class) -> usize {
        let (start, end) = self.classes[class as usize];
        if start <= at && at < end {
            return end;
        }
        let end = class.end(text, at);
        self.classes[class as usize] = (at, end);
        end
    }
}

/// Does a word begin at `at`? What stands before it may also be an escape that ends in a letter, as in texts that are
/// JSON within JSON (`\nsk-…`), or a percent code (`%3Dsk-…`).
pub(super) fn boundary(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(6)..at];
    match before {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|x| x.is_ascii_hexdigit()),
        _ => false,
    }
}

/// As much of a value as says what it looks like. Judging more would make long values slow.
pub(super) fn compact(value: &[u8]) -> &[u8] {
    &value[..value.len().min(256)]
}
