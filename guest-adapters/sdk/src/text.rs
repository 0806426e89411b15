//! Long texts, cut in the middle.
//!
//! The head of an output says what it is, the tail how it ended; the middle is what nobody misses.

use std::borrow::Cow;

/// How far from the wanted cut a white space is looked for, so that no word, and above all no secret, is kept in half:
/// longer than any key or token written without a break.
const WORD: usize = 4096;

/// Room for the marker that stands for what was left out.
const MARKER: usize = 48;

/// The text within `limit` bytes, and how many of its bytes were left out of its middle. Three quarters of what is kept
/// are the head's. Both cuts are at a white space where there is one within reach; where there is none, the partial word
/// is dropped up to that reach. Equal inputs give equal outputs.
///
/// ```
/// use totalrecall_sdk::text::cap;
/// let (short, omitted) = cap("all of it", 100);
/// assert_eq!((short.as_ref(), omitted), ("all of it", 0));
/// let long = "some words ".repeat(100);
/// let (short, omitted) = cap(&long, 200);
/// assert!(short.len() <= 200 && short.contains(&format!("… {omitted} bytes left out …")));
/// ```
pub fn cap(text: &str, limit: usize) -> (Cow<'_, str>, u64) {
    if text.len() <= limit {
        return (Cow::Borrowed(text), 0);
    }
    let kept = limit.saturating_sub(MARKER);
    let head = head_end(text, kept / 4 * 3);
    let tail = tail_start(text, text.len() - kept / 4).max(head);
    let omitted = tail - head;
    let mut short = String::with_capacity(limit);
    short.push_str(&text[..head]);
    if limit >= MARKER {
        short.push_str(&format!("\n… {omitted} bytes left out …\n"));
    }
    short.push_str(&text[tail..]);
    (Cow::Owned(short), omitted as u64)
}

/// The last white space at or before `wanted`, within reach.
fn head_end(text: &str, wanted: usize) -> usize {
    let wanted = text.floor_char_boundary(wanted);
    if text[wanted..].starts_with(char::is_whitespace) {
        return wanted;
    }
    let reach = text.floor_char_boundary(wanted - wanted.min(WORD).min(wanted / 2));
    text[reach..wanted].rfind(char::is_whitespace).map_or(reach, |at| reach + at)
}

/// The end of the first white space at or after `wanted`, within reach.
fn tail_start(text: &str, wanted: usize) -> usize {
    let wanted = text.ceil_char_boundary(wanted);
    if text[..wanted].ends_with(char::is_whitespace) {
        return wanted;
    }
    let reach = text.ceil_char_boundary(wanted + WORD.min((text.len() - wanted) / 2));
    text[wanted..reach].find(char::is_whitespace).map_or(reach, |at| text.ceil_char_boundary(wanted + at + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_secret_is_kept_in_half() {
        let secret = format!("sk-{}", "x".repeat(300));
        for fill in 0..400 {
            let text = format!("{} {secret} {}", "word ".repeat(fill), "tail ".repeat(600));
            let (short, _) = cap(&text, 2000);
            let left: String = short.replace(&secret, "");
            assert!(!left.contains("xx") && !left.contains("sk-"), "cut inside the secret at {fill}");
        }
    }

    proptest! {
        #[test]
        fn stays_within_the_limit(text in "[ -~é\u{1f600}\n]{0,400}", limit in 0usize..500) {
            let (short, omitted) = cap(&text, limit);
            prop_assert!(short.len() <= limit);
            if omitted == 0 {
                prop_assert_eq!(short.as_ref(), text.as_str());
            } else if let Some((head, tail)) = short.split_once(&format!("\n… {omitted} bytes left out …\n")) {
                prop_assert_eq!(head.len() + tail.len() + omitted as usize, text.len());
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            }
        }
    }
}
