//! One form for what is the same to a reader: width, case, accents, ligatures.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, char::decompose_canonical, is_nfkc_quick};

/// `text` in NFKC. ASCII, most of what agents write, is in it already, and begins a part of its own: no mark or letter before it
/// changes with it, only the last ASCII character before something else may.
pub fn normal(text: &str) -> Cow<'_, str> {
    if is_normal(text) {
        return Cow::Borrowed(text);
    }
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(other) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, part) = rest.split_at(other.saturating_sub(1));
        let base = usize::from(other > 0);
        let end = part[base..].bytes().position(|byte| byte.is_ascii()).map_or(part.len(), |end| base + end);
        normal.push_str(plain);
        let (part, after) = part.split_at(end);
        if is_normal(part) {
            normal.push_str(part);
        } else {
            normal.extend(part.nfkc());
        }
        rest = after;
    }
    normal.push_str(rest);
    Cow::Owned(normal)
}

/// Whether `text` is in NFKC for sure.
fn is_normal(text: &str) -> bool {
    text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes
}

/// Appends `text` in lower case and without accents.
pub fn fold(text: &str, into: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            into.push(c.to_ascii_lowercase());
        } else if c < '\u{2000}' {
            c.to_lowercase().for_each(|lower| decompose_canonical(lower, |part| fold_part(part, into)));
        } else {
            // Kana and Hangul would come apart too, and no longer be what was written.
            into.extend(c.to_lowercase());
        }
    }
}

/// Letters that Unicode does not take apart, though people leave the difference out when they type.
fn fold_part(c: char, into: &mut String) {
    match c {
        // Accents. Only those of Latin, Greek and Cyrillic: the marks of other scripts are vowels.
        '\u{300}'..='\u{36f}' => {}
        'ß' => into.push_str("ss"),
        'æ' => into.push_str("ae"),
        'œ' => into.push_str("oe"),
        'þ' => into.push_str("th"),
        'ø' => into.push('o'),
        'ł' => into.push('l'),
        'đ' | 'ð' => into.push('d'),
        'ħ' => into.push('h'),
        'ı' => into.push('i'),
        'ς' => into.push('σ'),
        other => into.push(other),
    }
}

/// Whether `c` belongs to a script that is written without blanks between words, or with so few (Korean) that words
/// alone would not be found.
pub fn is_unspaced(c: char) -> bool {
    c >= '\u{e00}'
        && matches!(c,
            '\u{e00}'..='\u{eff}' // Thai, Lao
            | '\u{1000}'..='\u{109f}' // Burmese
            | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}' // Hangul
            | '\u{1780}'..='\u{17ff}' // Khmer
            | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' // Han
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
            | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}' // kana
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(text: &str) -> String {
        let mut into = String::new();
        fold(&normal(text), &mut into);
        into
    }

    #[test]
    fn marks_go_only_where_they_are_accents() {
        assert_eq!(folded("Çà et là: ŒUVRE, ʼn, Ångström, Ελλάς, й"), "ca et la: oeuvre, \u{2bc}n, angstrom, ελλασ, и");
        assert_eq!(folded("が パ 가 हिन्दी"), "が パ 가 हिन्दी");
    }

    proptest! {
        #[test]
        fn parts_are_normal_as_the_whole_is(text in "(\\PC|[a-z ]|[eo\u{301}\u{308}\u{2026}ｶﾞ각ᄀ\u{1161}\u{11a8}]){0,40}") {
            prop_assert_eq!(normal(&text), text.nfkc().collect::<String>());
        }

        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,60}") {
            let once = folded(&text);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
