//! Events as rows. What most events have is a column; the rest is JSON in `detail`. Texts of a call that its input
//! contains anyway (the command, what an edit removes and adds) are kept as a place in the input.

use memchr::memmem;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::{StoreError, key, label::Labels};
use crate::event::{
    ApiError, Author, Body, Channel, Compaction, Edit, Event, Interrupt, Message, Session, Status, ToolCall, ToolKind,
    ToolResult, Usage,
};

/// Columns that [`write`] binds and [`read`] takes, in order.
pub(super) const COLUMNS: &str = "id, line, at, thread, key, copied, kind, author, channel, tool_kind, status, \
                                  exit_code, omitted, name, call, path, detail, text";

// Places of these columns: asking for one by its name takes longer than reading it.
const ID: usize = 0;
const LINE: usize = 1;
const AT: usize = 2;
const THREAD: usize = 3;
const KEY: usize = 4;
const COPIED: usize = 5;
pub(super) const KIND: usize = 6;
const AUTHOR: usize = 7;
const CHANNEL: usize = 8;
const TOOL_KIND: usize = 9;
const STATUS: usize = 10;
const EXIT_CODE: usize = 11;
const OMITTED: usize = 12;
const NAME: usize = 13;
const CALL: usize = 14;
const PATH: usize = 15;
const DETAIL: usize = 16;
const TEXT: usize = 17;

/// Bits of an event's id that count the events of its transcript.
pub(super) const ORDINAL_BITS: u32 = 32;

/// The number that a value of a contract's enum has in the database. Numbers are for ever.
macro_rules! numbers {
    ($type:ident: $($value:ident = $number:literal),+) => {
        impl Number for $type {
            fn number(&self) -> i64 {
                match self { $(Self::$value => $number),+ }
            }
            fn value(number: i64) -> Option<Self> {
                match number { $($number => Some(Self::$value),)+ _ => None }
            }
        }
    };
}

pub(super) trait Number: Sized {
    fn number(&self) -> i64;
    fn value(number: i64) -> Option<Self>;
}

numbers!(Author: Human = 0, Agent = 1, Harness = 2);
numbers!(Channel: Prompt = 0, Steering = 1, Comment = 2, Answer = 3, Command = 4, Shell = 5, Reply = 6, Reasoning = 7,
    Summary = 8, Notice = 9);
numbers!(ToolKind: Read = 0, Edit = 1, Create = 2, Delete = 3, Execute = 4, Search = 5, Fetch = 6, Delegate = 7,
    Plan = 8, Ask = 9, Mcp = 10, Other = 11);
numbers!(Status: Ok = 0, Error = 1, Denied = 2, Blocked = 3, Interrupted = 4);

/// Numbers of the kinds of tools that run commands, and of those that change files.
pub(super) const EXECUTES: &str = "4";
pub(super) const CHANGES_FILES: &str = "1, 2, 3";

pub(super) const MESSAGE: i64 = 0;
pub(super) const TOOL_CALL: i64 = 1;
pub(super) const TOOL_RESULT: i64 = 2;
const INTERRUPT: i64 = 3;
const COMPACTION: i64 = 4;
const API_ERROR: i64 = 5;
const REWIND: i64 = 6;
pub(super) const USAGE: i64 = 7;
const SESSION: i64 = 8;

/// Condition on the columns of `event`, named `e`: the person stepped in while the agent worked.
pub(super) fn pushback() -> String {
    format!(
        "e.kind IN ({INTERRUPT}, {REWIND}) OR (e.kind = {MESSAGE} AND e.author = {} AND e.channel IN ({}, {}))",
        Author::Human.number(),
        Channel::Steering.number(),
        Channel::Comment.number(),
    )
}

/// A text, or where it stands in the event's `text`: start and length in bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Piece {
    At(usize, usize),
    Text(String),
}

/// Shorter texts take no more room than their place.
const SHORT: usize = 8;

impl Piece {
    fn of(part: &str, whole: &str) -> Self {
        if part.len() > SHORT
            && let Some(at) = memmem::find(whole.as_bytes(), part.as_bytes())
        {
            return Self::At(at, part.len());
        }
        Self::Text(part.to_owned())
    }

    fn text(self, whole: &str) -> Option<String> {
        match self {
            Self::At(at, length) => whole.get(at..at.checked_add(length)?).map(str::to_owned),
            Self::Text(text) => Some(text),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct CallDetail {
    /// Paths after the first, which has its column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Piece>,
    /// Path (none: the call's first), removed, added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<(Option<String>, Piece, Piece)>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ResultDetail {
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    amended: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct SessionDetail {
    id: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    title: Option<String>,
    version: Option<String>,
    parent: Option<String>,
}

/// The columns that are put away with a session: of messages, calls and results.
#[derive(Clone, Copy, Default)]
pub(super) struct Words<'a> {
    pub(super) call: Option<&'a str>,
    pub(super) detail: Option<&'a str>,
    pub(super) text: Option<&'a str>,
}

impl<'a> Words<'a> {
    /// Those of a row with [`COLUMNS`].
    pub(super) fn of(row: &'a Row<'_>) -> Result<Self, StoreError> {
        let column = |column| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
        Ok(Self { call: column(CALL)?, detail: column(DETAIL)?, text: column(TEXT)? })
    }

    fn text(self) -> String {
        self.text.unwrap_or_default().to_owned()
    }

    fn detail<T: for<'de> Deserialize<'de>>(self) -> Result<T, StoreError> {
        let detail = self.detail.ok_or_else(|| unreadable("there is no detail"))?;
        serde_json::from_str(detail).map_err(|error| unreadable(error.to_string()))
    }

    fn detail_or_default<T: Default + for<'de> Deserialize<'de>>(self) -> Result<T, StoreError> {
        if self.detail.is_none() { Ok(T::default()) } else { self.detail() }
    }

    /// The detail that stays when these are put away: what a call ran and which files it was about, because rules are
    /// measured by that.
    pub(super) fn lasting_detail(self, kind: i64) -> Result<Option<String>, StoreError> {
        if kind != TOOL_CALL {
            return Ok(None);
        }
        let CallDetail { paths, command, .. } = self.detail_or_default()?;
        if paths.is_empty() && command.is_none() {
            return Ok(None);
        }
        let whole = self.text.unwrap_or_default();
        let command = command.map(|command| command.text(whole).ok_or_else(outside)).transpose()?;
        json(&CallDetail { paths, command: command.map(Piece::Text), edits: Vec::new() })
    }
}

fn outside() -> StoreError {
    unreadable("a place outside the text")
}

/// Was an event of this kind put away, if it has no text?
pub(super) fn has_words(kind: i64) -> bool {
    matches!(kind, MESSAGE | TOOL_CALL | TOOL_RESULT)
}

/// The columns of a body.
#[derive(Default)]
struct Columns<'a> {
    kind: i64,
    author: Option<i64>,
    channel: Option<i64>,
    tool_kind: Option<i64>,
    status: Option<i64>,
    exit_code: Option<i32>,
    omitted: u64,
    name: Option<&'a str>,
    call: Option<&'a str>,
    path: Option<&'a str>,
    detail: Option<String>,
    text: Option<&'a str>,
}

fn json<T: Serialize>(detail: &T) -> Result<Option<String>, StoreError> {
    serde_json::to_string(detail).map(Some).map_err(|error| unreadable(error.to_string()))
}

fn columns(body: &Body) -> Result<Columns<'_>, StoreError> {
    Ok(match body {
        Body::Message(message) => Columns {
            kind: MESSAGE,
            author: Some(message.author.number()),
            channel: Some(message.channel.number()),
            omitted: message.omitted,
            text: Some(&message.text),
            ..Columns::default()
        },
        Body::ToolCall(call) => Columns {
            kind: TOOL_CALL,
            tool_kind: Some(call.kind.number()),
            omitted: call.omitted,
            name: Some(&call.name),
            call: Some(&call.id),
            path: call.paths.first().map(String::as_str),
            detail: call_detail(call)?,
            text: Some(&call.input),
            ..Columns::default()
        },
        Body::ToolResult(result) => Columns {
            kind: TOOL_RESULT,
            status: Some(result.status.number()),
            exit_code: result.exit_code,
            omitted: result.omitted,
            call: Some(&result.call),
            detail: match (&result.words, result.amended) {
                (None, false) => None,
                (words, amended) => json(&ResultDetail { words: words.clone(), amended })?,
            },
            text: Some(&result.text),
            ..Columns::default()
        },
        Body::Interrupt(interrupt) => {
            Columns { kind: INTERRUPT, detail: json(&interrupt.in_tool)?, ..Columns::default() }
        }
        Body::Compaction(compaction) => Columns {
            kind: COMPACTION,
            detail: json(&(compaction.manual, compaction.tokens_before))?,
            ..Columns::default()
        },
        Body::ApiError(error) => Columns {
            kind: API_ERROR,
            detail: json(&(error.status, error.retried))?,
            text: Some(&error.text),
            ..Columns::default()
        },
        Body::Rewind(to) => Columns { kind: REWIND, text: Some(to), ..Columns::default() },
        Body::Usage(usage) => Columns { kind: USAGE, name: Some(&usage.model), ..Columns::default() },
        Body::Session(session) => Columns {
            kind: SESSION,
            detail: json(&SessionDetail {
                id: session.id.clone(),
                cwd: session.cwd.clone(),
                branch: session.branch.clone(),
                title: session.title.clone(),
                version: session.version.clone(),
                parent: session.parent.clone(),
            })?,
            ..Columns::default()
        },
    })
}

fn call_detail(call: &ToolCall) -> Result<Option<String>, StoreError> {
    if call.paths.len() < 2 && call.command.is_none() && call.edits.is_empty() {
        return Ok(None);
    }
    let first = call.paths.first();
    let edit = |edit: &Edit| {
        let path = (Some(&edit.path) != first).then(|| edit.path.clone());
        (path, Piece::of(&edit.removed, &call.input), Piece::of(&edit.added, &call.input))
    };
    json(&CallDetail {
        paths: call.paths.iter().skip(1).cloned().collect(),
        command: call.command.as_ref().map(|command| Piece::of(command, &call.input)),
        edits: call.edits.iter().map(edit).collect(),
    })
}

/// What is told apart in the column `copied`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    No = 0,
    /// The adapter says so.
    Declared = 1,
    /// The key was stored from another transcript.
    Found = 2,
}

/// Inserts events. Statements are prepared once.
pub(super) struct Writer<'db> {
    db: &'db Connection,
    labels: &'db Labels,
    event: rusqlite::CachedStatement<'db>,
    usage: rusqlite::CachedStatement<'db>,
}

impl<'db> Writer<'db> {
    pub(super) fn new(db: &'db Connection, labels: &'db Labels) -> Result<Self, StoreError> {
        let event = db.prepare_cached(&format!(
            "INSERT INTO event ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
             ?16, ?17, ?18)"
        ))?;
        let usage = db.prepare_cached("INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5)")?;
        Ok(Self { db, labels, event, usage })
    }

    pub(super) fn insert(&mut self, id: i64, event: &Event, copied: Copied) -> Result<(), StoreError> {
        let columns = columns(&event.body)?;
        let label = |text: Option<&str>| text.map(|text| self.labels.id(self.db, text)).transpose();
        self.event.execute(rusqlite::params![
            id,
            event.line.cast_signed(),
            event.at,
            label(event.thread.as_deref())?,
            event.key.as_deref().and_then(key::parse),
            copied as i64,
            columns.kind,
            columns.author,
            columns.channel,
            columns.tool_kind,
            columns.status,
            columns.exit_code,
            columns.omitted.cast_signed(),
            label(columns.name)?,
            columns.call,
            columns.path,
            columns.detail,
            columns.text,
        ])?;
        if let Body::Usage(usage) = &event.body {
            let [input, output, cache_read, cache_write] =
                [usage.input, usage.output, usage.cache_read, usage.cache_write].map(u64::cast_signed);
            self.usage.execute([id, input, output, cache_read, cache_write])?;
        }
        Ok(())
    }
}

/// Writes the texts of an event anew, and nothing else of it.
pub(super) fn rewrite(db: &Connection, id: i64, event: &Event) -> Result<(), StoreError> {
    let columns = columns(&event.body)?;
    db.prepare_cached("UPDATE event SET omitted = ?2, path = ?3, detail = ?4, text = ?5 WHERE id = ?1")?
        .execute(rusqlite::params![id, columns.omitted.cast_signed(), columns.path, columns.detail, columns.text])?;
    Ok(())
}

fn unreadable(why: impl Into<String>) -> StoreError {
    StoreError::Row { table: "event", why: why.into() }
}

fn value<T: Number>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    T::value(row.get(column)?).ok_or_else(|| unreadable(format!("an unknown number in column {column}")))
}

/// The command of a call, from the columns with its detail and its text.
pub(super) fn command_of(row: &Row<'_>, detail: usize, text: usize) -> Result<Option<String>, StoreError> {
    let Some(command) = call_detail_at(row, detail)?.command else { return Ok(None) };
    let text = row.get_ref(text)?.as_str_or_null().map_err(|error| unreadable(error.to_string()))?;
    command.text(text.unwrap_or_default()).map(Some).ok_or_else(outside)
}

/// The paths of a call, from the columns with the first one and its detail.
pub(super) fn paths_of(row: &Row<'_>, path: usize, detail: usize) -> Result<Vec<String>, StoreError> {
    let first: Option<String> = row.get(path)?;
    Ok(first.into_iter().chain(call_detail_at(row, detail)?.paths).collect())
}

fn call_detail_at(row: &Row<'_>, column: usize) -> Result<CallDetail, StoreError> {
    match row.get_ref(column)?.as_str_or_null().map_err(|error| unreadable(error.to_string()))? {
        None => Ok(CallDetail::default()),
        Some(detail) => serde_json::from_str(detail).map_err(|error| unreadable(error.to_string())),
    }
}

/// Reads an event back from a row with [`COLUMNS`], without the words that were put away.
pub(super) fn read(db: &Connection, labels: &Labels, row: &Row<'_>) -> Result<Event, StoreError> {
    read_with(db, labels, row, Words::of(row)?)
}

/// Reads an event back from a row with [`COLUMNS`] and its words, which may come from elsewhere.
pub(super) fn read_with(
    db: &Connection,
    labels: &Labels,
    row: &Row<'_>,
    words: Words<'_>,
) -> Result<Event, StoreError> {
    let label = |column: usize| match row.get::<_, Option<i64>>(column)? {
        None => Ok(None),
        Some(id) => match labels.text(db, id)? {
            Some(text) => Ok(Some(text)),
            None => Err(unreadable(format!("column {column} names a label that is not there"))),
        },
    };
    let omitted = row.get::<_, i64>(OMITTED)?.cast_unsigned();
    let body = match row.get(KIND)? {
        MESSAGE => Body::Message(Message {
            author: value(row, AUTHOR)?,
            channel: value(row, CHANNEL)?,
            text: words.text(),
            omitted,
        }),
        TOOL_CALL => {
            let input = words.text();
            let detail: CallDetail = words.detail_or_default()?;
            let piece = |piece: Piece| piece.text(&input).ok_or_else(outside);
            let first: Option<String> = row.get(PATH)?;
            let edit = |(path, removed, added): (Option<String>, _, _)| {
                let path = path.or_else(|| first.clone()).ok_or_else(|| unreadable("an edit without a path"))?;
                Ok::<_, StoreError>(Edit { path, removed: piece(removed)?, added: piece(added)? })
            };
            Body::ToolCall(ToolCall {
                id: words.call.unwrap_or_default().to_owned(),
                name: label(NAME)?.unwrap_or_default(),
                kind: value(row, TOOL_KIND)?,
                edits: detail.edits.into_iter().map(edit).collect::<Result<_, _>>()?,
                command: detail.command.map(piece).transpose()?,
                paths: first.clone().into_iter().chain(detail.paths).collect(),
                input,
                omitted,
            })
        }
        TOOL_RESULT => {
            let detail: ResultDetail = words.detail_or_default()?;
            Body::ToolResult(ToolResult {
                call: words.call.unwrap_or_default().to_owned(),
                status: value(row, STATUS)?,
                exit_code: row.get(EXIT_CODE)?,
                text: words.text(),
                omitted,
                words: detail.words,
                amended: detail.amended,
            })
        }
        INTERRUPT => Body::Interrupt(Interrupt { in_tool: words.detail()? }),
        COMPACTION => {
            let (manual, tokens_before) = words.detail()?;
            Body::Compaction(Compaction { manual, tokens_before })
        }
        API_ERROR => {
            let (status, retried) = words.detail()?;
            Body::ApiError(ApiError { status, text: words.text(), retried })
        }
        REWIND => Body::Rewind(words.text()),
        USAGE => {
            let mut find =
                db.prepare_cached("SELECT input, output, cache_read, cache_write FROM usage WHERE id = ?1")?;
            let figures = find.query_row([row.get::<_, i64>(ID)?], |row| {
                let figure = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
                Ok([figure(0)?, figure(1)?, figure(2)?, figure(3)?])
            })?;
            let [input, output, cache_read, cache_write] = figures;
            Body::Usage(Usage { model: label(NAME)?.unwrap_or_default(), input, output, cache_read, cache_write })
        }
        SESSION => {
            let SessionDetail { id, cwd, branch, title, version, parent } = words.detail()?;
            Body::Session(Session { id, cwd, branch, title, version, parent })
        }
        other => return Err(unreadable(format!("unknown kind {other}"))),
    };
    Ok(Event {
        line: row.get::<_, i64>(LINE)?.cast_unsigned(),
        at: row.get(AT)?,
        thread: label(THREAD)?,
        key: row.get::<_, Option<i64>>(KEY)?.map(key::name),
        copied: row.get::<_, i64>(COPIED)? != Copied::No as i64,
        body,
    })
}
