//! Sessions as the person keeps them in order: found by what they are called, renamed, marked; and what is old enough to be
//! put away.

use rusqlite::{Connection, params};

use super::{
    Origin, SessionId, SessionRow, Store, StoreError,
    archive::Shelf,
    event::{MESSAGE, Number as _, ORDINAL_BITS},
    mark, passage,
};
use crate::event::Author;

/// Something that may be put away: a session or a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// `Session` or `Chunk`.
    pub origin: Origin,
    /// Its row.
    pub row: i64,
    /// What it is called: `s12`, or a chunk's name.
    pub name: String,
    /// Its title, or its summary.
    pub title: String,
    /// When it ended, or was saved, in milliseconds since the Unix epoch.
    pub at: i64,
    /// When anything of it was stored last: what was read just now is not put away because it tells of last year.
    pub stored_at: i64,
    /// Since when it is put away.
    pub archived_at: Option<i64>,
    /// A transcript of it waits to be read.
    pub unread: bool,
}

/// Why there is no session to be had.
#[derive(Debug, thiserror::Error)]
pub enum NoSession {
    /// None is called so.
    #[error("there is no session `{0}`; `totalrecall sessions list` names them")]
    Unknown(String),
    /// Several are.
    #[error("several sessions have an id that is or begins with `{asked}`: {}", .found.join(", "))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// Each as `s12 (claude-code, 2026-11-30, /work/app)`.
        found: Vec<String>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fewest characters of a native id that stand for all of it.
const BEGINNING: usize = 4;

/// Words that keep what has them from being put away; the predecessor's (RLM 0.11), and the one with its accent.
const IMPORTANT: [&str; 5] = ["DECISION:", "IMPORTANT:", "A RETENIR:", "À RETENIR:", "CRITICAL:"];
/// Tags that do the same.
const KEPT_TAGS: &str = "('critical', 'decision', 'keep', 'important')";

impl Store {
    /// The session that is called so: `s12`, its native id, or the beginning of that.
    ///
    /// # Errors
    /// See [`NoSession`].
    pub fn find_session(&self, asked: &str) -> Result<SessionRow, NoSession> {
        let unknown = || NoSession::Unknown(crate::clean::clean(asked).chars().take(80).collect());
        if let Some(id) = asked.strip_prefix('s').and_then(|number| number.parse().ok()) {
            return self.session(SessionId(id))?.ok_or_else(unknown);
        }
        let ids = |condition: &str| -> Result<Vec<SessionId>, StoreError> {
            let mut find = self.db.prepare_cached(&format!("SELECT id FROM session WHERE {condition} ORDER BY id"))?;
            Ok(find.query_map([asked], |row| row.get(0))?.collect::<Result<_, _>>()?)
        };
        let mut found = ids("native_id = ?1")?;
        if found.is_empty() && asked.chars().count() >= BEGINNING {
            found = ids("substr(native_id, 1, length(?1)) = ?1")?;
        }
        match found.as_slice() {
            [] => Err(unknown()),
            [one] => self.session(*one)?.ok_or_else(unknown),
            several => {
                let mut named = Vec::new();
                for id in several.iter().take(10) {
                    let Some(row) = self.session(*id)? else { continue };
                    let day = row.ended_at.map(day).unwrap_or_default();
                    let project = row.project.unwrap_or_default();
                    named
                        .push(crate::clean::clean(&format!("s{} ({}, {day}, {project})", id.0, row.tool)).into_owned());
                }
                Err(NoSession::Ambiguous { asked: crate::clean::clean(asked).into_owned(), found: named })
            }
        }
    }

    /// Calls a session something; none: what its tool calls it.
    ///
    /// # Errors
    /// As for any write.
    pub fn rename_session(&mut self, session: SessionId, title: Option<&str>) -> Result<(), StoreError> {
        self.write(|db| {
            db.prepare_cached("UPDATE session SET renamed = ?2 WHERE id = ?1")?.execute(params![session, title])?;
            passage::renew_session(db, session)
        })
    }

    /// Gives a session tags and takes others from it; gives those it has then.
    ///
    /// # Errors
    /// As for any write.
    pub fn tag_session(
        &mut self,
        session: SessionId,
        add: &[String],
        remove: &[String],
    ) -> Result<Vec<String>, StoreError> {
        self.write(|db| {
            mark::set(db, Origin::Session, session.0, add.iter().map(|tag| ("tag", tag)))?;
            let mut take = db.prepare_cached(
                "DELETE FROM mark WHERE origin = ?1 AND source = ?2 AND sort = 'tag' AND value = ?3 COLLATE NOCASE",
            )?;
            for tag in remove {
                take.execute(params![Origin::Session, session, tag])?;
            }
            passage::renew_session(db, session)
        })?;
        self.marks(Origin::Session, session.0, "tag")
    }

    /// Sessions and chunks that are there with what was said in them, put away or not, oldest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn kept(&self) -> Result<Vec<Kept>, StoreError> {
        let mut sessions = self.db.prepare_cached(
            "SELECT s.id, 's' || s.id, coalesce(s.renamed, s.title, ''), ifnull(s.ended_at, 0),
                (SELECT ifnull(max(t.done_at), 0) FROM transcript t WHERE t.session_id = s.id), a.at,
                EXISTS (SELECT 1 FROM transcript q WHERE q.session_id = s.id AND q.state = 'queued')
             FROM session s LEFT JOIN archive a ON a.origin = 3 AND a.source = s.id WHERE s.purged_at IS NULL",
        )?;
        let mut chunks = self.db.prepare_cached(
            "SELECT c.id, c.name, c.summary, c.created_at, c.created_at, a.at, 0
             FROM chunk c LEFT JOIN archive a ON a.origin = 2 AND a.source = c.id",
        )?;
        let mut all = Vec::new();
        for (origin, find) in [(Origin::Session, &mut sessions), (Origin::Chunk, &mut chunks)] {
            let rows = find.query_map([], |row| {
                let at: i64 = row.get(3)?;
                let stored_at: i64 = row.get::<_, i64>(4)?.max(at);
                Ok(Kept {
                    origin,
                    row: row.get(0)?,
                    name: row.get(1)?,
                    title: row.get(2)?,
                    at: if at == 0 { stored_at } else { at },
                    stored_at,
                    archived_at: row.get(5)?,
                    unread: row.get(6)?,
                })
            })?;
            for row in rows {
                all.push(row?);
            }
        }
        all.sort_by_key(|kept| (kept.at, kept.origin, kept.row));
        Ok(all)
    }

    /// Is it marked as worth keeping: by a tag, or by what the person wrote in it? What is put away is asked for its tags only:
    /// its words were looked at before.
    ///
    /// # Errors
    /// As for any read.
    pub fn is_worth_keeping(&self, kept: &Kept) -> Result<bool, StoreError> {
        let tagged = format!(
            "SELECT 1 FROM mark WHERE origin = ?1 AND source = ?2 AND sort = 'tag' AND lower(value) IN {KEPT_TAGS}"
        );
        if self.db.prepare_cached(&tagged)?.exists(params![kept.origin, kept.row])? {
            return Ok(true);
        }
        if kept.archived_at.is_some() {
            return Ok(false);
        }
        let says = |column: &str| IMPORTANT.map(|word| format!("instr({column}, '{word}')")).join(" OR ");
        let said = match kept.origin {
            Origin::Chunk => {
                format!("SELECT 1 FROM chunk WHERE id = ?1 AND ({} OR {})", says("content"), says("summary"))
            }
            _ => format!(
                "SELECT 1 FROM transcript t CROSS JOIN event e
                    ON e.id BETWEEN t.id << {ORDINAL_BITS} AND ((t.id + 1) << {ORDINAL_BITS}) - 1
                 WHERE t.session_id = ?1 AND +e.kind = {MESSAGE} AND +e.author = {} AND +e.copied = 0 AND ({})",
                Author::Human.number(),
                says("e.text")
            ),
        };
        Ok(self.db.prepare_cached(&said)?.exists([kept.row])?)
    }

    /// About how many bytes its words take: as they are, or compressed where it is put away.
    ///
    /// # Errors
    /// As for any read.
    pub fn bytes_of(&self, kept: &Kept) -> Result<u64, StoreError> {
        let sql = match (kept.origin, kept.archived_at) {
            (Origin::Chunk, None) => "SELECT total(octet_length(content)) FROM chunk WHERE id = ?1".to_owned(),
            (Origin::Chunk, Some(_)) => {
                "SELECT total(octet_length(body)) FROM archive WHERE origin = 2 AND source = ?1".to_owned()
            }
            (_, archived) => {
                let rows = match archived {
                    None => "(SELECT id, octet_length(text) + ifnull(octet_length(detail), 0) AS size FROM event)",
                    Some(_) => "(SELECT source AS id, octet_length(body) AS size FROM archive WHERE origin = 0)",
                };
                format!(
                    "SELECT total(e.size) FROM transcript t CROSS JOIN {rows} e
                        ON e.id BETWEEN t.id << {ORDINAL_BITS} AND ((t.id + 1) << {ORDINAL_BITS}) - 1
                     WHERE t.session_id = ?1"
                )
            }
        };
        let bytes: f64 = self.db.prepare_cached(&sql)?.query_row([kept.row], |row| row.get(0))?;
        Ok(bytes as u64)
    }

    /// What the person asked first in a session, as far as that is still there.
    ///
    /// # Errors
    /// As for any read.
    pub fn first_prompt(&self, session: SessionId) -> Result<Option<String>, StoreError> {
        // The main transcript before those of sub-agents. The sign keeps an index of copies from being used.
        let mut find = self.db.prepare_cached(&format!(
            "SELECT e.id, e.text FROM transcript t JOIN session s ON s.id = t.session_id CROSS JOIN event e
                ON e.id BETWEEN t.id << {ORDINAL_BITS} AND ((t.id + 1) << {ORDINAL_BITS}) - 1
             WHERE t.session_id = ?1 AND t.id = ifnull(s.main_transcript, t.id) AND +e.kind = {MESSAGE} AND +e.author = {}
                AND +e.copied = 0 AND e.thread IS NULL
             LIMIT 1",
            Author::Human.number()
        ))?;
        let mut rows = find.query([session])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(match row.get(1)? {
            Some(text) => Some(text),
            None => Shelf::new(&self.db).words(row.get(0)?)?.text.map(str::to_owned),
        })
    }

    /// Memories and chunks that were saved in a session.
    ///
    /// # Errors
    /// As for any read.
    pub fn saved_in(&self, native_id: &str) -> Result<(u64, u64), StoreError> {
        let count = |sql| count(&self.db, sql, native_id);
        Ok((
            count("SELECT count(*) FROM memory WHERE session = ?1")?,
            count("SELECT count(*) FROM chunk WHERE session = ?1")?,
        ))
    }
}

fn count(db: &Connection, sql: &str, value: &str) -> Result<u64, StoreError> {
    Ok(db.prepare_cached(sql)?.query_row([value], |row| row.get::<_, i64>(0))?.cast_unsigned())
}

fn day(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| String::new(), |at| jiff::tz::TimeZone::UTC.to_datetime(at).date().to_string())
}
