//! What was said in a pause, and what is known of it: how many events that were, and a hash of the key of each, by which
//! copies of it are told. Older tools copy a session's history under new times, which lie outside of the pause.

use rusqlite::{Connection, params};

use super::{StoreError, TranscriptId, copied::Originals};
use crate::event::Event;

/// The time under which keys are noted of what is gone for good, because a session was deleted or purged: before all times.
pub(super) const GONE: i64 = i64::MIN;

/// The events that a reading has dropped.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    keys: Vec<(i64, i64)>,
}

impl Dropped {
    /// Takes in an event that was said in a pause, at that time. Its key is one that the store knows.
    pub(super) fn add(&mut self, event: &Event, at: i64) {
        self.keys.extend(event.key.as_deref().and_then(super::key::parse).map(|key| (key, at)));
    }

    /// Notes them. `anew`: instead of those of earlier readings.
    pub(super) fn save(&self, db: &Connection, transcript: TranscriptId, anew: bool) -> Result<(), StoreError> {
        if anew {
            db.prepare_cached("DELETE FROM dropped WHERE transcript_id = ?1")?.execute([transcript])?;
        }
        let mut put = db.prepare_cached(
            "INSERT INTO dropped (key, transcript_id, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (key, transcript_id) DO UPDATE SET at = min(at, excluded.at)",
        )?;
        for (key, at) in &self.keys {
            put.execute(params![key, transcript, at])?;
        }
        Ok(())
    }
}

/// Is it a copy of what was said in a pause before `at`, in another transcript? Not if that has it from outside of a pause, too:
/// tools repeat what they say of a response.
pub(super) fn is_copy(db: &Connection, transcript: TranscriptId, event: &Event, at: i64) -> Result<bool, StoreError> {
    let Some(key) = event.key.as_deref().and_then(super::key::parse) else { return Ok(false) };
    let mut find = db.prepare_cached(&format!(
        "SELECT 1 FROM dropped WHERE key = ?1 AND transcript_id != ?2 AND at < ?3 AND at != {GONE} LIMIT 1"
    ))?;
    Ok(find.exists(params![key, transcript, at])? && !Originals::outside(db, transcript)?.has(key)?)
}

/// Is it a copy of what is gone for good, in another transcript?
pub(super) fn is_gone(db: &Connection, transcript: TranscriptId, event: &Event) -> Result<bool, StoreError> {
    let Some(key) = event.key.as_deref().and_then(super::key::parse) else { return Ok(false) };
    let mut find =
        db.prepare_cached("SELECT 1 FROM dropped WHERE key = ?1 AND transcript_id != ?2 AND at = ?3 LIMIT 1")?;
    Ok(find.exists(params![key, transcript, GONE])?)
}
