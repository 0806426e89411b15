//! Parse and analyse in the sandbox, against the same code native: `guest [--tool codex|opencode] PATH…` (files or folders;
//! of OpenCode the rows of a session as lines, as `generate` writes them). Runs take turns, so that what else the machine does
//! hits both; processor time counts.
#![expect(clippy::print_stdout, reason = "a tool's output")]

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use totalrecall::sandbox::{Adapter, Analyzer, Guest, Limits, Sandbox, parse};
use totalrecall_bench::measure::{cpu, files, median};
use totalrecall_bench::native::{self, CHUNK, TEXT_LIMIT};
use totalrecall_bench::writer::Tool;

/// Times each side runs.
const ROUNDS: usize = 5;

#[derive(clap::Parser)]
struct Arguments {
    /// Whose transcripts: claude-code, codex or opencode.
    #[arg(long, default_value = "claude-code")]
    tool: Tool,
    /// Files or folders.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

fn main() -> Result<()> {
    let Arguments { tool, paths } = clap::Parser::parse();
    let files = files(&paths)?;
    let bytes: u64 = files.iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum();
    ensure!(bytes > 0, "no transcripts; name files or folders that hold some");
    let sandbox = Sandbox::new(None, Limits::default());
    let adapter = Guest::builtin_adapters().find(|guest| guest.name() == tool.name());
    let adapter = adapter.with_context(|| format!("no adapter for {} is built in", tool.name()))?;
    let adapter = sandbox.adapter(&adapter)?;
    let analyzer = sandbox.analyzer(&Guest::builtin_analyzer())?;

    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let mut found = [0, 0];
        times[0].push(timed(|| scan(&files))?.1);
        let (signals, time) =
            timed(|| files.iter().map(|path| Ok(native::signals(tool, path, |_| {})?.len())).sum::<Result<usize>>())?;
        found[0] = signals;
        times[1].push(time);
        let (signals, time) =
            timed(|| files.iter().map(|path| guest(tool, path, &adapter, &analyzer)).sum::<Result<usize>>())?;
        found[1] = signals;
        times[2].push(time);
        ensure!(found[0] == found[1], "native finds {} signals, the sandbox {}", found[0], found[1]);
    }
    println!("{:.1} MB in {} files, middle of {ROUNDS} runs\n", bytes as f64 / 1e6, files.len());
    println!("| | CPU-s | MB/s | of native |\n| --- | --: | --: | --: |");
    let middle = |i: usize| median(&times[i]).unwrap_or_default().as_secs_f64();
    for (i, name) in ["serde_json::Value of every line", "guests, native", "guests, sandbox"].into_iter().enumerate() {
        let seconds = middle(i);
        println!("| {name} | {seconds:.2} | {:.0} | {:.2} |", bytes as f64 / 1e6 / seconds, seconds / middle(1));
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let before = cpu();
    let done = work()?;
    Ok((done, cpu() - before))
}

/// What a program that knows no format would do.
fn scan(files: &[PathBuf]) -> Result<usize> {
    let mut records = 0;
    for path in files {
        for line in std::fs::read(path)?.split(|byte| *byte == b'\n') {
            records += usize::from(serde_json::from_slice::<serde_json::Value>(line).is_ok());
        }
    }
    Ok(records)
}

/// What [`native::signals`] does, in the sandbox.
fn guest(tool: Tool, path: &Path, adapter: &Adapter, analyzer: &Analyzer) -> Result<usize> {
    let key = native::key(tool, path);
    let origin = parse::Origin { path: path.to_string_lossy().into_owned(), key, text_limit: TEXT_LIMIT };
    let mut parser = adapter.parser(&origin, None)?;
    let mut analysis = analyzer.analysis(&[], None)?;
    let mut signals = 0;
    let mut file = File::open(path)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk)?;
        let events = if read == 0 { parser.finish()? } else { parser.feed(&chunk[..read])? };
        signals += analysis.observe(&events)?.len();
        if read == 0 {
            return Ok(signals + analysis.conclude()?.len());
        }
    }
}
