//! Keys: what a happening is known by in every file that holds a copy of it.
//!
//! Archiving moves a file, migrating rewrites it, and up to 0.16x a fork begins with all records of the session it was made
//! from under new times. Turn ids, call ids and texts survive all of that; times, lines and ordinals do not. So a key is
//! the turn, and in it the call's id, or the hash of a text and which of equal ones it is:
//!
//! | event | key |
//! | --- | --- |
//! | tool call, its result | `<turn>/<call>`, `<turn>/<call>/result` |
//! | prompt, reply, reasoning, other text | `<turn>/p<hash>`, `/a<hash>`, `/r<hash>`, `/h<hash>` |
//! | usage | `<turn>/u<tokens of the thread so far>` |
//! | interrupt, compaction, going back, error | `<turn>/interrupt`, `/compaction`, `/rewind`, `/e<hash>` |
//!
//! Up to 0.8x turns have no ids, or numbers that every session counts anew; migrating makes them `rollout-…`. There a turn
//! is named by a hash of the session's id and of all prompts up to its own, which a fork copies, too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::hash::hash64;

/// Is it the id of one turn only?
pub(crate) fn is_unique(turn: &str) -> bool {
    turn.len() == 36 && turn.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// What keys are made from.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Keys {
    turn: String,
    /// The tool named the turn.
    named: bool,
    /// Hashes of this turn's keys, and how often each was made.
    made: BTreeMap<u64, u32>,
}

impl Keys {
    /// The session whose records follow.
    pub(crate) fn session(&mut self, id: &str) {
        self.enter(id, false);
    }

    /// A turn begins, or goes on.
    pub(crate) fn turn(&mut self, id: &str) {
        if self.turn != id {
            self.enter(id, true);
        }
    }

    /// A prompt: where turns have no ids it begins one.
    pub(crate) fn prompt(&mut self, text: &str) {
        if !self.named {
            let name = format!("{:016x}", hash64(format!("{}\n{}", self.turn, text.trim())));
            self.enter(&name, false);
        }
    }

    fn enter(&mut self, turn: &str, named: bool) {
        turn.clone_into(&mut self.turn);
        self.named = named;
        self.made.clear();
    }

    /// Do turns have ids here?
    pub(crate) fn are_named(&self) -> bool {
        self.named
    }

    /// The turn that goes on now.
    pub(crate) fn now(&self) -> &str {
        &self.turn
    }

    /// Key of a text; `kind` tells texts of different sorts apart.
    pub(crate) fn text(&mut self, kind: char, text: &str) -> String {
        self.named(&format!("{kind}{:016x}", hash64(text.trim())))
    }

    /// Key of something that has a name within its turn.
    pub(crate) fn named(&mut self, name: &str) -> String {
        let key = format!("{}/{name}", self.turn);
        let count = self.made.entry(hash64(&key)).or_insert(0);
        *count += 1;
        match *count {
            1 => key,
            count => format!("{key}#{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_of_a_turn_are_counted() {
        let mut keys = Keys::default();
        keys.turn("t1");
        let (first, second) = (keys.text('a', "Done."), keys.text('a', " Done.\n"));
        assert_eq!(format!("{first}#2"), second);
        keys.turn("t1");
        assert_ne!(keys.text('a', "Done."), first);
        keys.turn("t2");
        assert!(keys.text('a', "Done.").starts_with("t2/a"));
    }

    #[test]
    fn turns_without_ids_are_named_by_what_led_to_them() {
        let key = |session: &str, prompts: &[&str]| {
            let mut keys = Keys::default();
            keys.session(session);
            prompts.iter().for_each(|prompt| keys.prompt(prompt));
            keys.named("call_1")
        };
        assert_eq!(key("s", &["a", "b"]), key("s", &["a", "b"]));
        assert_ne!(key("s", &["a", "a"]), key("s", &["a"]));
        assert_ne!(key("s", &["a"]), key("z", &["a"]));
    }
}
