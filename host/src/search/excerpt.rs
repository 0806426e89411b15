//! The part of a text that shows why it was found.

use totalrecall_retrieval::words::Matcher;

/// Longest excerpt, in characters.
const LENGTH: usize = 320;
/// Lines that are compared: the beginning of a very long text is enough.
const LINES: usize = 400;

/// The line that holds most of what was asked for, and what follows it as far as there is room; the beginning where no line
/// holds anything. On one line, its blanks single.
pub(super) fn excerpt(matcher: &mut Matcher<'_>, text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).collect();
    let mut best = (0, 0.0);
    for (number, line) in lines.iter().enumerate() {
        let share = matcher.matched(line).share;
        if share > best.1 {
            best = (number, share);
        }
    }
    let from = best.0;
    let mut words = lines[from.min(lines.len())..].iter().flat_map(|line| line.split_whitespace());
    let mut excerpt = String::new();
    if from > 0 {
        excerpt.push_str("… ");
    }
    // A line may be longer than an excerpt: then it begins shortly before the first word that matters.
    if let Some(line) = lines.get(from)
        && line.chars().count() > LENGTH
    {
        let skipped =
            line.split_whitespace().position(|word| matcher.matched(word).share > 0.0).unwrap_or(0).saturating_sub(12);
        if skipped > 0 && excerpt.is_empty() {
            excerpt.push_str("… ");
        }
        words.by_ref().take(skipped).for_each(drop);
    }
    let mut room = LENGTH;
    for word in words {
        let length = word.chars().count() + 1;
        if length > room {
            // A word may be longer than all of the room, as in Chinese, which has no blanks.
            excerpt.extend(word.chars().take(room.saturating_sub(1)));
            excerpt.push('…');
            return excerpt;
        }
        room -= length;
        excerpt.push_str(word);
        excerpt.push(' ');
    }
    excerpt.truncate(excerpt.trim_end().len());
    excerpt
}
