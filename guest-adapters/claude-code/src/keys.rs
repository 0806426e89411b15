//! Keys: what a happening is known by in every file that holds a copy of it.
//!
//! Since 2.0 a fork copies its history with the uuids kept, so a record's uuid is its key. Up to 1.x, resuming wrote a new
//! file with all records copied under new uuids and one new time; only the ids of responses and of tool calls, and the
//! texts, survived. So:
//!
//! | event | key |
//! | --- | --- |
//! | tool call, its result | `toolu_…`, `toolu_…/result`, since 2.0 with `@<uuid>` |
//! | text, reasoning of a response | `msg_…/<hash>`, since 2.0 with `@<uuid>` |
//! | usage of a response | `msg_…/usage`, since 2.0 with `/<request>` |
//! | anything else since 2.0 | its record's uuid, `…/1` for a second event of one record |
//! | anything else up to 1.x | hash of its text, at the response before it (its *anchor*), and which of equal ones it is |
//!
//! The first prompts of a 1.x file have no response before them. Their anchor is the first response that follows, so they
//! are [held back](crate::hold) until it comes.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::hash::hash64;

use crate::hold::Wait;
use crate::{Place, record::Record};

/// What keys are made from.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Keys {
    /// Id of the last response of the main conversation; of the summary after a compaction, from which on a resumed
    /// session's history is copied.
    anchor: String,
    /// Hashes of the texts since then, and how often each came.
    since: Vec<(u64, u32)>,
}

impl Keys {
    /// The key of an event that has no id of its own, the `nth` of its record; and what it has to wait for to get one.
    pub(crate) fn key(&mut self, record: &Record<'_>, what: &str, text: &str, nth: usize) -> (Option<String>, Wait) {
        let uuid = record.uuid.get();
        if let Some(uuid) = uuid
            && !copied_under_new_uuids(record)
        {
            return (Some(if nth == 0 { uuid.to_owned() } else { format!("{uuid}/{nth}") }), Wait::Nothing);
        }
        let hash = hash64(format!("{what}:{}", text.trim()));
        let count = self.count(hash);
        if self.anchor.is_empty() {
            return (uuid.map(str::to_owned), Wait::Anchor { hash, count });
        }
        (Some(anchored(hash, count, '@', &self.anchor)), Wait::Nothing)
    }

    /// A response of the main conversation.
    pub(crate) fn response(&mut self, id: &str) {
        if self.anchor != id {
            id.clone_into(&mut self.anchor);
            self.since.clear();
        }
    }

    /// A compaction: what comes before it is not copied on a resume.
    pub(crate) fn summary(&mut self, text: &str) {
        self.anchor = format!("summary:{:016x}", hash64(text.trim()));
        self.since.clear();
    }

    fn count(&mut self, hash: u64) -> u32 {
        match self.since.iter_mut().find(|(known, _)| *known == hash) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.since.push((hash, 1));
                1
            }
        }
    }
}

/// The key of the `count`th text with this hash; the anchor lies before (`@`) or after (`<`) it.
pub(crate) fn anchored(hash: u64, count: u32, side: char, anchor: &str) -> String {
    match count {
        1 => format!("{hash:016x}{side}{anchor}"),
        _ => format!("{hash:016x}{side}{anchor}#{count}"),
    }
}

/// The key of a block of a response.
pub(crate) fn block(record: &Record<'_>, place: &Place, text: &str) -> Option<String> {
    let id = record.message.id.get().or(record.uuid.get())?;
    Some(of_this_record(record, place, format!("{id}/{:016x}", hash64(text))))
}

/// The key of something that has an id of the model's service. Services that are not Anthropic's may begin to count anew in
/// each session, so the record's uuid is added where copies keep it. They keep it in the main conversation since 2.0; that
/// the copies of a sub-agent's messages in its parent's file do is not known.
pub(crate) fn of_this_record(record: &Record<'_>, place: &Place, id: String) -> String {
    match record.uuid.get() {
        Some(uuid) if !place.sub_agent && !copied_under_new_uuids(record) => format!("{id}@{uuid}"),
        _ => id,
    }
}

/// The key of a response's usage. Some gateways use an id again, which the request tells apart; copies up to 1.x have
/// lost it.
pub(crate) fn usage(record: &Record<'_>) -> Option<String> {
    let id = record.message.id.get()?;
    match record.request.get() {
        Some(request) if !copied_under_new_uuids(record) => Some(format!("{id}/usage/{request}")),
        _ => Some(format!("{id}/usage")),
    }
}

fn copied_under_new_uuids(record: &Record<'_>) -> bool {
    record.version.as_str().starts_with("1.") || record.version.as_str().starts_with("0.")
}
