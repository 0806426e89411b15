//! What may still be read of a line that is not JSON.
//!
//! Only lines that failed to parse come here. What is known to happen to transcripts, and what is done about it:
//!
//! | damage | cause | repair |
//! | --- | --- | --- |
//! | bytes that are not UTF-8 | copied and cut files | U+FFFD, as elsewhere |
//! | runs of NUL | a crash before the file system wrote the data | dropped |
//! | raw control characters inside a string | post-processing by scripts | escaped |
//! | `\ud83d` without its mate | a text cut between UTF-16 units | `\ufffd` |
//! | `\[`, `\x` … | redaction over raw JSON | the backslash is taken literally |
//! | a torn record with the next one on the same line | a crash in mid-write, then a resume | read on where the rest parses |

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use serde::de::IgnoredAny;

/// How many bytes may be parsed in vain per byte of a torn line, so that no line takes quadratic time.
const PATIENCE: usize = 8;

/// The line with its characters repaired: valid UTF-8 whose strings hold nothing that JSON forbids. The structure is left
/// as it is.
pub fn clean(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut clean = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(|char: char| char < ' ' || char == '"' || char == '\\') {
        clean.push_str(&rest[..at]);
        let (special, after) = rest[at..].split_at(1);
        rest = after;
        match special {
            "\"" => {
                in_string = !in_string;
                clean.push('"');
            }
            "\\" if in_string => rest = escape(after, &mut clean),
            "\0" => {}
            "\n" | "\r" | "\t" if !in_string => clean.push_str(special),
            control if in_string => clean.push_str(&format!("\\u{:04x}", control.as_bytes()[0])),
            other => clean.push_str(other),
        }
    }
    clean.push_str(rest);
    clean
}

/// Copies the escape that begins before `after`, repaired, and gives what follows it.
fn escape<'a>(after: &'a str, clean: &mut String) -> &'a str {
    match after.as_bytes().first() {
        Some(b'u') => match unit(after) {
            Some(0xd800..=0xdbff) => match after[5..].strip_prefix('\\').and_then(unit) {
                Some(0xdc00..=0xdfff) => {
                    clean.push('\\');
                    clean.push_str(&after[..11]);
                    &after[11..]
                }
                _ => {
                    clean.push_str("\\ufffd");
                    &after[5..]
                }
            },
            Some(0xdc00..=0xdfff) => {
                clean.push_str("\\ufffd");
                &after[5..]
            }
            Some(_) => {
                clean.push('\\');
                clean.push_str(&after[..5]);
                &after[5..]
            }
            None => {
                clean.push_str("\\\\");
                after
            }
        },
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            clean.push('\\');
            clean.push_str(&after[..1]);
            &after[1..]
        }
        _ => {
            clean.push_str("\\\\");
            after
        }
    }
}

/// The UTF-16 unit of `u12ab…`.
fn unit(text: &str) -> Option<u16> {
    let hex = text.strip_prefix('u')?.get(..4)?;
    hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(hex, 16).ok())?
}

/// What [`split`] found in a line.
#[derive(Debug, Default, PartialEq)]
pub struct Pieces {
    /// Complete JSON objects, in order.
    pub objects: Vec<Range<usize>>,
    /// Something between, before or after them is not an object.
    pub torn: bool,
}

/// Finds the complete objects of a line that holds something else than one object: several glued together, or a torn one
/// followed by others.
pub fn split(line: &[u8]) -> Pieces {
    let mut pieces = Pieces::default();
    let mut patience = line.len() * PATIENCE + 4096;
    let at = run(line, 0, &mut pieces.objects, &mut patience);
    if at < line.len() {
        pieces.torn = true;
        // What was torn ends somewhere; the next record begins at the first object from which all the rest can be read.
        let candidates = memmem::find_iter(&line[at + 1..], b"{\"").map(|found| at + 1 + found);
        let next = candidates.filter(|candidate| may_begin(line, *candidate)).find_map(|candidate| {
            let mut objects = Vec::new();
            (patience > 0 && run(line, candidate, &mut objects, &mut patience) == line.len()).then_some(objects)
        });
        pieces.objects.extend(next.unwrap_or_default());
    }
    pieces
}

/// May a record begin here? What stands where a value would is most likely a part of the torn record; it is another one
/// only if it begins with the same key as the line does.
fn may_begin(line: &[u8], at: usize) -> bool {
    let first_key = memchr::memchr(b':', line).map_or(line, |end| &line[..end]);
    !matches!(line[..at].trim_ascii_end().last(), Some(b':' | b',' | b'[')) || line[at..].starts_with(first_key)
}

/// Reads objects from `at` on as long as there are any; gives where it stopped.
fn run(line: &[u8], mut at: usize, objects: &mut Vec<Range<usize>>, patience: &mut usize) -> usize {
    loop {
        at += line[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
        if line.get(at) != Some(&b'{') {
            return at;
        }
        let mut values = serde_json::Deserializer::from_slice(&line[at..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                objects.push(at..at + values.byte_offset());
                at += values.byte_offset();
            }
            failed => {
                let read = failed.and_then(Result::err).map_or(0, |error| error.column());
                *patience = patience.saturating_sub(read.max(1));
                return at;
            }
        }
    }
}

/// Is there anything but white space and NUL in the line?
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0)
}

/// The text of the bytes, repaired where they are not UTF-8.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn cleaned(line: &[u8]) -> Value {
        serde_json::from_str(&clean(line)).unwrap()
    }

    #[test]
    fn characters_are_repaired() {
        assert_eq!(cleaned(br#"{"a":"x\ud83d y"}"#), json!({"a": "x\u{fffd} y"}));
        assert_eq!(cleaned(br#"{"a":"x\ude00\ud83d\u0041"}"#), json!({"a": "x\u{fffd}\u{fffd}A"}));
        assert_eq!(cleaned(br#"{"a":"\ud83d\ude00\\ud83d"}"#), json!({"a": "\u{1f600}\\ud83d"}));
        assert_eq!(cleaned(b"{\"a\":\"x\ty\x01\"}\0\0"), json!({"a": "x\ty\u{1}"}));
        assert_eq!(cleaned(b"\0\0{\"a\":\"\xff\"}"), json!({"a": "\u{fffd}"}));
        assert_eq!(cleaned(br#"{"a":"\[x\] \u12"}"#), json!({"a": "\\[x\\] \\u12"}));
    }

    fn texts(line: &str) -> (Vec<&str>, bool) {
        let pieces = split(line.as_bytes());
        (pieces.objects.into_iter().map(|range| &line[range]).collect(), pieces.torn)
    }

    #[test]
    fn records_on_one_line_are_told_apart() {
        assert_eq!(texts(r#"{"a":1}{"b":2}"#), (vec![r#"{"a":1}"#, r#"{"b":2}"#], false));
        let torn = r#"{"a":{"b":"some {"type":"user","c":{"d":1}} {"e":2}"#;
        assert_eq!(texts(torn), (vec![r#"{"type":"user","c":{"d":1}}"#, r#"{"e":2}"#], true));
        assert_eq!(texts(r#"{"a":{"b":1"#), (vec![], true));
        // The end of a damaged record is not a record, though it can be read.
        assert_eq!(texts(r#"{"a":[REDACTED],"b":{"c":1}"#), (vec![], true));
        assert_eq!(texts(r#"{"a":1,"b":{"a":2}"#), (vec![r#"{"a":2}"#], true));
        assert_eq!(texts(r#"{"a":1} "b":{"c":2}}"#), (vec![r#"{"a":1}"#], true));
    }

    #[test]
    fn hopeless_lines_are_given_up() {
        let line = r#"{"a":["#.repeat(200_000);
        assert!(split(line.as_bytes()).objects.is_empty());
    }

    proptest! {
        #[test]
        fn never_panics(line in prop::collection::vec(any::<u8>(), 0..200)) {
            clean(&line);
            split(&line);
        }

        #[test]
        fn never_panics_nearby(line in r#"[{}"\\ud8e0\[\]:,a\x00\t]{0,60}"#) {
            clean(line.as_bytes());
            split(line.as_bytes());
        }

        /// What is whole stays as it is.
        #[test]
        fn whole_records_are_not_changed(text in "\\PC*") {
            let line = json!({"text": text, "more": {"text": text}}).to_string();
            prop_assert_eq!(clean(line.as_bytes()), line.clone());
            prop_assert_eq!(texts(&line), (vec![line.as_str()], false));
        }
    }
}
