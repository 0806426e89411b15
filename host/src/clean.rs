//! Makes text of others harmless to show: in a terminal it must not move the cursor, set the title, write the clipboard
//! or turn the reading direction; in a document it must not hide words from a person that a model would read.

use std::borrow::Cow;

/// `text` without escape sequences, control characters (but line breaks and tabs), marks that change the direction of
/// writing, and invisible tag characters.
pub fn clean(text: &str) -> Cow<'_, str> {
    let Some(first) = text.bytes().position(is_suspect).and_then(|at| first_unwanted(text, at)) else {
        return Cow::Borrowed(text);
    };
    let mut kept = String::with_capacity(text.len());
    kept.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(char) = rest.chars().next() {
        match char {
            '\u{1b}' => rest = after_escape(&rest[1..]),
            '\u{9b}' => rest = after_parameters(&rest[2..]),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => rest = after_string(&rest[2..]),
            _ => {
                if !is_unwanted(char) {
                    kept.push(char);
                }
                rest = &rest[char.len_utf8()..];
            }
        }
    }
    Cow::Owned(kept)
}

/// Can a character that is unwanted begin with this byte?
fn is_suspect(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0b..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef | 0xf3)
}

/// The first unwanted character at or after `at`, which is the beginning of a character.
fn first_unwanted(text: &str, at: usize) -> Option<usize> {
    text[at..].char_indices().find(|(_, char)| is_unwanted(*char)).map(|(i, _)| at + i)
}

fn is_unwanted(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // C0, DEL and C1; a carriage return would let what follows overwrite the line.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Direction: marks, embeddings, overrides, isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Line separators that terminals and Markdown treat in different ways, byte order marks, interlinear notes.
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags: text that no one sees.
        '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// What follows an escape sequence whose ESC is gone already.
fn after_escape(rest: &str) -> &str {
    match rest.as_bytes().first() {
        Some(b'[') => after_parameters(&rest[1..]),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => after_string(&rest[1..]),
        // Intermediate characters and one final, as in `ESC ( B`.
        Some(0x20..=0x2f) => {
            let end = rest.bytes().position(|byte| !matches!(byte, 0x20..=0x2f)).unwrap_or(rest.len());
            match rest.as_bytes().get(end) {
                Some(0x30..=0x7e) => &rest[end + 1..],
                _ => &rest[end..],
            }
        }
        Some(0x30..=0x7e) => &rest[1..],
        _ => rest,
    }
}

/// What follows a control sequence: parameters, intermediates, one final character. One that is malformed ends where it
/// stops being one.
fn after_parameters(rest: &str) -> &str {
    let end = rest.bytes().position(|byte| !matches!(byte, 0x20..=0x3f)).unwrap_or(rest.len());
    match rest.as_bytes().get(end) {
        Some(0x40..=0x7e) => &rest[end + 1..],
        _ => &rest[end..],
    }
}

/// What follows a control string (a title, a link, the clipboard), which ends with BEL or ST. One that is not ended
/// goes to the end of its line, so that nobody can make a whole report disappear.
fn after_string(rest: &str) -> &str {
    for (at, char) in rest.char_indices() {
        match char {
            '\u{7}' | '\u{9c}' => return &rest[at + char.len_utf8()..],
            '\u{1b}' if rest[at + 1..].starts_with('\\') => return &rest[at + 2..],
            '\u{1b}' | '\n' => return &rest[at..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_go_and_their_text_stays() {
        for (dirty, expected) in [
            ("plain, 東京 – “quoted”\n\tkept", "plain, 東京 – “quoted”\n\tkept"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07after", "after"),
            ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b]52;c;never ended\nnext line", "\nnext line"),
            ("\u{9b}2Jgone\u{9d}0;t\u{9c}!", "gone!"),
            ("a\rb\r\nc\x08\x00", "ab\nc"),
            ("\x1b(Bx\x1b7y\x1b", "xy"),
            ("user\u{202e}txt.exe\u{2069}", "usertxt.exe"),
            ("see\u{e0041}\u{e007f}this", "seethis"),
            ("\x1b[12", ""),
        ] {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(clean("a “b” – …"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_unwanted_is_left(text in "(\\PC|[\u{0}-\u{a0}\u{2020}-\u{206f}]|\u{1b}[\\[\\]P(]){0,60}") {
            let once = clean(&text);
            prop_assert!(!once.chars().any(is_unwanted));
            prop_assert_eq!(clean(&once), once.as_ref());
        }
    }
}
