//! `totalrecall hook EVENT`: what a tool calls when something happened in a session.
//!
//! It leaves one small file in the inbox, says at most one line of JSON, starts a worker that outlives it where there is
//! something to read, and is gone. Neither the components nor the database nor the settings are touched, and whatever
//! happens the exit code is 0 and nothing is complained of: the agent is never held up. There are two exceptions, for a person who
//! wants them: `/compact` is refused once where nothing was saved (`guard.rs`), which is exit code 2 and a reason; and for an aside
//! (`inject/aside.rs`) the store is searched, for milliseconds.

mod answer;
mod context;
mod event;
mod greeting;
mod input;
mod slash;
mod worker;

use std::{
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};

use super::ui;
use crate::{
    clock, config, guard,
    inbox::{self, BEFORE_COMPACTION, Notice, SESSION_IS_OVER},
    inject::{self, aside::Occasion},
    paths::{self, Home},
    pause, present,
};

use event::ClientEvent;
pub(super) use input::first_value;

/// A session begins, or goes on after `/clear`, a resumption or a compaction.
const SESSION_BEGINS: &str = "SessionStart";

/// A person asks something; before it reaches the model.
const PROMPT_SENT: &str = "UserPromptSubmit";

/// A tool is about to be used.
const TOOL_CALLED: &str = "PreToolUse";

/// The tool that reads a file.
const READ: &str = "Read";

/// How Claude Code says that a program asks, not a person: `sdk-cli` (`claude -p`), `sdk-ts`, `sdk-py`.
const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";

/// A person typed a command of the tool; before it reaches the model.
const COMMAND_TYPED: &str = "UserPromptExpansion";

/// To a client: what you are about to do may not be done, and standard error says why.
const REFUSED: u8 = 2;

/// Most bytes of an event: an answer or a prompt may ride along, whatever is pasted into it.
const MAX_EVENT: u64 = 16 << 20;

/// Take a hook's event from standard input; never fails, never waits
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, as a Claude Code hook of the event SessionEnd:
  totalrecall hook SessionEnd

SessionStart may print one line about what is new and what the agent is told of earlier sessions, UserPromptExpansion what a `/recall-…`
command asks for, UserPromptSubmit and PreToolUse what is known of a prompt or of a file that is read, where you want that (`[inject]`); every
other event prints nothing. The exit code is always 0, but for PreCompact where you want `/compact` to be refused once if nothing was saved
(`[guard] manual`).")]
pub(super) struct Hook {
    /// The event's name, as the client has it: SessionStart, SessionEnd, Stop, PreCompact, …
    event: String,
}

impl Hook {
    pub(super) fn run(&self, home: Option<PathBuf>) -> ExitCode {
        let begun = Instant::now();
        // What a mistake of ours would print reaches the agent, or the person in the middle of their work.
        panic::set_hook(Box::new(|_| {}));
        let taken = || first_value(MAX_EVENT).map_or(ExitCode::SUCCESS, |event| self.act(home, &event, begun));
        panic::catch_unwind(AssertUnwindSafe(taken)).unwrap_or(ExitCode::SUCCESS)
    }

    /// Takes the event of a client that has left our arguments out, as Claude Code before 2.1.139 does with those of
    /// `init --hooks`. None: there is none, so we were not started by a client.
    pub(super) fn alone() -> Option<ExitCode> {
        let begun = Instant::now();
        let event = first_value::<ClientEvent>(MAX_EVENT)?;
        let hook = Self { event: event.hook_event_name.clone()? };
        panic::set_hook(Box::new(|_| {}));
        Some(panic::catch_unwind(AssertUnwindSafe(|| hook.act(None, &event, begun))).unwrap_or(ExitCode::SUCCESS))
    }

    fn act(&self, home: Option<PathBuf>, event: &ClientEvent, begun: Instant) -> ExitCode {
        match Home::choose(home) {
            Some(home) if !config::is_our_child() => self.act_in(&home, event, begun),
            _ => ExitCode::SUCCESS,
        }
    }

    fn act_in(&self, home: &Home, event: &ClientEvent, begun: Instant) -> ExitCode {
        if self.event == COMMAND_TYPED {
            if let Some(context) = slash::answer(home, event) {
                print(&said_to_agent(COMMAND_TYPED, &context));
            }
            return ExitCode::SUCCESS;
        }
        if pause::is_paused(home.path(), event.cwd.as_deref()) {
            return ExitCode::SUCCESS;
        }
        if let Some((occasion, option)) = self.occasion(event) {
            if let Some(context) = context::aside(home, event, &occasion, option, begun) {
                print(&said_to_agent(&self.event, &context));
            }
            return ExitCode::SUCCESS;
        }
        if self.event == TOOL_CALLED {
            // Of a tool that we know nothing about; there are too many calls to note them.
            return ExitCode::SUCCESS;
        }
        if let (true, Some(session)) = (self.event == BEFORE_COMPACTION, event.session_id.as_deref()) {
            inject::expect(home.path(), session);
        }
        // Of a session that was killed there are only notices from before its end.
        let others_wait = self.event == SESSION_BEGINS && inbox::waits(home.path());
        let has_transcript = event.transcript_path.is_some();
        leave_notice(&self.event, home, event);
        if self.event == SESSION_BEGINS {
            greet(home, event);
        }
        let is_read_now = self.event == SESSION_IS_OVER || self.event == BEFORE_COMPACTION;
        // Also if there was no room for a notice: the worker looks at the sources itself.
        if others_wait || (has_transcript && is_read_now) {
            worker::start(home);
        }
        if self.event == BEFORE_COMPACTION && is_refused(home, event) {
            ui::say(guard::REFUSAL);
            return ExitCode::from(REFUSED);
        }
        ExitCode::SUCCESS
    }

    /// What an aside could be about, and what the plugin's option says of it.
    fn occasion(&self, event: &ClientEvent) -> Option<(Occasion, Option<bool>)> {
        match self.event.as_str() {
            // Of clients that do not tell what is asked we only leave word.
            PROMPT_SENT => Some((Occasion::Prompt(event.prompt.0.clone()?), config::prompt_memory_option())),
            TOOL_CALLED if event.tool_name.as_deref() == Some(READ) && event.agent_id.is_none() => {
                let file = PathBuf::from(event.tool_input.file_path.0.clone()?);
                Some((Occasion::File(file), config::file_memory_option()))
            }
            _ => None,
        }
    }
}

/// Text for the model, as a client reads it.
fn said_to_agent(event: &str, context: &str) -> serde_json::Value {
    serde_json::json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": context } })
}

/// Nobody is there who could read what we say, or type something again.
fn is_of_a_script() -> bool {
    paths::variable(ENTRYPOINT).is_some_and(|it| it.starts_with("sdk-"))
}

/// What is new, for the person, and what was, for the agent.
fn greet(home: &Home, event: &ClientEvent) {
    if let Some(session) = event.session_id.as_deref().filter(|_| context::is_heard(event)) {
        // Without it, what the memory's server saves may count for an earlier session of this client.
        let _ = present::note(home.path(), session, event.source.as_deref() == Some("startup"));
    }
    let mut said = serde_json::Map::new();
    if let Some(line) = greeting::line(home, event.source.as_deref()) {
        said.insert("systemMessage".to_owned(), line.into());
    }
    if let Some(context) = context::of(home, event) {
        said.extend(said_to_agent(SESSION_BEGINS, &context).as_object().cloned().unwrap_or_default());
    }
    if !said.is_empty() {
        print(&said.into());
    }
}

/// Only a compaction that the person asked for, and only if they want that. In a script's session nobody types it again.
fn is_refused(home: &Home, event: &ClientEvent) -> bool {
    event.trigger.as_deref() == Some("manual")
        && context::is_heard(event)
        && !is_of_a_script()
        && config::compact_guard_option().unwrap_or_else(|| guard::is_on(home.path()))
        && event.session_id.as_deref().is_some_and(|session| guard::refuses(home.path(), session, clock::now()))
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
