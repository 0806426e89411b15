//! Keys: what a happening is known by in every place that holds a copy of it.
//!
//! The migration from the tree of files to the database (and from the older trees to the newer) keeps all ids and leaves
//! the files where they are, so ids would do. A fork does not: it is a new session with all messages and parts copied
//! under new ids, and no field says from where. What a fork copies unchanged is the content, and with it the time a
//! message was created at (`time.created`; the columns of parts have the time of the copying). So:
//!
//! | event | key |
//! | --- | --- |
//! | text, reasoning | `<created><u or a>/<hash of the text>` |
//! | tool call, its result, its answer | `<created>a/<callID>`, `…/result`, `…/answer` |
//! | usage, error, interrupt | `<created>a/usage/<completed>` … |
//! | compaction, command | `<created>u/compaction` … |
//!
//! Within a session this is unique: of messages of one role created in the same millisecond, which stand next to each other
//! in every copy, the second is `<created>a#2`; of equal texts of one message the second is `…#2`.
//!
//! Sessions that run side by side may create messages in the same millisecond. The text, the id of the call, the time of
//! completion then tell them apart, for sessions that a person starts. Sub-agents are started several at once, and with
//! equal prompts; they are never forked, so their keys begin with the message's id instead. So do those of messages without
//! a time.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::hash::hash64;

/// Makes the keys of one message.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Keys {
    base: String,
    /// Time and side of the message, and which of those that have both it is.
    created: Option<(i64, char, u32)>,
    /// Hashes of the keys given out, and how often each.
    given: Vec<(u64, u32)>,
}

impl Keys {
    /// The next message. `id` is used where its time does not tell it.
    pub(crate) fn next(&mut self, id: &str, created: Option<i64>, side: char) {
        self.given.clear();
        let Some(created) = created else {
            (self.base, self.created) = (id.to_owned(), None);
            return;
        };
        let nth = match self.created {
            Some((before, which, nth)) if before == created && which == side => nth + 1,
            _ => 1,
        };
        self.created = Some((created, side, nth));
        self.base = if nth == 1 { format!("{created}{side}") } else { format!("{created}{side}#{nth}") };
    }

    /// The key of something of the message that `what` tells from everything else of it.
    pub(crate) fn key(&mut self, what: &str) -> String {
        let hash = hash64(what);
        let count = match self.given.iter_mut().find(|(known, _)| *known == hash) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.given.push((hash, 1));
                1
            }
        };
        let base = &self.base;
        if count == 1 { format!("{base}/{what}") } else { format!("{base}/{what}#{count}") }
    }

    /// The key of a text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        self.key(&format!("{:016x}", hash64(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_are_counted() {
        let mut keys = Keys::default();
        keys.next("msg_1", Some(5), 'u');
        assert_eq!([keys.key("a"), keys.key("b"), keys.key("a")], ["5u/a", "5u/b", "5u/a#2"]);
        keys.next("msg_2", Some(5), 'a');
        assert_eq!(keys.key("a"), "5a/a");
        keys.next("msg_3", Some(5), 'a');
        assert_eq!(keys.key("a"), "5a#2/a");
        keys.next("msg_4", None, 'a');
        assert_eq!(keys.key("a"), "msg_4/a");
    }
}
