//! What the person's words say.

use std::sync::LazyLock;

use super::evidence::{Case, Evidence};
use crate::cue::Cue;
use crate::language::{Patterns, Tokens, broad, chinese, english, french, is_kana, is_wide, japanese};
use crate::prose::Prose;

/// Words in capitals that are emphasis; most others are names.
const SHOUTED: &[&str] = &[
    "NOT", "NO", "DONT", "DON'T", "NEVER", "ONLY", "STOP", "IS", "ARE", "THERE", "ALL", "STILL", "AGAIN", "WRONG",
    "WHY", "WHAT", "EXACTLY", "DID", "DOES", "WAIT", "PLEASE", "BEFORE", "EVERY", "PAS", "JAMAIS", "NON", "RIEN",
];

/// Words of a turn that is short, and of one that is long. Corrections are short; tasks and designs are long.
const SHORT: usize = 8;
const LONG: usize = 80;

/// Tokens of a long turn that are listened to, at its beginning and its end.
const HEAD: usize = 110;
const TAIL: usize = 30;

/// One language's constructions, read.
struct Language {
    harmless: Patterns,
    cues: Vec<(Cue, Patterns)>,
}

impl Language {
    fn new(harmless: &[&str], cues: &[(Cue, &[&str])]) -> Self {
        Self {
            harmless: Patterns::new(harmless),
            cues: cues.iter().map(|(cue, lines)| (*cue, Patterns::new(lines))).collect(),
        }
    }

    fn listen(&self, tokens: &Tokens, case: &mut Case) {
        let mut tokens = tokens.clone();
        tokens.mask(&self.harmless);
        for (cue, patterns) in &self.cues {
            if !case.has((*cue).into()) {
                case.add_if((*cue).into(), patterns.found(&tokens));
            }
        }
    }
}

static ENGLISH: LazyLock<Language> = LazyLock::new(|| Language::new(english::HARMLESS, english::CUES));
static FRENCH: LazyLock<Language> = LazyLock::new(|| Language::new(french::HARMLESS, french::CUES));
static CHINESE: LazyLock<Language> = LazyLock::new(|| Language::new(chinese::HARMLESS, chinese::CUES));
static JAPANESE: LazyLock<Language> = LazyLock::new(|| Language::new(japanese::HARMLESS, japanese::CUES));

/// Evidence in the person's own words; `raw` is what they were found in.
pub(super) fn listen(prose: &Prose, raw: &str) -> Case {
    let mut case = Case::default();
    let mut tokens = Tokens::new(&prose.text);
    let words = tokens.words();
    // Of a long turn the beginning and the end are about what was done; in between it tells.
    tokens.keep_ends(HEAD, TAIL);
    let wide = prose.text.chars().filter(|c| is_wide(*c)).count();
    // Characters of scripts without spaces carry about half a word each.
    let length = words - wide.min(words) / 2;
    let languages = languages(prose, &tokens, wide, words);
    let opening = tokens.first_sentence();
    let mut opens = Case::default();
    for language in &languages {
        language.listen(&tokens, &mut case);
        language.listen(&opening, &mut opens);
    }
    for (evidence, patterns) in BROAD.iter() {
        case.add_if(*evidence, patterns.found(&tokens));
    }
    case.add_if(Evidence::OpensObjecting, opens.any(&OBJECTING));
    if case.any(&[Evidence::Blame, Evidence::Insistence]) {
        // "what did I say", "why did you …": no question of somebody curious.
        case.remove(Evidence::Curiosity);
        case.remove(Evidence::Inquires);
        case.remove(Evidence::Why);
    }
    let shouts = |word: &str| SHOUTED.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
    let quiet = prose.text.chars().filter(|c| c.is_lowercase()).count() > 8;
    case.add_if(Evidence::Shouted, quiet && prose.text.split_whitespace().any(shouts));
    case.add_if(Evidence::PastedError, prose.pasted_error);
    case.add_if(Evidence::OnlyPasted, words == 0 && !raw.trim().is_empty());
    case.add_if(Evidence::Short, words > 0 && length <= SHORT);
    case.add_if(Evidence::Long, length >= LONG);
    case.add_if(Evidence::Asks, prose.text.trim_end().ends_with(['?', '？']));
    case
}

/// Constructions that object to something.
const OBJECTING: [Evidence; 18] = [
    Evidence::Convention,
    Evidence::Rejection,
    Evidence::Blame,
    Evidence::Insistence,
    Evidence::Expectation,
    Evidence::Prohibition,
    Evidence::Stop,
    Evidence::Objection,
    Evidence::MildObjection,
    Evidence::Alternative,
    Evidence::Undo,
    Evidence::StillFailing,
    Evidence::Failure,
    Evidence::Doubt,
    Evidence::Hedge,
    Evidence::But,
    Evidence::Sarcasm,
    Evidence::PastedError,
];

/// Adds what follows from several pieces together; `follows` tells whether the turn comes after something and answers no question.
pub(super) fn weigh(case: &mut Case, follows: bool) {
    let approves = case.any(&[Evidence::Praise, Evidence::Consent, Evidence::Resume]);
    let objects = case.any(&OBJECTING);
    case.add_if(Evidence::NoObjection, !objects);
    case.add_if(Evidence::OnlyTask, case.has(Evidence::Task) && !objects);
    case.add_if(Evidence::OnlyApproves, approves && case.has(Evidence::Short) && !objects);
    let moves = [
        Evidence::Task,
        Evidence::Resume,
        Evidence::Curiosity,
        Evidence::OwnChange,
        Evidence::Asks,
        Evidence::OnlyPasted,
        Evidence::Inquires,
        Evidence::GoesOn,
    ];
    case.add_if(Evidence::Statement, follows && !approves && !case.any(&moves));
}

static BROAD: LazyLock<Vec<(Evidence, Patterns)>> = LazyLock::new(|| {
    [
        (Evidence::Negates, broad::NEGATES),
        (Evidence::GoesOn, broad::GOES_ON),
        (Evidence::Inquires, broad::INQUIRES),
        (Evidence::Consequence, broad::CONSEQUENCE),
        (Evidence::Ours, broad::OURS),
        (Evidence::Why, broad::WHY),
    ]
    .into_iter()
    .map(|(evidence, lines)| (evidence, Patterns::new(lines)))
    .collect()
});

/// The languages that a text may be in.
fn languages(prose: &Prose, tokens: &Tokens, wide: usize, words: usize) -> Vec<&'static Language> {
    let mut languages: Vec<&'static Language> = Vec::new();
    if wide > 0 {
        languages.push(if prose.text.chars().any(is_kana) { &JAPANESE } else { &CHINESE });
    }
    if wide * 2 < words {
        languages.push(&ENGLISH);
        if wide == 0 && is_french(tokens) {
            languages.push(&FRENCH);
        }
    }
    languages
}

/// Whether the person says that they said it before.
pub(crate) fn reminds(text: &str) -> bool {
    REMINDERS.found(&Tokens::new(&Prose::new(text).text))
}

static REMINDERS: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::new(&[
        "i ?already|explicitly|did|had|have|just said|told_you|asked|specified|wrote|mentioned|excluded",
        "as|like i ?already|had|just said|wrote|asked|mentioned|told",
        "j ai|avais ?bien|deja|pourtant dit|demande|precise|ecrit",
        "comme ?je ?l ?ai dit|demande|precise",
        "说了|说过|讲过|强调过|刚才说|刚刚说|刚刚才说|不是说|开头就说",
        "言った|言いました|お伝えし|書いたじゃ|書いたのは|お願いした|お願いしました|と最初に",
    ])
});

/// French if it has words that English has not; short turns have one at least.
fn is_french(tokens: &Tokens) -> bool {
    const WORDS: &[&str] = &[
        "le",
        "la",
        "les",
        "un",
        "une",
        "des",
        "du",
        "de",
        "et",
        "est",
        "pas",
        "ne",
        "je",
        "tu",
        "il",
        "elle",
        "nous",
        "vous",
        "que",
        "qui",
        "ce",
        "ca",
        "c",
        "j",
        "l",
        "d",
        "n",
        "qu",
        "pour",
        "dans",
        "avec",
        "sur",
        "mais",
        "non",
        "oui",
        "plutot",
        "merci",
        "stp",
        "svp",
        "toujours",
        "encore",
        "pourquoi",
        "comment",
        "quoi",
        "rien",
        "tout",
        "fait",
        "bien",
        "ok",
        "parfait",
        "sans",
        "deux",
        "seulement",
        "uniquement",
        "voila",
        "bof",
        "euh",
    ];
    tokens.all().iter().any(|token| WORDS.contains(&token.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Case {
        listen(&Prose::new(text), text)
    }

    #[test]
    fn constructions_are_heard_in_every_language() {
        for (text, evidence) in [
            ("no, that's the wrong file", Evidence::Rejection),
            ("you removed the header", Evidence::Blame),
            ("I said only the first one", Evidence::Insistence),
            ("Could we keep the old name?", Evidence::Alternative),
            ("wouldn't it be simpler to reuse it?", Evidence::Objection),
            ("it's still failing", Evidence::StillFailing),
            ("hmm, not sure", Evidence::Hedge),
            ("non, pas comme ça", Evidence::Rejection),
            ("j'avais dit sans pandas", Evidence::Insistence),
            ("ça ne marche toujours pas", Evidence::StillFailing),
            ("on pourrait plutôt garder l'ancien ?", Evidence::Alternative),
            ("不对，应该用另一个", Evidence::Rejection),
            ("還是不行", Evidence::StillFailing),
            ("怎么又改了这个文件", Evidence::Blame),
            ("要不先放一放？", Evidence::Alternative),
            ("違います、こちらです", Evidence::Rejection),
            ("まだ動かないです", Evidence::StillFailing),
            ("元に戻してください", Evidence::Undo),
            ("もう少し短いほうがいいかもしれません", Evidence::Alternative),
        ] {
            assert!(heard(text).has(evidence), "{text}: {:?}", heard(text).evidence().collect::<Vec<_>>());
        }
    }

    #[test]
    fn false_friends_are_not_heard() {
        for (text, evidence) in [
            ("no problem, go on", Evidence::Rejection),
            ("don't worry about it", Evidence::Prohibition),
            ("没问题", Evidence::Rejection),
            ("不错", Evidence::Rejection),
            ("aucun souci", Evidence::Rejection),
            ("問題ないです", Evidence::Rejection),
            ("the log says \"this is wrong, don't\"", Evidence::Rejection),
        ] {
            assert!(!heard(text).has(evidence), "{text}");
        }
    }
}
