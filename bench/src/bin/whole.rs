//! The release binary at its work, from outside: `whole --corpus DIR [--bin PATH]`, where DIR was
//! written by `generate`. Each measurement has a home of its own; the user's is never touched.
#![expect(clippy::print_stdout, reason = "a tool's output")]
#![expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]

use anyhow::{Context, Result, ensure};
use clap::Parser;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use totalrecall_bench::corpus::{self, Plan};
use totalrecall_bench::measure::{Cost, files, median, run};
use totalrecall_bench::writer::Tool;

#[derive(Parser)]
struct Arguments {
    /// A corpus that `generate` wrote.
    #[arg(long)]
    corpus: PathBuf,
    /// Where homes and further corpora are put; corpora are used again by the next run.
    #[arg(long, default_value = "target/whole")]
    scratch: PathBuf,
    /// Megabytes of the transcript that a line is appended to; 0 leaves this out.
    #[arg(long, default_value_t = 100)]
    grown_mb: u64,
    /// Megabytes of one giant session; 0 leaves this out.
    #[arg(long, default_value_t = 1_000)]
    giant_mb: u64,
    /// The binary.
    #[arg(long, default_value = "target/release/totalrecall")]
    bin: PathBuf,
}

/// Times a short command is started; the middle counts.
const STARTS: usize = 21;

struct Bench {
    bin: PathBuf,
    scratch: PathBuf,
}

/// A home and the folder of the client whose transcripts are read for it.
struct Home {
    home: PathBuf,
    cache: PathBuf,
    client: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    fs::create_dir_all(&arguments.scratch)?;
    let bench = Bench {
        bin: arguments.bin.canonicalize().with_context(|| format!("no binary at {}", arguments.bin.display()))?,
        scratch: arguments.scratch.canonicalize()?,
    };
    let transcripts = files(&[arguments.corpus.join("projects")])?;
    let bytes: u64 = transcripts.iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum();
    ensure!(bytes > 0, "no transcripts under {}", arguments.corpus.display());
    println!("{:.1} MB in {} files\n", bytes as f64 / 1e6, transcripts.len());
    println!("| what | CPU-s | wall s | peak MB |\n| --- | --: | --: | --: |");

    row("cat (baseline)", &bench.cat(&transcripts)?);
    let home = bench.home("corpus", &arguments.corpus)?;
    row("first run, nothing compiled before: reconcile, worker", &bench.whole(&home)?);
    let home = bench.again(home, "first")?;
    row("first run: reconcile, worker", &bench.whole(&home)?);
    row("second run, nothing new: reconcile, worker", &bench.whole(&home)?);
    row(
        "analyze, no home",
        &bench.call(&home, &["analyze", &arguments.corpus.join("projects").to_string_lossy(), "--format", "json"])?,
    );

    if arguments.grown_mb > 0 {
        let client = bench.corpus("grown", arguments.grown_mb)?;
        let home = bench.home("grown", &client)?;
        bench.whole(&home)?;
        append(&files(&[client.join("projects")])?)?;
        row(&format!("one line more in {} MB: reconcile, worker", arguments.grown_mb), &bench.whole(&home)?);
    }
    if arguments.giant_mb > 0 {
        let client = bench.corpus("giant", arguments.giant_mb)?;
        let home = bench.home("giant", &client)?;
        row(&format!("one session of {} MB: reconcile, worker", arguments.giant_mb), &bench.whole(&home)?);
    }

    println!("\n| start | wall ms | CPU ms | peak MB |\n| --- | --: | --: | --: |");
    for command in [&["status"][..], &["adapters", "list"], &["patterns"], &["--version"]] {
        let cost = bench.middle(|| bench.call(&home, command))?;
        start(&command.join(" "), &cost);
    }
    fs::remove_dir_all(&home.cache).ok();
    start("adapters list, nothing compiled before", &bench.call(&home, &["adapters", "list"])?);
    start("hook SessionEnd", &bench.hook(&home, &transcripts)?);
    start("true (baseline)", &bench.middle(|| run(&mut Command::new("true")))?);
    Ok(())
}

fn row(name: &str, cost: &Cost) {
    println!(
        "| {name} | {:.2} | {:.2} | {:.0} |",
        cost.cpu.as_secs_f64(),
        cost.wall.as_secs_f64(),
        cost.peak as f64 / 1e6
    );
}

fn start(name: &str, cost: &Cost) {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!("| {name} | {:.1} | {:.1} | {:.0} |", millis(cost.wall), millis(cost.cpu), cost.peak as f64 / 1e6);
}

impl Bench {
    /// A fresh home for the transcripts of `client`.
    fn home(&self, name: &str, client: &Path) -> Result<Home> {
        let home = Home {
            home: self.scratch.join(format!("home-{name}")),
            cache: self.scratch.join(format!("cache-{name}")),
            client: client.canonicalize()?,
        };
        for folder in [&home.home, &home.cache] {
            fs::remove_dir_all(folder).ok();
            fs::create_dir_all(folder)?;
        }
        Ok(home)
    }

    /// A fresh home that has the compiled components of another one.
    fn again(&self, other: Home, name: &str) -> Result<Home> {
        let home = self.home(name, &other.client)?;
        fs::remove_dir_all(&home.home).ok();
        fs::create_dir_all(&home.home)?;
        Ok(Home { cache: other.cache, ..home })
    }

    /// A corpus of one session.
    fn corpus(&self, name: &str, mb: u64) -> Result<PathBuf> {
        let out = self.scratch.join(format!("corpus-{name}-{mb}"));
        if !out.join("truth.json").exists() {
            let until = jiff::Timestamp::now().as_second() - 2 * 86_400;
            let plan = Plan {
                tool: Tool::ClaudeCode,
                out: out.clone(),
                bytes: mb * 1_000_000,
                sessions: 1,
                seed: 7,
                until: jiff::Timestamp::from_second(until)?,
            };
            corpus::write(&plan)?;
        }
        Ok(out)
    }

    /// The binary, in an environment that holds nothing of the user's.
    fn command(&self, home: &Home, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.bin);
        command
            .env_clear()
            .env("HOME", &self.scratch)
            .env("XDG_CACHE_HOME", &home.cache)
            .env("CLAUDE_CONFIG_DIR", &home.client)
            .args(["--home".as_ref(), home.home.as_os_str()])
            .args(arguments);
        command
    }

    fn call(&self, home: &Home, arguments: &[&str]) -> Result<Cost> {
        let cost = run(&mut self.command(home, arguments))?;
        // 3: nothing found, as when nothing is new.
        ensure!(matches!(cost.code, 0 | 3), "`{}` failed with exit code {}", arguments.join(" "), cost.code);
        Ok(cost)
    }

    /// Everything a run does.
    fn whole(&self, home: &Home) -> Result<Cost> {
        let (found, worked) = (self.call(home, &["reconcile"])?, self.call(home, &["worker"])?);
        Ok(Cost {
            wall: found.wall + worked.wall,
            cpu: found.cpu + worked.cpu,
            peak: found.peak.max(worked.peak),
            code: 0,
        })
    }

    fn cat(&self, files: &[PathBuf]) -> Result<Cost> {
        run(Command::new("cat").args(files))
    }

    /// The middle of several costs, by time passed.
    fn middle(&self, mut cost: impl FnMut() -> Result<Cost>) -> Result<Cost> {
        let costs = (0..STARTS).map(|_| cost()).collect::<Result<Vec<_>>>()?;
        let wall = median(&costs.iter().map(|cost| cost.wall).collect::<Vec<_>>()).unwrap_or_default();
        costs.into_iter().find(|cost| cost.wall == wall).context("nothing was measured")
    }

    /// A hook as the client calls it: with the event on standard input, until the process is gone. The worker that it
    /// leaves behind is not waited for.
    fn hook(&self, home: &Home, transcripts: &[PathBuf]) -> Result<Cost> {
        let path = transcripts.first().context("no transcripts")?;
        let event = serde_json::json!({
            "session_id": path.file_stem().unwrap_or_default().to_string_lossy(),
            "transcript_path": path.to_string_lossy(),
            "cwd": "/home/dev/work/shop_front",
            "hook_event_name": "SessionEnd",
            "reason": "exit",
        });
        self.middle(|| {
            // The worker of the hook before has done its work by then.
            std::thread::sleep(Duration::from_millis(300));
            let begin = Instant::now();
            let mut child = self
                .command(home, &["hook", "SessionEnd"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            if let Some(mut input) = child.stdin.take() {
                input.write_all(event.to_string().as_bytes())?;
            }
            let status = child.wait()?;
            ensure!(status.success(), "the hook failed");
            Ok(Cost { wall: begin.elapsed(), ..Cost::default() })
        })
    }
}

/// Repeats the last record of the largest transcript, and lets the file look settled again.
fn append(transcripts: &[PathBuf]) -> Result<()> {
    let size = |path: &&PathBuf| path.metadata().map_or(0, |meta| meta.len());
    let path = transcripts.iter().max_by_key(size).context("no transcripts")?;
    let line =
        "{\"type\":\"custom-title\",\"customTitle\":\"grown\",\"sessionId\":\"00000000-0000-4000-8000-000000000000\"}";
    let mut file = File::options().append(true).open(path)?;
    writeln!(file, "{line}")?;
    file.set_modified(SystemTime::now() - Duration::from_secs(3_600))?;
    Ok(())
}
