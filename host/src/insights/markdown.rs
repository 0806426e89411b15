//! Text of transcripts as text of a page. Whatever a transcript says stays data: it cannot form markup, run as terminal
//! escape, turn the reading direction, hide itself or break out of its line.

/// Text without what is not for reading: escape sequences, control characters, marks that turn the direction of the
/// text or cannot be seen. One line, at most `chars` characters.
pub fn clean(text: &str, chars: usize) -> String {
    let harmless = crate::clean::clean(text);
    let mut clean = String::new();
    let mut length = 0;
    for c in harmless.chars().filter(|c| !is_invisible(*c)) {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c == ' ' && (clean.is_empty() || clean.ends_with(' ')) {
            continue;
        }
        if length == chars {
            clean.truncate(clean.trim_end().len());
            clean.push('…');
            return clean;
        }
        clean.push(c);
        length += 1;
    }
    clean.truncate(clean.trim_end().len());
    clean
}

/// Takes no room and means nothing here, but for the joiners, which some scripts and emoji need: soft hyphens,
/// zero-width spaces, invisible operators, tags, and the variation selectors that can carry data.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}')
}

/// Cleaned text with everything escaped that Markdown, GitHub's additions or HTML would read.
pub(crate) fn text(text: &str, chars: usize) -> String {
    let clean = clean(text, chars);
    let mut escaped = String::with_capacity(clean.len() + 8);
    let mut before = ' ';
    for (index, c) in clean.char_indices() {
        let markup = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '#' | '&' | '@' | '!' => true,
            // Would make a link of itself.
            ':' => clean[index..].starts_with("://"),
            '.' => before == 'w' && clean[..index].to_ascii_lowercase().ends_with("www"),
            // Would make a list, a rule or a heading, at the beginning of a line only.
            '-' | '+' | '=' => index == 0,
            _ => false,
        };
        // "1." at the beginning would make a numbered list.
        let numbers = matches!(c, '.' | ')') && index > 0 && clean[..index].bytes().all(|b| b.is_ascii_digit());
        if markup || numbers {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}

/// Cleaned text as a code span, which needs no escapes: its fence is longer than any run of backticks in it.
pub(crate) fn code(text: &str, chars: usize) -> String {
    let clean = clean(text, chars);
    if clean.is_empty() {
        return String::new();
    }
    let longest = clean.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if clean.starts_with('`') || clean.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{clean}{pad}{fence}")
}

/// Cleaned text in which pairs of backticks quote code, as the details of signals do it; everything else is escaped.
pub(crate) fn prose(prose: &str, chars: usize) -> String {
    let clean = clean(prose, chars);
    let parts: Vec<&str> = clean.split('`').collect();
    // Without its other end a backtick is a character like any other; so is it where it quotes nothing.
    if parts.len().is_multiple_of(2) || parts.iter().skip(1).step_by(2).any(|quoted| quoted.trim().is_empty()) {
        return text(&clean, chars + 1);
    }
    let last = parts.len() - 1;
    let mut escaped = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index % 2 == 1 {
            escaped.push_str(&code(part, chars));
            continue;
        }
        // Cleaning would take the spaces next to the code.
        let space = |there: bool| if there { " " } else { "" };
        escaped.push_str(space(index > 0 && part.starts_with(' ')));
        escaped.push_str(&text(part, chars + 1));
        escaped.push_str(space(index < last && part.ends_with(' ') && part != " "));
    }
    escaped
}

/// Numbers as a row of bars, each as high as its share of the largest; `least` keeps a single event from looking like
/// a peak.
pub(super) fn bars(numbers: &[u32], least: u32) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = numbers.iter().copied().max().unwrap_or(0).max(least).max(1);
    numbers.iter().map(|&n| BARS[(u64::from(n) * 7).div_ceil(u64::from(top)) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_for_reading_is_gone() {
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\tand\r\n\0more ", 99), "red and more");
        assert_eq!(clean("\u{1b}]8;;https://evil.example\u{7}link\u{1b}]8;;\u{1b}\\!", 99), "link!");
        assert_eq!(clean("a\u{202e}b\u{200b}c\u{e0041}d\u{2066}e", 99), "abcde");
        assert_eq!(clean("👩\u{200d}💻 ok", 99), "👩\u{200d}💻 ok");
        assert_eq!(clean("很长的一句话", 3), "很长的…");
        assert_eq!(clean("\u{9b}31mC1", 99), "C1");
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            text("<img src=x> [a](b) **c** `d` | #1 @me", 99),
            r"\<img src=x\> \[a\](b) \*\*c\*\* \`d\` \| \#1 \@me"
        );
        assert_eq!(
            text("see https://evil.example and www.evil.example", 99),
            r"see https\://evil.example and www\.evil.example"
        );
        assert_eq!(text("1. first", 99), r"1\. first");
        assert_eq!(text("- item", 99), r"\- item");
        assert_eq!(text("it's 3.5, e.g. a-b", 99), "it's 3.5, e.g. a-b");
    }

    #[test]
    fn code_keeps_its_backticks_inside() {
        assert_eq!(code("a|b <c>", 99), "`a|b <c>`");
        assert_eq!(code("run `x` now", 99), "``run `x` now``");
        assert_eq!(code("```", 99), "```` ``` ````");
        assert_eq!(code(" \n ", 99), "");
    }

    #[test]
    fn prose_keeps_its_code() {
        assert_eq!(prose("Bash `npm *i*` failed: *no*", 99), r"Bash `npm *i*` failed: \*no\*");
        assert_eq!(prose("`a` `b`", 99), "`a` `b`");
        assert_eq!(prose("don`t", 99), r"don\`t");
        assert_eq!(prose("``` x", 99), r"\`\`\` x");
        assert_eq!(prose("`a` <b>", 99), r"`a` \<b\>");
    }

    #[test]
    fn bars_show_shares() {
        assert_eq!(bars(&[0, 1, 2, 4], 4), "▁▃▅█");
        assert_eq!(bars(&[0, 1], 4), "▁▃");
        assert_eq!(bars(&[0, 0], 0), "▁▁");
    }

    proptest! {
        #[test]
        fn nothing_breaks_out(input in any::<String>()) {
            let code = code(&input, 50);
            let fence = code.len() - code.trim_start_matches('`').len();
            let inner = code.trim_matches('`');
            prop_assert!(!inner.split(|c| c != '`').any(|run| run.len() >= fence && fence > 0));
            for output in [text(&input, 50), prose(&input, 50), code] {
                prop_assert!(!output.chars().any(|c| c.is_control() || is_invisible(c)));
            }
        }
    }
}
