//! What is done to a text before it is cut, so that spellings of the same are the same.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// One thing that is done. Models differ in which, and in which order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    /// The forms of Unicode Standard Annex 15.
    Nfc,
    /// Likewise.
    Nfd,
    /// Likewise.
    Nfkc,
    /// Likewise.
    Nfkd,
    /// Letters that have a small form.
    Lowercase,
    /// Combining marks are taken out. It is for texts in a decomposed form.
    DropMarks,
    /// Characters that nobody sees are taken out, and blanks of all kinds made one.
    Clean,
    /// Each Chinese character becomes a word.
    PartChinese,
    /// Each `.0` becomes `.1`.
    Replace(String, String),
}

/// Does it all.
pub(super) fn normalise<'a>(text: &'a str, steps: &[Step]) -> Cow<'a, str> {
    steps.iter().fold(Cow::Borrowed(text), |text, step| match step.of(&text) {
        Some(changed) => Cow::Owned(changed),
        None => text,
    })
}

impl Step {
    /// None: it changes nothing.
    fn of(&self, text: &str) -> Option<String> {
        // Most texts of programmers are ASCII, which the forms leave as it is.
        let beyond_ascii = !text.is_ascii();
        match self {
            Self::Nfc => beyond_ascii.then(|| text.nfc().collect()),
            Self::Nfd => beyond_ascii.then(|| text.nfd().collect()),
            Self::Nfkc => beyond_ascii.then(|| text.nfkc().collect()),
            Self::Nfkd => beyond_ascii.then(|| text.nfkd().collect()),
            Self::DropMarks => beyond_ascii.then(|| text.chars().filter(|c| !is_combining_mark(*c)).collect()),
            // A letter at a time: `str::to_lowercase` looks at what is around a sigma.
            Self::Lowercase => Some(text.chars().flat_map(char::to_lowercase).collect()),
            Self::Clean => Some(text.chars().filter(|c| !is_unseen(*c)).map(blank).collect()),
            Self::PartChinese => text.contains(is_chinese).then(|| part_chinese(text)),
            Self::Replace(from, to) => text.contains(from.as_str()).then(|| text.replace(from.as_str(), to)),
        }
    }
}

fn part_chinese(text: &str) -> String {
    let mut parted = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if is_chinese(c) {
            parted.extend([' ', c, ' ']);
        } else {
            parted.push(c);
        }
    }
    parted
}

fn blank(c: char) -> char {
    if c.is_whitespace() { ' ' } else { c }
}

/// Control characters but those that part lines and words, the mark of a character that was lost, and the format characters (general
/// category Cf) that occur in texts: soft hyphens, joiners, directions, byte order marks.
fn is_unseen(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
        || matches!(c, '\u{fffd}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The blocks of Chinese characters: CJK Unified Ideographs with extensions A to E, and both of compatibility ideographs. Kana and
/// Hangul are not among them.
fn is_chinese(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

/// ASCII's marks, among which BERT counts signs like `$`, and what Unicode calls punctuation (P*) in Latin, general, CJK and full-width
/// blocks.
pub(super) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(
            c,
            '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{37e}' | '\u{387}'
                | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205e}'
                | '\u{207d}' | '\u{207e}' | '\u{208d}' | '\u{208e}' | '\u{2308}'..='\u{230b}' | '\u{2329}' | '\u{232a}'
                | '\u{2768}'..='\u{2775}' | '\u{27e6}'..='\u{27ef}' | '\u{2983}'..='\u{2998}' | '\u{2e00}'..='\u{2e4f}'
                | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{3030}' | '\u{303d}'
                | '\u{30a0}' | '\u{30fb}' | '\u{fe30}'..='\u{fe52}' | '\u{fe54}'..='\u{fe61}' | '\u{ff01}'..='\u{ff03}'
                | '\u{ff05}'..='\u{ff0a}' | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}'
                | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_bert_does_it() {
        let steps = [Step::Clean, Step::PartChinese, Step::Nfd, Step::DropMarks, Step::Lowercase];
        assert_eq!(normalise("Été\u{200b}\tNaïve\0 中文", &steps), "ete naive  中  文 ");
    }

    #[test]
    fn as_sentencepiece_does_it() {
        assert_eq!(normalise("ＡＢＣ① ﬁ", &[Step::Nfkc]), "ABC1 fi");
        assert!(matches!(normalise("plain", &[Step::Nfkc]), Cow::Borrowed("plain")));
    }
}
