//! `compaction`: the conversation grew too long and was summed up.
//!
//! **Why it matters.** What the summary left out is forgotten: instructions given early, decisions, names.
//!
//! **Example.** A compact boundary, triggered automatically at 168,000 tokens.
//!
//! **False friends.** The dropping of old tool outputs (a microcompaction), which loses no words.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::Body;
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, kind};
use crate::moment::Moment;

const NAME: &str = "compaction";

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Compaction;

impl Detector for Compaction {
    fn kind() -> SignalKind {
        kind(
            NAME,
            1,
            "The conversation grew too long and was summed up.",
            "Start a new session for a new task; keep lasting instructions in a file that is always read.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let Body::Compaction(compaction) = &moment.event.body else { return };
        if moment.event.copied {
            return;
        }
        let how = match compaction.manual {
            Some(true) => "manual",
            Some(false) => "automatic",
            None => "unknown trigger",
        };
        let detail = match compaction.tokens_before {
            Some(tokens) => format!("compacted at {tokens} tokens ({how})"),
            None => format!("compacted ({how})"),
        };
        found.push(Place::of(moment.event).signal(NAME, how.into(), detail));
    }
}
