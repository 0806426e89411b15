//! Going through all stored texts, newest sessions first, without making passages of them.

use std::{collections::BTreeSet, ops::ControlFlow};

use rusqlite::params;

use super::{
    Origin, SessionId, Store, StoreError, TranscriptId,
    copied::ids,
    event::{MESSAGE, Number, TOOL_CALL, TOOL_RESULT},
    passage::read::kind,
};
use crate::{
    event::{Author, Channel},
    passage::{Group, Kind, is_ours},
};

/// A stored text, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct StoredText<'a> {
    /// What it is.
    pub kind: Kind,
    /// The group it is of.
    pub group: Group,
    /// The event's row; of a memory or a chunk its own.
    pub row: i64,
    /// When it was said.
    pub at: Option<i64>,
    /// All of it. UTF-8, which is not checked again.
    pub text: &'a [u8],
}

impl Store {
    /// Goes through memories, chunks and events, each from the newest on, until told to stop. `groups`: only those of them;
    /// none: all.
    ///
    /// # Errors
    /// As for any read.
    pub fn scan_texts(
        &self,
        groups: Option<&BTreeSet<u64>>,
        each: &mut dyn FnMut(StoredText<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let admits = |origin, row| groups.is_none_or(|groups| groups.contains(&Group { origin, row }.number()));
        let kept = [
            (
                Origin::Memory,
                Kind::Memory,
                "SELECT id, created_at, content FROM memory ORDER BY created_at DESC, id DESC",
            ),
            (
                Origin::Chunk,
                Kind::Chunk,
                "SELECT id, created_at, content FROM chunk WHERE content IS NOT NULL ORDER BY created_at DESC, id DESC",
            ),
        ];
        for (origin, kind, sql) in kept {
            let mut find = self.db.prepare_cached(sql)?;
            let mut rows = find.query([])?;
            while let Some(found) = rows.next()? {
                let row = found.get(0)?;
                if !admits(origin, row) {
                    continue;
                }
                let text = found.get_ref(2)?.as_bytes().map_err(rusqlite::Error::from)?;
                let text = StoredText { kind, group: Group { origin, row }, row, at: found.get(1)?, text };
                if each(text).is_break() {
                    return Ok(());
                }
            }
        }
        self.scan_events(&admits, each)
    }

    fn scan_events(
        &self,
        admits: &dyn Fn(Origin, i64) -> bool,
        each: &mut dyn FnMut(StoredText<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut newest = self.db.prepare_cached(
            "SELECT t.id, t.session_id FROM transcript t JOIN session s ON s.id = t.session_id
             ORDER BY s.ended_at DESC, s.id DESC, t.id DESC",
        )?;
        let transcripts: Vec<(TranscriptId, SessionId)> =
            newest.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        let sql = format!(
            "SELECT id, at, kind, author, channel, text FROM event
             WHERE id BETWEEN ?1 AND ?2 AND copied = 0 AND kind IN ({MESSAGE}, {TOOL_CALL}, {TOOL_RESULT}) ORDER BY id DESC"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        for (transcript, session) in transcripts {
            if !admits(Origin::Session, session.0) {
                continue;
            }
            let group = Group { origin: Origin::Session, row: session.0 };
            let (first, last) = ids(transcript, 0);
            let mut rows = find.query(params![first, last])?;
            while let Some(row) = rows.next()? {
                let kind = match row.get::<_, i64>(2)? {
                    TOOL_CALL => Some(Kind::Call),
                    TOOL_RESULT => Some(Kind::Result),
                    _ => {
                        let author = row.get::<_, Option<i64>>(3)?.and_then(Author::value);
                        let channel = row.get::<_, Option<i64>>(4)?.and_then(Channel::value);
                        author.zip(channel).and_then(|(author, channel)| kind(author, channel))
                    }
                };
                let Some(kind) = kind else { continue };
                let Some(text) = row.get_ref(5)?.as_bytes_or_null().map_err(rusqlite::Error::from)? else { continue };
                if kind == Kind::Result && is_ours(text) {
                    continue;
                }
                let text = StoredText { kind, group, row: row.get(0)?, at: row.get(1)?, text };
                if each(text).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
