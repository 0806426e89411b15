//! Long texts keep their head and their tail.

/// What stands where the middle was.
const SEAM: &str = "\n[…]\n";

/// How far back (or on) a cut may move to fall between words.
const SLACK: usize = 512;

/// Shortens `text` to at most `limit` bytes; gives the bytes left out, 0 if it was short enough. Cuts fall on white
/// space, so that no key is cut in two: half a key is not recognised as one. Where there is no white space near, the run
/// of characters that the cut would fall into goes as well, as far as the slack reaches.
pub(super) fn cap(text: &mut String, limit: usize) -> u64 {
    if text.len() <= limit {
        return 0;
    }
    let room = limit.saturating_sub(SEAM.len());
    let head_end = text.floor_char_boundary(room - room / 2);
    let tail_start = text.ceil_char_boundary(text.len() - room / 2);
    let head = before_word(text, head_end);
    let tail = after_word(text, tail_start);
    let seam = if limit >= SEAM.len() { SEAM } else { "" };
    text.replace_range(head..tail, seam);
    (tail - head) as u64
}

fn before_word(text: &str, at: usize) -> usize {
    let floor = text.floor_char_boundary(at.saturating_sub(SLACK));
    let window = &text.as_bytes()[floor..at];
    // The cut falls between words already?
    if text.as_bytes().get(at).is_none_or(u8::is_ascii_whitespace) {
        return at;
    }
    window.iter().rposition(u8::is_ascii_whitespace).map_or(floor, |i| floor + i + 1)
}

fn after_word(text: &str, at: usize) -> usize {
    if text.as_bytes()[..at].last().is_none_or(u8::is_ascii_whitespace) {
        return at;
    }
    let limit = text.ceil_char_boundary((at + SLACK).min(text.len()));
    let window = &text.as_bytes()[at..limit];
    window.iter().position(u8::is_ascii_whitespace).map_or(limit, |i| at + i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay_whole_words() {
        let mut text = format!("{} {} {}", "a".repeat(30), "b".repeat(40), "c".repeat(30));
        let before = text.len();
        let omitted = cap(&mut text, 80);
        assert_eq!(text, format!("{} \n[…]\n {}", "a".repeat(30), "c".repeat(30)));
        assert_eq!(before as u64 - omitted + SEAM.len() as u64, text.len() as u64);
    }

    #[test]
    fn short_texts_stay_and_any_limit_holds() {
        for limit in 0..200 {
            let mut text = "né à 東京 ".repeat(10);
            cap(&mut text, limit);
            assert!(text.len() <= limit.max(0), "{limit}: {}", text.len());
        }
    }
}
