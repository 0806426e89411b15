//! Text to terms, the same for what is stored and for what is asked.
//!
//! A text is brought into one form (NFKC, see [`fold`](mod@fold)) and cut into chunks at blanks and punctuation. A chunk is
//! split at the borders it shows, and each level is kept whole as well, because who asks for an identifier means that
//! identifier: `src/user_store.rs` gives `src`, `user`, `store`, `userstore`, `rs`, `user_store.rs` and the path.
//! `userStore`, `user-store` and `user_store` share the whole `userstore`. Versions and other numbers with dots stay in
//! one piece. Scripts without blanks between words become single characters
//! and pairs of neighbours, which finds as much as a dictionary would.
//!
//! Everything is linear in the text, whatever it holds: a whole longer than [`MAX_TERM`] is left out before it is built,
//! a word longer than that is cut.

pub mod fold;
mod stem;
mod stop;

pub use stem::Stems;
pub use stop::is_stop;

use fold::{fold, is_unspaced, normal};
use unicode_normalization::char::is_combining_mark;

/// Bytes of the longest term. Longer ones are blobs (base64, minified code) nobody types; the limit bounds what they cost.
pub const MAX_TERM: usize = 64;

/// The typed one and the one of print.
const APOSTROPHES: [char; 2] = ['\'', '’'];

/// French before an apostrophe, English after it.
const GRAMMAR: [&str; 13] = ["l", "d", "j", "n", "s", "c", "m", "t", "qu", "ll", "re", "ve", "em"];

/// What a term is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A word, a number, or a part of an identifier.
    Word,
    /// Several words in one: an identifier, a file name, a path.
    Whole,
    /// One character of a script that does not space its words.
    Character,
    /// Two such characters side by side.
    Pair,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Folded, not stemmed. At most [`MAX_TERM`] bytes, never empty.
    pub text: &'a str,
    /// What it is made of.
    pub form: Form,
    /// Number of its place in the text, from 0. A [`Form::Whole`] has that of its first part, a [`Form::Pair`] that of its
    /// first character.
    pub position: u32,
}

/// Calls `each` with the pieces of `text`, in order; a whole comes after its parts.
pub fn pieces(text: &str, each: impl FnMut(Piece<'_>)) {
    let text = normal(text);
    let mut splitter = Splitter { each, position: 0, folded: String::new() };
    text.split(is_break).for_each(|chunk| splitter.chunk(chunk));
}

/// Calls `each` with the terms of `text` as they stand in an index: pieces, words stemmed.
pub fn terms(text: &str, stems: &mut Stems, mut each: impl FnMut(&str)) {
    pieces(text, |piece| each(stems.term(piece)));
}

fn is_break(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | '\'' | '’') || is_combining_mark(c))
}

/// Cuts chunks into pieces.
struct Splitter<F> {
    each: F,
    position: u32,
    /// Of the piece at hand; here for its memory only.
    folded: String,
}

impl<F: FnMut(Piece<'_>)> Splitter<F> {
    /// A path, or less than one.
    fn chunk(&mut self, chunk: &str) {
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

    fn all(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        pieces(text, |piece| found.push(piece.text.to_owned()));
        found
    }

    #[test]
    fn identifiers_are_split_and_kept() {
        assert_eq!(all("getUserName"), ["get", "user", "name", "getusername"]);
        assert_eq!(all("get_user-name"), ["get", "user", "name", "getusername"]);
        assert_eq!(all("HTTPServer2"), ["http", "server", "2", "httpserver2"]);
        assert_eq!(all("plain"), ["plain"]);
        assert_eq!(all("--dry-run"), ["dry", "run", "dryrun"]);
    }

    #[test]
    fn paths_and_names_are_kept_whole_when_short() {
        assert_eq!(all("src\\main.rs:12"), ["src", "main", "rs", "main.rs", "src/main.rs", "12"]);
        assert_eq!(all("The end."), ["the", "end"]);
        let long = "dir/".repeat(40);
        assert!(all(&long).iter().all(|piece| piece == "dir"));
    }

    #[test]
    fn numbers_and_versions_stay() {
        assert_eq!(all("tantivy v0.27.1, 404 at 10.0.0.1"), ["tantivy", "0.27.1", "404", "at", "10.0.0.1"]);
        assert_eq!(all("2026-11-30"), ["2026", "11", "30", "20261130"]);
        assert_eq!(all("a3f5e8c i18n utf8"), ["a3f5e8c", "i18n", "utf", "8", "utf8"]);
    }

    #[test]
    fn apostrophes() {
        assert_eq!(all("l'index d’Ann's don't 'quoted'"), ["index", "ann", "dont", "quoted"]);
    }

    #[test]
    fn scripts_without_blanks_become_characters_and_pairs() {
        assert_eq!(all("検索エ"), ["検", "検索", "索", "索エ", "エ"]);
        assert_eq!(all("用Rust写"), ["用", "rust", "写"]);
        assert_eq!(all("한국 ﾊﾟ"), ["한", "한국", "국", "パ"]);
    }

    #[test]
    fn accents_and_width_do_not_matter() {
        assert_eq!(all("Déjà ＦＵＬＬ Straße Łódź ﬁn"), ["deja", "full", "strasse", "lodz", "fin"]);
    }

    #[test]
    fn a_whole_stands_where_its_first_part_does() {
        let mut found = Vec::new();
        pieces("see getUserName now", |piece| found.push((piece.text.to_owned(), piece.position)));
        let whole = found.iter().find(|(text, _)| text == "getusername").map(|(_, position)| *position);
        assert_eq!(whole, Some(1));
        assert_eq!(found.last(), Some(&("now".to_owned(), 4)));
    }

    #[test]
    fn huge_chunks_are_cut_in_linear_time() {
        for unit in ["a", "aB", "a.", "a/", "a'", "_", "é", "1a", "検"] {
            let mut count = 0;
            pieces(&unit.repeat(200_000), |piece| {
                assert!(piece.text.len() <= MAX_TERM);
                count += 1;
            });
            assert!(count <= 400_000, "{unit} gives {count}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_case_and_form_do_not_matter(text in "\\PC{0,80}") {
            let mut last = 0;
            pieces(&text, |piece| {
                assert!(!piece.text.is_empty() && piece.text.len() <= MAX_TERM);
                assert!(piece.position <= last + 1);
                last = last.max(piece.position);
            });
        }

        #[test]
        fn words_split_alike_in_any_normal_form(text in "[a-zà-ÿ ]{0,60}") {
            use unicode_normalization::UnicodeNormalization;
            prop_assert_eq!(all(&text), all(&text.nfd().collect::<String>()));
            prop_assert_eq!(all(&text), all(&text.nfc().collect::<String>().to_uppercase()));
        }
    }
}
