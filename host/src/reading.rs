//! Reading one transcript: bytes through an adapter, events through the analyzer, both to whoever wants them.
//!
//! What `feed` and `observe` give is settled; what `finish` and `conclude` give holds only if the transcript ends
//! here. Both states are saved in between, so that a transcript that has grown is read on from there.

use std::{
    io::{self, Read},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    event::Event,
    redact::{self, Redactor},
    sandbox::{
        Analysis, Parser, SandboxError,
        analyze::Signal,
        parse::{Checkpoint, TallyEntry},
    },
};

/// Bytes given to the parser in one call: large enough that the call costs nothing, small enough that the events of
/// one call stay far below the output limits.
const CHUNK: usize = 256 << 10;

/// Takes what a transcript says, piece by piece.
pub trait Sink {
    /// Its own way to fail.
    type Error;
    /// Marks the events that another transcript said before.
    fn mark_copied(&mut self, events: &mut [Event]) -> Result<(), Self::Error>;
    /// Takes events, redacted, and the signals seen in them.
    fn take(&mut self, events: Vec<Event>, signals: Vec<Signal>, provisional: bool) -> Result<(), Self::Error>;
}

/// State after the last settled record.
#[derive(Debug)]
pub struct Reading {
    /// Where the parser can go on, and its state.
    pub parser: Checkpoint,
    /// The analysis's state.
    pub analysis: Vec<u8>,
    /// What became of the records, those of earlier readings included.
    pub tally: Vec<TallyEntry>,
}

/// Why a transcript was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E> {
    /// The file could not be read.
    #[error("could not read the transcript: {0}")]
    Io(#[from] io::Error),
    /// The component refused, failed or was stopped.
    #[error(transparent)]
    Guest(#[from] SandboxError),
    /// The sink failed.
    #[error(transparent)]
    Sink(E),
    /// The person pressed Ctrl-C.
    #[error("interrupted")]
    Stopped,
}

/// One reading in progress.
pub struct Reader<'a, S> {
    /// Made for this transcript, resumed or new.
    pub parser: Parser,
    /// The same.
    pub analysis: Analysis,
    /// Applied to every event before anything else sees it.
    pub redactor: &'a Redactor,
    /// What was taken out.
    pub redacted: redact::Counts,
    /// Gets everything.
    pub sink: S,
}

impl<S: Sink> Reader<'_, S> {
    /// Reads to the end. `progress` is told the bytes of each step; `stop` is looked at between steps.
    pub fn read(
        &mut self,
        mut bytes: impl Read,
        stop: &AtomicBool,
        mut progress: impl FnMut(u64),
    ) -> Result<Reading, ReadError<S::Error>> {
        let mut chunk = vec![0; CHUNK];
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(ReadError::Stopped);
            }
            let length = fill(&mut bytes, &mut chunk)?;
            if length == 0 {
                break;
            }
            let events = self.parser.feed(&chunk[..length])?;
            self.pass_on(events, false)?;
            progress(length as u64);
        }
        let parser = self.parser.checkpoint()?;
        let analysis = self.analysis.checkpoint()?;
        let events = self.parser.finish()?;
        self.pass_on(events, true)?;
        let last = self.analysis.conclude()?;
        self.sink.take(Vec::new(), last, true).map_err(ReadError::Sink)?;
        Ok(Reading { parser, analysis, tally: self.parser.tally()? })
    }

    fn pass_on(&mut self, mut events: Vec<Event>, provisional: bool) -> Result<(), ReadError<S::Error>> {
        if events.is_empty() {
            return Ok(());
        }
        self.sink.mark_copied(&mut events).map_err(ReadError::Sink)?;
        for event in &mut events {
            self.redactor.prepare(event, &mut self.redacted);
        }
        let signals = self.analysis.observe(&events)?;
        self.sink.take(events, signals, provisional).map_err(ReadError::Sink)
    }
}

/// Reads until the buffer is full or the file ends, so that calls into the guest are few whatever `read` returns.
fn fill(bytes: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match bytes.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
