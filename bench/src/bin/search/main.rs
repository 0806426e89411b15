//! Searching a home: `search --home DIR` or `search --messages N`, which fills one. Of each kind of question, what it takes in
//! this process (with the feature `host`), in a process of its own, and in a server that is running, beside a process that does
//! nothing; then lines by a regular expression, what starting the server takes, and the sizes.
#![expect(clippy::print_stdout, reason = "a tool's output")]

#[cfg(feature = "host")]
mod inside;
mod server;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use totalrecall_bench::corpus::{self, Plan};
use totalrecall_bench::measure::{self, Cost, percentiles, size};
use totalrecall_bench::writer::Tool;

use server::Server;

#[derive(Parser)]
struct Arguments {
    /// A home with what was read, as `totalrecall --home DIR ingest CORPUS` leaves it.
    #[arg(long, required_unless_present = "messages")]
    home: Option<PathBuf>,
    /// Fills a home with about so many messages, calls and results of generated sessions, in the folder for temporary files.
    /// It is deleted in the end.
    #[arg(long, conflicts_with = "home")]
    messages: Option<u64>,
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

/// Bytes of generated transcripts that are asked for to have one message, call or result, as it was measured.
const BYTES: u64 = 1_560;

/// Of these in one session.
const OF_SESSION: u64 = 130;

/// Times that a server is started.
const STARTS: usize = 20;

/// How long a server is left alone until it counts as idle.
const IDLE: Duration = Duration::from_millis(500);

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bin = arguments.bin.canonicalize().with_context(|| format!("no binary at {}", arguments.bin.display()))?;
    let filled = arguments.messages.map(|messages| Filled::new(&bin, messages, arguments.seed)).transpose()?;
    let (home, corpus) = match (&filled, &arguments.home) {
        (Some(filled), _) => (filled.home(), Some(filled.corpus())),
        (None, Some(home)) => (home.clone(), arguments.corpus.clone()),
        (None, None) => return Ok(()),
    };
    load();
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let words = words(&bin, &home)?;
    ensure!(words.len() > 100, "there is too little in this home to make questions of");
    #[cfg(feature = "host")]
    let inside = inside::Inside::open(&home)?;
    #[cfg(feature = "host")]
    println!("{} passages", inside.passages()?);
    println!("Middle and 95th percentile in ms, of time that passed and of time of the processor:\n");
    println!("| what | in process p50 | p95 | CPU p50 | p95 | process p50 | p95 | CPU p50 | p95 | server p50 | p95 |");
    println!("| --- | {}", "--: | ".repeat(10));
    let mut nothing = Vec::new();
    for _ in 0..arguments.runs {
        nothing.push(process(&bin, &home, &["--version"])?);
    }
    println!("| `--version` (baseline) | | | | | {} | | |", both(&nothing));
    let mut server = Server::start(&bin, &home)?;
    for (name, count, misspelt) in
        [("one word", 1, false), ("four words", 4, false), ("ten words", 10, false), ("misspelt", 2, true)]
    {
        let (mut asked, mut alone, mut served) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..arguments.runs {
            let mut question: Vec<String> = (0..count).map(|_| words[random.usize(..words.len())].clone()).collect();
            if misspelt {
                question.iter_mut().for_each(|word| misspell(word, &mut random));
            }
            let mut command = vec!["search", "--json"];
            command.extend(question.iter().map(String::as_str));
            alone.push(process(&bin, &home, &command)?);
            let question = question.join(" ");
            served.push(server.call("search", json!({ "query": question }))?);
            asked.push(question);
        }
        #[cfg(feature = "host")]
        let within = asked.iter().map(|question| inside.search(question)).collect::<Result<Vec<Cost>>>()?;
        #[cfg(not(feature = "host"))]
        let within = Vec::new();
        println!("| search, {name} | {} | {} | {} |", both(&within), both(&alone), percentiles(&mut served));
    }
    let patterns = [r"panicked at", r"E0[0-9]{3}\b", r"(?i)fn \w+_id\(", r"no such thing anywhere"];
    for pattern in patterns {
        let (mut alone, mut served) = (Vec::new(), Vec::new());
        for _ in 0..arguments.runs.min(10) {
            alone.push(process(&bin, &home, &["grep", "--json", pattern])?);
            served.push(server.call("grep", json!({ "pattern": pattern }))?);
        }
        println!("| grep `{pattern}` | | | | | {} | {} |", both(&alone), percentiles(&mut served));
    }
    println!("\nserver after these calls: {}", resident(&server));
    drop(server);
    starts(&bin, &home)?;
    sizes(&home, corpus.as_deref());
    load();
    Ok(())
}

/// Prints how long a server takes to be ready, and what it holds when it is idle.
fn starts(bin: &Path, home: &Path) -> Result<()> {
    let mut times = Vec::new();
    let mut held = String::new();
    for i in 0..STARTS {
        let begun = Instant::now();
        let server = Server::start(bin, home)?;
        times.push(begun.elapsed());
        if i + 1 == STARTS {
            std::thread::sleep(IDLE);
            held = resident(&server);
        }
    }
    println!("server ready, p50 | p95 ms: {}; idle: {held}", percentiles(&mut times));
    Ok(())
}

fn resident(server: &Server) -> String {
    server.resident().map_or("unknown".to_owned(), |kb| format!("{:.1} MB resident", kb as f64 / 1e3))
}

fn sizes(home: &Path, corpus: Option<&Path>) {
    let (database, index) = (size(&home.join("totalrecall.db")), size(&home.join("index")));
    println!("store {:.1} MB, indexes {:.1} MB", database as f64 / 1e6, index as f64 / 1e6);
    for part in ["words", "groups", "vectors"] {
        println!("  {part} {:.1} MB", size(&home.join("index").join(part)) as f64 / 1e6);
    }
    if let Some(read) = corpus.map(size) {
        let share = (database + index) as f64 / read as f64;
        println!("transcripts {:.1} MB: store and indexes are {share:.2} of them", read as f64 / 1e6);
    }
}

/// Prints how busy the machine is, where the system tells: others may be at work, too.
fn load() {
    if let Ok(load) = fs::read_to_string("/proc/loadavg") {
        println!("load of the machine: {}", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
    }
}

/// A home that was filled for this.
struct Filled(TempDir);

impl Filled {
    fn new(bin: &Path, messages: u64, seed: u64) -> Result<Self> {
        let filled = Self(TempDir::new()?);
        let begun = Instant::now();
        let sessions = (messages / OF_SESSION).max(1);
        let (bytes, until) = (messages * BYTES, jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24));
        corpus::write(&Plan { tool: Tool::ClaudeCode, out: filled.corpus(), bytes, sessions, seed, until })?;
        println!("generated {sessions} sessions in {:.1} s", begun.elapsed().as_secs_f64());
        let cost = measure::run(&mut ingest(bin, &filled.home(), &filled.corpus()))?;
        ensure!(cost.code == 0, "reading the transcripts ended with {}", cost.code);
        println!(
            "read and indexed in {:.1} s ({:.1} s of processors), {:.0} MB at most",
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            cost.peak as f64 / 1e6
        );
        Ok(filled)
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn corpus(&self) -> PathBuf {
        self.0.path().join("corpus/projects")
    }
}

#[expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]
fn ingest(bin: &Path, home: &Path, corpus: &Path) -> Command {
    let mut command = Command::new(bin);
    command.args(["ingest", "--tool", "claude-code", "--home"]).args([home, corpus]);
    command
}

/// What a command prints as JSON.
#[expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]
fn told(bin: &Path, home: &Path, arguments: &[&str]) -> Result<Value> {
    let output = Command::new(bin).args(arguments).arg("--home").arg(home).output()?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("{arguments:?} did not print JSON"))
}

/// Words of what is stored, each once.
fn words(bin: &Path, home: &Path) -> Result<Vec<String>> {
    let sample = SAMPLE.to_string();
    let found = told(bin, home, &["grep", "--json", "-n", &sample, "[a-z]{5,}", "--kind", "prompt,reply"])?;
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

#[expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]
fn process(bin: &Path, home: &Path, arguments: &[&str]) -> Result<Cost> {
    let cost = measure::run(Command::new(bin).args(arguments).arg("--home").arg(home))?;
    ensure!(matches!(cost.code, 0 | 3), "{arguments:?} ended with {}", cost.code);
    Ok(cost)
}

/// Time that passed and time of the processor, as four cells.
fn both(costs: &[Cost]) -> String {
    let of = |time: fn(&Cost) -> Duration| percentiles(&mut costs.iter().map(time).collect::<Vec<_>>());
    format!("{} | {}", of(|cost| cost.wall), of(|cost| cost.cpu))
}
