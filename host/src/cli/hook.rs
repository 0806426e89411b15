//! `totalrecall hook EVENT`: what a tool calls when something happened in a session.
//!
//! It writes one small file into the inbox, starts a worker that outlives it where the session is over, and is gone.
//! Neither the components nor the database are touched, and whatever happens the exit code is 0: the agent is never
//! held up.

use std::{
    io::{IsTerminal as _, Read as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use crate::{
    clock, config,
    inbox::{self, Notice},
    paths::Home,
    pause,
    pipeline::SESSION_IS_OVER,
};

/// How long a client may take to write the event it just started us for. It has it ready, so this is only against a
/// pipe that nobody writes to.
const PATIENCE: Duration = Duration::from_millis(200);

/// Events are a few hundred bytes; a prompt that rides along may be longer.
const MAX_EVENT: u64 = 1 << 20;

/// Take a hook's event from standard input; never fails, never waits
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, as a Claude Code hook of the event SessionEnd:
  totalrecall hook SessionEnd")]
pub(super) struct Hook {
    /// The event's name, as the client has it: SessionEnd, Stop, PreCompact, …
    event: String,
}

/// What we read of a client's event. Claude Code 1.0.85 and newer write these fields.
#[derive(Debug, serde::Deserialize)]
struct ClientEvent {
    transcript_path: Option<PathBuf>,
    session_id: Option<String>,
    cwd: Option<PathBuf>,
}

impl Hook {
    pub(super) fn run(&self, home: Option<PathBuf>) {
        if config::is_our_child() {
            return;
        }
        let Some(home) = Home::choose(home) else { return };
        let Some(event) = read_event() else { return };
        if pause::is_paused(home.path(), event.cwd.as_deref()) {
            return;
        }
        let Some(transcript_path) = event.transcript_path else { return };
        let notice =
            Notice { event: self.event.clone(), transcript_path, session_id: event.session_id, at: clock::now() };
        if inbox::drop(home.path(), &notice).is_ok() && self.event == SESSION_IS_OVER {
            start_worker(&home);
        }
    }
}

/// The client's event. None when it does not come in time or is none.
fn read_event() -> Option<ClientEvent> {
    serde_json::from_slice(&standard_input(MAX_EVENT)?).ok()
}

/// What the client writes, at most so many bytes. None when it does not come in time.
pub(super) fn standard_input(most: u64) -> Option<Vec<u8>> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    // The thread may block for ever on a pipe that is held open; it ends with the process.
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if std::io::stdin().lock().take(most).read_to_end(&mut text).is_ok() {
            let _ = sender.send(text);
        }
    });
    receiver.recv_timeout(PATIENCE).ok()
}

/// Starts `worker` so that it lives on when the client ends its process group. That one is running already is the
/// second worker's matter.
#[expect(clippy::disallowed_methods, reason = "the one place that starts a child: ourselves")]
fn start_worker(home: &Home) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut worker = Command::new(program);
    worker
        .args(["worker", "--quiet", "--home"])
        .arg(home.path())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut worker, 0);
    let _ = worker.spawn();
}
