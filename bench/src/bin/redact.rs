//! How fast secrets are looked for: `redact PATH…` (files or folders; their bytes are taken as text), against copying and
//! against one regular expression that only says whether any of the marks is there.
#![expect(clippy::print_stdout, reason = "a tool's output")]

use anyhow::Result;
use std::hint::black_box;
use std::path::PathBuf;
use totalrecall::redact::{Counts, Redactor, Settings};
use totalrecall_bench::measure::{cpu, files, median};

/// A text as long as a long tool result.
const TEXT: usize = 16 * 1024;

/// Times everything is measured; the middle counts.
const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut texts = Vec::new();
    for path in files(&paths)? {
        let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(TEXT.min(rest.len())).max(1));
            texts.push(head.to_owned());
            rest = tail;
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    let redactor = Redactor::new(&Settings::default());
    let mut counts = Counts::default();
    let redact = || texts.iter().map(|text| redactor.redact_counted(text, &mut counts).len()).sum::<usize>();
    let report = |name: &str, rate: f64, copy: f64| println!("| {name} | {:.0} | {:.2} |", rate, rate / copy);
    let copy = rate(bytes, || texts.iter().map(|text| black_box(text.clone()).len()).sum());
    let marks = regex::Regex::new(
        "ghp_|github_pat_|sk-|AKIA|AIza|xox[abp]-|eyJ|://|-----BEGIN|(?i:password|secret|token|api_?key)",
    )?;
    let search = rate(bytes, || texts.iter().map(|text| marks.find_iter(text).count()).sum());
    println!("{:.1} MB in {} texts\n\n| | MB/s | of copying |\n| --- | --: | --: |", bytes as f64 / 1e6, texts.len());
    report("copy", copy, copy);
    report("one regular expression, marks only", search, copy);
    report("redact", rate(bytes, redact), copy);
    println!();
    for (kind, count) in counts.iter() {
        println!("{kind:<22}{:>8}", count / ROUNDS as u64);
    }
    Ok(())
}

/// Megabytes a second of processor time.
fn rate(bytes: usize, mut work: impl FnMut() -> usize) -> f64 {
    let times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let before = cpu();
            black_box(work());
            cpu() - before
        })
        .collect();
    bytes as f64 / 1e6 / median(&times).unwrap_or_default().as_secs_f64()
}
