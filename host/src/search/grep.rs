//! Lines that match a pattern, in everything that is stored, newest first.
//!
//! Texts that cannot match are told by their trigrams; all others are read, by as many threads as there are processors, straight
//! from the pages of the database. What is expensive about a line (what stands around it, how it is shown) is done for those only
//! that are among the newest so far.

mod best;
mod fuzzy;

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use regex::bytes::{Regex, RegexBuilder};
use serde::Serialize;

use super::{Filter, Needs, Reference, Source};
use crate::{
    clean::clean,
    store::{Origin, PassageId, SessionId, Shown, Store, StoreError, StoredText},
};
use best::Best;
use fuzzy::Fuzzy;

/// Largest compiled pattern, in bytes: what the library takes for bounded. A pattern comes from an agent.
const PATTERN_SIZE: usize = 1 << 20;
/// Longest line that is shown, in characters.
const SHOWN: usize = 200;
/// Most threads: each has a connection of its own, and memory is no faster for more.
const THREADS: usize = 8;

/// What lines are looked for.
#[derive(Clone, Debug)]
pub struct Grep {
    /// A regular expression; what is none is looked for as it stands. Letter case does not count unless it is asked for.
    pub pattern: String,
    /// Letter case counts.
    pub case: bool,
    /// Lines that are nearly so, at least to this degree, 0 to 100. The pattern is then no expression.
    pub fuzzy: Option<u8>,
    /// What it is about.
    pub filter: Filter,
    /// Most lines that are given. All are counted.
    pub limit: usize,
    /// Time after which it stops.
    pub budget: Duration,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Lines {
    /// The lines, newest first; of nearly matching ones the best first.
    pub lines: Vec<Line>,
    /// How many there are in what was looked through.
    pub total: u64,
    /// There was no time to look through all: all that was said after then was, in milliseconds since the Unix epoch.
    pub only_since: Option<i64>,
    /// It ran out of time.
    pub is_partial: bool,
    /// The pattern is no regular expression, and why; it was looked for as it stands.
    pub literal: Option<String>,
    /// Bytes that were looked through.
    pub bytes: u64,
}

/// A line.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// What it stands in.
    pub id: Reference,
    /// Where that stands.
    pub source: Source,
    /// When it was said.
    pub at: Option<i64>,
    /// Its number in the text, from 1.
    pub number: usize,
    /// The line, shortened around the match; text of others.
    pub text: String,
    /// The line before and the one after it.
    pub before: Option<String>,
    /// See above.
    pub after: Option<String>,
    /// How near it is, 0 to 100, where it need only be near.
    pub score: Option<u8>,
    /// What it stands in was put away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

enum Matcher {
    Exact(Regex),
    Near(Fuzzy, u8),
}

/// What one thread has found.
struct Looked {
    total: u64,
    bytes: u64,
    best: Best,
    /// Number of the first transcript that it had no time for.
    unfinished: Option<usize>,
}

impl Grep {
    /// Looks.
    ///
    /// # Errors
    /// As for any read.
    pub fn run(&self, store: &Store) -> Result<Lines, StoreError> {
        let started = Instant::now();
        let mut found = Lines::default();
        let matcher = match self.fuzzy {
            Some(least) => Matcher::Near(Fuzzy::new(&self.pattern), least),
            None => Matcher::Exact(self.expression(&mut found.literal)),
        };
        let needs = match matcher {
            Matcher::Exact(ref expression) => Needs::of(expression.as_str(), self.case),
            // Any part of a line may be another.
            Matcher::Near(..) => Needs::NOTHING,
        };
        let groups = store.groups(&self.filter)?;
        // Its pages are mapped, and filters are many.
        let reader = store.reader()?;
        let mut shown = reader.snapshot().and_then(|_snapshot| reader.shown(groups.as_ref(), &needs))?;
        drop(reader);
        shown.retain(|shown| self.filter.since.is_none_or(|since| shown.ended_at.is_none_or(|end| end >= since)));

        let mut all = Looked::new(self.limit);
        // Memories that do not hold any more are in no group, unless they are asked for.
        store.scan_kept(groups.as_ref(), &mut |text| {
            self.look(&matcher, &text, &mut all);
            ControlFlow::Continue(())
        })?;

        let next = AtomicUsize::new(0);
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(shown.len());
        let readers = (0..threads).map(|_| store.reader()).collect::<Result<Vec<_>, _>>()?;
        let looked = thread::scope(|scope| {
            let look = |reader| self.look_through(&reader, &matcher, &shown, &next, started);
            let threads: Vec<_> = readers.into_iter().map(|reader| scope.spawn(move || look(reader))).collect();
            let ends = threads.into_iter().map(|thread| thread.join());
            ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Vec<_>>()
        });
        for looked in looked {
            all.add(looked?);
        }

        (found.total, found.bytes) = (all.total, all.bytes);
        if let Some(first) = all.unfinished {
            found.is_partial = true;
            // Sessions that were put away come last, and may be newer than what was looked through.
            found.only_since = shown[first..].iter().filter_map(|shown| shown.ended_at).max();
        }
        for (raw, mut line) in all.best.into_sorted() {
            if let Some((id, source)) = raw.place(store)? {
                (line.id, line.source) = (id, source);
                found.lines.push(line);
            }
        }
        Ok(found)
    }

    /// What a thread does: one transcript after the other that no other thread has taken.
    fn look_through(
        &self,
        store: &Store,
        matcher: &Matcher,
        shown: &[Shown],
        next: &AtomicUsize,
        started: Instant,
    ) -> Result<Looked, StoreError> {
        let mut looked = Looked::new(self.limit);
        let mut texts = 0_u32;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = shown.get(number) else { return Ok(looked) };
            let mut is_late = started.elapsed() > self.budget;
            if !is_late {
                // Of one transcript: who empties the log waits for all that was begun before, and everybody else for them.
                let _snapshot = store.snapshot()?;
                store.scan(one, &mut |text| {
                    texts = texts.wrapping_add(1);
                    is_late = texts.is_multiple_of(64) && started.elapsed() > self.budget;
                    if is_late {
                        return ControlFlow::Break(());
                    }
                    self.look(matcher, &text, &mut looked);
                    ControlFlow::Continue(())
                })?;
            }
            if is_late {
                looked.unfinished = Some(number);
                return Ok(looked);
            }
        }
    }

    fn expression(&self, literal: &mut Option<String>) -> Regex {
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(!self.case)
                .multi_line(true)
                .crlf(true)
                .size_limit(PATTERN_SIZE)
                .dfa_size_limit(PATTERN_SIZE * 8)
                .build()
        };
        build(&self.pattern).unwrap_or_else(|error| {
            *literal = Some(error.to_string().lines().last().unwrap_or_default().trim().to_owned());
            // A text as it stands is always an expression, but may be too large a one: then nothing matches it.
            build(&regex::escape(&self.pattern)).unwrap_or_else(|_| never())
        })
    }

    fn admits(&self, text: &StoredText<'_>) -> bool {
        let Filter { since, until, kinds, .. } = &self.filter;
        (kinds.is_empty() || kinds.contains(&text.kind))
            && since.is_none_or(|since| text.at.is_some_and(|at| at >= since))
            && until.is_none_or(|until| text.at.is_some_and(|at| at < until))
    }

    fn look(&self, matcher: &Matcher, text: &StoredText<'_>, looked: &mut Looked) {
        if !self.admits(text) {
            return;
        }
        looked.bytes += text.text.len() as u64;
        match matcher {
            Matcher::Exact(expression) => {
                let mut from = 0;
                while let Some(found) = expression.find_at(text.text, from) {
                    let (start, end) = line_around(text.text, found.start());
                    looked.total += 1;
                    looked.best.offer(text, start, None, || line(text, start, end, found.start(), None));
                    // The next line: a line counts once.
                    from = end + 1;
                    if from > text.text.len() {
                        break;
                    }
                }
            }
            Matcher::Near(fuzzy, least) => {
                let mut start = 0;
                for bytes in text.text.split(|byte| *byte == b'\n') {
                    let end = start + bytes.len();
                    let (score, at) = fuzzy.score(&String::from_utf8_lossy(bytes));
                    if score >= *least {
                        looked.total += 1;
                        looked.best.offer(text, start, Some(score), || line(text, start, end, start + at, Some(score)));
                    }
                    start = end + 1;
                }
            }
        }
    }
}

impl Looked {
    fn new(limit: usize) -> Self {
        Self { total: 0, bytes: 0, best: Best::new(limit), unfinished: None }
    }

    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.bytes += other.bytes;
        self.best.add(other.best);
        self.unfinished = self.unfinished.into_iter().chain(other.unfinished).min();
    }
}

/// An expression that nothing matches.
#[expect(clippy::expect_used, reason = "the pattern is written here")]
fn never() -> Regex {
    Regex::new(r"[^\s\S]").expect("an empty class")
}

/// Where a line stands, as far as it is known while everything is looked through.
struct Raw {
    origin: Origin,
    row: i64,
    session: SessionId,
}

impl Raw {
    fn of(text: &StoredText<'_>) -> Self {
        Self { origin: text.group.origin, row: text.row, session: SessionId(text.group.row) }
    }

    /// What it is called and where it stands. None: it is gone by now.
    fn place(&self, store: &Store) -> Result<Option<(Reference, Source)>, StoreError> {
        if self.origin == Origin::Session {
            let source = Source::of_event(store, self.row, Some(self.session))?;
            return Ok(Some((Reference::Event(self.row), source)));
        }
        let memory = if self.origin == Origin::Memory { store.memory_row(self.row)? } else { None };
        if let Some(memory) = memory {
            let source = Source { project: memory.project, ..Source::default() };
            return Ok(Some((Reference::Memory(memory.id), source)));
        }
        let chunk = if self.origin == Origin::Chunk { store.chunk_row(self.row)? } else { None };
        Ok(chunk.map(|chunk| (Reference::Chunk(chunk.id), Source { project: chunk.project, ..Source::default() })))
    }
}

/// The line that holds a byte, without its end.
fn line_around(text: &[u8], at: usize) -> (usize, usize) {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    (start, end)
}

fn line(text: &StoredText<'_>, start: usize, end: usize, at: usize, score: Option<u8>) -> Line {
    let bytes = text.text;
    let shown = |from: usize, to: usize, around: usize| {
        let line = String::from_utf8_lossy(&bytes[from..to]);
        let skipped =
            String::from_utf8_lossy(&bytes[from..around.clamp(from, to)]).chars().count().saturating_sub(SHOWN / 2);
        let mut shown: String = if skipped > 0 { "…".to_owned() } else { String::new() };
        shown.extend(line.chars().skip(skipped).take(SHOWN));
        if line.chars().count() > skipped + SHOWN {
            shown.push('…');
        }
        clean(&shown).replace(['\n', '\r', '\t'], " ")
    };
    let before = (start > 0).then(|| {
        let (from, to) = line_around(bytes, start - 1);
        shown(from, to.min(start - 1).max(from), from)
    });
    let after = (end < bytes.len()).then(|| {
        let (from, to) = line_around(bytes, end + 1);
        shown(from, to, from)
    });
    Line {
        // Filled in by [`Grep::run`], which knows the store.
        id: Reference::Event(text.row),
        source: Source::default(),
        at: text.at,
        number: 1 + memchr::memchr_iter(b'\n', &bytes[..start]).count(),
        text: shown(start, end, at),
        before,
        after,
        score,
        archived: text.archived,
    }
}

impl Source {
    /// Where an event stands.
    ///
    /// # Errors
    /// As for any read.
    pub fn of_event(store: &Store, event: i64, session: Option<SessionId>) -> Result<Self, StoreError> {
        let Some(passage) =
            store.passage_of_event(event)?.map(|PassageId(id)| store.passage(PassageId(id))).transpose()?.flatten()
        else {
            let mut source = Self::default();
            if let Some(session) = session {
                source.set_session(store, session)?;
            }
            return Ok(source);
        };
        Self::of(store, &passage)
    }
}
