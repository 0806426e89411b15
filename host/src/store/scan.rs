//! Going through all stored texts as they stand, without making passages of them: what was put away included.

use std::{collections::BTreeSet, ops::ControlFlow};

use rusqlite::Row;

use super::{
    Origin, SessionId, Store, StoreError,
    archive::Shelf,
    copied::ids,
    event::{MESSAGE, Number, TOOL_CALL, TOOL_RESULT},
    passage::read::kind,
};
use crate::{
    event::{Author, Channel},
    passage::{Group, Kind, is_ours},
    search::Needs,
};

/// Bytes of the database that a [`Store::reader`] has in its address space, where the system lets it: all of them, as far
/// as SQLite goes. Copying the pages out of the system's cache takes longer than looking through them.
const MAPPED: i64 = 0x7fff_0000;

/// A stored text, where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredText<'a> {
    /// What it is.
    pub(crate) kind: Kind,
    /// The group it is of.
    pub(crate) group: Group,
    /// The event's row; of a memory or a chunk its own.
    pub(crate) row: i64,
    /// When it was said.
    pub(crate) at: Option<i64>,
    /// It was put away.
    pub(crate) archived: bool,
    /// All of it. UTF-8, which is not checked again.
    pub(crate) text: &'a [u8],
}

/// A transcript to go through.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    session: SessionId,
    /// When the last thing of its session was said.
    pub(crate) ended_at: Option<i64>,
    /// Its events that may have what is looked for: ids of each first one and the last, in their order.
    events: Vec<(i64, i64)>,
}

impl Store {
    /// One more connection to the same database, for going through much of it in a thread of its own.
    ///
    /// # Errors
    /// As for any open.
    pub(crate) fn reader(&self) -> Result<Self, StoreError> {
        let home = self.path.parent().unwrap_or(&self.path);
        let reader = Self::open_read_only(home)?;
        reader.db.pragma_update(None, "mmap_size", MAPPED)?;
        Ok(reader)
    }

    /// Goes through memories and chunks, each from the newest on, until told to stop. `groups`: only those of them; none: all.
    ///
    /// # Errors
    /// As for any read.
    pub(crate) fn scan_kept(
        &self,
        groups: Option<&BTreeSet<u64>>,
        each: &mut dyn FnMut(StoredText<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let kept = [
            (
                Origin::Memory,
                Kind::Memory,
                "SELECT id, created_at, content FROM memory ORDER BY created_at DESC, id DESC",
            ),
            (Origin::Chunk, Kind::Chunk, "SELECT id, created_at, content FROM chunk ORDER BY created_at DESC, id DESC"),
        ];
        for (origin, kind, sql) in kept {
            let mut find = self.db.prepare_cached(sql)?;
            let mut rows = find.query([])?;
            while let Some(found) = rows.next()? {
                let row = found.get(0)?;
                let group = Group { origin, row };
                if !admits(groups, group) {
                    continue;
                }
                let (at, text) = (found.get(1)?, found.get_ref(2)?.as_bytes_or_null().map_err(rusqlite::Error::from)?);
                let away = if text.is_none() { self.archived_chunk_text(row)? } else { None };
                let Some(bytes) = text.or(away.as_deref().map(str::as_bytes)) else { continue };
                if each(StoredText { kind, group, row, at, archived: away.is_some(), text: bytes }).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The transcripts that may have what is needed, those of the session that ended last first; sessions that were put away after all
    /// others, because reading them takes longer. `groups`: only those of these sessions; none: all.
    ///
    /// # Errors
    /// As for any read.
    pub(crate) fn shown(&self, groups: Option<&BTreeSet<u64>>, needs: &Needs) -> Result<Vec<Shown>, StoreError> {
        let sql = format!(
            "SELECT t.id, s.id, s.ended_at, a.source IS NOT NULL FROM transcript t JOIN session s ON s.id = t.session_id
             LEFT JOIN archive a ON a.origin = {} AND a.source = s.id
             WHERE s.purged_at IS NULL ORDER BY a.source IS NOT NULL, s.ended_at DESC, s.id DESC, t.id DESC",
            Origin::Session as i64
        );
        let mut candidates = if needs.is_nothing() { None } else { Some(self.candidates(needs)?) };
        let mut find = self.db.prepare_cached(&sql)?;
        let mut rows = find.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let (transcript, session, archived) = (row.get(0)?, row.get(1)?, row.get::<_, bool>(3)?);
            let SessionId(id) = session;
            if !admits(groups, Group { origin: Origin::Session, row: id }) {
                continue;
            }
            let events = match &mut candidates {
                Some(candidates) if !archived => candidates.remove(&transcript).unwrap_or_default(),
                _ => vec![ids(transcript, 0)],
            };
            if !events.is_empty() {
                all.push(Shown { session, ended_at: row.get(2)?, events });
            }
        }
        Ok(all)
    }

    /// Goes through the events of a transcript, from the last on, until told to stop.
    ///
    /// # Errors
    /// As for any read.
    pub(crate) fn scan(
        &self,
        shown: &Shown,
        each: &mut dyn FnMut(StoredText<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let group = Group { origin: Origin::Session, row: shown.session.0 };
        let mut find = self.db.prepare_cached(&format!(
            "SELECT id, at, kind, author, channel, text FROM event
             WHERE id BETWEEN ?1 AND ?2 AND copied = 0 AND kind IN ({MESSAGE}, {TOOL_CALL}, {TOOL_RESULT}) ORDER BY id DESC"
        ))?;
        let mut shelf = Shelf::new(&self.db);
        for (first, last) in shown.events.iter().rev() {
            let mut rows = find.query([first, last])?;
            while let Some(found) = rows.next()? {
                let Some(kind) = kind_of(found)? else { continue };
                let row = found.get(0)?;
                let text = found.get_ref(5)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
                // It may have been put away since.
                let archived = text.is_none();
                let text = if archived { shelf.words(row)?.text.map(str::as_bytes) } else { text };
                let Some(text) = text else { continue };
                if kind == Kind::Result && is_ours(text) {
                    continue;
                }
                if each(StoredText { kind, group, row, at: found.get(1)?, archived, text }).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn admits(groups: Option<&BTreeSet<u64>>, group: Group) -> bool {
    groups.is_none_or(|groups| groups.contains(&group.number()))
}

/// What an event is. None: nothing that is looked for.
fn kind_of(row: &Row<'_>) -> Result<Option<Kind>, StoreError> {
    Ok(match row.get::<_, i64>(2)? {
        TOOL_CALL => Some(Kind::Call),
        TOOL_RESULT => Some(Kind::Result),
        _ => {
            let author = row.get::<_, Option<i64>>(3)?.and_then(Author::value);
            let channel = row.get::<_, Option<i64>>(4)?.and_then(Channel::value);
            author.zip(channel).and_then(|(author, channel)| kind(author, channel))
        }
    })
}
