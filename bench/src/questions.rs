//! Questions about coding sessions, of which it is known what answers them.
//!
//! The sessions are our made-up dialogues (`bench/signals/dialogues`), told as Claude Code would, among sessions of the
//! generator. Words of a dialogue, misspelt ones and identifiers are taken from it by chance; questions in other words, and
//! those that nothing answers, were written by hand (`bench/retrieval/questions.json`).

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use serde::Deserialize;
use totalrecall_retrieval::tokens;

use crate::corpus::{self, Plan};
use crate::dialogue::{self, Dialogue, Turn};
use crate::writer::{Setting, Tool};

/// How something is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// In words that were said side by side.
    Exact,
    /// In such words, two of them misspelt.
    Typo,
    /// By an identifier; as the words that it is made of where it has at least three, every second time.
    Identifier,
    /// In other words than were said.
    Paraphrase,
    /// In Chinese or Japanese that was said so.
    CjkExact,
    /// In Chinese or Japanese, in other words.
    CjkParaphrase,
    /// It was never spoken of.
    Absent,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Exact,
        Self::Typo,
        Self::Identifier,
        Self::Paraphrase,
        Self::CjkExact,
        Self::CjkParaphrase,
        Self::Absent,
    ];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Typo => "typo",
            Self::Identifier => "identifier",
            Self::Paraphrase => "paraphrase",
            Self::CjkExact => "CJK, exact",
            Self::CjkParaphrase => "CJK, paraphrase",
            Self::Absent => "absent",
        }
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// How it asks.
    pub kind: Kind,
    /// What is asked.
    pub text: String,
    /// The dialogue that answers it, by its number. None: nothing does.
    pub answer: Option<usize>,
}

/// What is asked about, and what is asked.
#[derive(Debug)]
pub struct Set {
    /// The dialogues, by names such as `dev/en-01`.
    pub dialogues: Vec<(String, Dialogue)>,
    /// The questions.
    pub questions: Vec<Question>,
}

/// Sets of dialogues that are used. Nobody has looked at `test2`, and it stays so.
const SETS: [&str; 2] = ["dev", "test"];

/// Words of an exact question, and of one that is misspelt.
const WORDS: [usize; 2] = [6, 4];

/// Characters of an exact question in a script without blanks.
const CHARACTERS: usize = 9;

/// Questions written by hand.
#[derive(Deserialize)]
struct Written {
    paraphrase: Vec<About>,
    cjk: Vec<About>,
    absent: Vec<String>,
}

#[derive(Deserialize)]
struct About {
    dialogue: String,
    text: String,
}

impl Set {
    /// Reads the dialogues and what was written by hand below `bench`, and makes the rest. Equal seeds give equal questions.
    ///
    /// # Errors
    /// When a file cannot be read, or a question is about no dialogue.
    pub fn load(bench: &Path, seed: u64) -> Result<Self> {
        let mut dialogues = Vec::new();
        for set in SETS {
            let of_set = dialogue::load(&bench.join("signals/dialogues").join(set))?;
            dialogues.extend(of_set.into_iter().map(|dialogue| (format!("{set}/{}", dialogue.id), dialogue)));
        }
        let path = bench.join("retrieval/questions.json");
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let written: Written = serde_json::from_reader(BufReader::new(file)).context("retrieval/questions.json")?;
        let mut questions = made(&dialogues, &mut Rng::with_seed(seed));
        let numbers: HashMap<&str, usize> = dialogues.iter().enumerate().map(|(i, (name, _))| (&**name, i)).collect();
        for (kind, about) in [(Kind::Paraphrase, written.paraphrase), (Kind::CjkParaphrase, written.cjk)] {
            for About { dialogue, text } in about {
                let answer = *numbers.get(&*dialogue).with_context(|| format!("there is no dialogue {dialogue}"))?;
                questions.push(Question { kind, text, answer: Some(answer) });
            }
        }
        questions.extend(written.absent.into_iter().map(|text| Question { kind: Kind::Absent, text, answer: None }));
        Ok(Self { dialogues, questions })
    }

    /// Writes the dialogues as transcripts, spread among generated sessions; gives the session of each dialogue.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, plan: &Plan) -> Result<Vec<String>> {
        corpus::write(plan)?;
        let mut rng = Rng::with_seed(plan.seed);
        let step = corpus::DAYS * 86_400_000 / self.dialogues.len() as i64;
        let mut sessions = Vec::new();
        for (i, (name, dialogue)) in self.dialogues.iter().enumerate() {
            let start = plan.until.as_millisecond() - (i as i64 + 1) * step;
            let setting = Setting { folder: &plan.out, cwd: "/home/dev/work/demo", version: i, start };
            let told = dialogue::tell(Tool::ClaudeCode, &dialogue.turns, &setting, &mut rng);
            sessions.push(told.with_context(|| format!("{name} as a transcript"))?.session);
        }
        Ok(sessions)
    }
}

/// What is said in a dialogue, turn by turn: words of people and of the agent.
fn said(dialogue: &Dialogue) -> Vec<&str> {
    let mut said = Vec::new();
    for turn in &dialogue.turns {
        match turn {
            Turn::User(words) | Turn::Steer(words) => said.push(words.text.as_str()),
            Turn::Agent { text } => said.push(text),
            _ => {}
        }
    }
    said
}

/// All that can be found of a dialogue: what is said, the files and commands of calls, and what came of them.
fn findable(dialogue: &Dialogue) -> String {
    let mut text = said(dialogue).join("\n");
    for turn in &dialogue.turns {
        let more = match turn {
            Turn::Call { input, .. } => ["file_path", "command", "pattern"].map(|key| input[key].as_str()),
            Turn::Result { text, words, .. } => [Some(text.as_str()), words.as_deref(), None],
            _ => continue,
        };
        more.into_iter().flatten().for_each(|more| text = format!("{text}\n{more}"));
    }
    text
}

/// Questions that are taken from the dialogues themselves, at most one of a kind for each.
fn made(dialogues: &[(String, Dialogue)], rng: &mut Rng) -> Vec<Question> {
    let mut holders: HashMap<String, HashSet<usize>> = HashMap::new();
    let mut names = Vec::new();
    for (i, (_, dialogue)) in dialogues.iter().enumerate() {
        let text = findable(dialogue);
        let mut own: Vec<&str> = identifiers(&text).collect();
        own.sort_unstable();
        own.dedup();
        names.push(own.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        for name in own {
            holders.entry(name.to_lowercase()).or_default().insert(i);
        }
    }
    let texts: Vec<String> = dialogues.iter().map(|(_, dialogue)| plain(&said(dialogue).join("\n"))).collect();
    let is_of_one = |text: &str| texts.iter().filter(|other| other.contains(&plain(text))).count() == 1;
    let mut questions = Vec::new();
    for (i, (_, dialogue)) in dialogues.iter().enumerate() {
        let mut ask = |kind, text| questions.push(Question { kind, text, answer: Some(i) });
        let turns = said(dialogue);
        if matches!(dialogue.lang.as_str(), "zh" | "ja") {
            if let Some(text) = run(&turns, rng).filter(|text| is_of_one(text)) {
                ask(Kind::CjkExact, text);
            }
        } else {
            let exact = window(&turns, WORDS[0], rng).map(|words| words.join(" "));
            if let Some(text) = exact.filter(|text| is_of_one(text)) {
                ask(Kind::Exact, text);
            }
            if let Some(text) = window(&turns, WORDS[1], rng).and_then(|words| misspelt(&words, rng)) {
                ask(Kind::Typo, text);
            }
        }
        let own: Vec<&String> = names[i].iter().filter(|name| holders[&name.to_lowercase()].len() == 1).collect();
        if let Some(name) = rng.choice(own) {
            let apart = apart(name);
            ask(Kind::Identifier, if i % 2 == 0 && apart.split(' ').count() > 2 { apart } else { name.clone() });
        }
    }
    questions
}

/// Letters and digits alone, with a blank between words.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Identifiers: they show where their words begin.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| {
        let inner = name.trim_matches('_').as_bytes();
        let is_border = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        inner.len() >= 8 && !inner[0].is_ascii_digit() && (inner.contains(&b'_') || inner.windows(2).any(is_border))
    };
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(is_name).filter(|name| name.len() < 40)
}

/// The words of an identifier.
fn apart(name: &str) -> String {
    let mut words = Vec::new();
    tokens::pieces(name, |piece| {
        if piece.form == tokens::Form::Word {
            words.push(piece.text.to_owned());
        }
    });
    words.join(" ")
}

/// So many words that stand side by side, half of which say something.
fn window<'d>(turns: &[&'d str], count: usize, rng: &mut Rng) -> Option<Vec<&'d str>> {
    let mut all = Vec::new();
    for turn in turns {
        let words: Vec<&str> =
            turn.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
        all.extend(words.windows(count).map(<[&str]>::to_vec));
    }
    let says = |word: &&&str| word.len() > 3 && !tokens::is_stop(&word.to_lowercase());
    all.retain(|words| words.iter().all(|word| !word.is_empty()) && words.iter().filter(says).count() * 2 >= count);
    (!all.is_empty()).then(|| all.swap_remove(rng.usize(..all.len())))
}

/// The two longest words with two letters in the wrong order. None: they are too short for that.
fn misspelt(words: &[&str], rng: &mut Rng) -> Option<String> {
    let mut longest: Vec<usize> =
        (0..words.len()).filter(|i| words[*i].bytes().all(|b| b.is_ascii_lowercase())).collect();
    longest.sort_by_key(|i| std::cmp::Reverse(words[*i].len()));
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    for i in longest.get(..2)? {
        let mut letters: Vec<char> = words[*i].chars().collect();
        // Not at the ends, and not two that are the same.
        let places: Vec<usize> =
            (1..letters.len().saturating_sub(2)).filter(|at| letters[*at] != letters[at + 1]).collect();
        let at = *rng.choice(&places).filter(|_| letters.len() >= 5)?;
        letters.swap(at, at + 1);
        words[*i] = letters.into_iter().collect();
    }
    Some(words.join(" "))
}

/// Characters of a script without blanks that stand side by side.
fn run(turns: &[&str], rng: &mut Rng) -> Option<String> {
    let is_mark = |c: char| c.is_ascii() || !c.is_alphanumeric();
    let runs: Vec<Vec<char>> =
        turns.iter().flat_map(|turn| turn.split(is_mark)).map(|run| run.chars().collect()).collect();
    let long: Vec<&Vec<char>> = runs.iter().filter(|run| run.len() >= CHARACTERS).collect();
    let chosen = rng.choice(long)?;
    let at = rng.usize(..=chosen.len() - CHARACTERS);
    Some(chosen[at..at + CHARACTERS].iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use totalrecall_retrieval::tokens::Stems;

    fn set(seed: u64) -> Set {
        Set::load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")), seed).unwrap()
    }

    #[test]
    fn there_are_enough_of_each_kind_and_the_same_for_a_seed() {
        let Set { questions, .. } = set(1);
        for kind in Kind::ALL {
            let count = questions.iter().filter(|question| question.kind == kind).count();
            assert!(count >= 40, "{}: {count}", kind.name());
        }
        assert_eq!(questions, set(1).questions);
        assert_ne!(questions, set(2).questions);
        let texts: HashSet<&str> = questions.iter().map(|question| question.text.as_str()).collect();
        assert_eq!(texts.len(), questions.len());
    }

    /// Of the words of a question that say something, the share that its answer has too.
    fn shared(question: &Question, set: &Set) -> f64 {
        let (mut stems, mut held) = (Stems::default(), HashSet::new());
        let text = findable(&set.dialogues[question.answer.unwrap()].1);
        tokens::terms(&text, &mut stems, |term| {
            held.insert(term.to_owned());
        });
        let mut asked = Vec::new();
        tokens::pieces(&question.text, |piece| {
            if !tokens::is_stop(piece.text) {
                asked.push(stems.term(piece).to_owned());
            }
        });
        asked.iter().filter(|term| held.contains(*term)).count() as f64 / asked.len() as f64
    }

    #[test]
    fn paraphrases_are_other_words() {
        let set = set(1);
        let of = |kind| set.questions.iter().filter(move |question: &&Question| question.kind == kind);
        let shares: Vec<f64> = of(Kind::Paraphrase).map(|question| shared(question, &set)).collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!(most <= 0.5 && mean <= 0.2, "they share up to {most:.2} of their words, {mean:.2} in the middle");
        assert!(of(Kind::Exact).all(|question| shared(question, &set) == 1.0));
        assert!(of(Kind::Typo).all(|question| shared(question, &set) < 1.0));
    }

    #[test]
    fn identifiers_are_those_of_one_dialogue() {
        let text = "getUserName and max_pool_size in src/OrderForm.tsx, but not NASA, 12_000_000 or plain";
        assert_eq!(identifiers(text).collect::<Vec<_>>(), ["getUserName", "max_pool_size", "OrderForm"]);
        assert_eq!(apart("maxPool_size"), "max pool size");
    }

    #[test]
    fn dialogues_lie_among_generated_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let until = "2026-11-01T00:00:00Z".parse().unwrap();
        let plan =
            Plan { tool: Tool::ClaudeCode, out: folder.path().to_owned(), bytes: 100_000, sessions: 5, seed: 1, until };
        let set = set(1);
        let sessions = set.write(&plan).unwrap();
        let distinct: HashSet<&String> = sessions.iter().collect();
        assert_eq!(distinct.len(), set.dialogues.len());
        let written = crate::measure::files(&[folder.path().join("projects")]).unwrap();
        assert!(written.len() >= sessions.len() + 5, "{}", written.len());
        let has = |session: &String| written.iter().any(|file| file.to_string_lossy().contains(session.as_str()));
        assert!(sessions.iter().all(has));
    }
}
