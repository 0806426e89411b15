//! `totalrecall hook EVENT`: what a tool calls when something happened in a session.
//!
//! It leaves one small file in the inbox, says at most one line of JSON, starts a worker that outlives it where there is
//! something to read, and is gone. Neither the components nor the database nor the settings are touched, and whatever
//! happens the exit code is 0 and nothing is complained of: the agent is never held up.

mod answer;
mod greeting;
mod input;
mod slash;
mod worker;

use std::{
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
};

use super::ui;
use crate::{
    clock, config,
    inbox::{self, Notice, SESSION_IS_OVER},
    paths::Home,
    pause,
};

pub(super) use input::first_value;

/// A session begins, or goes on after `/clear`, a resumption or a compaction.
const SESSION_BEGINS: &str = "SessionStart";

/// A person typed a command of the tool; before it reaches the model.
const COMMAND_TYPED: &str = "UserPromptExpansion";

/// Most bytes of an event: an answer or a prompt may ride along, whatever is pasted into it.
const MAX_EVENT: u64 = 16 << 20;

/// Take a hook's event from standard input; never fails, never waits
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, as a Claude Code hook of the event SessionEnd:
  totalrecall hook SessionEnd

SessionStart may print one line about what is new, UserPromptExpansion what a `/recall-…` command asks for; every other event
prints nothing.")]
pub(super) struct Hook {
    /// The event's name, as the client has it: SessionStart, SessionEnd, Stop, PreCompact, …
    event: String,
}

/// What we read of a client's event. Claude Code 1.0.85 and newer write the first two.
#[derive(Debug, serde::Deserialize)]
struct ClientEvent {
    hook_event_name: Option<String>,
    transcript_path: Option<PathBuf>,
    session_id: Option<String>,
    cwd: Option<PathBuf>,
    /// Of `SessionStart`.
    source: Option<String>,
    /// Of `UserPromptExpansion`.
    expansion_type: Option<String>,
    command_name: Option<String>,
    command_args: Option<String>,
}

impl Hook {
    pub(super) fn run(&self, home: Option<PathBuf>) {
        // What a mistake of ours would print reaches the agent, or the person in the middle of their work.
        panic::set_hook(Box::new(|_| {}));
        let _ = panic::catch_unwind(AssertUnwindSafe(|| self.take(home)));
    }

    /// Takes the event of a client that has left our arguments out, as Claude Code before 2.1.139 does with those of
    /// `init --hooks`. False: there is none, so we were not started by a client.
    pub(super) fn alone() -> bool {
        let Some(event) = first_value::<ClientEvent>(MAX_EVENT) else { return false };
        let Some(name) = event.hook_event_name.clone() else { return false };
        panic::set_hook(Box::new(|_| {}));
        let _ = panic::catch_unwind(AssertUnwindSafe(|| Self { event: name }.act(None, &event)));
        true
    }

    fn take(&self, home: Option<PathBuf>) {
        if let Some(event) = first_value::<ClientEvent>(MAX_EVENT) {
            self.act(home, &event);
        }
    }

    fn act(&self, home: Option<PathBuf>, event: &ClientEvent) {
        if config::is_our_child() {
            return;
        }
        let Some(home) = Home::choose(home) else { return };
        if self.event == COMMAND_TYPED {
            if let Some(context) = slash::answer(&home, event) {
                print(&serde_json::json!({ "hookSpecificOutput": {
                    "hookEventName": COMMAND_TYPED, "additionalContext": context,
                } }));
            }
            return;
        }
        if pause::is_paused(home.path(), event.cwd.as_deref()) {
            return;
        }
        // Of a session that was killed there are only notices from before its end.
        let others_wait = self.event == SESSION_BEGINS && inbox::waits(home.path());
        let has_transcript = event.transcript_path.is_some();
        leave_notice(&self.event, &home, event);
        if self.event == SESSION_BEGINS
            && let Some(line) = greeting::line(&home, event.source.as_deref())
        {
            print(&serde_json::json!({ "systemMessage": line }));
        }
        // Also if there was no room for a notice: the worker looks at the sources itself.
        if others_wait || (has_transcript && self.event == SESSION_IS_OVER) {
            worker::start(&home);
        }
    }
}

fn leave_notice(event: &str, home: &Home, client: &ClientEvent) {
    let Some(transcript_path) = client.transcript_path.clone() else { return };
    let notice =
        Notice { event: event.to_owned(), transcript_path, session_id: client.session_id.clone(), at: clock::now() };
    // One that could not be left is missed by nobody: whoever looks at the sources sees what has changed.
    let _ = inbox::drop(home.path(), &notice);
}

/// The one line that a client reads.
fn print(answer: &serde_json::Value) {
    // A client that is gone needs no answer.
    let _ = ui::print(&format!("{answer}\n"));
}
