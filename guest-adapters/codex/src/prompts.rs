//! Prompts: which texts the person typed, and which of them was taken back.
//!
//! Since 0.3x a message of role `user` waits for the event that says the person typed it. If something else comes first it
//! is the client's own (a warning, say); a file without any such event tells nothing, and there it is the person's.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::types::{Author, Body, Channel};

use crate::{Codex, Place, harness, message};

/// Most prompts that may be taken back at once.
const MOST: usize = 256;

/// Longest text that waits: longer ones are pasted, and their event tells them whole.
const WAITING: usize = 32 << 10;

/// What is remembered of prompts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prompts {
    waiting: Option<Waiting>,
    /// The file has events for what the person typed.
    events: bool,
    /// A turn goes on, and whether it has its prompt already.
    running: Option<bool>,
    /// Turn and key of each first prompt of a turn.
    told: VecDeque<(u64, String)>,
}

/// A message that may have been typed.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    line: u64,
    at: Option<i64>,
    text: String,
}

impl Prompts {
    /// The client says that a turn begins.
    pub(crate) fn begins(&mut self) {
        self.running = Some(false);
    }

    /// A turn goes on that has its prompt.
    pub(crate) fn at_work(&self) -> bool {
        self.running == Some(true)
    }

    /// The client says that it ended.
    pub(crate) fn ends(&mut self) {
        self.running = None;
    }

    /// Going back by so many turns: gives the key of the first prompt that is taken back.
    pub(crate) fn back(&mut self, turns: u64) -> Option<String> {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX).min(self.told.len());
        let taken = self.told.split_off(self.told.len() - turns);
        taken.into_iter().next().map(|(_, key)| key)
    }
}

impl Codex {
    /// A message of role `user`.
    pub(crate) fn as_user(&mut self, text: &str, place: Place, out: &mut Output) {
        if let Some(command) = harness::shell_command(text) {
            let key = self.keys.text('s', text);
            let body = message(Author::Human, Channel::Shell, command, out);
            self.tell(place, Some(key), body, out);
            return;
        }
        if harness::is_clients(text) {
            if self.bare
                && let Some(cwd) = harness::folder(text).and_then(|folder| self.facts.moved(folder))
            {
                let news = totalrecall_sdk::types::Session { cwd: Some(cwd), ..crate::session::nothing() };
                self.tell(place, None, Body::Session(news), out);
            }
            self.notice(text, place, out);
            return;
        }
        if self.bare {
            self.typed(text, place, out);
            return;
        }
        let text = totalrecall_sdk::text::cap(text, WAITING).0.into_owned();
        self.prompts.waiting = Some(Waiting { line: place.line, at: place.at, text });
    }

    /// An event says what the person typed.
    pub(crate) fn prompted(&mut self, text: &str, place: Place, out: &mut Output) {
        self.prompts.waiting = None;
        self.prompts.events = true;
        if harness::is_clients(text) {
            self.notice(text, place, out);
        } else {
            self.typed(text, place, out);
        }
    }

    /// Something else came: a message that waits is what it looks like.
    pub(crate) fn settle(&mut self, out: &mut Output) {
        let Some(Waiting { line, at, text }) = self.prompts.waiting.take() else { return };
        if self.prompts.events {
            self.notice(&text, Place { line, at }, out);
        } else {
            self.typed(&text, Place { line, at }, out);
        }
    }

    fn typed(&mut self, text: &str, place: Place, out: &mut Output) {
        let text = harness::typed(text);
        if text.is_empty() {
            return;
        }
        self.keys.prompt(&text);
        // Where turns have no ids, a prompt begins one: the same error is another then.
        self.error = 0;
        let key = self.keys.text('p', &text);
        let steers = self.prompts.at_work();
        if self.prompts.running.is_some() {
            self.prompts.running = Some(true);
        }
        let turn = hash64(self.keys.now());
        if self.prompts.told.back().is_none_or(|(last, _)| *last != turn) {
            if self.prompts.told.len() == MOST {
                self.prompts.told.pop_front();
            }
            self.prompts.told.push_back((turn, key.clone()));
        }
        // A sub-agent's prompts are the model's; what it was given of its parent's history is not.
        let author = match self.facts.thread.is_some() && !self.facts.copying {
            true => Author::Agent,
            false => Author::Human,
        };
        let channel = if steers && author == Author::Human { Channel::Steering } else { Channel::Prompt };
        let body = message(author, channel, &text, out);
        self.tell(place, Some(key), body, out);
    }
}
