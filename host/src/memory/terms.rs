//! The words of a question and of what it is asked of, made alike as search does it: case, accents and widths do not
//! matter, and scripts without blanks between words are taken in pairs of characters.

use std::collections::BTreeSet;

use totalrecall_retrieval::tokens::{
    Form, Piece, Stems,
    fold::{fold as fold_into, is_unspaced, normal},
    is_stop, terms as each_term,
};

/// Most terms of one question.
const TERMS: usize = 64;

/// A text as it is compared: compatible forms and letters of both cases are one, accents of Latin, Greek and Cyrillic gone.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(&normal(text), &mut folded);
    folded
}

/// The stems of a text's words, as an index has them.
pub fn stems(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_term(text, &mut Stems::default(), |term| {
        found.insert(term.to_owned());
    });
    found
}

/// The stem of a folded word.
pub fn stem(word: &str) -> String {
    Stems::default().term(Piece { text: word, form: Form::Word, position: 0 }).to_owned()
}

/// What a question asks for, folded, each once: words, and of dense scripts the pairs of neighbours. Common words are left
/// out, unless there are no others.
pub fn terms(question: &str) -> BTreeSet<String> {
    let folded = fold(question);
    let mut all = BTreeSet::new();
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let dense = is_unspaced(first);
            let end = rest.char_indices().find(|(_, c)| is_unspaced(*c) != dense).map_or(rest.len(), |(at, _)| at);
            let (run, after) = rest.split_at(end);
            if dense && run.chars().nth(1).is_some() {
                let places: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
                all.extend(places.windows(3).map(|pair| run[pair[0]..pair[2]].to_owned()));
            } else {
                all.insert(run.to_owned());
            }
            rest = after;
        }
    }
    let is_telling = |term: &String| {
        let is_short = term.len() < 2 && !term.bytes().all(|byte| byte.is_ascii_digit());
        !is_short && !is_stop(term)
    };
    let telling: BTreeSet<String> = all.iter().filter(|term| is_telling(term)).cloned().collect();
    (if telling.is_empty() { all } else { telling }).into_iter().take(TERMS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(question: &str) -> Vec<String> {
        terms(question).into_iter().collect()
    }

    #[test]
    fn case_accents_and_widths_do_not_matter() {
        for (a, b) in [
            ("Déploiement", "deploiement"),
            ("de\u{301}ploiement", "DEPLOIEMENT"),
            ("ＡＰＩ", "api"),
            ("ÅNGSTRÖM", "angstrom"),
            ("ΛΌΓΟΣ", "λογοσ"),
            ("İstanbul", "istanbul"),
            ("ｶﾞ", "ガ"),
            ("한국어", "\u{1112}\u{1161}\u{11ab}국어"),
            ("Straße", "STRASSE"),
        ] {
            assert_eq!(fold(a), fold(b), "{a}");
        }
        assert_ne!(fold("か"), fold("が"), "these are two sounds, not one with an accent");
    }

    #[test]
    fn a_question_is_its_telling_words() {
        assert_eq!(listed("Where is the deploy-key of API2?"), ["api2", "deploy", "key"]);
        assert_eq!(listed("What is it"), ["is", "it", "what"], "nothing else is asked");
        assert_eq!(listed("部署密钥在哪"), ["在哪", "密钥", "署密", "部署", "钥在"]);
        assert_eq!(listed("用 pnpm安装"), ["pnpm", "安装", "用"]);
        assert_eq!(listed("  ?! "), Vec::<String>::new());
    }

    proptest::proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "\\PC{0,40}") {
            let once = fold(&text);
            proptest::prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn terms_stand_in_the_text(text in "\\PC{0,60}") {
            let folded = fold(&text);
            for term in terms(&text) {
                proptest::prop_assert!(folded.contains(&term));
            }
        }
    }
}
