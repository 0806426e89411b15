//! A folder of transcripts that nobody wrote, with the truth about each: of one of three tools, which tell the same sessions.
//!
//! The mix of record types and the sizes of texts follow what was measured on real sessions of Claude Code 2.1.x: of the bytes about
//! half are tool results with what the tool returned beside them, a quarter assistant blocks, a fifth progress lines; most
//! results are short, few are very long, and edits carry the whole file. Sizes of sessions differ by three orders of
//! magnitude. Everything is written in a stream: ten gigabytes take no more memory than one megabyte.

mod session;
mod text;
mod truth;

use anyhow::{Context, Result};
use fastrand::Rng;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::writer::{Setting, Tool, database};
use session::Session;
use text::Texts;
pub use truth::{Counts, Planted, SessionTruth, Truth};

/// What to write.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whose transcripts to write.
    pub tool: Tool,
    /// Folder for the tool's data, as `CLAUDE_CONFIG_DIR`, `CODEX_HOME` or `XDG_DATA_HOME` name it, and `truth.json`. OpenCode's
    /// database is in it, and beside that the rows of each session in `rows`.
    pub out: PathBuf,
    /// Bytes of all transcripts together, about.
    pub bytes: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Equal seeds give equal bytes, on the same day.
    pub seed: u64,
    /// The day on which the last session ended. Sessions are spread over the 28 days before.
    pub until: jiff::Timestamp,
}

/// Days over which sessions are spread.
pub(crate) const DAYS: i64 = 28;

/// One session in this many continues a copy of another one.
const FORKS: u64 = 25;

/// A parent larger than this is not copied: forks start from the last compaction.
const FORK_BYTES: u64 = 4 << 20;

/// Projects; in each another version of the client writes.
const PROJECTS: &[&str] = &[
    "/home/dev/work/ledger-api",
    "/home/dev/work/shop_front",
    "/home/dev/work/ledger-api/tools",
    "/home/dev/météo",
    "/home/dev/src/図書館",
    "/srv/build/agent.nightly",
];

/// Writes the corpus and its truth.
///
/// # Errors
/// When a file cannot be written.
pub fn write(plan: &Plan) -> Result<Truth> {
    let mut rng = Rng::with_seed(plan.seed);
    let texts = Texts::new(&mut rng);
    let sizes = sizes(&mut rng, plan);
    let mut truth = Truth { tool: plan.tool, ..Truth::default() };
    let mut parent: Option<(PathBuf, u64)> = None;
    for (i, bytes) in sizes.into_iter().enumerate() {
        let version = rng.usize(..PROJECTS.len());
        // Spread evenly; the last one ends an hour before the end.
        let back = (plan.sessions - i as u64) as i64 * DAYS * 86_400 / plan.sessions as i64 + 3_600;
        let start = plan.until.as_millisecond() - back * 1_000 - 3_600_000;
        let copies = parent.take().filter(|_| i as u64 % FORKS == FORKS - 1);
        let setting = Setting { folder: &plan.out, cwd: PROJECTS[version], version, start };
        let mut session = Session::new(&texts, Rng::with_seed(rng.u64(..)), plan.tool, &setting)?;
        if let Some((path, _)) = &copies {
            session.copy(path)?;
        }
        let (path, mut written) = session.write(bytes)?;
        settle(&path, written.ended_at)?;
        for file in &written.subagent_files {
            settle(file, written.ended_at)?;
        }
        if fs::metadata(&path)?.len() <= FORK_BYTES {
            parent = Some((path, bytes));
        }
        let planted = written.planted.iter_mut().map(|planted| &mut planted.path);
        for path in std::iter::once(&mut written.path).chain(&mut written.subagent_files).chain(planted) {
            *path = path.strip_prefix(&plan.out)?.to_owned();
        }
        truth.sessions.push(written);
    }
    if plan.tool == Tool::OpenCode {
        let files = truth.sessions.iter().flat_map(|one| std::iter::once(&one.path).chain(&one.subagent_files));
        let files: Vec<PathBuf> = files.map(|path| plan.out.join(path)).collect();
        database::write(&plan.out.join("opencode/opencode.db"), &files)?;
    }
    let path = plan.out.join("truth.json");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    serde_json::to_writer_pretty(std::io::BufWriter::new(file), &truth)?;
    Ok(truth)
}

/// Sizes of sessions: log-normal, so that half of the bytes are in a tenth of the files, and a few hold next to nothing.
fn sizes(rng: &mut Rng, plan: &Plan) -> Vec<u64> {
    let normal = |rng: &mut Rng| (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
    let weights: Vec<f64> = (0..plan.sessions).map(|_| (1.3 * normal(rng)).exp()).collect();
    let all: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / all * plan.bytes as f64) as u64).collect()
}

/// Gives a file the time of its last record, so that it counts as settled.
fn settle(path: &Path, ended_at: i64) -> Result<()> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(ended_at.max(0) as u64);
    File::options().append(true).open(path)?.set_modified(time)?;
    Ok(())
}
