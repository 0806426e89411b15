//! The one line in CLAUDE.md that brings our rules file in: `@totalrecall-rules.md`. Bytes in, bytes out.
//!
//! Claude Code (seen with 2.1.332) reads an import in a paragraph, a list, or on a line of its own, wherever in the file, but
//! not in code, and not in a block of HTML, which goes to the next empty line. So ours stands at the end behind an empty
//! line, and at the top if the end is within a fence or comment that is never closed.

use std::ops::Range;

use super::rules_file::{BlockError, encoding, gap, line_ending, lines, splice, with_gap, without_mark};

/// A file with the import in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Added {
    /// The file's new content.
    pub file: Vec<u8>,
    /// Bytes of line breaks that were put before the line, or after it if it stands at the top.
    pub gap: usize,
}

/// Adds `@name` as a line of its own; none: it is there.
///
/// # Errors
/// `Utf16`.
pub(super) fn add(file: &[u8], name: &str) -> Result<Option<Added>, BlockError> {
    encoding(file)?;
    let structure = Structure::of(file, name);
    if !structure.imports.is_empty() {
        return Ok(None);
    }
    let eol = line_ending(file);
    if structure.is_open {
        let at = if file.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let line = format!("@{name}{eol}{eol}");
        return Ok(Some(Added { file: splice(file, at..at, line.as_bytes()), gap: eol.len() }));
    }
    let gap = gap(file, eol);
    let line = format!("{gap}@{name}{eol}");
    Ok(Some(Added { file: splice(file, file.len()..file.len(), line.as_bytes()), gap: gap.len() }))
}

/// Takes the line out again; none: it is not there. `gap` is what [`add`] said.
///
/// # Errors
/// `Utf16`.
pub(super) fn remove(file: &[u8], name: &str, gap: usize) -> Result<Option<Vec<u8>>, BlockError> {
    encoding(file)?;
    let Some(line) = Structure::of(file, name).imports.into_iter().next_back() else { return Ok(None) };
    let at_top = line.start == without_mark(file, 0..line.end).start;
    let behind = line.end..(line.end + gap).min(file.len());
    let is_gap_behind = behind.len() == gap && file[behind.clone()].iter().all(|byte| matches!(byte, b'\r' | b'\n'));
    let range = if at_top && is_gap_behind && line.end < file.len() {
        line.start..behind.end
    } else {
        with_gap(file, line, gap)
    };
    Ok(Some(splice(file, range, b"")))
}

/// Whether a file brings in ours.
pub(super) fn is_there(file: &[u8], name: &str) -> bool {
    !Structure::of(file, name).imports.is_empty()
}

/// What matters of a Markdown file here.
struct Structure {
    /// Lines that are the import, outside of code and comments.
    imports: Vec<Range<usize>>,
    /// Whether the file ends in a fence or comment.
    is_open: bool,
}

impl Structure {
    fn of(file: &[u8], name: &str) -> Self {
        let mut imports = Vec::new();
        let mut fence: Option<(u8, usize)> = None;
        let mut in_comment = false;
        for line in lines(file) {
            let text = file[line.clone()].trim_ascii();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            if in_comment {
                in_comment = memchr::memmem::find(text, b"-->").is_none();
                continue;
            }
            let run = |byte: u8| text.iter().take_while(|b| **b == byte).count();
            if let Some((byte, length)) = fence {
                let here = run(byte);
                if here >= length && here == text.len() {
                    fence = None;
                }
                continue;
            }
            if let Some(byte) = [b'`', b'~'].into_iter().find(|byte| run(*byte) >= 3) {
                let length = run(byte);
                // A fence of backticks with a backtick behind is a span of code in a paragraph.
                if byte == b'~' || !text[length..].contains(&b'`') {
                    fence = Some((byte, length));
                }
                continue;
            }
            if text.starts_with(b"<!--") {
                in_comment = memchr::memmem::find(&text[4..], b"-->").is_none();
                continue;
            }
            let path = text.strip_prefix(b"@").map(|path| path.strip_prefix(b"./").unwrap_or(path));
            if path == Some(name.as_bytes()) {
                imports.push(without_mark(file, line));
            }
        }
        Self { imports, is_open: fence.is_some() || in_comment }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAME: &str = "totalrecall-rules.md";

    #[test]
    fn the_line_stands_where_it_is_read() {
        for (before, after) in [
            ("", "@totalrecall-rules.md\n"),
            ("a", "a\n\n@totalrecall-rules.md\n"),
            ("a\n", "a\n\n@totalrecall-rules.md\n"),
            ("a\n\n", "a\n\n@totalrecall-rules.md\n"),
            ("a\r\nb\r\n", "a\r\nb\r\n\r\n@totalrecall-rules.md\r\n"),
            ("<div>\n", "<div>\n\n@totalrecall-rules.md\n"),
            ("```\nopen\n", "@totalrecall-rules.md\n\n```\nopen\n"),
            ("\u{feff}<!-- open\n", "\u{feff}@totalrecall-rules.md\n\n<!-- open\n"),
            ("```\n@totalrecall-rules.md\n```\n", "```\n@totalrecall-rules.md\n```\n\n@totalrecall-rules.md\n"),
        ] {
            let added = add(before.as_bytes(), NAME).unwrap().unwrap();
            assert_eq!(String::from_utf8_lossy(&added.file), after, "{before:?}");
        }
        for there in ["@totalrecall-rules.md", "x\n  @./totalrecall-rules.md \r\ny", "\u{feff}@totalrecall-rules.md\n"]
        {
            assert_eq!(add(there.as_bytes(), NAME).unwrap(), None, "{there:?}");
        }
        assert_eq!(add(b"\xff\xfea\0", NAME), Err(BlockError::Utf16));
    }

    #[test]
    fn what_the_person_wrote_behind_it_stays() {
        let added = add(b"a", NAME).unwrap().unwrap();
        let mut later = added.file;
        later.extend_from_slice(b"b\n");
        let without = remove(&later, NAME, added.gap).unwrap().unwrap();
        assert_eq!(String::from_utf8_lossy(&without), "a\n\nb\n");
    }

    proptest! {
        #[test]
        fn removed_is_as_before_and_added_twice_is_added_once(
            before in proptest::collection::vec(prop_oneof![
                "(a|b|\n|\r\n|```|~~~|<!--|-->| |@totalrecall-rules.md|@|\u{feff})".prop_map(String::into_bytes),
                proptest::collection::vec(any::<u8>(), 1..3),
            ], 0..24)
        ) {
            let before: Vec<u8> = before.concat();
            let Ok(Some(added)) = add(&before, NAME) else { return Ok(()) };
            prop_assert!(is_there(&added.file, NAME), "it is read where it stands");
            prop_assert_eq!(add(&added.file, NAME), Ok(None));
            // A line that was there but not read may be read now that the file begins otherwise; ours goes.
            prop_assert_eq!(remove(&added.file, NAME, added.gap).unwrap().unwrap(), before);
        }
    }
}
