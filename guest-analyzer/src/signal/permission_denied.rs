//! `permission-denied`: the person refused a call, with the words they gave, if any.
//!
//! **Why it matters.** The plainest form of friction: the agent was about to do something that it should not have.
//!
//! **Example.** The agent wants to run `git push`; the person refuses and says "don't push, and never commit without me
//! seeing the diff". The words are in the detail, and they are a `user-correction` as well.
//!
//! **False friends.** A rule, mode or hook that refuses by itself (`tool-error`: no one was asked), and the interrupt marker
//! that a client writes after a refusal (part of the same happening). When one of several parallel calls is refused, its
//! siblings are cancelled with it: they are part of the same refusal, not refusals of their own.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::Status;
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::{Call, Moment};
use crate::text::one_line;

const NAME: &str = "permission-denied";

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PermissionDenied;

impl Detector for PermissionDenied {
    fn kind() -> SignalKind {
        kind(
            NAME,
            3,
            "The person refused a tool call.",
            "Write down what the agent must not do, or must ask about, and why.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let Some(result) = moment.result().filter(|result| result.status == Status::Denied) else { return };
        if moment.event.copied {
            return;
        }
        let gist = moment.call.map(|call| format!(" `{}`", one_line(&call.gist, 80))).unwrap_or_default();
        let words = result.words.as_deref().unwrap_or_default().trim();
        let detail = if words.is_empty() {
            format!("refused {}{gist} without a word", moment.tool())
        } else {
            format!("refused {}{gist}, saying: {}", moment.tool(), one_line(words, 300))
        };
        let subject = moment.call.map_or_else(|| moment.tool().to_owned(), subject);
        let signal = Place::of(moment.event).signal(NAME, subject, detail);
        found.push(signal.resting_on(moment.call.map(|call| call.line)));
    }
}

/// `Bash: git push`, `Edit`: the tool, and which program with which of its commands.
fn subject(call: &Call) -> String {
    let program = if call.executes { program(&call.gist) } else { String::new() };
    if program.is_empty() { call.name.clone() } else { format!("{}: {program}", call.name) }
}

fn program(command: &str) -> String {
    let mut words = command.split_whitespace().skip_while(|word| *word == "sudo" || word.contains('='));
    let Some(first) = words.next() else { return String::new() };
    let name = first.rsplit('/').next().unwrap_or(first);
    match words.next() {
        Some(next) if next.len() < 20 && next.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') => {
            format!("{name} {next}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn programs_are_named_with_their_command() {
        assert_eq!(program("git push origin main"), "git push");
        assert_eq!(program("A=1 sudo /usr/bin/rm -rf /x"), "rm -rf");
        assert_eq!(program("psql \"$URL\""), "psql");
        assert_eq!(program(""), "");
    }
}
