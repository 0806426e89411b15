//! Writes a corpus of synthetic transcripts: `generate --out DIR --mb 80 --sessions 400 --seed 1`, of another tool with
//! `--tool codex`, or one giant session with `--giant`.
#![expect(clippy::print_stdout, reason = "a tool's output")]

use anyhow::Result;
use clap::Parser;
use std::path::PathBuf;
use totalrecall_bench::corpus::{self, Plan};
use totalrecall_bench::writer::Tool;

#[derive(Parser)]
struct Arguments {
    /// Whose transcripts: claude-code, codex or opencode.
    #[arg(long, default_value = "claude-code")]
    tool: Tool,
    /// Folder to write to; it becomes a `CLAUDE_CONFIG_DIR`, `CODEX_HOME` or `XDG_DATA_HOME`.
    #[arg(long)]
    out: PathBuf,
    /// Megabytes of transcripts.
    #[arg(long, default_value_t = 80)]
    mb: u64,
    /// Number of sessions.
    #[arg(long, default_value_t = 400)]
    sessions: u64,
    /// Equal seeds give equal corpora.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One session with all the megabytes.
    #[arg(long)]
    giant: bool,
    /// The day the last session ends, such as `2026-11-01T00:00:00Z`; two days ago unless given.
    #[arg(long)]
    until: Option<jiff::Timestamp>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let today = jiff::Timestamp::now().as_second() / 86_400 * 86_400;
    let until = match arguments.until {
        Some(until) => until,
        None => jiff::Timestamp::from_second(today - 86_400)?,
    };
    let plan = Plan {
        tool: arguments.tool,
        out: arguments.out,
        bytes: arguments.mb * 1_000_000,
        sessions: if arguments.giant { 1 } else { arguments.sessions },
        seed: arguments.seed,
        until,
    };
    let truth = corpus::write(&plan)?;
    let (main, subagents) = truth.totals();
    println!("{} sessions in {}", truth.sessions.len(), plan.out.display());
    for (kind, count) in &main {
        println!("{kind:<22}{count:>8}{:>8}", subagents.get(kind).copied().unwrap_or_default());
    }
    Ok(())
}
