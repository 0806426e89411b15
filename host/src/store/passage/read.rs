//! What passages say.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Row, params};

use super::{Origin, Span, transcript_of};
use crate::{
    event::{Author, Channel},
    passage::{Group, Kind, Passage, Place, is_ours, parts, short_call, short_result},
    store::{
        PassageId, SessionId, Store, StoreError,
        copied::ids,
        event::{self, MESSAGE, Number, TOOL_CALL, TOOL_RESULT},
    },
};

/// Columns that [`Store::event_passage`] takes. The session is looked up on the way: asking for it by itself costs more.
const EVENT: &str = "id, line, at, kind, author, channel, name, path, detail, text, \
                     (SELECT session_id FROM transcript t WHERE t.id = event.id >> 32)";

/// Most bytes of a session's words: a session of a month is found by what it was about, not by each of its words.
const WORDS: usize = 1 << 20;

impl Store {
    /// Reads the passages of a span, in their order. Events that search does not return have none: copies, notices,
    /// figures.
    ///
    /// # Errors
    /// Those of the store, and those of `each`, which ends the reading.
    pub fn read_span<E: From<StoreError>>(
        &self,
        span: Span,
        each: &mut dyn FnMut(Passage) -> Result<(), E>,
    ) -> Result<(), E> {
        match span.origin {
            Origin::Event => self.read_events(span, "", each),
            Origin::Chunk => self.read_chunk(span, each),
            Origin::Memory | Origin::Session => self.passage(span.first)?.map_or(Ok(()), each),
        }
    }

    /// Those of events. `of`: what else must hold of their rows, as SQL has it.
    fn read_events<E: From<StoreError>>(
        &self,
        span: Span,
        of: &str,
        each: &mut dyn FnMut(Passage) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!(
            "SELECT {EVENT} FROM event WHERE id BETWEEN ?1 AND ?2 AND copied = 0 AND text IS NOT NULL {of} ORDER BY id"
        );
        let mut find = self.db.prepare_cached(&sql).map_err(StoreError::from)?;
        let mut rows = find.query([span.source, span.source + span.count - 1]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let event: i64 = row.get(0).map_err(StoreError::from)?;
            let id = PassageId(span.first.0 + event - span.source);
            if let Some(passage) = self.event_passage(id, row)? {
                each(passage)?;
            }
        }
        Ok(())
    }

    /// One passage; none: it is gone.
    ///
    /// # Errors
    /// As for any read.
    pub fn passage(&self, id: PassageId) -> Result<Option<Passage>, StoreError> {
        let Some((whole, part)) = self.span_of(id)? else { return Ok(None) };
        match whole.origin {
            Origin::Event => {
                let event = whole.source + part;
                let sql = format!("SELECT {EVENT} FROM event WHERE id = ?1 AND copied = 0 AND text IS NOT NULL");
                let mut find = self.db.prepare_cached(&sql)?;
                let mut rows = find.query([event])?;
                rows.next()?.map_or(Ok(None), |row| self.event_passage(id, row))
            }
            Origin::Memory => self.memory_passage(id, whole.source),
            Origin::Chunk => Ok(self.parts_of(whole.source)?.and_then(|chunk| {
                let text = *parts(&chunk.content).get(part as usize)?;
                Some(chunk.passage(id, part as usize, text))
            })),
            Origin::Session => self.session_passage(id, SessionId(whole.source)),
        }
    }

    /// The session that an event is of, whether or not the event is there.
    ///
    /// # Errors
    /// As for any read.
    pub fn session_of(&self, event: i64) -> Result<Option<SessionId>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT session_id FROM transcript WHERE id = ?1")?;
        Ok(find.query_row([transcript_of(event)], |row| row.get(0)).optional()?.flatten())
    }

    fn event_passage(&self, id: PassageId, row: &Row<'_>) -> Result<Option<Passage>, StoreError> {
        let text = || row.get_ref(9)?.as_str().map_err(rusqlite::Error::from);
        let (kind, text) = match row.get::<_, i64>(3)? {
            MESSAGE => {
                let author = row.get::<_, Option<i64>>(4)?.and_then(Author::value);
                let channel = row.get::<_, Option<i64>>(5)?.and_then(Channel::value);
                let Some(kind) = author.zip(channel).and_then(|(author, channel)| kind(author, channel)) else {
                    return Ok(None);
                };
                (kind, text()?.to_owned())
            }
            TOOL_CALL => {
                let name = match row.get::<_, Option<i64>>(6)? {
                    Some(label) => self.labels.text(&self.db, label)?.unwrap_or_default(),
                    None => String::new(),
                };
                let command = event::command_of(row, 8, 9)?;
                (Kind::Call, short_call(&name, &event::paths_of(row, 7, 8)?, command.as_deref(), text()?))
            }
            TOOL_RESULT if is_ours(text()?.as_bytes()) => return Ok(None),
            TOOL_RESULT => (Kind::Result, short_result(text()?).into_owned()),
            _ => return Ok(None),
        };
        if text.trim().is_empty() {
            return Ok(None);
        }
        let event: i64 = row.get(0)?;
        let place = Place { transcript: transcript_of(event), event, line: row.get::<_, i64>(1)?.cast_unsigned() };
        let session: Option<i64> = row.get(10)?;
        let group = session.map(|row| Group { origin: Origin::Session, row });
        Ok(Some(Passage { id, kind, group, at: row.get(2)?, place: Some(place), text }))
    }

    fn memory_passage(&self, id: PassageId, row: i64) -> Result<Option<Passage>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT content, created_at FROM memory WHERE id = ?1")?;
        let found = find.query_row([row], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).optional()?;
        let Some((content, at)) = found else { return Ok(None) };
        let text = self.with_marks(Origin::Memory, row, content)?;
        let group = Some(Group { origin: Origin::Memory, row });
        Ok(Some(Passage { id, kind: Kind::Memory, group, at: Some(at), place: None, text }))
    }

    /// The parts of a chunk, which is read and cut once for all of them.
    fn read_chunk<E: From<StoreError>>(
        &self,
        span: Span,
        each: &mut dyn FnMut(Passage) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.first_of(span.first)?.unwrap_or(span.first);
        let Some(chunk) = self.parts_of(span.source)? else { return Ok(()) };
        let skipped = span.first.0 - first.0;
        for (part, text) in parts(&chunk.content).into_iter().enumerate().take((skipped + span.count) as usize) {
            if part as i64 >= skipped {
                each(chunk.passage(PassageId(first.0 + part as i64), part, text))?;
            }
        }
        Ok(())
    }

    /// The number of the first part of the chunk that a passage is a part of.
    fn first_of(&self, id: PassageId) -> Result<Option<PassageId>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT max(first) FROM span WHERE first <= ?1")?;
        Ok(find.query_row([id], |row| row.get(0))?)
    }

    fn parts_of(&self, row: i64) -> Result<Option<Parts>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT summary, content, created_at FROM chunk WHERE id = ?1")?;
        let found = find
            .query_row([row], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, row.get(2)?)))
            .optional()?;
        let Some((summary, content, at)) = found else { return Ok(None) };
        let marks = self.with_marks(Origin::Chunk, row, String::new())?;
        // Of one that is put away there is its summary.
        Ok(Some(Parts { row, at, summary, marks, content: content.unwrap_or_default() }))
    }

    fn session_passage(&self, id: PassageId, session: SessionId) -> Result<Option<Passage>, StoreError> {
        let mut find = self
            .db
            .prepare_cached("SELECT ifnull(renamed, ifnull(title, '')), branch, ended_at FROM session WHERE id = ?1")?;
        let found = find
            .query_row([session], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, row.get(2)?)))
            .optional()?;
        let Some((title, branch, at)) = found else { return Ok(None) };
        let mut text = self.with_marks(Origin::Session, session.0, title)?;
        if let Some(branch) = branch {
            text = format!("{text}\n{branch}");
        }
        for path in self.changed_files(session, 20)? {
            text = format!("{text}\n{path}");
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        let group = Some(Group { origin: Origin::Session, row: session.0 });
        Ok(Some(Passage { id, kind: Kind::Session, group, at, place: None, text }))
    }

    /// A text and the words it is marked with.
    fn with_marks(&self, origin: Origin, source: i64, mut text: String) -> Result<String, StoreError> {
        let mut find = self
            .db
            .prepare_cached("SELECT DISTINCT value FROM mark WHERE origin = ?1 AND source = ?2 AND sort != 'entity'")?;
        for value in find.query_map(params![origin, source], |row| row.get::<_, String>(0))? {
            text.push(' ');
            text.push_str(&value?);
        }
        Ok(text)
    }

    /// Files that a session changed, those it changed most first.
    ///
    /// # Errors
    /// As for any read.
    pub fn changed_files(&self, session: SessionId, limit: usize) -> Result<Vec<String>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT f.path FROM transcript t JOIN touch c ON c.transcript_id = t.id JOIN file f ON f.id = c.file_id
             WHERE t.session_id = ?1 AND c.changes > 0
             GROUP BY f.id ORDER BY sum(c.changes) DESC, f.path LIMIT ?2",
        )?;
        let paths = find.query_map(params![session, limit as i64], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }

    /// All that a group says, for what finds it as a whole: of a session what was said and called, without what tools
    /// answered.
    ///
    /// # Errors
    /// As for any read.
    pub fn group_text(&self, group: Group) -> Result<String, StoreError> {
        match group.origin {
            Origin::Session => self.session_text(SessionId(group.row)),
            Origin::Event => Ok(String::new()),
            Origin::Memory | Origin::Chunk => {
                let mut find = self.db.prepare_cached(
                    "SELECT first, count, origin, source FROM span WHERE origin = ?1 AND source = ?2",
                )?;
                let span = find.query_row(params![group.origin, group.row], Span::read).optional()?;
                let mut text = String::new();
                if let Some(span) = span {
                    self.read_span::<StoreError>(span, &mut |passage| {
                        text.push_str(&passage.text);
                        text.push('\n');
                        Ok(())
                    })?;
                }
                Ok(text)
            }
        }
    }

    fn session_text(&self, session: SessionId) -> Result<String, StoreError> {
        let mut text = self.session_passage(PassageId(0), session)?.map(|it| it.text).unwrap_or_default();
        let read = self.each_passage_of(session, &[Kind::Prompt, Kind::Reply, Kind::Call], &mut |passage| {
            text.push('\n');
            text.push_str(&passage.text);
            if text.len() < WORDS { Ok(()) } else { Err(Ended::Enough) }
        });
        match read {
            Ok(()) | Err(Ended::Enough) => Ok(text),
            Err(Ended::Failed(error)) => Err(error),
        }
    }

    /// Reads the passages of these kinds of a session's events, transcript by transcript. Their numbers are not told.
    ///
    /// # Errors
    /// Those of the store, and those of `each`, which ends the reading.
    pub fn each_passage_of<E: From<StoreError>>(
        &self,
        session: SessionId,
        kinds: &[Kind],
        each: &mut dyn FnMut(Passage) -> Result<(), E>,
    ) -> Result<(), E> {
        let stored: BTreeSet<String> =
            kinds.iter().filter_map(|kind| stored_as(*kind)).map(|it| it.to_string()).collect();
        // The rows of a transcript are read in their order, whatever index there is of kinds.
        let of = format!("AND +kind IN ({})", stored.into_iter().collect::<Vec<_>>().join(", "));
        for transcript in self.transcripts(session)? {
            let (first, last) = ids(transcript.id, 0);
            let span = Span { first: PassageId(0), count: last - first + 1, origin: Origin::Event, source: first };
            self.read_events(span, &of, &mut |passage| {
                if kinds.contains(&passage.kind) { each(passage) } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    /// The passages next to an event in its transcript, nearest first, at most so many. Their numbers are not told.
    ///
    /// # Errors
    /// As for any read.
    pub fn passages_near(&self, event: i64, forward: bool, most: usize) -> Result<Vec<Passage>, StoreError> {
        let (first, last) = ids(transcript_of(event), 0);
        let (range, order) = if forward { ((event + 1, last), "ASC") } else { ((first, event - 1), "DESC") };
        let sql = format!(
            "SELECT {EVENT} FROM event WHERE id BETWEEN ?1 AND ?2 AND copied = 0 AND text IS NOT NULL ORDER BY id {order}"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let mut rows = find.query([range.0, range.1])?;
        let mut passages = Vec::new();
        while passages.len() < most
            && let Some(row) = rows.next()?
        {
            passages.extend(self.event_passage(PassageId(0), row)?);
        }
        Ok(passages)
    }

    /// A passage between what was said before and after it; of a chunk, between its parts. None: it is gone.
    ///
    /// # Errors
    /// As for any read.
    pub fn passage_in_context(&self, id: PassageId) -> Result<Option<InContext>, StoreError> {
        let Some((whole, part)) = self.span_of(id)? else { return Ok(None) };
        if whole.origin == Origin::Chunk {
            // All of it is read and cut for any of its parts.
            let Some(chunk) = self.parts_of(whole.source)? else { return Ok(None) };
            let texts = parts(&chunk.content);
            let near = |part: i64| {
                let at = usize::try_from(part).ok()?;
                Some(chunk.passage(PassageId(whole.first.0 + part), at, texts.get(at)?))
            };
            let passage = near(part);
            return Ok(passage.map(|passage| InContext { before: near(part - 1), passage, after: near(part + 1) }));
        }
        let Some(passage) = self.passage(id)? else { return Ok(None) };
        let near = |forward| match passage.place {
            Some(place) => Ok::<_, StoreError>(self.passages_near(place.event, forward, 1)?.pop()),
            // Memories and sessions are passages by themselves.
            None => Ok(None),
        };
        Ok(Some(InContext { before: near(false)?, after: near(true)?, passage }))
    }

    /// Is there an event of this number, with its words or without?
    ///
    /// # Errors
    /// As for any read.
    pub fn has_event(&self, event: i64) -> Result<bool, StoreError> {
        Ok(self.db.prepare_cached("SELECT 1 FROM event WHERE id = ?1")?.exists([event])?)
    }

    /// All of what is stored of an event's text: of a call its whole input, of a result its whole answer.
    ///
    /// # Errors
    /// As for any read.
    pub fn event_text(&self, event: i64) -> Result<Option<String>, StoreError> {
        let mut find = self.db.prepare_cached("SELECT text FROM event WHERE id = ?1")?;
        Ok(find.query_row([event], |row| row.get(0)).optional()?.flatten())
    }
}

/// A passage and those next to it.
#[derive(Clone, Debug)]
pub struct InContext {
    /// What was said before it.
    pub before: Option<Passage>,
    /// The passage.
    pub passage: Passage,
    /// What was said after it.
    pub after: Option<Passage>,
}

/// Why the reading of a session's words ended before these did.
enum Ended {
    Enough,
    Failed(StoreError),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// A chunk, to be taken apart.
struct Parts {
    row: i64,
    at: i64,
    summary: String,
    marks: String,
    content: String,
}

impl Parts {
    fn passage(&self, id: PassageId, part: usize, text: &str) -> Passage {
        // The first part is what tells the chunk as a whole.
        let text = if part == 0 { format!("{}\n{text}{}", self.summary, self.marks) } else { text.to_owned() };
        let group = Some(Group { origin: Origin::Chunk, row: self.row });
        Passage { id, kind: Kind::Chunk, group, at: Some(self.at), place: None, text }
    }
}

/// The kind of the events that passages of a kind are of. None: they are of no event.
fn stored_as(kind: Kind) -> Option<i64> {
    match kind {
        Kind::Prompt | Kind::Reply | Kind::Reasoning => Some(MESSAGE),
        Kind::Call => Some(TOOL_CALL),
        Kind::Result => Some(TOOL_RESULT),
        Kind::Memory | Kind::Chunk | Kind::Session => None,
    }
}

/// What a message is to search; none: it is not for search, as what a tool says to itself.
pub(in crate::store) fn kind(author: Author, channel: Channel) -> Option<Kind> {
    match (author, channel) {
        (Author::Human, _) => Some(Kind::Prompt),
        (Author::Agent, Channel::Reasoning) => Some(Kind::Reasoning),
        (Author::Agent, _) => Some(Kind::Reply),
        (Author::Harness, Channel::Summary) => Some(Kind::Reply),
        (Author::Harness, _) => None,
    }
}
