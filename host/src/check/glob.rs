//! Globs of words and of paths.

use std::borrow::Cow;

use globset::GlobBuilder;

/// Longest glob: patterns are words and paths.
const LONGEST: usize = 1024;

/// Whether a word is what a glob says. `*` stands for any characters, `?` for one; nothing else is special, for words of commands are
/// full of brackets and braces.
pub(super) fn matches(glob: &str, word: &str) -> bool {
    if !glob.contains(['*', '?']) {
        return glob == word;
    }
    // The usual two pointers: on a mismatch, the last star takes one character more. Quadratic at worst, and both are short.
    let (glob, word): (Vec<char>, Vec<char>) =
        (glob.chars().take(LONGEST).collect(), word.chars().take(LONGEST).collect());
    let (mut at, mut seen, mut star) = (0, 0, None);
    while seen < word.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(c) if *c == '?' || *c == word[seen] => (at, seen) = (at + 1, seen + 1),
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, seen) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|c| *c == '*')
}

/// Whether a glob fits every word.
pub(super) fn is_open(glob: &str) -> bool {
    glob.chars().all(|c| c == '*')
}

/// A line without quotes and escapes, which may stand in the midst of a word.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    let is_quote = |c| matches!(c, '\'' | '"' | '\\' | '\n');
    if line.contains(is_quote) { line.replace(is_quote, "").into() } else { line.into() }
}

/// Whether a plain line can have a word that the glob fits.
pub(super) fn may_be_in(glob: &str, plain: &str) -> bool {
    glob.split(['*', '?']).all(|part| plain.contains(part))
}

/// Whether a path is what a glob says: `**` crosses folders, `*` does not, and a glob without a folder fits in every folder.
pub(super) fn matches_path(glob: &str, path: &str) -> bool {
    if glob.len() > LONGEST {
        return false;
    }
    let anchored = glob.strip_prefix("./").or_else(|| glob.strip_prefix('/'));
    let whole = match anchored {
        Some(anchored) => anchored.to_owned(),
        None if glob.contains('/') => glob.to_owned(),
        None => format!("**/{glob}"),
    };
    // A folder stands for all that is in it.
    let whole = if whole.ends_with('/') { format!("{whole}**") } else { whole };
    GlobBuilder::new(&whole).literal_separator(true).build().is_ok_and(|glob| glob.compile_matcher().is_match(path))
}
