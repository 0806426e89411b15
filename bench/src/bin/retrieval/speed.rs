//! How long a search takes, in real texts: files of a folder, cut into passages.

use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{collections::HashMap, fs};
use totalrecall_bench::measure::cpu;
use totalrecall_retrieval::filter::Filter;
use totalrecall_retrieval::words::{Document, Query, WordIndex, WordWriter};
use totalrecall_retrieval::{Covered, tokens};

/// Bytes of a passage, about those of a message.
const BYTES: usize = 450;

/// Queries of each class.
const QUERIES: usize = 100;

/// Larger files are data.
const LARGEST: u64 = 400_000;

/// Indexes up to `most` passages of the texts under `folder` and searches them.
pub(crate) fn measure(folder: &Path, most: usize) -> Result<()> {
    let texts = texts(folder, most)?;
    ensure!(texts.len() > 1000, "{} has too few texts", folder.display());
    let scratch = tempfile::TempDir::new()?;
    let (begin, begin_cpu) = (Instant::now(), cpu());
    let mut writer = WordWriter::open(scratch.path())?;
    for (id, (session, text)) in texts.iter().enumerate() {
        let at = Some(id as i64 * 1000);
        writer.add(&Document { id: id as u64 + 1, session: *session, kind: (id % 8) as u8, at, text })?;
    }
    writer.commit(&Covered { passages: texts.len() as u64, ..Covered::default() })?;
    writer.finish()?;
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let size: u64 = files(scratch.path())?.iter().filter_map(|file| file.metadata().ok()).map(|m| m.len()).sum();
    println!("\n{} passages, {:.0} MB", texts.len(), bytes as f64 / 1e6);
    println!(
        "built in {:.1} s ({:.1} s of processors)",
        begin.elapsed().as_secs_f64(),
        (cpu() - begin_cpu).as_secs_f64()
    );
    println!("index: {:.1} MB", size as f64 / 1e6);
    let opening: Vec<Cost> = (0..21).map(|_| Cost::of(|| WordIndex::open(scratch.path())).0).collect();
    println!("open: {}", Cost::row(opening));

    let index = WordIndex::open(scratch.path())?;
    let last = texts.last().map_or(0, |(session, _)| *session);
    let filters = [
        ("", Filter::default()),
        (", one session", Filter { sessions: Some([last / 2].into()), ..Filter::default() }),
        (", newest tenth", Filter { from: Some(texts.len() as i64 * 900), ..Filter::default() }),
    ];
    println!("\n| queries | p50 ms | p95 ms | p50 CPU ms | p95 CPU ms |\n| --- | --: | --: | --: | --: |");
    for (class, queries) in queries(&texts, &index)? {
        for (name, filter) in &filters {
            let mut costs = Vec::new();
            for query in &queries {
                let (cost, found) = Cost::of(|| {
                    let plan = index.plan(&Query::parse(query))?;
                    index.search(&plan, filter, 50)
                });
                found?;
                costs.push(cost);
            }
            println!("| {class}{name} | {} |", Cost::row(costs));
        }
    }
    Ok(())
}

/// Time that passed, and that of this thread: machines are shared.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
}

impl Cost {
    fn of<T>(work: impl FnOnce() -> T) -> (Self, T) {
        let (wall, used) = (Instant::now(), cpu());
        let done = work();
        (Self { wall: wall.elapsed(), cpu: cpu() - used }, done)
    }

    /// The middle and the 95th of a hundred.
    fn row(costs: Vec<Self>) -> String {
        let mut cells = Vec::new();
        for of in [|cost: &Self| cost.wall, |cost: &Self| cost.cpu] {
            let mut times: Vec<Duration> = costs.iter().map(of).collect();
            times.sort_unstable();
            let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
            cells.extend([format!("{:.2}", at(50)), format!("{:.2}", at(95))]);
        }
        cells.join(" | ")
    }
}

/// All files, in the order of their paths.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let list = if entry.file_type()?.is_dir() { &mut open } else { &mut found };
            list.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Passages, each with the number of its file.
fn texts(folder: &Path, most: usize) -> Result<Vec<(u64, String)>> {
    let mut texts = Vec::new();
    let is_small = |path: &PathBuf| path.metadata().is_ok_and(|meta| meta.len() < LARGEST);
    for (session, file) in files(folder)?.into_iter().filter(is_small).enumerate() {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let mut passage = String::new();
        for line in text.lines() {
            passage.push_str(line);
            passage.push('\n');
            if passage.len() >= BYTES {
                texts.push((session as u64 + 1, std::mem::take(&mut passage)));
                if texts.len() == most {
                    return Ok(texts);
                }
            }
        }
    }
    Ok(texts)
}

/// Classes of queries, made of words of random passages.
fn queries(texts: &[(u64, String)], index: &WordIndex) -> Result<Vec<(&'static str, Vec<String>)>> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut shares = HashMap::new();
    let mut words = |random: &mut fastrand::Rng, count: usize, from: f64, to: f64| -> Result<String> {
        let mut chosen: Vec<String> = Vec::new();
        while chosen.len() < count {
            let (_, text) = &texts[random.usize(..texts.len())];
            let mut all = Vec::new();
            tokens::pieces(text, |piece| all.push(piece.text.to_owned()));
            let Some(word) = random.choice(&all).filter(|word| word.len() > 2 && !tokens::is_stop(word)) else {
                continue;
            };
            if !shares.contains_key(word) {
                shares.insert(word.clone(), index.df(word)? as f64 / index.documents() as f64);
            }
            if (from..to).contains(&shares[word]) {
                chosen.push(word.clone());
            }
        }
        Ok(chosen.join(" "))
    };
    let mut class =
        |count: usize, from, to| (0..QUERIES).map(|_| words(&mut random, count, from, to)).collect::<Result<_>>();
    let (rare, mid, common): (Vec<String>, _, _) =
        (class(2, 0.0, 0.0005)?, class(4, 0.0005, 0.02)?, class(4, 0.01, 0.3)?);
    let question = |(mid, common): (&String, &String)| format!("how did we do it when the {mid} and {common}?");
    let slip = |word: &String| {
        let mut letters: Vec<char> = word.split(' ').next().unwrap_or_default().chars().collect();
        let last = letters.len() - 1;
        letters.swap(last, last - 1);
        letters.into_iter().collect()
    };
    let questions = mid.iter().zip(&common).map(question).collect();
    let slips = mid.iter().map(slip).collect();
    Ok(vec![("rare", rare), ("mid", mid), ("common", common), ("question", questions), ("slips", slips)])
}
