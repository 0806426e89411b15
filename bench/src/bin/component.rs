//! What an adapter costs, whatever it is written in: `component FILE.wasm TRANSCRIPT`. A new process that compiled it before
//! starts with loading it from the cache, asking it what it is, and parsing the first 64 KiB. Compiling and parsing are in
//! processor time; the start is what a person waits for.
#![expect(clippy::print_stdout, reason = "a tool's output")]

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use totalrecall::sandbox::{Adapter, Guest, Limits, Parser, Sandbox, parse};
use totalrecall_bench::measure::{cpu, median};
use totalrecall_bench::native::{CHUNK, TEXT_LIMIT};

/// Times it is started; the middle counts.
const STARTS: usize = 11;
/// What is parsed to measure the speed: the transcript, over and over.
const BYTES: usize = 32 << 20;
/// What is parsed of it at a start.
const FIRST: usize = 64 << 10;

fn main() -> Result<()> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [component, transcript] = &paths[..] else { anyhow::bail!("usage: component FILE.wasm TRANSCRIPT") };
    let read = |path: &Path| std::fs::read(path).with_context(|| path.display().to_string());
    let guest = Guest::new(component.display().to_string(), read(component)?);
    let text = read(transcript)?;
    ensure!(!text.is_empty(), "{} is empty", transcript.display());

    let cache = Cache::new()?;
    let before = cpu();
    let adapter = cache.adapter(&guest)?;
    let compiled = cpu() - before;
    let first = &text[..text.len().min(FIRST)];
    let mut starts = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let (adapter, loaded) = timed(|| cache.adapter(&guest))?;
        let ((), parsed) = timed(|| parser(&adapter, transcript)?.feed(first).map(drop).map_err(Into::into))?;
        starts[0].push(loaded);
        starts[1].push(parsed);
    }
    let mut parser = parser(&adapter, transcript)?;
    let idle = parser.memory();
    let (before, mut bytes) = (cpu(), 0);
    while bytes < BYTES {
        for chunk in text.chunks(CHUNK) {
            parser.feed(chunk)?;
            bytes += chunk.len();
        }
    }
    let time = cpu() - before;
    let middle = |times: &[Duration]| median(times).unwrap_or_default().as_secs_f64() * 1e3;
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "| MiB | WASI | compile CPU-s | load ms | first parse ms | memory MiB, new | after {} MB | MB/CPU-s |",
        bytes / 1_000_000
    );
    println!("| --: | --- | --: | --: | --: | --: | --: | --: |");
    println!(
        "| {:.1} | {} | {:.1} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} |",
        mib(guest.bytes().len()),
        adapter.imports_wasi(),
        compiled.as_secs_f64(),
        middle(&starts[0]),
        middle(&starts[1]),
        mib(idle),
        mib(parser.memory()),
        bytes as f64 / 1e6 / time.as_secs_f64(),
    );
    Ok(())
}

/// Where compiled components are kept for the time of the measurement.
struct Cache(tempfile::TempDir);

impl Cache {
    fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    /// As a new process would do it: with an engine of its own.
    fn adapter(&self, guest: &Guest) -> Result<Adapter> {
        Ok(Sandbox::new(Some(self.0.path().to_owned()), Limits::default()).adapter(guest)?)
    }
}

fn parser(adapter: &Adapter, transcript: &Path) -> Result<Parser> {
    let path = transcript.to_string_lossy().into_owned();
    Ok(adapter.parser(&parse::Origin { path, key: None, text_limit: TEXT_LIMIT }, None)?)
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let before = Instant::now();
    let done = work()?;
    Ok((done, before.elapsed()))
}
