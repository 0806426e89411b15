//! Adapters: a tool's transcript in, events out.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Origin, Output, Record, Source, Trouble, Verdict};
//! use totalrecall_sdk::types::{Author, Body, Channel, Event, Message};
//!
//! #[derive(Default, Serialize, Deserialize)]
//! struct Diary;
//!
//! #[derive(Deserialize)]
//! struct Entry<'a> {
//!     #[serde(borrow)]
//!     said: std::borrow::Cow<'a, str>,
//! }
//!
//! impl Adapter for Diary {
//!     fn describe() -> Descriptor {
//!         let files = Files { roots: vec!["~/.diary".into()], globs: vec!["*.jsonl".into()] };
//!         let sources = vec![Source::Files(files)];
//!         Descriptor { name: "diary".into(), version: "0.1.0".into(), tool: "diary".into(), sources }
//!     }
//!     fn recognise(head: &[u8]) -> bool {
//!         head.starts_with(br#"{"said":"#)
//!     }
//!     fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
//!         let entry: Entry<'_> = record.decode()?;
//!         let (text, omitted) = out.cap(&entry.said);
//!         let body = Body::Message(Message { author: Author::Human, channel: Channel::Prompt, text, omitted });
//!         out.push(Event { line: record.line, at: None, thread: None, key: None, copied: false, body });
//!         Ok(Verdict::Understood("entry".into()))
//!     }
//! }
//!
//! totalrecall_sdk::export_adapter!(Diary);
//!
//! let origin = Origin { path: "/home/me/.diary/1.jsonl".into(), key: None, text_limit: 16384 };
//! let mut parser = totalrecall_sdk::Parser::<Diary>::new(origin, None);
//! assert_eq!(parser.feed(b"{\"said\":\"hel")?.len(), 0);
//! assert_eq!(parser.feed(b"lo\"}\n")?.len(), 1);
//! # Ok::<(), totalrecall_sdk::types::Fault>(())
//! ```

use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use crate::adapter_bindings::exports::totalrecall::guest::parse::{
    Checkpoint, Database, Descriptor, Files, Origin, Outcome, Queries, Source, TallyEntry, Tree,
};
use crate::adapter_bindings::exports::totalrecall::guest::parse::{Guest, GuestParser};
use crate::lines::{Line, Lines};
use crate::repair;
use crate::tally::Tally;
use crate::text;
use crate::types::{Event, Fault, Place};

/// An adapter: a struct that is its own checkpoint, given one record after the other.
pub trait Adapter: Default + Serialize + DeserializeOwned + 'static {
    /// Name, version, the tool, and what is to be read for it.
    fn describe() -> Descriptor;

    /// Is this the beginning (at most 64 KiB) of one of the tool's transcripts?
    fn recognise(head: &[u8]) -> bool;

    /// Told where the transcript comes from, before the first record and again after every resume.
    fn begin(&mut self, origin: &Origin) {
        let _ = origin;
    }

    /// What a record is in the transcript that [`begin`](Self::begin) was told of.
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    /// Takes one record: a line or the whole of a file, or a row.
    ///
    /// Decode first and act then: a record that is [`Trouble::Unreadable`] is repaired and given again, whole or in
    /// pieces, so it must have left no trace.
    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble>;

    /// The transcript ends here, for now: pushes what was held back. Nothing is called after it.
    fn finish(&mut self, out: &mut Output) {
        let _ = out;
    }
}

/// How a transcript's bytes are cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Each line is one: JSONL, Markdown, and the rows of trees and databases.
    Lines,
    /// All of it is one: a document that its tool writes anew each time. It is given to the adapter when it ends, so all
    /// its events are provisional, and there is nothing to resume. One that cannot be decoded is a fault, because a half
    /// of it says nothing.
    Whole,
}

/// One record as it stands in the transcript.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// 1-based line of a file (1 for the whole of it), or 1-based ordinal of a row.
    pub line: u64,
    /// Its text, in most formats JSON. Not checked to be UTF-8: decoding does that where it matters.
    pub bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record as `T`, which may borrow from it.
    pub fn decode<T: Deserialize<'a>>(&self) -> Result<T, Trouble> {
        Ok(serde_json::from_slice(self.bytes)?)
    }
}

/// What an adapter made of a record; the name is the record's type as the tool has it, such as `system/api_error`.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Its events were pushed (or it is known to hold none in this case).
    Understood(Cow<'static, str>),
    /// Known, and of no use here.
    Skipped(Cow<'static, str>),
    /// Never seen.
    Unknown(Cow<'static, str>),
}

/// Why a record gave no verdict.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// It cannot be decoded: it is repaired and tried again, and counted as broken (with this) if that fails too.
    Unreadable(&'static str),
    /// The transcript cannot be read on.
    Fault(Fault),
}

impl From<serde_json::Error> for Trouble {
    /// The kind only: an error's text quotes the transcript, and would make every broken line an entry of its own.
    fn from(error: serde_json::Error) -> Self {
        use serde_json::error::Category;
        Self::Unreadable(match error.classify() {
            Category::Data => "unexpected shape",
            Category::Eof => "cut off",
            Category::Syntax | Category::Io => "not JSON",
        })
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Where an adapter puts its events.
#[derive(Debug)]
pub struct Output {
    events: Vec<Event>,
    limit: usize,
}

impl Output {
    /// Adds the next event.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// The text within the host's limit, and how many bytes were left out: what `text` and `omitted` want.
    pub fn cap(&self, text: &str) -> (String, u64) {
        let (text, omitted) = text::cap(text, self.limit);
        (text.into_owned(), omitted)
    }
}

/// Drives an [`Adapter`] as the WIT resource `parser` does; tests and benches use it natively.
pub struct Parser<A> {
    adapter: A,
    lines: Lines,
    tally: Tally,
    limit: usize,
    /// A checkpoint that could not be read is told by the first call that can tell it.
    fault: Option<Fault>,
}

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
struct State<A, T> {
    number: u64,
    offset: u64,
    tally: T,
    adapter: A,
}

impl<A: Adapter> Parser<A> {
    /// Begins anew, or where `resume` (the state of an earlier [`checkpoint`](Self::checkpoint)) left off.
    pub fn new(origin: Origin, resume: Option<&[u8]>) -> Self {
        let limit = origin.text_limit as usize;
        let mut parser =
            Self { adapter: A::default(), lines: Lines::default(), tally: Tally::default(), limit, fault: None };
        match resume.map(postcard::from_bytes::<State<A, Tally>>) {
            Some(Ok(state)) => {
                parser.lines = Lines::resume(state.number, state.offset);
                parser.adapter = state.adapter;
                parser.tally = state.tally;
            }
            Some(Err(error)) => {
                let why = format!("the parser cannot resume from its checkpoint: {error}");
                parser.fault = Some(Fault::Internal(why));
            }
            None => {}
        }
        parser.adapter.begin(&origin);
        if parser.adapter.framing() == Framing::Whole {
            parser.lines = Lines::whole();
        }
        parser
    }

    /// Takes the next bytes, cut anywhere, and gives the events of the records they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Fault> {
        let Self { adapter, lines, tally, limit, fault } = self;
        let mut out = Output { events: Vec::new(), limit: *limit };
        lines.feed(bytes, |number, line| {
            if fault.is_some() {
                return;
            }
            match line {
                Line::Whole(bytes) => *fault = read(adapter, number, bytes, tally, &mut out).err(),
                Line::TooLong => tally.count(Outcome::Broken, "line over 64 MiB", number),
            }
        });
        match fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(out.events),
        }
    }

    /// The bytes end here, for now: gives what an unterminated last record says, if it can be read, and what the adapter
    /// held back. Take the checkpoint before this.
    pub fn finish(&mut self) -> Result<Vec<Event>, Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let mut out = Output { events: Vec::new(), limit: self.limit };
        if self.adapter.framing() == Framing::Whole {
            self.finish_whole(&mut out)?;
        } else if let Some((line, bytes)) = self.lines.rest() {
            match self.adapter.record(&Record { line, bytes }, &mut out) {
                Ok(verdict) => count(&mut self.tally, verdict, line),
                // It is still being written.
                Err(Trouble::Unreadable(_)) => {}
                Err(Trouble::Fault(fault)) => return Err(fault),
            }
        }
        self.adapter.finish(&mut out);
        Ok(out.events)
    }

    fn finish_whole(&mut self, out: &mut Output) -> Result<(), Fault> {
        let Some((line, bytes)) = self.lines.rest() else {
            return match self.lines.is_too_long() {
                true => Err(Fault::Limit("64 MiB a document".into())),
                false => Ok(()),
            };
        };
        let verdict = match self.adapter.record(&Record { line, bytes }, out) {
            Err(Trouble::Unreadable(_)) => {
                self.adapter.record(&Record { line, bytes: repair::clean(bytes).as_bytes() }, out)
            }
            read => read,
        };
        match verdict {
            Ok(verdict) => count(&mut self.tally, verdict, line),
            Err(Trouble::Unreadable(why)) => return Err(Fault::Malformed(Place { line, why: why.into() })),
            Err(Trouble::Fault(fault)) => return Err(fault),
        }
        Ok(())
    }

    /// State after the last `feed`, and where reading goes on: never past an unterminated line.
    pub fn checkpoint(&self) -> Checkpoint {
        let (number, offset) = (self.lines.number(), self.lines.offset());
        let state = State { number, offset, tally: &self.tally, adapter: &self.adapter };
        Checkpoint { offset, state: postcard::to_allocvec(&state).unwrap_or_default() }
    }

    /// What became of the records since the beginning of the transcript, resumes included.
    pub fn tally(&self) -> Vec<TallyEntry> {
        self.tally.entries().to_vec()
    }

    /// The adapter's state, for tests.
    pub fn adapter(&self) -> &A {
        &self.adapter
    }
}

/// Gives one line to the adapter; the fast path.
fn read<A: Adapter>(
    adapter: &mut A,
    line: u64,
    bytes: &[u8],
    tally: &mut Tally,
    out: &mut Output,
) -> Result<(), Fault> {
    if bytes.is_empty() {
        return Ok(());
    }
    match adapter.record(&Record { line, bytes }, out) {
        Ok(verdict) => count(tally, verdict, line),
        Err(Trouble::Fault(fault)) => return Err(fault),
        Err(Trouble::Unreadable(why)) => read_damaged(adapter, line, bytes, why, tally, out)?,
    }
    Ok(())
}

/// Gives what can be saved of a damaged line to the adapter.
#[cold]
fn read_damaged<A: Adapter>(
    adapter: &mut A,
    line: u64,
    bytes: &[u8],
    why: &'static str,
    tally: &mut Tally,
    out: &mut Output,
) -> Result<(), Fault> {
    if repair::is_blank(bytes) {
        if bytes.contains(&0) {
            tally.count(Outcome::Broken, "NUL bytes", line);
        }
        return Ok(());
    }
    let mut attempt = |bytes: &[u8], tally: &mut Tally| match adapter.record(&Record { line, bytes }, out) {
        Ok(verdict) => {
            count(tally, verdict, line);
            Ok(true)
        }
        Err(Trouble::Unreadable(_)) => Ok(false),
        Err(Trouble::Fault(fault)) => Err(fault),
    };
    let clean = repair::clean(bytes);
    if clean.as_bytes() != bytes && attempt(clean.as_bytes(), tally)? {
        return Ok(());
    }
    let text = repair::lossy(bytes);
    let pieces = repair::split(text.as_bytes());
    for object in &pieces.objects {
        let piece = &text[object.clone()];
        // The line as it stands was tried already.
        let read = piece.len() < text.len() && attempt(piece.as_bytes(), tally)?;
        if !read && !attempt(repair::clean(piece.as_bytes()).as_bytes(), tally)? {
            tally.count(Outcome::Broken, why, line);
        }
    }
    if pieces.torn {
        tally.count(Outcome::Broken, if pieces.objects.is_empty() { why } else { "torn record" }, line);
    }
    Ok(())
}

fn count(tally: &mut Tally, verdict: Verdict, line: u64) {
    match verdict {
        Verdict::Understood(what) => tally.count(Outcome::Understood, &what, line),
        Verdict::Skipped(what) => tally.count(Outcome::Skipped, &what, line),
        Verdict::Unknown(what) => tally.count(Outcome::Unknown, &what, line),
    }
}

/// What [`export_adapter!`](crate::export_adapter) exports: the adapter as the WIT interface wants it.
#[doc(hidden)]
pub struct Component<A>(PhantomData<A>);

/// A [`Parser`] behind the shared reference that WIT methods get.
#[doc(hidden)]
pub struct Resource<A>(RefCell<Parser<A>>);

impl<A: Adapter> Guest for Component<A> {
    type Parser = Resource<A>;

    fn describe() -> Descriptor {
        A::describe()
    }

    fn recognise(head: Vec<u8>) -> bool {
        A::recognise(&head)
    }
}

impl<A: Adapter> GuestParser for Resource<A> {
    fn new(origin: Origin, resume: Option<Vec<u8>>) -> Self {
        Self(RefCell::new(Parser::new(origin, resume.as_deref())))
    }

    fn feed(&self, bytes: Vec<u8>) -> Result<Vec<Event>, Fault> {
        self.0.borrow_mut().feed(&bytes)
    }

    fn finish(&self) -> Result<Vec<Event>, Fault> {
        self.0.borrow_mut().finish()
    }

    fn checkpoint(&self) -> Checkpoint {
        self.0.borrow().checkpoint()
    }

    fn tally(&self) -> Vec<TallyEntry> {
        self.0.borrow().tally()
    }
}

/// Makes the crate an adapter component. The exports are compiled for wasm only.
#[macro_export]
macro_rules! export_adapter {
    ($adapter:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::adapter::Component<$adapter>;
    $crate::adapter_bindings::export_adapter_bindings!(Component with_types_in $crate::adapter_bindings);
        };
    };
}
