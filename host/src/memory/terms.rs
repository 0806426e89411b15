//! The words of a question and of what it is asked of, made alike: case, accents and widths do not matter, and scripts
//! without blanks between words are taken in pairs of characters.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

/// Most terms of one question.
const TERMS: usize = 64;

/// Words that nearly everything has. A question of nothing else is about them all the same.
const COMMON: &str = " a an and are as at be by can did do does for from has have how i if in is it its me my no not of on or \
    our so that the their then there this to was we what when where which who why will with you your \
    au aux avec ce ces dans de des du elle en est et il ils je la le les leur lui ma mais me ne nous ou par pas pour qu que \
    qui sa se ses son sont sur tu un une vous ";

/// A text as it is compared: compatible forms and letters of both cases are one, accents of Latin, Greek and Cyrillic gone.
pub fn fold(text: &str) -> String {
    let bare = text.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).flat_map(char::to_lowercase);
    // Lower case may bring accents of its own (`İ`); what was taken apart and is no accent (Hangul, Kana) goes together again.
    bare.filter(|c| !('\u{300}'..='\u{36f}').contains(c)).nfc().collect()
}

/// Is this a character of a script that puts no blanks between words?
fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// What a question asks for, folded, each once: words, and of dense scripts the pairs of neighbours. Common words are left
/// out, unless there are no others.
pub fn terms(question: &str) -> BTreeSet<String> {
    let folded = fold(question);
    let mut all = BTreeSet::new();
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let dense = is_dense(first);
            let end = rest.char_indices().find(|(_, c)| is_dense(*c) != dense).map_or(rest.len(), |(at, _)| at);
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
        !is_short && !COMMON.contains(&format!(" {term} "))
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
