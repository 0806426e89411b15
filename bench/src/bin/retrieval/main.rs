//! How well passages are found: `retrieval --data DIR`, where DIR holds public question sets (see `data.rs`; sets that are
//! missing are left out). And how fast: `retrieval --texts DIR`, where DIR holds texts of any kind.
#![expect(clippy::print_stdout, reason = "a tool's output")]

mod data;
mod legs;
mod score;
mod silence;
mod speed;

use anyhow::Result;
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
    /// Folders of static models (`model.safetensors`, `tokenizer.json`) that are added up to one. Without, meaning is left out.
    #[arg(long)]
    model: Vec<PathBuf>,
    /// Weights to try besides: session, passage, context, dense.
    #[arg(long, value_delimiter = ',')]
    weights: Vec<f32>,
}

/// The way of the product: weights that depend on the question.
const ALL: &str = "all";

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(texts) = &arguments.texts {
        speed::measure(texts, arguments.passages)?;
    }
    let Some(data) = &arguments.data else { return Ok(()) };
    let sets = data::load(data)?;
    let model = model(&arguments.model)?;
    println!("\n| set | ranked by | {} |\n| --- | --- | {}", Scores::HEAD, "--: | ".repeat(8));
    for set in &sets {
        measure(set, model.as_ref(), &arguments)?;
    }
    silence::measure(&sets, model.as_ref())
}

fn model(folders: &[PathBuf]) -> Result<Option<Model>> {
    if folders.is_empty() {
        return Ok(None);
    }
    let parts: Vec<Part> = folders.iter().map(|folder| Part { folder: folder.clone(), bits: Bits::Eight }).collect();
    Ok(Some(Model::open(compile(About::default(), &parts)?)?))
}

fn measure(set: &Set, model: Option<&Model>, arguments: &Arguments) -> Result<()> {
    let none = Parts::default();
    let mut ways = vec![
        ("session", Parts { session: 1.0, ..none }),
        ("best passage", Parts { passage: 1.0, ..none }),
        ("both", Parts { context: 0.0, dense: 0.0, ..WEIGHTS }),
        ("and neighbours", Parts { dense: 0.0, ..WEIGHTS }),
    ];
    if model.is_some() {
        ways.extend([("meaning", Parts { dense: 1.0, ..none }), ("all, fixed", WEIGHTS), (ALL, WEIGHTS)]);
    }
    if let [session, passage, context, dense] = arguments.weights[..] {
        ways.push(("as given", Parts { session, passage, context, dense, recency: 0.0 }));
    }
    let mut by_session = vec![Scores::default(); ways.len()];
    let mut by_passage = by_session.clone();
    for haystack in &set.haystacks {
        let indexed = Indexed::new(haystack, model)?;
        for question in &haystack.questions {
            let found = indexed.find(&question.text, &Filter::default(), model)?;
            for (i, (way, weights)) in ways.iter().enumerate() {
                let weights = if *way == ALL { &found.evidence.weights() } else { weights };
                let ranking = numbers(fuse::sessions(&found.legs(), weights), |ranked| ranked.session as usize - 1);
                by_session[i].add(&ranking, &question.sessions);
                if !question.messages.is_empty() {
                    let ranking = numbers(fuse::passages(&found.legs(), weights), |ranked| place(ranked.id));
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
