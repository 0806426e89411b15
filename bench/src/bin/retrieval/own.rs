//! Our own questions about coding sessions, through the whole program: transcripts are read by the binary, and searched in its
//! home with the searcher that `search` and the server use.

use anyhow::{Context, Result, ensure};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use totalrecall::embedding;
use totalrecall::index::Folders;
use totalrecall::search::{Confidence, Request, Searcher};
use totalrecall::store::{Origin, Store};
use totalrecall_bench::corpus::Plan;
use totalrecall_bench::measure::{percentiles, size};
use totalrecall_bench::questions::{Kind, Question, Set};
use totalrecall_bench::writer::Tool;
use totalrecall_retrieval::Scored;
use totalrecall_retrieval::embed::Model;
use totalrecall_retrieval::filter::Filter;
use totalrecall_retrieval::vectors::Vectors;
use totalrecall_retrieval::words::{Query, WordIndex};

use crate::score::Scores;

/// Hits that are asked for: enough to see ten sessions among them.
const LIMIT: usize = 100;

/// The ways a question is asked in, worst first.
const WAYS: [&str; 4] = ["words of passages", "meaning", "words", "all"];

/// What to measure.
pub(crate) struct Own<'a> {
    /// The program that reads the transcripts.
    pub(crate) bin: &'a Path,
    /// Generated sessions among which the dialogues lie.
    pub(crate) sessions: u64,
    pub(crate) seed: u64,
    /// Lists what was not found, and what was found where there is nothing.
    pub(crate) errors: bool,
}

/// What came of a question, asked in one way.
struct Outcome {
    /// Sessions, best first, each once.
    sessions: Vec<usize>,
    /// Whether it was called answered. None: this way does not say.
    answered: Option<Confidence>,
    took: Duration,
}

/// A home that can be searched.
struct Opened {
    store: Store,
    words: WordIndex,
    vectors: Vectors,
    model: Model,
    by_words: Searcher,
    all: Searcher,
    /// Numbers of sessions, by the tool's ids and by their groups.
    numbers: HashMap<String, usize>,
    groups: HashMap<u64, usize>,
    now: i64,
}

pub(crate) fn measure(own: &Own<'_>) -> Result<()> {
    let bench = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let set = Set::load(&bench, own.seed)?;
    let scratch = tempfile::tempdir()?;
    let (corpus, home) = (scratch.path().join("corpus"), scratch.path().join("home"));
    let until: jiff::Timestamp = "2026-11-01T00:00:00Z".parse()?;
    let bytes = own.sessions * 100_000;
    let plan =
        Plan { tool: Tool::ClaudeCode, out: corpus.clone(), bytes, sessions: own.sessions, seed: own.seed, until };
    let sessions = set.write(&plan)?;
    read(own.bin, &corpus, &home)?;
    let opened = Opened::new(&home, &sessions, until.as_millisecond() + 86_400_000)?;

    let passages = opened.words.documents();
    println!("\n{} questions, {} dialogues among {} sessions", set.questions.len(), sessions.len(), own.sessions);
    println!("\n| questions | ranked by | {} | missed | false |", Scores::HEAD);
    println!("| --- | --- | {}", "--: | ".repeat(10));
    let mut took: Vec<Vec<Duration>> = vec![Vec::new(); WAYS.len()];
    for kind in Kind::ALL {
        let questions: Vec<&Question> = set.questions.iter().filter(|question| question.kind == kind).collect();
        for (way, name) in WAYS.iter().enumerate() {
            let mut scores = Scores::default();
            let (mut silent, mut loud) = (0, 0);
            for question in &questions {
                let outcome = opened.ask(way, &question.text)?;
                took[way].push(outcome.took);
                let answered =
                    outcome.answered.is_none_or(|it| it >= Confidence::Maybe) && !outcome.sessions.is_empty();
                silent += usize::from(!answered);
                loud += usize::from(answered);
                if let Some(answer) = question.answer {
                    scores.add(&outcome.sessions, &[answer]);
                }
                if own.errors && *name == "all" {
                    tell(question, &outcome, answered, &set);
                }
            }
            let share = |count: usize| format!("{:.3}", count as f64 / questions.len().max(1) as f64);
            let says = ["words", "all"].contains(name);
            let cell = |count, applies: bool| if applies { share(count) } else { String::new() };
            let cells = if kind == Kind::Absent { " | ".repeat(7) } else { scores.row() };
            if kind != Kind::Absent || says {
                println!(
                    "| {} ({}) | {name} | {cells} | {} | {} |",
                    kind.name(),
                    questions.len(),
                    cell(silent, says && kind != Kind::Absent),
                    cell(loud, says && kind == Kind::Absent)
                );
            }
        }
    }
    println!("\n| ranked by | p50 ms | p95 ms |\n| --- | --: | --: |");
    for (name, took) in WAYS.iter().zip(&mut took) {
        println!("| {name} | {} |", percentiles(took));
    }
    let folders = Folders::of(&home.join("index"));
    let mb = |path: &Path| size(path) as f64 / 1e6;
    println!(
        "\n{passages} passages of {:.1} MB of transcripts: store {:.1} MB; words {:.1}, wholes {:.1}, vectors {:.1}",
        mb(&corpus.join("projects")),
        mb(&home.join("totalrecall.db")),
        mb(&folders.words),
        mb(&folders.groups),
        mb(&folders.vectors)
    );
    Ok(())
}

/// Has the program read the transcripts.
#[expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]
fn read(bin: &Path, corpus: &Path, home: &Path) -> Result<()> {
    let status = Command::new(bin)
        .args(["ingest", "--tool", "claude-code", "--home"])
        .args([home, &corpus.join("projects")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}; `--bin` names another", bin.display()))?;
    ensure!(status.success(), "reading the transcripts ended with {status}");
    Ok(())
}

impl Opened {
    fn new(home: &Path, sessions: &[String], now: i64) -> Result<Self> {
        let folder = home.join("index");
        let folders = Folders::of(&folder);
        let model = embedding::built_in().context("the built-in model cannot be used")?;
        let store = Store::open_read_only(home)?;
        let dialogues: HashMap<&str, usize> = sessions.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let (mut numbers, mut groups) = (HashMap::new(), HashMap::new());
        for row in store.sessions()? {
            // What the generator wrote is counted on behind the dialogues.
            let other = sessions.len() + groups.len();
            let number = dialogues.get(row.native_id.as_str()).copied().unwrap_or(other);
            groups.insert(totalrecall::passage::Group { origin: Origin::Session, row: row.id.0 }.number(), number);
            numbers.insert(row.native_id, number);
        }
        ensure!(sessions.iter().all(|id| numbers.contains_key(id)), "not all dialogues were read");
        Ok(Self {
            words: WordIndex::open(&folders.words)?,
            vectors: Vectors::open(&folders.vectors)?,
            by_words: Searcher::open(&folder, None)?,
            all: Searcher::open(&folder, Some(model.clone()))?,
            store,
            model,
            numbers,
            groups,
            now,
        })
    }

    fn ask(&self, way: usize, text: &str) -> Result<Outcome> {
        let begun = Instant::now();
        let of_legs = |found: Vec<Scored>| {
            let took = begun.elapsed();
            let sessions = once(found.iter().filter_map(|found| self.groups.get(&found.session)).copied());
            Outcome { sessions, answered: None, took }
        };
        Ok(match way {
            0 => of_legs(self.words.search(&self.words.plan(&Query::parse(text))?, &Filter::default(), LIMIT)?),
            1 => {
                let vector = self.model.embed(text);
                of_legs(vector.map_or_else(Vec::new, |it| self.vectors.search(&it, LIMIT, &Filter::default())))
            }
            _ => {
                let searcher = if way == 2 { &self.by_words } else { &self.all };
                let request = Request { query: text.to_owned(), limit: LIMIT, ..Request::default() };
                let answer = searcher.search(&self.store, &request, self.now)?;
                let took = begun.elapsed();
                let ids = answer.hits.iter().filter_map(|hit| hit.source.native_id.as_deref());
                let sessions = once(ids.filter_map(|id| self.numbers.get(id)).copied());
                Outcome { sessions, answered: Some(answer.confidence), took }
            }
        })
    }
}

/// Each only where it comes first.
fn once(all: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen = Vec::new();
    all.for_each(|it| {
        if !seen.contains(&it) {
            seen.push(it);
        }
    });
    seen
}

/// Prints what is wrong with an outcome.
fn tell(question: &Question, outcome: &Outcome, answered: bool, set: &Set) {
    let name = |session: usize| set.dialogues.get(session).map_or("generated", |(name, _)| name.as_str());
    let kind = question.kind.name();
    match question.answer {
        Some(answer) => {
            let rank = outcome.sessions.iter().position(|it| *it == answer);
            let first = outcome.sessions.first().map_or("nothing", |first| name(*first));
            if rank != Some(0) || !answered {
                let rank = rank.map_or("–".to_owned(), |rank| (rank + 1).to_string());
                let silent = if answered { "" } else { ", called unanswered" };
                println!("missed\t{kind}\t{}\tplace {rank}{silent}\tfirst: {first}\t{}", name(answer), question.text);
            }
        }
        None if answered => {
            let first = outcome.sessions.first().map_or("nothing", |first| name(*first));
            println!("false\t{kind}\t\t{:?}\tfirst: {first}\t{}", outcome.answered, question.text);
        }
        None => {}
    }
}
