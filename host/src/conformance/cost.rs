//! `limits` and `speed`: what the component costs.
//!
//! Figures are for reading; bounds are wide, and a component that misses one would be a burden to everyone. Time is that of
//! the processor, so what else the machine does is no matter.

use std::time::Duration;

use super::{
    report::{Findings, Unit},
    subject::{Shape, Subject, TEXT_LIMIT},
};
use crate::sandbox::{SandboxError, parse::Origin};

/// Memory after a transcript of the fixtures: ours need 2 MB, a JavaScript engine 10, a Python interpreter 40; the sandbox
/// gives no one more than 320.
const MEMORY: usize = 160 << 20;

/// From the cache of compiled components to the descriptor: ours need some milliseconds, an interpreter 100.
const START: Duration = Duration::from_secs(2);

/// Ours read 100 MB a second and more, one in Python some MB. At this speed a year of work takes an hour.
const SPEED: f64 = 0.25e6;

/// What is read to measure the speed.
const BYTES: usize = 4 << 20;

/// Time after which it is known: at the least speed this is a quarter of the bytes.
const ENOUGH: Duration = Duration::from_secs(4);

/// Bytes in one piece: so few that a slow guest is measured before the sandbox ends its call.
const PIECE: usize = 32 << 10;

/// Longest text that the host keeps unless told otherwise.
const USUAL_TEXT_LIMIT: u32 = 16 << 10;

/// Time that the processor spent on this thread; none where the system does not tell.
pub(super) fn processor_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let (seconds, nanoseconds) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
        Some(Duration::new(seconds, nanoseconds))
    }
    #[cfg(not(unix))]
    None
}

/// Adds what is common to both kinds: the memory at most, and the time to start from the cache.
pub(super) fn start_and_memory(memory: usize, load: impl Fn() -> Result<(), SandboxError>, findings: &mut Findings) {
    findings.figure("most memory", memory as f64, Unit::Bytes);
    if memory > MEMORY {
        let (expected, came) = (format!("at most {MEMORY} bytes of memory"), format!("{memory} bytes"));
        findings.fail(("", ""), expected, came, "keep what later records need, and give back the rest");
    }
    // The first one fills the cache; the quickest of three is what starting costs.
    let mut quickest = None::<Duration>;
    for _ in 0..3 {
        let before = processor_time();
        if let Err(error) = load() {
            return findings.fail(
                ("", ""),
                "a component that loads again",
                error.to_string(),
                "`describe` must not fail",
            );
        }
        let took = processor_time().zip(before).map(|(after, before)| after.saturating_sub(before));
        quickest = quickest.into_iter().chain(took).min();
    }
    if let Some(took) = quickest {
        findings.figure("start", took.as_secs_f64() * 1e3, Unit::Milliseconds);
        if took > START {
            let (expected, came) = (format!("a start within {START:?} of the processor"), format!("{took:?}"));
            findings.fail(("", ""), expected, came, "move work from the start of the component to where it is needed");
        }
    }
}

/// Memory and start.
pub(super) fn limits(subject: &Subject<'_>, load: impl Fn() -> Result<(), SandboxError>) -> Findings {
    let mut findings = Findings::default();
    let memory = subject.read().map(|(_, reading)| reading.memory).max().unwrap_or_default();
    start_and_memory(memory, load, &mut findings);
    findings
}

/// Bytes a second.
pub(super) fn speed(subject: &Subject<'_>) -> Findings {
    let longest = subject.read().map(|(transcript, _)| transcript).max_by_key(|transcript| transcript.bytes.len());
    let Some(longest) = longest.filter(|transcript| !transcript.bytes.is_empty()) else {
        return Findings::not_applicable("no transcript of the fixtures could be read: see `describe` and `golden`");
    };
    let Some(before) = processor_time() else {
        return Findings::not_applicable("this system does not tell the time that a thread has used");
    };
    let mut findings = Findings::default();
    let spent = || processor_time().map_or(Duration::ZERO, |now| now.saturating_sub(before));
    let origin = Origin { text_limit: USUAL_TEXT_LIMIT.max(TEXT_LIMIT), ..longest.origin.clone() };
    let mut bytes = 0;
    let mut run = || -> Result<(), SandboxError> {
        while bytes < BYTES && spent() < ENOUGH {
            let mut parser = subject.adapter.parser(&origin, None)?;
            // Lines go on as one long transcript, a document is read again and again.
            loop {
                for piece in longest.bytes.chunks(PIECE) {
                    parser.feed(piece)?;
                    bytes += piece.len();
                    if spent() >= ENOUGH {
                        return Ok(());
                    }
                }
                if longest.shape == Shape::Document || bytes >= BYTES {
                    break;
                }
                if !longest.bytes.ends_with(b"\n") {
                    parser.feed(b"\n")?;
                }
            }
            parser.finish()?;
        }
        Ok(())
    };
    if let Err(error) = run() {
        let todo = "it must read a transcript that is some times as long as its fixtures";
        findings.fail(longest.at(), "a transcript of 4 MB, read to its end", error.to_string(), todo);
        return findings;
    }
    judge_speed(bytes, spent(), &mut findings);
    findings
}

/// Says how fast that was.
pub(super) fn judge_speed(bytes: usize, took: Duration, findings: &mut Findings) {
    let speed = bytes as f64 / took.as_secs_f64().max(1e-6);
    findings.figure("speed", speed / 1e6, Unit::MegabytesPerSecond);
    if speed < SPEED {
        findings.fail(
            ("", ""),
            format!("at least {} MB a second", SPEED / 1e6),
            format!("{:.3} MB a second", speed / 1e6),
            "look for work that is done again for every record or every piece",
        );
    }
}

/// Has enough been measured?
pub(super) fn is_enough(bytes: usize, took: Duration) -> bool {
    bytes >= BYTES || took >= ENOUGH
}
