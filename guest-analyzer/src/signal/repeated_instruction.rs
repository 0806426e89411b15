//! `repeated-instruction`: the person says again what they said before.
//!
//! **Why it matters.** What has to be said twice was not heard, or was forgotten; either way it belongs in a file that is always
//! read.
//!
//! **Example.** "only touch Settings/" early in the session, and an hour later "again: only Settings/, nothing else".
//!
//! **False friends.** Short words of consent and steering ("continue", "yes, do it", "run the tests"), slash commands, and
//! answers to a question of the agent. A prompt sent again because nothing answered it is counted: the person did say it twice.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{Author, Body, Channel};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::text::{hash, one_line};

const NAME: &str = "repeated-instruction";

/// Instructions remembered. Older ones have scrolled out of the person's mind, too.
const MEMORY: usize = 64;

/// Pieces kept of one instruction: the beginning says what is wanted, pasted material follows.
const PIECES: usize = 160;

/// Fewer different pieces than this are steering, not an instruction.
const LEAST: usize = 5;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RepeatedInstruction {
    said: Vec<Said>,
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
        let words = match &event.body {
            Body::Message(message) if message.author == Author::Human && event.thread.is_none() => {
                match message.channel {
                    Channel::Prompt | Channel::Steering | Channel::Comment => message.text.as_str(),
                    // `/compact fix the tests next` instructs, `/compact` does not: too few pieces.
                    Channel::Command => message.text.split_once(' ').map_or("", |(_, arguments)| arguments),
                    _ => return,
                }
            }
            Body::ToolResult(result) if event.thread.is_none() => match &result.words {
                Some(words) => words.as_str(),
                None => return,
            },
            _ => return,
        };
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
            && likeness >= moment.thresholds.repeat_similarity
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

/// Hashes of what a text is made of: words of scripts that separate them, pairs of characters of those that do not.
fn pieces(text: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    let mut word = String::new();
    let mut last = None;
    for c in text.chars().flat_map(char::to_lowercase).chain([' ']) {
        let wide = is_wide(c);
        if c.is_alphanumeric() && !wide {
            word.push(c);
        } else if !word.is_empty() {
            if !FILLERS.contains(&word.as_str()) {
                pieces.push(hash(&word) as u32);
            }
            word.clear();
        }
        if wide && let Some(before) = last {
            pieces.push(hash(&[before, c].iter().collect::<String>()) as u32);
        }
        last = wide.then_some(c);
        if pieces.len() >= PIECES {
            break;
        }
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// Letters of scripts that write without spaces.
fn is_wide(c: char) -> bool {
    c.is_alphabetic() && matches!(c as u32, 0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Words that every instruction may hold, in the languages that separate words.
const FILLERS: &[&str] = &[
    "a", "an", "the", "to", "of", "in", "on", "and", "is", "it", "i", "you", "we", "can", "please", "this", "that",
    "me", "for", "with", "be", "do", "le", "la", "les", "de", "du", "des", "un", "une", "et", "en", "que", "qui", "je",
    "tu", "il", "est", "pour", "dans", "sur", "ce", "se", "stp", "again",
];

/// Share of the pieces that both have (Jaccard).
fn likeness(a: &[u32], b: &[u32]) -> f32 {
    let shared = a.iter().filter(|piece| b.binary_search(piece).is_ok()).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}
