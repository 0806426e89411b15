//! What a person's words are about, so that two ways of saying the same thing can be told from two different things.
//!
//! A text becomes a set of content tokens: words of scripts that separate them, pairs of characters of those that do
//! not, without the words that carry no content in English, Chinese, French and Japanese. A token that is said *not*
//! to be wanted ("use pnpm, not npm") is another token than the wanted one, for "tabs, not spaces" and "spaces, not
//! tabs" have the same words and opposite meanings.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use super::lexicon::{self, Negation};

/// Tokens kept of one text. A correction is short; what is longer (a pasted log) is no statement to compare.
const TOKENS: usize = 64;

/// Characters looked at of one text.
const CHARS: usize = 2_000;

/// The content of what a person said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Words {
    /// Ascending, without duplicates. A rejected token begins with [`REJECTED`].
    tokens: Vec<String>,
}

/// Marks a token that the person does not want. No token of a text begins with it.
pub(super) const REJECTED: char = '-';

impl Words {
    /// The content of `text`.
    pub fn of(text: &str) -> Self {
        let folded = fold(text);
        let pieces = pieces(&folded);
        let japanese = folded.chars().any(is_kana);
        let mut tokens = BTreeSet::new();
        let mut clause: Vec<String> = Vec::new();
        let mut rejecting = false;
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Boundary => {
                    flush(&mut clause, false, &mut tokens);
                    rejecting = false;
                }
                Piece::Word(word) => match lexicon::negation(word, &pieces[index + 1..], rejecting) {
                    Negation::Begins => {
                        flush(&mut clause, rejecting, &mut tokens);
                        rejecting = true;
                    }
                    Negation::Ends if rejecting && !clause.is_empty() => {
                        flush(&mut clause, true, &mut tokens);
                        rejecting = false;
                    }
                    Negation::Ends | Negation::None => clause.extend(content_word(word)),
                },
                Piece::Han(run) if japanese => clause.extend(pairs(run, lexicon::JAPANESE_EMPTY)),
                Piece::Han(run) => chinese(run, &mut clause, &mut rejecting, &mut tokens),
                Piece::Kana(run) => {
                    clause.extend(katakana(run));
                    // Japanese says it behind: "npm ではなく pnpm".
                    if lexicon::rejects_before(run) {
                        flush(&mut clause, true, &mut tokens);
                    }
                }
            }
            if matches!(pieces.get(index + 1), None | Some(Piece::Boundary)) {
                flush(&mut clause, rejecting, &mut tokens);
            }
            if tokens.len() >= TOKENS {
                break;
            }
        }
        Self { tokens: tokens.into_iter().take(TOKENS).collect() }
    }

    /// The content whose tokens were joined with spaces: an anchor's key.
    pub(super) fn of_key(key: &str) -> Self {
        let tokens: BTreeSet<&str> = key.split(' ').filter(|token| !token.is_empty()).collect();
        Self { tokens: tokens.into_iter().take(TOKENS).map(str::to_owned).collect() }
    }

    /// The tokens, ascending.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// A text that says nothing but that something is wrong.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// A text in the one form in which texts are compared: compatible forms made equal, marks of the Latin script dropped
/// (people leave them out when in haste), lower case.
pub fn fold(text: &str) -> String {
    let head = match text.char_indices().nth(CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    if head.is_ascii() {
        return head.to_ascii_lowercase();
    }
    let bare: String = head.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).collect();
    bare.nfc().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }).collect()
}

#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Word(String),
    Han(String),
    Kana(String),
    Boundary,
}

fn pieces(folded: &str) -> Vec<Piece> {
    let chars: Vec<char> = folded.chars().collect();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let class: fn(char) -> bool = match c {
            c if is_han(c) => is_han,
            c if is_kana(c) => is_kana,
            c if is_letter(c) => is_letter,
            c => {
                let inside = at > 0 && is_letter(chars[at - 1]) && chars.get(at + 1).is_some_and(|c| is_letter(*c));
                if ends_clause(c) && !(inside && c.is_ascii()) && pieces.last() != Some(&Piece::Boundary) {
                    pieces.push(Piece::Boundary);
                }
                at += 1;
                continue;
            }
        };
        let end = chars[at..].iter().position(|c| !class(*c)).map_or(chars.len(), |length| at + length);
        let run: String = chars[at..end].iter().collect();
        match c {
            c if is_han(c) => pieces.push(Piece::Han(run)),
            c if is_kana(c) => pieces.push(Piece::Kana(run)),
            _ => split_elision(&run, &mut pieces),
        }
        at = end;
    }
    pieces
}

/// French binds small words to the next one: "l'option", "n'utilise pas".
fn split_elision(run: &str, pieces: &mut Vec<Piece>) {
    match run.split_once('\'') {
        Some((small @ ("l" | "d" | "n" | "j" | "m" | "t" | "s" | "c" | "qu"), rest)) if rest.chars().count() > 1 => {
            if small == "n" {
                pieces.push(Piece::Word("ne".into()));
            }
            pieces.push(Piece::Word(rest.trim_matches('\'').into()));
        }
        _ => {
            let word = run.trim_matches('\'');
            if !word.is_empty() {
                pieces.push(Piece::Word(word.into()));
            }
        }
    }
}

fn is_letter(c: char) -> bool {
    (c.is_alphanumeric() || c == '_' || c == '\'') && !is_han(c) && !is_kana(c)
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30ff}')
}

fn ends_clause(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '\n'
            | '('
            | ')'
            | '。'
            | '、'
            | '，'
            | '；'
            | '：'
            | '！'
            | '？'
            | '—'
            | '–'
    )
}

fn flush(clause: &mut Vec<String>, rejected: bool, tokens: &mut BTreeSet<String>) {
    for token in clause.drain(..) {
        tokens.insert(if rejected { format!("{REJECTED}{token}") } else { token });
    }
}

fn content_word(word: &str) -> Option<String> {
    if lexicon::is_empty_word(word) {
        return None;
    }
    Some(stem(word))
}

/// The word without the endings that English and French put on it. It need not be a word any more, only the same for
/// all forms.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit() || b == b'_') {
        return word.to_owned();
    }
    let mut stem = word.split('\'').next().unwrap_or(word);
    if stem.len() > 3 && stem.ends_with('s') && !stem.ends_with("ss") && !stem.ends_with("us") && !stem.ends_with("is")
    {
        stem = &stem[..stem.len() - 1];
    }
    for ending in ["ing", "ed", "er", "ez"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.len() >= 3
        {
            let bytes = rest.as_bytes();
            let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && !rest.ends_with("ss");
            stem = if doubled { &rest[..rest.len() - 1] } else { rest };
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => stem.to_owned(),
    }
}

/// Chinese puts no space anywhere, so the run is cut where a negation or a word without content stands.
fn chinese(run: &str, clause: &mut Vec<String>, rejecting: &mut bool, tokens: &mut BTreeSet<String>) {
    let mut rest = run;
    let mut content = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some(whole) = lexicon::starts_with(rest, lexicon::CHINESE_WHOLE) {
            content.push_str(&rest[..whole]);
            rest = &rest[whole..];
        } else if let Some(negation) = lexicon::starts_with(rest, lexicon::CHINESE_REJECTS) {
            clause.extend(pairs(&content, lexicon::CHINESE_EMPTY));
            content.clear();
            flush(clause, *rejecting, tokens);
            *rejecting = true;
            rest = &rest[negation..];
        } else if let Some(wanted) = lexicon::starts_with(rest, lexicon::CHINESE_WANTS) {
            clause.extend(pairs(&content, lexicon::CHINESE_EMPTY));
            content.clear();
            if !clause.is_empty() {
                flush(clause, *rejecting, tokens);
                *rejecting = false;
            }
            rest = &rest[wanted..];
        } else if let Some(filler) = lexicon::starts_with(rest, lexicon::CHINESE_FILLERS) {
            clause.extend(pairs(&content, lexicon::CHINESE_EMPTY));
            content.clear();
            rest = &rest[filler..];
        } else {
            content.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    clause.extend(pairs(&content, lexicon::CHINESE_EMPTY));
}

/// Pairs of neighbouring characters of a run, after taking away at its ends the characters in `empty`.
fn pairs(run: &str, empty: &str) -> Vec<String> {
    let run = run.trim_matches(|c| empty.contains(c));
    // "Before" is said behind what comes later, and begins other words ("front end").
    let chars: Vec<char> = run.strip_suffix('前').unwrap_or(run).chars().collect();
    match chars.len() {
        0 => Vec::new(),
        1 | 2 => vec![chars.iter().collect()],
        _ => chars.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

/// Katakana writes content (names, loan words); hiragana between them is grammar.
fn katakana(run: &str) -> impl Iterator<Item = String> + '_ {
    run.split(|c| !matches!(c, '\u{30a1}'..='\u{30ff}'))
        .filter(|word| word.chars().count() > 1 && !lexicon::is_empty_word(word))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        Words::of(text).tokens().to_vec()
    }

    #[test]
    fn what_is_rejected_is_told_from_what_is_wanted() {
        for text in [
            "no, use pnpm not npm!",
            "I said pnpm, not npm",
            "Please use pnpm instead of npm.",
            "don't use npm, use pnpm",
        ] {
            assert_eq!(tokens(text), ["-npm", "pnpm"], "{text}");
        }
        for text in [
            "不要用 npm，用 pnpm",
            "请用pnpm，别用npm",
            "pnpmを使って、npmは使わないで",
            "npmではなくpnpmを使ってください",
        ] {
            assert_eq!(tokens(text), ["-npm", "pnpm"], "{text}");
        }
        for text in ["utilise pnpm, pas npm", "n'utilise pas npm, utilise pnpm", "pnpm au lieu de npm"] {
            assert_eq!(tokens(text), ["-npm", "pnpm"], "{text}");
        }
        assert_eq!(tokens("don't use spaces but tabs"), ["-spac", "tab"]);
    }

    #[test]
    fn forms_of_a_word_are_one_token() {
        assert_eq!(tokens("stop adding comments"), tokens("Don't ADD any comment"));
        assert_eq!(tokens("ｆｕｌｌ　ｗｉｄｔｈ"), tokens("full width"));
        assert_eq!(tokens("le déploiement a échoué"), tokens("le deploiement a echoue"));
    }

    #[test]
    fn chinese_and_japanese_have_content() {
        assert_eq!(tokens("请用中文写注释"), ["中文", "写注", "文写", "注释"]);
        assert_eq!(tokens("テストを実行してください"), ["テスト", "実行"]);
        assert_ne!(tokens("测试没有跑"), tokens("文档没有写"));
    }

    #[test]
    fn mere_objections_have_none() {
        for text in ["no!", "That's not what I wanted.", "不对", "违います", "ちがう", "non, pas ça", "", "🙄"]
        {
            let tokens = tokens(text);
            assert!(tokens.is_empty() || text == "违います", "{text}: {tokens:?}");
        }
    }
}
