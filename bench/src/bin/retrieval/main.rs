//! How well passages are found: `retrieval` asks our own questions about coding sessions (`own.rs`), `retrieval --data DIR` those
//! of public sets in DIR (see `data.rs`; sets that are missing are left out). And how fast: `retrieval --texts DIR`, where
//! DIR holds texts of any kind.
#![expect(clippy::print_stdout, reason = "a tool's output")]

mod data;
mod legs;
#[cfg(feature = "host")]
mod own;
mod score;
mod silence;
mod speed;

use anyhow::{Context, Result};
use clap::Parser;
use data::Set;
use legs::{Indexed, place};
use score::Scores;
use std::path::PathBuf;
use totalrecall_retrieval::embed::{About, Bits, Model, Part, compile};
use totalrecall_retrieval::filter::Filter;
use totalrecall_retrieval::fuse::{self, Parts, Ranked, WEIGHTS};

#[derive(Parser)]
struct Arguments {
    /// Folder of question sets.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Folder of texts to measure the time of searches in.
    #[arg(long)]
    texts: Option<PathBuf>,
    /// Most passages that are cut of them.
    #[arg(long, default_value_t = 100_000)]
    passages: usize,
    /// A compiled model, or folders of static models (`model.safetensors`, `tokenizer.json`) that are added up to one. The
    /// shipped one unless given.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/static-multilingual.bin"))]
    model: Vec<PathBuf>,
    /// Weights to try besides: session, passage, dense.
    #[arg(long, value_delimiter = ',')]
    weights: Vec<f32>,
    /// The program that reads the sessions of our own questions.
    #[arg(long, default_value = "target/release/totalrecall")]
    bin: PathBuf,
    /// Generated sessions among which those of our own questions lie.
    #[arg(long, default_value_t = 250)]
    sessions: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// List what of our own questions was not found first, and what was found where there is nothing.
    #[arg(long)]
    errors: bool,
}

/// Vectors alone.
const MEANING: &str = "meaning";

/// As the product does, but found by meaning alone, however far that is.
const FAR: &str = "all, however far";

/// The way of the product: weights that depend on the question.
const ALL: &str = "all";

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(texts) = &arguments.texts {
        speed::measure(texts, arguments.passages)?;
    }
    let Some(data) = &arguments.data else {
        return if arguments.texts.is_some() { Ok(()) } else { own(&arguments) };
    };
    let sets = data::load(data)?;
    let model = model(&arguments.model)?;
    println!("\nmodel: {}", model.id());
    println!("\n| set | ranked by | {} |\n| --- | --- | {}", Scores::HEAD, "--: | ".repeat(8));
    for set in &sets {
        measure(set, &model, &arguments)?;
    }
    silence::measure(&sets, &model)
}

#[cfg(feature = "host")]
fn own(arguments: &Arguments) -> Result<()> {
    let Arguments { bin, sessions, seed, errors, .. } = arguments;
    own::measure(&own::Own { bin, sessions: *sessions, seed: *seed, errors: *errors })
}

#[cfg(not(feature = "host"))]
fn own(Arguments { bin: _, sessions: _, seed: _, errors: _, .. }: &Arguments) -> Result<()> {
    anyhow::bail!("our own questions are asked of the program: build with `--features totalrecall-bench/host`")
}

fn model(paths: &[PathBuf]) -> Result<Model> {
    if let [file] = paths
        && file.is_file()
    {
        return Model::map(file).with_context(|| format!("{} is no model", file.display()));
    }
    let parts: Vec<Part> = paths.iter().map(|folder| Part { folder: folder.clone(), bits: Bits::Eight }).collect();
    Ok(Model::open(compile(About::default(), &parts)?)?)
}

fn measure(set: &Set, model: &Model, arguments: &Arguments) -> Result<()> {
    let none = Parts::default();
    let mut ways = vec![
        ("session", Parts { session: 1.0, ..none }),
        ("best passage", Parts { passage: 1.0, ..none }),
        ("both", Parts { dense: 0.0, ..WEIGHTS }),
        (MEANING, Parts { dense: 1.0, ..none }),
        ("all, fixed", WEIGHTS),
        (ALL, WEIGHTS),
        (FAR, WEIGHTS),
    ];
    if let [session, passage, dense] = arguments.weights[..] {
        ways.push(("as given", Parts { session, passage, dense, recency: 0.0 }));
    }
    let mut by_session = vec![Scores::default(); ways.len()];
    let mut by_passage = by_session.clone();
    for haystack in &set.haystacks {
        let indexed = Indexed::new(haystack, model)?;
        for question in &haystack.questions {
            let found = indexed.find(&question.text, &Filter::default(), model)?;
            for (i, (way, weights)) in ways.iter().enumerate() {
                let weights = if [ALL, FAR].contains(way) { &found.evidence.weights() } else { weights };
                let legs = match *way {
                    MEANING => found.meaning(),
                    FAR => found.far(),
                    _ => found.legs(),
                };
                let ranking = numbers(fuse::sessions(&legs, weights), |ranked| ranked.session as usize - 1);
                by_session[i].add(&ranking, &question.sessions);
                if !question.messages.is_empty() {
                    let ranking = numbers(fuse::passages(&legs, weights), |ranked| place(ranked.id));
                    by_passage[i].add(&ranking, &question.messages);
                }
            }
        }
    }
    let has_many = set.haystacks.iter().any(|stack| stack.sessions.iter().any(|session| session.messages.len() > 1));
    let rows = |name: &str, scores: &[Scores]| {
        for ((way, _), scores) in ways.iter().zip(scores) {
            println!("| {}{name} | {way} | {} |", set.name, scores.row());
        }
    };
    rows("", &by_session);
    if has_many {
        rows(", passages", &by_passage);
    }
    Ok(())
}

fn numbers<T>(ranked: Vec<Ranked>, number: impl Fn(&Ranked) -> T) -> Vec<T> {
    ranked.iter().filter(|ranked| ranked.score > 0.0).map(number).collect()
}
