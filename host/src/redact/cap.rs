//! Long texts keep their head and their tail. Our own adapters cut in the sandbox already, in the same way; this is for
//! those that do not.

/// Room for the line that stands where the middle was.
const MARKER: usize = 48;

/// How far a cut may move to fall between words.
const SLACK: usize = 512;

/// Shortens `text` to at most `limit` bytes; gives the bytes left out, 0 if it was short enough. Three quarters of what
/// stays are the head's. Cuts fall on white space, and the tail begins with a line where it can: half a key is not
/// recognised as one. Where there is no white space near, the run of characters that the cut would fall into goes as
/// well, as far as the slack reaches.
pub(super) fn cap(text: &mut String, limit: usize) -> u64 {
    if text.len() <= limit {
        return 0;
    }
    let room = limit.saturating_sub(MARKER);
    let head = before_word(text, text.floor_char_boundary(room / 4 * 3));
    let tail = after_word(text, text.ceil_char_boundary(text.len() - room / 4)).max(head);
    let omitted = tail - head;
    let marker = if limit >= MARKER { format!("\n… {omitted} bytes left out …\n") } else { String::new() };
    text.replace_range(head..tail, &marker);
    omitted as u64
}

fn before_word(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    // The cut falls between words already?
    if bytes.get(at).is_none_or(u8::is_ascii_whitespace) {
        return at;
    }
    let floor = text.floor_char_boundary(at.saturating_sub(SLACK));
    bytes[floor..at].iter().rposition(u8::is_ascii_whitespace).map_or(floor, |i| floor + i)
}

fn after_word(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let limit = text.ceil_char_boundary((at + SLACK).min(text.len()));
    let window = &bytes[at..limit];
    if let Some(line) = memchr::memchr(b'\n', window) {
        return at + line + 1;
    }
    if bytes[..at].last().is_none_or(u8::is_ascii_whitespace) {
        return at;
    }
    window.iter().position(u8::is_ascii_whitespace).map_or(limit, |i| at + i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay_whole_words() {
        let word = |char: &str| char.repeat(30);
        let mut text = format!("{} {} {} {} {}", word("a"), word("b"), "x".repeat(90), word("c"), "d".repeat(20));
        let whole = text.len();
        let omitted = cap(&mut text, 160);
        assert_eq!(text, format!("{} {}\n… {omitted} bytes left out …\n{}", word("a"), word("b"), "d".repeat(20)));
        assert_eq!(omitted as usize + 61 + 20, whole);
    }

    #[test]
    fn the_tail_begins_with_a_line() {
        let mut text = format!("{}\nname = value of it\nnext line\n{}", "a ".repeat(200), "b ".repeat(40));
        cap(&mut text, 448);
        assert!(text.ends_with(&format!(" bytes left out …\nnext line\n{}", "b ".repeat(40))), "{text}");
    }

    #[test]
    fn any_limit_holds() {
        for limit in 0..400 {
            let mut text = "né à 東京 ".repeat(40);
            cap(&mut text, limit);
            assert!(text.len() <= limit, "{limit}: {}", text.len());
        }
    }
}
