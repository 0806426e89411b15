//! `repeated-instruction`: the person says again what they said before.
//!
//! **Why it matters.** What has to be said twice was not heard, or was forgotten; either way it belongs in a file that is always
//! read.
//!
//! **Example.** "only touch Settings/" early in the session, and an hour later "again: only Settings/, nothing else".
//!
//! Three things count: words much like earlier ones; "I said …" with some of the words that were said; and the same text sent
//! again before anything answered it.
//!
//! **False friends.** Short words of consent and steering ("continue", "yes, do it", "run the tests"), slash commands, and
//! answers to a question of the agent.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{Author, Body, Channel};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::pieces::{likeness, pieces};
use crate::signal::user_correction::reminds;
use crate::text::{hash, one_line};

const NAME: &str = "repeated-instruction";

/// Instructions remembered. Older ones have scrolled out of the person's mind, too.
const MEMORY: usize = 64;

/// Fewer different pieces than this are steering, not an instruction.
const LEAST: usize = 5;

/// Likeness from which "I said …" names what was said.
const REMINDER: f32 = 0.12;

/// Words that are said again and again and instruct nothing.
const STEERING: &[&str] = &[
    "continue",
    "resume",
    "go on",
    "go",
    "yes",
    "y",
    "ok",
    "okay",
    "no",
    "next",
    "proceed",
    "retry",
    "try again",
    "again",
    "hello",
    "hi",
    "thanks",
    "继续",
    "好的",
    "好",
    "可以",
    "続けて",
    "はい",
    "お願いします",
    "oui",
    "continuez",
    "vas-y",
];

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RepeatedInstruction {
    said: Vec<Said>,
    /// The last words (hashed) and their record, until the agent does or says something.
    unheard: Option<(u64, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Said {
    line: u64,
    /// Hashes of the telling pieces, sorted.
    pieces: Vec<u32>,
}

impl Detector for RepeatedInstruction {
    fn kind() -> SignalKind {
        kind(
            NAME,
            3,
            "The person says again what they said before.",
            "Put what was said twice into the instructions that are always read.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let event = moment.event;
        if event.thread.is_some() {
            return;
        }
        let words = match &event.body {
            Body::Message(message) if message.author == Author::Human => match message.channel {
                Channel::Prompt | Channel::Steering | Channel::Comment => message.text.as_str(),
                // `/compact fix the tests next` instructs, `/compact` does not: too few pieces.
                Channel::Command => message.text.split_once(' ').map_or("", |(_, arguments)| arguments),
                _ => return,
            },
            Body::ToolResult(result) => match &result.words {
                Some(words) => words.as_str(),
                None => return,
            },
            Body::ToolCall(_) => {
                self.unheard = None;
                return;
            }
            Body::Message(message) if message.author == Author::Agent => {
                self.unheard = None;
                return;
            }
            _ => return,
        };
        let whole = words.trim().to_lowercase();
        if whole.is_empty() {
            return;
        }
        let unheard = self.unheard.replace((hash(&whole), event.line));
        if let Some((before, line)) = unheard
            && before == hash(&whole)
            && !event.copied
            && !STEERING.contains(&whole.trim_end_matches(['.', '!', '。']))
        {
            let detail = format!("sent again; nothing had answered line {line}");
            found.push(Place::of(event).signal(NAME, one_line(words, 120), detail).resting_on([line]));
            return;
        }
        let pieces = pieces(words);
        if pieces.len() < LEAST {
            return;
        }
        let best = self
            .said
            .iter()
            .map(|said| (likeness(&said.pieces, &pieces), said.line))
            .reduce(|best, next| if next.0 >= best.0 { next } else { best });
        if let Some((likeness, line)) = best
            && !event.copied
            && (likeness >= moment.thresholds.repeat_similarity || (likeness >= REMINDER && reminds(words)))
        {
            let subject = one_line(words, 120);
            let detail = format!("said before in line {line} ({:.0} % alike)", likeness * 100.0);
            found.push(Place::of(event).signal(NAME, subject, detail).resting_on([line]).confident(likeness));
        }
        if self.said.len() == MEMORY {
            self.said.remove(0);
        }
        self.said.push(Said { line: event.line, pieces });
    }
}
