//! Where a text is cut.

use super::fold::{fold, is_unspaced, normal};
use super::{Form, MAX_TERM, Piece};
use unicode_normalization::char::is_combining_mark;

/// The typed one and the one of print.
const APOSTROPHES: [char; 2] = ['\'', '’'];

/// French before an apostrophe, English after it.
const GRAMMAR: [&str; 13] = ["l", "d", "j", "n", "s", "c", "m", "t", "qu", "ll", "re", "ve", "em"];

/// Of ASCII, by its number.
const BREAKS: [bool; 128] = {
    let mut breaks = [true; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        let goes_on = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'\\' | b'\'');
        breaks[byte as usize] = !goes_on;
        byte += 1;
    }
    breaks
};

fn is_break(c: char) -> bool {
    match BREAKS.get(c as usize) {
        Some(is_break) => *is_break,
        None => !(is_frequent_letter(c) || c.is_alphanumeric() || c == '’' || is_combining_mark(c)),
    }
}

/// Whether `c` is a Chinese, Japanese or Korean letter as most are: it takes long to look them up.
fn is_frequent_letter(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{ac00}'..='\u{d7a3}')
}

/// Cuts chunks into pieces.
pub(super) struct Splitter<F> {
    each: F,
    position: u32,
    /// Of the piece at hand; here for its memory only.
    folded: String,
}

impl<F: FnMut(Piece<'_>)> Splitter<F> {
    pub(super) fn new(each: F) -> Self {
        Self { each, position: 0, folded: String::new() }
    }

    pub(super) fn text(&mut self, text: &str) {
        let text = normal(text);
        let (mut begun, mut at) = (0, 0);
        while let Some(byte) = text.as_bytes().get(at) {
            // Most texts are ASCII for the most part, which need not be decoded.
            let (is_break, width) = match BREAKS.get(usize::from(*byte)) {
                Some(is_break) => (*is_break, 1),
                None => text[at..].chars().next().map_or((true, 1), |c| (is_break(c), c.len_utf8())),
            };
            if is_break {
                self.chunk(&text[begun..at]);
                begun = at + width;
            }
            at += width;
        }
        self.chunk(&text[begun..]);
    }

    /// A path, or less than one.
    fn chunk(&mut self, chunk: &str) {
        if chunk.is_empty() {
            return;
        }
        // Most chunks are words: nothing that the following looks for is in them.
        let plain = chunk.trim_matches(|c: char| c.is_ascii_punctuation());
        if is_plain(plain) { self.word(plain) } else { self.compound(chunk) }
    }

    /// What may be more than one piece.
    fn compound(&mut self, chunk: &str) {
        let segments = || chunk.split(['/', '\\']).filter(|segment| segment.contains(char::is_alphanumeric));
        let first = self.position;
        segments().for_each(|segment| self.segment(segment));
        if segments().nth(1).is_some() {
            self.whole(chunk, segments, "/", first);
        }
    }

    /// A file name, a version, or less.
    fn segment(&mut self, segment: &str) {
        let segment = segment.trim_matches(|c: char| !c.is_alphanumeric());
        if is_version(segment) {
            return self.word(segment.trim_start_matches(['v', 'V']));
        }
        let names = || segment.split('.').filter(|name| name.contains(char::is_alphanumeric));
        let first = self.position;
        names().for_each(|name| self.name(name));
        if names().nth(1).is_some() {
            self.whole(segment, names, ".", first);
        }
    }

    /// What is around apostrophes, without what is only grammar: of "l'index" and "Ann's" the long piece, "don't" in one.
    fn name(&mut self, name: &str) {
        let Some((head, tail)) = name.split_once(APOSTROPHES) else { return self.scripts(name) };
        if tail.eq_ignore_ascii_case("t") && head.ends_with(['n', 'N']) {
            return self.emit([head, tail].into_iter(), Form::Word);
        }
        let is_grammar = |piece: &str| GRAMMAR.iter().any(|other| piece.eq_ignore_ascii_case(other));
        name.split(APOSTROPHES).filter(|piece| !is_grammar(piece)).for_each(|piece| self.scripts(piece));
    }

    /// Runs of scripts with and without blanks between words, in turn.
    fn scripts(&mut self, mut text: &str) {
        while let Some(first) = text.chars().next() {
            let is_run = is_unspaced(first);
            let end = text.find(|c| is_unspaced(c) != is_run).unwrap_or(text.len());
            let (run, rest) = text.split_at(end);
            if is_run {
                self.characters(run)
            } else {
                self.identifier(run)
            }
            text = rest;
        }
    }

    fn characters(&mut self, run: &str) {
        let mut chars = run.char_indices().peekable();
        while let Some((start, c)) = chars.next() {
            let end = start + c.len_utf8();
            (self.each)(Piece { text: &run[start..end], form: Form::Character, position: self.position });
            if let Some((next, d)) = chars.peek() {
                let text = &run[start..next + d.len_utf8()];
                (self.each)(Piece { text, form: Form::Pair, position: self.position });
            }
            self.position += 1;
        }
    }

    /// `snake_case`, `kebab-case`, `camelCase`, `utf8`, or a plain word.
    fn identifier(&mut self, name: &str) {
        let first = self.position;
        let mut count = 0;
        for word in name.split(['_', '-']).filter(|word| !word.is_empty()) {
            let mut rest = word;
            if !is_opaque(word) {
                while let Some(border) = border(rest) {
                    let (part, after) = rest.split_at(border);
                    self.word(part);
                    count += 1;
                    rest = after;
                }
            }
            self.word(rest);
            count += 1;
        }
        if count > 1 {
            self.whole(name, || name.split(['_', '-']), "", first);
        }
    }

    fn word(&mut self, word: &str) {
        self.emit(std::iter::once(word), Form::Word);
    }

    fn emit<'t>(&mut self, parts: impl Iterator<Item = &'t str>, form: Form) {
        self.folded.clear();
        for part in parts {
            // Folding does not shorten a text by more than a fifth or so, so what is cut here would be cut below.
            fold(&part[..part.floor_char_boundary(8 * MAX_TERM)], &mut self.folded);
        }
        self.folded.truncate(self.folded.floor_char_boundary(MAX_TERM));
        if !self.folded.is_empty() {
            (self.each)(Piece { text: &self.folded, form, position: self.position });
            self.position += 1;
        }
    }

    /// The parts of `of` in one, at the place of the first.
    fn whole<'t, I: Iterator<Item = &'t str>>(&mut self, of: &str, parts: impl Fn() -> I, by: &str, position: u32) {
        if of.len() > MAX_TERM || of.contains(is_unspaced) {
            return;
        }
        self.folded.clear();
        for (i, part) in parts().enumerate() {
            if i > 0 {
                self.folded.push_str(by);
            }
            fold(part, &mut self.folded);
        }
        // Folding may lengthen (`ß`).
        if self.folded.len() <= MAX_TERM && !self.folded.is_empty() {
            (self.each)(Piece { text: &self.folded, form: Form::Whole, position });
        }
    }
}

/// `word`, `Word`, `404`: one piece.
fn is_plain(text: &str) -> bool {
    let Some((first, rest)) = text.as_bytes().split_first() else { return false };
    first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase)
        || first.is_ascii_digit() && rest.iter().all(u8::is_ascii_digit)
}

/// `1.2`, `v1.2.3`, `10.0.0.1`.
fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    digits.contains('.') && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !digits.contains("..")
}

/// Where the first part of an identifier ends, if it has more than one.
fn border(word: &str) -> Option<usize> {
    let mut chars = word.char_indices().filter(|(_, c)| !is_combining_mark(*c)).peekable();
    let mut before = chars.next()?.1;
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        let is_camel = c.is_uppercase()
            && (before.is_lowercase() || before.is_uppercase() && after.is_some_and(char::is_lowercase));
        if is_camel || before.is_numeric() != c.is_numeric() {
            return Some(at);
        }
        before = c;
    }
    None
}

/// Whether letters and digits are so mixed that the parts would say nothing: hashes, `i18n`.
fn is_opaque(word: &str) -> bool {
    let turns = word.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    turns >= 2 && word.len() < 3 * (turns + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frequent_letters_are_letters() {
        assert!(('\u{3000}'..='\u{d7ff}').filter(|c| is_frequent_letter(*c)).all(char::is_alphanumeric));
    }

    proptest! {
        #[test]
        fn plain_words_are_cut_as_all_others(chunk in "[-_./\\\\']{0,2}[A-Za-z]?[a-z0-9]{0,70}[-_./\\\\'’a-z]{0,3}") {
            let cut = |is_compound: bool| {
                let mut pieces = Vec::new();
                let mut splitter =
                    Splitter::new(|piece: Piece<'_>| pieces.push((piece.text.to_owned(), piece.form, piece.position)));
                if is_compound { splitter.compound(&chunk) } else { splitter.chunk(&chunk) }
                pieces
            };
            prop_assert!(chunk.is_empty() || cut(true) == cut(false));
        }
    }
}
