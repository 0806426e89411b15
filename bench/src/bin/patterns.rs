//! How well findings are brought together: `patterns [SESSIONS] [SEED]` for a synthetic year with planted friction, and
//! `patterns --pairs FILE` for labelled pairs of a model's findings, by several measures.
#![expect(clippy::print_stdout, reason = "a tool's output")]

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::time::Instant;
use totalrecall::insights::Insights;
use totalrecall::locale;
use totalrecall::pattern::{self, Known, View, normal};
use totalrecall_bench::history::{self, NOW};
use totalrecall_bench::measure::median;

/// Times it is measured; the middle counts.
const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--pairs") {
        return pairs(arguments.get(1).context("usage: patterns --pairs FILE")?);
    }
    let sessions = arguments.first().map_or(Ok(1_000), |text| text.parse())?;
    let seed = arguments.get(1).map_or(Ok(1), |text| text.parse())?;
    let history = history::write(sessions, seed);
    let score = history.score();
    println!(
        "{} sessions, {} findings, {} patterns",
        history.sessions.len(),
        history.findings.len(),
        history.patterns().len()
    );
    println!("planted {}, found exactly once {}", score.planted, score.once);
    for (name, count) in &score.scattered {
        println!("  {name} is in {count} patterns");
    }
    println!("patterns that hold more than one friction: {}", score.mixed.len());
    for mixed in &score.mixed {
        println!("  {}", mixed.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    println!("pairwise precision {:.4}, recall {:.4}, F1 {:.4}", score.precision, score.recall, score.f1());

    let (mut found, mut written) = (Vec::new(), Vec::new());
    let incidents = history.incidents();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let patterns = history.patterns();
        found.push(begin.elapsed());
        let begin = Instant::now();
        let settings = pattern::Settings::default();
        let known = Known::default();
        let insights = Insights::new(&View::default(), &history.sessions, &incidents, &known, &[], NOW, &settings);
        let page = insights.page(&locale::choose(Some("en"), None));
        written.push(begin.elapsed());
        ensure!(!patterns.is_empty() && !page.is_empty(), "nothing was found");
    }
    println!(
        "patterns {:.0} ms, patterns and page {:.0} ms",
        median(&found).unwrap_or_default().as_secs_f64() * 1e3,
        median(&written).unwrap_or_default().as_secs_f64() * 1e3
    );
    Ok(())
}

/// A labelled pair.
struct Pair {
    held: bool,
    language: String,
    same: bool,
    texts: [String; 4],
}

/// A threshold at which about half of the paraphrases are found, to show at what price.
const LAX: f64 = 0.3;

type Measure = fn(&[String; 4]) -> f64;

/// What was compared. A library's measures get subject and description as one text.
const MEASURES: [(&str, Measure); 5] = [
    ("content tokens (Dice)", |t| pattern::alikeness((&t[0], &t[1]), (&t[2], &t[3]))),
    ("strsim sorensen_dice", |t| strsim::sorensen_dice(&whole(t, 0), &whole(t, 2))),
    ("strsim jaro", |t| strsim::jaro(&whole(t, 0), &whole(t, 2))),
    ("strsim normalized_levenshtein", |t| strsim::normalized_levenshtein(&whole(t, 0), &whole(t, 2))),
    ("character n-grams (Dice)", |t| dice(&grams(&whole(t, 0)), &grams(&whole(t, 2)))),
];

fn whole(texts: &[String; 4], at: usize) -> String {
    format!("{} {}", texts[at], texts[at + 1])
}

/// Trigrams of words, pairs of characters where words are not separated.
fn grams(text: &str) -> BTreeSet<String> {
    let mut grams = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let wide = word.chars().any(|c| c >= '\u{2e80}');
        let chars: Vec<char> = if wide { word.chars().collect() } else { format!(" {word} ").chars().collect() };
        grams.extend(chars.windows(if wide { 2 } else { 3 }).map(|gram| gram.iter().collect::<String>()));
    }
    grams
}

fn dice(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    2.0 * a.intersection(b).count() as f64 / (a.len() + b.len()).max(1) as f64
}

/// Precision and recall of each measure at the threshold at which, on the pairs for choosing, 95 % of what it takes for the same
/// is, with the most found; of the program's own measure also at its threshold, and at a lax one.
fn pairs(path: &str) -> Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    let pairs: Vec<Pair> = text.lines().filter(|line| !line.starts_with('#')).filter_map(pair).collect();
    let languages: BTreeSet<&str> = pairs.iter().map(|pair| pair.language.as_str()).collect();
    println!("{} pairs; each cell: precision / recall\n", pairs.len());
    println!(
        "| measure | threshold | chosen on | held out | {} |",
        languages.iter().copied().collect::<Vec<_>>().join(" | ")
    );
    println!("| --- | --: | --: | --: |{}", " --: |".repeat(languages.len()));
    for (name, measure) in MEASURES {
        let scores: Vec<(f64, &Pair)> = pairs.iter().map(|pair| (measure(&pair.texts), pair)).collect();
        let rate = |threshold: f64, chosen: &dyn Fn(&Pair) -> bool| {
            let count = |same: bool, alike: bool| {
                scores
                    .iter()
                    .filter(|(score, pair)| chosen(pair) && pair.same == same && (*score >= threshold) == alike)
                    .count() as f64
            };
            let (right, wrong, missed) = (count(true, true), count(false, true), count(true, false));
            (if right + wrong == 0.0 { 1.0 } else { right / (right + wrong) }, right / (right + missed).max(1.0))
        };
        let mut best = (1.0, -1.0);
        for step in 1..=200 {
            let threshold = f64::from(step) / 200.0;
            let (precision, recall) = rate(threshold, &|pair| !pair.held);
            if precision >= 0.95 && recall > best.1 {
                best = (threshold, recall);
            }
        }
        let ours = if name.starts_with("content") { &[pattern::ALIKE, LAX][..] } else { &[] };
        for &threshold in std::iter::once(&best.0).chain(ours) {
            let cell = |(precision, recall): (f64, f64)| format!("{precision:.2} / {recall:.2}");
            print!("| {name} | {threshold:.3} | {} ", cell(rate(threshold, &|pair| !pair.held)));
            print!("| {} |", cell(rate(threshold, &|pair| pair.held)));
            for language in &languages {
                print!(" {} |", cell(rate(threshold, &|pair| pair.held && pair.language == *language)));
            }
            println!();
        }
    }
    Ok(())
}

fn pair(line: &str) -> Option<Pair> {
    let [using, language, label, texts @ ..] = &line.split('\t').collect::<Vec<_>>()[..] else { return None };
    let texts = <[&str; 4]>::try_from(texts).ok()?.map(normal);
    Some(Pair { held: *using == "held", language: (*language).to_owned(), same: *label == "same", texts })
}
