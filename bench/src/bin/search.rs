//! Searching a home from outside: `search --home DIR [--bin PATH]`. Of each kind of question, what a process of its own takes and
//! what a server that is running takes, beside a process that does nothing; then lines by a regular expression, and the size.
#![expect(clippy::print_stdout, reason = "a tool's output")]
#![expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Arguments {
    /// A home with what was read, as `totalrecall --home DIR ingest CORPUS` leaves it.
    #[arg(long)]
    home: PathBuf,
    /// The transcripts that were read, to compare sizes.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// The binary.
    #[arg(long, default_value = "target/release/totalrecall")]
    bin: PathBuf,
    /// Questions of each kind.
    #[arg(long, default_value_t = 50)]
    runs: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Lines of everything that is stored, from which questions are made.
const SAMPLE: usize = 2_000;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bin = arguments.bin.canonicalize().with_context(|| format!("no binary at {}", arguments.bin.display()))?;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let words = words(&bin, &arguments.home)?;
    ensure!(words.len() > 100, "there is too little in this home to make questions of");
    println!("| what | process p50 ms | p95 | server p50 ms | p95 |\n| --- | --: | --: | --: | --: |");
    let mut nothing = Vec::new();
    for _ in 0..arguments.runs {
        nothing.push(process(&bin, &arguments.home, &["--version"])?);
    }
    println!("| `--version` (baseline) | {} | | |", figures(&mut nothing));
    let mut server = Server::start(&bin, &arguments.home)?;
    for (name, count, misspelt) in
        [("one word", 1, false), ("four words", 4, false), ("ten words", 10, false), ("misspelt", 2, true)]
    {
        let (mut alone, mut served) = (Vec::new(), Vec::new());
        for _ in 0..arguments.runs {
            let mut question: Vec<String> = (0..count).map(|_| words[random.usize(..words.len())].clone()).collect();
            if misspelt {
                question.iter_mut().for_each(|word| misspell(word, &mut random));
            }
            let mut command = vec!["search", "--json"];
            command.extend(question.iter().map(String::as_str));
            alone.push(process(&bin, &arguments.home, &command)?);
            served.push(server.call("search", json!({ "query": question.join(" ") }))?);
        }
        println!("| search, {name} | {} | {} |", figures(&mut alone), figures(&mut served));
    }
    let patterns = [r"panicked at", r"E0[0-9]{3}\b", r"(?i)fn \w+_id\(", r"no such thing anywhere"];
    for pattern in patterns {
        let (mut alone, mut served) = (Vec::new(), Vec::new());
        for _ in 0..arguments.runs.min(10) {
            alone.push(process(&bin, &arguments.home, &["grep", "--json", pattern])?);
            served.push(server.call("grep", json!({ "pattern": pattern }))?);
        }
        println!("| grep `{pattern}` | {} | {} |", figures(&mut alone), figures(&mut served));
    }
    let (database, index) = (size(&arguments.home.join("totalrecall.db")), size(&arguments.home.join("index")));
    println!("\nstore {:.1} MB, indexes {:.1} MB", database as f64 / 1e6, index as f64 / 1e6);
    if let Some(corpus) = &arguments.corpus {
        let read = size(corpus);
        println!(
            "transcripts {:.1} MB: store and indexes are {:.2} of them",
            read as f64 / 1e6,
            (database + index) as f64 / read as f64
        );
    }
    println!("server: {} kB resident", server.resident().unwrap_or(0));
    Ok(())
}

/// Words of what is stored, each once.
fn words(bin: &Path, home: &Path) -> Result<Vec<String>> {
    let output = Command::new(bin)
        .args(["grep", "--json", "-n", &SAMPLE.to_string(), "[a-z]{5,}", "--kind", "prompt,reply", "--home"])
        .arg(home)
        .output()?;
    let found: Value = serde_json::from_slice(&output.stdout).context("grep did not print JSON")?;
    let texts = found["lines"].as_array().into_iter().flatten().filter_map(|line| line["text"].as_str());
    let mut words: Vec<String> = texts
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic()))
        .filter(|word| (4..16).contains(&word.len()))
        .map(str::to_ascii_lowercase)
        .collect();
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

fn misspell(word: &mut String, random: &mut fastrand::Rng) {
    let at = random.usize(1..word.len());
    word.replace_range(at..=at.min(word.len() - 1), "q");
}

fn process(bin: &Path, home: &Path, arguments: &[&str]) -> Result<Duration> {
    let started = Instant::now();
    let status = Command::new(bin)
        .args(arguments)
        .arg("--home")
        .arg(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(matches!(status.code(), Some(0 | 3)), "{arguments:?} ended with {status}");
    Ok(started.elapsed())
}

/// Middle and 95th percentile, as two cells.
fn figures(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("{:.1} | {:.1}", at(0.5), at(0.95))
}

fn size(path: &Path) -> u64 {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| size(&entry.path())).sum()
    } else {
        fs::metadata(path).map_or(0, |metadata| metadata.len())
    }
}

/// A server that is running.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Server {
    fn start(bin: &Path, home: &Path) -> Result<Self> {
        let mut child = Command::new(bin)
            .arg("mcp")
            .arg("--home")
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).context("no streams")?;
        let mut server = Self { child, input, output: BufReader::new(output), calls: 0 };
        let client = json!({ "name": "bench", "version": "0" });
        server
            .ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }))?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Duration> {
        let started = Instant::now();
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        ensure!(answer["result"]["isError"] != true, "{tool}: {answer}");
        Ok(started.elapsed())
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.calls += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": parameters }))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server has ended");
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.calls {
                return Ok(answer);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    /// What of it is in memory, where the system tells.
    fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
