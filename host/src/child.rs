//! A program that is run to its end, whatever it does: its output is bounded, its input never blocks us, and it and all that
//! it has started are gone when this returns.

use std::{
    io::{self, Read, Write},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// Most bytes of an answer: a hundred times the longest that is asked for.
const MOST_OUTPUT: usize = 4 << 20;
/// Bytes of complaints that are kept; programs write progress there, and the last lines say why it failed.
const KEPT_ERRORS: usize = 16 << 10;
/// How often it is looked whether it has ended or shall.
const LOOK: Duration = Duration::from_millis(25);
/// How long output may still come from what the program has started, once it has ended itself.
const GRACE: Duration = Duration::from_millis(500);

/// What to run.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
    pub(crate) variables: &'a [(&'static str, String)],
    /// Variables that it does not get.
    pub(crate) removed: &'a [&'static str],
    pub(crate) folder: &'a Path,
    pub(crate) input: &'a str,
    pub(crate) timeout: Duration,
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, or by a signal from somewhere else.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut,
    /// The person pressed Ctrl-C.
    Stopped,
    /// It wrote more than any answer.
    TooMuch,
}

/// What it left.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) ended: Ended,
    pub(crate) stdout: Vec<u8>,
    /// The end of it.
    pub(crate) stderr: Vec<u8>,
}

/// Runs it.
///
/// # Errors
/// When it cannot be started.
#[expect(clippy::disallowed_methods, reason = "the one place that starts programs and waits for them")]
pub(crate) fn run(run: &Run<'_>, stop: &AtomicBool) -> io::Result<Output> {
    let mut command = Command::new(run.program);
    command
        .args(run.arguments)
        .envs(run.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(run.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for name in run.removed {
        command.env_remove(name);
    }
    // So that it and what it starts can be killed together, and Ctrl-C is ours to act on.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;

    if let Some(mut stdin) = child.stdin.take() {
        let input = run.input.as_bytes().to_vec();
        // One that does not read keeps the thread until it is killed. That it closed its input early is no failure: whether
        // it answers is what counts.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let (told, news) = mpsc::channel();
    let stdout = Pipe::read(child.stdout.take(), Keep::Head(MOST_OUTPUT), Some(told));
    let stderr = Pipe::read(child.stderr.take(), Keep::Tail(KEPT_ERRORS), None);

    let deadline = Instant::now().checked_add(run.timeout);
    // When it had ended by itself, and what it wrote was still held open.
    let mut over: Option<Instant> = None;
    // All that it writes there was read; what is left is that it ends.
    let mut closed = false;
    let cut = loop {
        if stop.load(Ordering::Relaxed) {
            break Some(Ended::Stopped);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break Some(Ended::TimedOut);
        }
        if over.is_none() && has_exited(&mut child)? {
            over = Some(Instant::now());
        }
        if over.is_some_and(|since| closed || since.elapsed() >= GRACE) {
            break None;
        }
        if closed {
            thread::sleep(LOOK);
            continue;
        }
        match news.recv_timeout(LOOK) {
            Ok(News::TooMuch) => break Some(Ended::TooMuch),
            Ok(News::Closed) | Err(RecvTimeoutError::Disconnected) => closed = true,
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    // Also where it has ended by itself: what it left behind in its group ends with it. It is reaped only afterwards, so
    // the group's number cannot be another's.
    kill(&mut child);
    let status = child.wait()?;
    Ok(Output { ended: cut.unwrap_or(Ended::Exited(status)), stdout: stdout.take(), stderr: stderr.take() })
}

#[cfg(unix)]
fn group(child: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(child.id().cast_signed())
}

/// Has it ended? It is not reaped by this, so that its number stays its own.
#[cfg(unix)]
fn has_exited(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = group(child) else { return Ok(true) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

#[cfg(not(unix))]
fn has_exited(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends it and, where there are process groups, all that it has started in its own. One that has ended is no error.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = group(child) {
        // One that has ended is no error.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    drop(child.kill());
}

enum News {
    Closed,
    TooMuch,
}

#[derive(Clone, Copy)]
enum Keep {
    /// The first bytes, and no more are read.
    Head(usize),
    /// The last bytes.
    Tail(usize),
}

/// What is read from a pipe by a thread of its own. A process that got away from its group may hold the pipe open for ever,
/// so nobody waits for the thread.
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn read(from: Option<impl Read + Send + 'static>, keep: Keep, tell: Option<mpsc::Sender<News>>) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let Some(mut from) = from else { return Self(kept) };
        let keeper = Arc::clone(&kept);
        thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            let news = loop {
                let count = match from.read(&mut buffer) {
                    Ok(0) => break News::Closed,
                    Ok(count) => count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => break News::Closed,
                };
                let mut kept = keeper.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..count]);
                match keep {
                    Keep::Head(most) if kept.len() > most => {
                        kept.truncate(most);
                        break News::TooMuch;
                    }
                    Keep::Tail(most) if kept.len() > most => {
                        let surplus = kept.len() - most;
                        kept.drain(..surplus);
                    }
                    Keep::Head(_) | Keep::Tail(_) => {}
                }
            };
            // Whoever listened may have left.
            if let Some(tell) = tell {
                drop(tell.send(news));
            }
        });
        Self(kept)
    }

    fn take(self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
