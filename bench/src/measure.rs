//! How things are measured: processor time, because machines are shared, and peak memory.

use anyhow::{Context, Result};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What something cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Time that passed.
    pub wall: Duration,
    /// Time of processors, user and system.
    pub cpu: Duration,
    /// Most memory held at once, in bytes.
    pub peak: u64,
    /// Exit code of a child; 0 if it was killed.
    pub code: i32,
}

/// Processor time of this process so far.
pub fn cpu() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, which zeroes make a valid one even if the call fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Runs a program to its end. Its output is thrown away.
///
/// # Errors
/// When it cannot be started.
pub fn run(command: &mut Command) -> Result<Cost> {
    let name = command.get_program().to_string_lossy().into_owned();
    let begin = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: the pointers are to a whole status and a whole `rusage`; the child is ours and waited for nowhere else.
    let usage = unsafe {
        libc::wait4(child.id() as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr());
        usage.assume_init()
    };
    Ok(Cost {
        wall: begin.elapsed(),
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        // Linux counts in kibibytes, macOS in bytes.
        peak: usage.ru_maxrss as u64 * if cfg!(target_os = "macos") { 1 } else { 1024 },
        code: if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 0 },
    })
}

fn time(value: libc::timeval) -> Duration {
    Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1_000)
}

/// The one in the middle.
pub fn median<T: Copy + Ord>(values: &[T]) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// Middle and 95th percentile in milliseconds, as two cells of a table.
pub fn percentiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    if times.is_empty() { " | ".to_owned() } else { format!("{:.2} | {:.2}", at(50), at(95)) }
}

/// Bytes of a file, or of all files in a folder.
pub fn size(path: &Path) -> u64 {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| size(&entry.path())).sum()
    } else {
        std::fs::metadata(path).map_or(0, |metadata| metadata.len())
    }
}

/// All transcripts (`*.jsonl`) under these folders, and these files, by name.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = paths.to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() || path.extension().is_some_and(|extension| extension == "jsonl") {
                    open.push(path);
                }
            }
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
