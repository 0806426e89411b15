//! Small text helpers that several detectors share.

use std::collections::BTreeMap;

/// FNV-1a, 64 bits: the state keeps hashes instead of the session's text, and they must be the same on every machine.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The first `bytes` bytes at most, cut between characters.
pub fn truncate(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// One line for a person: white space squeezed, at most `chars` characters, an ellipsis where something is missing.
pub fn one_line(text: &str, chars: usize) -> String {
    // No line is longer than its squeezed words, so most of a big text is never looked at.
    let head = truncate(text, chars.saturating_mul(8));
    let squeezed = squeeze(head);
    match squeezed.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", squeezed[..end].trim_end()),
        None if head.len() < text.len() => format!("{squeezed}…"),
        None => squeezed,
    }
}

/// Every run of white space made one space.
pub fn squeeze(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    squeezed
}

/// Both sides of a replacement without the lines they share: what really changed, in order.
pub fn lines_core(removed: &str, added: &str) -> (String, String) {
    let old: Vec<&str> = removed.lines().map(str::trim).collect();
    let new: Vec<&str> = added.lines().map(str::trim).collect();
    (without(&old, &new), without(&new, &old))
}

/// The lines of one side that the other has not, or has less often.
fn without(lines: &[&str], others: &[&str]) -> String {
    let mut others: BTreeMap<&str, usize> = others.iter().fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(*line).or_default() += 1;
        counts
    });
    let own = lines.iter().filter(|line| match others.get_mut(**line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    own.copied().collect::<Vec<_>>().join("\n")
}

/// Lines kept of one side of an edit: the first ones tell as much as all of them.
const SIGNIFICANT_LINES: usize = 40;

/// Hashes of the lines that tell one place of a file from another: not braces, not blank ones.
pub fn significant_lines(text: &str) -> Vec<u32> {
    let mut hashes: Vec<u32> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 4)
        .take(SIGNIFICANT_LINES)
        .map(|line| hash(line) as u32)
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_lines_are_no_part_of_a_change() {
        assert_eq!(lines_core("a\nb\nc", "a\nX\nc"), ("b".into(), "X".into()));
        assert_eq!(lines_core("a", "a\nb"), (String::new(), "b".into()));
        assert_eq!(lines_core("a", "a"), (String::new(), String::new()));
        assert_eq!(lines_core("a\nb\nc\nd", "X\nb\nc\nY"), ("a\nd".into(), "X\nY".into()));
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!(truncate("日本", 4), "日");
        assert_eq!(one_line("  ab \n cd  ", 4), "ab c…");
        assert_eq!(one_line("日本語", 3), "日本語");
    }
}
