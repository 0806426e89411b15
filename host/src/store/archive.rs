//! What is put away: sessions and chunks that nobody looked at for long. Of a session the words of its messages, calls and
//! results are compressed, in blocks; the rest of each event stays where it is, so that copies are told, rules are measured and
//! figures add up as before. Its passages leave the indexes, but for the one of the session as a whole.
//!
//! Whoever reads a transcript's events reads them as they were ([`Shelf`]). A transcript that is read on, or a look by the
//! person, brings its session back whole.

use std::{collections::HashMap, io::Read as _};

use rusqlite::{Connection, OptionalExtension, params};
use ruzstd::{
    decoding::StreamingDecoder,
    encoding::{CompressionLevel, compress_to_vec},
};

use super::{
    Origin, SessionId, Store, StoreError, TranscriptId,
    copied::ids,
    deleted,
    event::{self, Words},
    mark, passage,
};
use crate::passage::parts;

/// Bytes of words that are compressed together. Reading one event of a block means reading all of it.
const BLOCK: usize = 512 << 10;

/// The words of one event: how far its row is from the block's first, then call, detail and text.
type Entry = (i64, Option<String>, Option<String>, String);

fn unreadable(why: impl std::fmt::Display) -> StoreError {
    StoreError::Row { table: "archive", why: why.to_string() }
}

/// Compresses, and makes sure that it can be read back before anything is taken away.
fn pack(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let body = compress_to_vec(bytes, CompressionLevel::Fastest);
    if unpack(&body, bytes.len())? != bytes {
        return Err(unreadable("what was compressed does not read back"));
    }
    Ok(body)
}

fn unpack(body: &[u8], bytes: usize) -> Result<Vec<u8>, StoreError> {
    let mut text = Vec::with_capacity(bytes);
    let decoder = StreamingDecoder::new(body).map_err(unreadable)?;
    // One byte more, so that a body that has more than it says is told.
    decoder.take(bytes as u64 + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() == bytes { Ok(text) } else { Err(unreadable("a body of another length")) }
}

fn unpack_text(body: &[u8], bytes: i64) -> Result<String, StoreError> {
    String::from_utf8(unpack(body, usize::try_from(bytes).map_err(unreadable)?)?).map_err(unreadable)
}

/// A block as it lies in the table.
struct Block {
    first: i64,
    entries: Vec<Entry>,
}

impl Block {
    fn read(first: i64, bytes: i64, body: &[u8]) -> Result<Self, StoreError> {
        let text = unpack_text(body, bytes)?;
        let entries = text.lines().map(|line| serde_json::from_str(line).map_err(unreadable));
        Ok(Self { first, entries: entries.collect::<Result<_, _>>()? })
    }

    fn write(&self, db: &Connection, now: i64) -> Result<(), StoreError> {
        let mut text = Vec::new();
        for entry in &self.entries {
            serde_json::to_writer(&mut text, entry).map_err(unreadable)?;
            text.push(b'\n');
        }
        put(db, Origin::Event, self.first, &text, now)
    }
}

fn put(db: &Connection, origin: Origin, source: i64, text: &[u8], now: i64) -> Result<(), StoreError> {
    db.prepare_cached("INSERT OR REPLACE INTO archive (origin, source, at, bytes, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![origin, source, now, text.len() as i64, pack(text)?])?;
    Ok(())
}

/// Reads the words of events that were put away. Remembers the last block, because events are read in their order.
pub(super) struct Shelf<'db> {
    db: &'db Connection,
    block: Option<(i64, HashMap<i64, Entry>)>,
}

impl<'db> Shelf<'db> {
    pub(super) fn new(db: &'db Connection) -> Self {
        Self { db, block: None }
    }

    /// The words of an event; none at all, if they are gone.
    pub(super) fn words(&mut self, event: i64) -> Result<Words<'_>, StoreError> {
        if !self.block.as_ref().is_some_and(|(_, entries)| entries.contains_key(&event)) {
            let mut find = self.db.prepare_cached(
                "SELECT source, bytes, body FROM archive WHERE origin = 0 AND source <= ?1 ORDER BY source DESC LIMIT 1",
            )?;
            let mut rows = find.query([event])?;
            let Some(row) = rows.next()? else { return Ok(Words::default()) };
            let first: i64 = row.get(0)?;
            if self.block.as_ref().is_none_or(|(known, _)| *known != first) {
                let body = row.get_ref(2)?.as_blob().map_err(unreadable)?;
                let block = Block::read(first, row.get(1)?, body)?;
                let entries = block.entries.into_iter().map(|entry| (first + entry.0, entry));
                self.block = Some((first, entries.collect()));
            }
        }
        let entry = self.block.as_ref().and_then(|(_, entries)| entries.get(&event));
        Ok(entry.map_or_else(Words::default, |(_, call, detail, text)| Words {
            call: call.as_deref(),
            detail: detail.as_deref(),
            text: Some(text),
        }))
    }
}

/// Puts the words of a transcript's events away; gives how many bytes that were.
fn put_away_events(db: &Connection, transcript: TranscriptId, now: i64) -> Result<u64, StoreError> {
    let (mut next, last) = ids(transcript, 0);
    let (mut bytes, mut lasting) = (0, Vec::new());
    while next <= last {
        let mut block = Block { first: 0, entries: Vec::new() };
        let mut size = 0;
        let mut find = db.prepare_cached(&format!(
            "SELECT {} FROM event WHERE id BETWEEN ?1 AND ?2 AND text IS NOT NULL ORDER BY id",
            event::COLUMNS
        ))?;
        let mut rows = find.query([next, last])?;
        next = last + 1;
        while let Some(row) = rows.next()? {
            let (id, kind): (i64, i64) = (row.get(0)?, row.get(event::KIND)?);
            let words = Words::of(row)?;
            let Some(text) = words.text.filter(|_| event::has_words(kind)) else { continue };
            if size > BLOCK {
                next = id;
                break;
            }
            if block.entries.is_empty() {
                block.first = id;
            }
            size += text.len() + words.detail.map_or(0, str::len);
            lasting.push((id, words.lasting_detail(kind)?));
            let owned = |text: Option<&str>| text.map(str::to_owned);
            block.entries.push((id - block.first, owned(words.call), owned(words.detail), text.to_owned()));
        }
        drop(rows);
        if block.entries.is_empty() {
            break;
        }
        bytes += size as u64;
        block.write(db, now)?;
        let mut take = db.prepare_cached("UPDATE event SET call = NULL, detail = ?2, text = NULL WHERE id = ?1")?;
        for (id, detail) in lasting.drain(..) {
            take.execute(params![id, detail])?;
        }
    }
    Ok(bytes)
}

fn bring_back_events(db: &Connection, transcript: TranscriptId) -> Result<(), StoreError> {
    let (first, last) = ids(transcript, 0);
    let mut find = db.prepare_cached(
        "SELECT source, bytes, body FROM archive WHERE origin = 0 AND source BETWEEN ?1 AND ?2 ORDER BY source",
    )?;
    let mut rows = find.query([first, last])?;
    let mut give = db.prepare_cached("UPDATE event SET call = ?2, detail = ?3, text = ?4 WHERE id = ?1")?;
    while let Some(row) = rows.next()? {
        let block = Block::read(row.get(0)?, row.get(1)?, row.get_ref(2)?.as_blob().map_err(unreadable)?)?;
        for (offset, call, detail, text) in block.entries {
            give.execute(params![block.first + offset, call, detail, text])?;
        }
    }
    forget_events(db, transcript)
}

/// Throws away what is put away of a transcript.
pub(super) fn forget_events(db: &Connection, transcript: TranscriptId) -> Result<(), StoreError> {
    let (first, last) = ids(transcript, 0);
    db.prepare_cached("DELETE FROM archive WHERE origin = 0 AND source BETWEEN ?1 AND ?2")?.execute([first, last])?;
    Ok(())
}

/// Throws away what is put away of a source that is no event.
pub(super) fn forget(db: &Connection, origin: Origin, source: i64) -> Result<(), StoreError> {
    db.prepare_cached("DELETE FROM archive WHERE origin = ?1 AND source = ?2")?.execute(params![origin, source])?;
    Ok(())
}

/// Is it put away?
pub(super) fn holds(db: &Connection, origin: Origin, source: i64) -> Result<bool, StoreError> {
    let mut find = db.prepare_cached("SELECT 1 FROM archive WHERE origin = ?1 AND source = ?2")?;
    Ok(find.exists(params![origin, source])?)
}

pub(super) fn transcripts_of(db: &Connection, session: SessionId) -> Result<Vec<TranscriptId>, StoreError> {
    let mut find = db.prepare_cached("SELECT id FROM transcript WHERE session_id = ?1 ORDER BY id")?;
    Ok(find.query_map([session], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Brings a session back that is put away. None that is: false.
pub(super) fn bring_back(db: &Connection, session: SessionId) -> Result<bool, StoreError> {
    if !holds(db, Origin::Session, session.0)? {
        return Ok(false);
    }
    forget(db, Origin::Session, session.0)?;
    for transcript in transcripts_of(db, session)? {
        bring_back_events(db, transcript)?;
        passage::renumber(db, transcript)?;
    }
    passage::renew_session(db, session)?;
    Ok(true)
}

/// A session goes on of which nothing was left: all of it is read again, what else it has is queued.
pub(super) fn go_on(db: &Connection, session: SessionId, read: TranscriptId, now: i64) -> Result<(), StoreError> {
    let mut mark = db.prepare_cached("UPDATE session SET purged_at = NULL WHERE id = ?1 AND purged_at IS NOT NULL")?;
    if mark.execute([session])? > 0 {
        db.prepare_cached(
            "UPDATE transcript SET state = 'queued', queued_at = ?3 WHERE session_id = ?1 AND id != ?2 AND state = 'done'",
        )?
        .execute(params![session, read, now])?;
    }
    Ok(())
}

impl Store {
    /// Puts a session away; gives how many bytes of words that were. None: it is away already, or nothing is left of it.
    ///
    /// # Errors
    /// As for any write.
    pub fn archive_session(&mut self, session: SessionId, now: i64) -> Result<Option<u64>, StoreError> {
        self.write(|db| {
            let is_there = "SELECT 1 FROM session WHERE id = ?1 AND purged_at IS NULL";
            if holds(db, Origin::Session, session.0)? || !db.prepare_cached(is_there)?.exists([session])? {
                return Ok(None);
            }
            let mut bytes = 0;
            for transcript in transcripts_of(db, session)? {
                bytes += put_away_events(db, transcript, now)?;
                passage::cut_events(db, transcript, 0)?;
            }
            put(db, Origin::Session, session.0, b"", now)?;
            db.prepare_cached("UPDATE archive SET bytes = ?3 WHERE origin = ?1 AND source = ?2")?.execute(params![
                Origin::Session,
                session,
                bytes.cast_signed()
            ])?;
            passage::renew_session(db, session)?;
            Ok(Some(bytes))
        })
    }

    /// Brings a session back. It was not away: false.
    ///
    /// # Errors
    /// As for any write.
    pub fn restore_session(&mut self, session: SessionId) -> Result<bool, StoreError> {
        self.write(|db| bring_back(db, session))
    }

    /// Throws away what was said in a session. Its row, its marks, what it did to which files, its signals and findings stay,
    /// and copies of it in other transcripts still do not count. Nothing is left of it already: false.
    ///
    /// # Errors
    /// As for any write.
    pub fn purge_session(&mut self, session: SessionId, now: i64) -> Result<bool, StoreError> {
        self.write(|db| {
            let purged = db
                .prepare_cached("UPDATE session SET purged_at = ?2 WHERE id = ?1 AND purged_at IS NULL")?
                .execute(params![session, now])?;
            if purged == 0 {
                return Ok(false);
            }
            for transcript in transcripts_of(db, session)? {
                deleted::note_keys(db, session, transcript)?;
                deleted::clear_events(db, transcript)?;
            }
            forget(db, Origin::Session, session.0)?;
            passage::renew_session(db, session)?;
            Ok(true)
        })
    }

    /// Puts a chunk away; gives how many bytes its text has. None: it is away already.
    ///
    /// # Errors
    /// As for any write.
    pub fn archive_chunk(&mut self, row: i64, now: i64) -> Result<Option<u64>, StoreError> {
        self.write(|db| {
            let mut find = db.prepare_cached("SELECT content FROM chunk WHERE id = ?1")?;
            let Some(text) = find.query_row([row], |row| row.get::<_, Option<String>>(0)).optional()?.flatten() else {
                return Ok(None);
            };
            put(db, Origin::Chunk, row, text.as_bytes(), now)?;
            db.prepare_cached("UPDATE chunk SET content = NULL WHERE id = ?1")?.execute([row])?;
            // Its summary and its marks.
            passage::replace(db, Origin::Chunk, row, 1)?;
            Ok(Some(text.len() as u64))
        })
    }

    /// Brings a chunk back. It was not away: false.
    ///
    /// # Errors
    /// As for any write.
    pub fn restore_chunk(&mut self, row: i64) -> Result<bool, StoreError> {
        self.write(|db| {
            let Some(text) = archived_chunk(db, row)? else { return Ok(false) };
            db.prepare_cached("UPDATE chunk SET content = ?2 WHERE id = ?1")?.execute(params![row, text])?;
            forget(db, Origin::Chunk, row)?;
            passage::replace(db, Origin::Chunk, row, parts(&text).len() as i64)?;
            Ok(true)
        })
    }

    /// The text of a chunk that is put away. None: it is not.
    ///
    /// # Errors
    /// As for any read.
    pub fn archived_chunk_text(&self, row: i64) -> Result<Option<String>, StoreError> {
        archived_chunk(&self.db, row)
    }
}

fn archived_chunk(db: &Connection, row: i64) -> Result<Option<String>, StoreError> {
    let mut find = db.prepare_cached("SELECT bytes, body FROM archive WHERE origin = ?1 AND source = ?2")?;
    let mut rows = find.query(params![Origin::Chunk, row])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    unpack_text(row.get_ref(1)?.as_blob().map_err(unreadable)?, row.get(0)?).map(Some)
}

pub(super) fn clear_chunk(db: &Connection, row: i64) -> Result<(), StoreError> {
    deleted::note_held(db)?;
    forget(db, Origin::Chunk, row)?;
    mark::clear(db, Origin::Chunk, row)?;
    passage::remove(db, Origin::Chunk, row)?;
    db.prepare_cached("DELETE FROM chunk WHERE id = ?1")?.execute([row])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_reads_back(text in "(\\PC{0,40}|[a-c]{0,200}){0,60}") {
            prop_assert_eq!(unpack_text(&pack(text.as_bytes()).unwrap(), text.len() as i64).unwrap(), text);
        }

        /// A damaged file is told, and nothing else happens.
        #[test]
        fn a_damaged_body_is_an_error_or_a_text(
            text in "[a-f ]{1,3000}",
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut body = pack(text.as_bytes()).unwrap();
            for (at, byte) in changes {
                let at = at.index(body.len());
                body[at] = byte;
            }
            drop(unpack_text(&body, text.len() as i64));
            body.truncate(cut.index(body.len()));
            drop(Block::read(0, text.len() as i64, &body));
        }
    }
}
