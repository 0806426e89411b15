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
mod split;
mod stem;
mod stop;

pub use stem::Stems;
pub use stop::is_stop;

use split::Splitter;

/// Bytes of the longest term. Longer ones are blobs (base64, minified code) nobody types; the limit bounds what they cost.
pub const MAX_TERM: usize = 64;

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
    Splitter::new(each).text(text);
}

/// Calls `each` with the terms of `text` as they stand in an index: pieces, words stemmed.
pub fn terms(text: &str, stems: &mut Stems, mut each: impl FnMut(&str)) {
    pieces(text, |piece| each(stems.term(piece)));
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
