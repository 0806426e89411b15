//! Reading one transcript: bytes through an adapter, events through the analyzers, both to whoever wants them.
//!
//! What `feed` and `observe` give is settled; what `finish` and `conclude` give holds only if the transcript ends
//! here. Both states are saved in between, so that a transcript that has grown is read on from there.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    analyses::Analyses,
    event::{self, Event},
    redact::{self, Redactor},
    sandbox::{
        Parser, SandboxError,
        analyze::Signal,
        parse::{Checkpoint, Outcome, TallyEntry},
    },
    transcript::{DatabaseError, Opened},
};

/// Takes what a transcript says, piece by piece.
pub trait Sink {
    /// Its own way to fail.
    type Error;
    /// Takes out the events that are not to be known, and marks those that another transcript said before.
    fn sift(&mut self, events: &mut Vec<Event>) -> Result<(), Self::Error>;
    /// What was sifted so far holds whatever follows.
    fn settled(&mut self) {}
    /// Takes events, redacted, and the signals seen in them.
    fn take(&mut self, events: Vec<Event>, signals: Vec<Signal>, provisional: bool) -> Result<(), Self::Error>;
}

/// State after the last settled record.
#[derive(Debug)]
pub struct Reading {
    /// Where the parser can go on, and its state.
    pub parser: Checkpoint,
    /// The analyses' state.
    pub analysis: Vec<u8>,
    /// What became of the records, those of earlier readings included; and, as broken, what the host refused of the events
    /// of this one.
    pub tally: Vec<TallyEntry>,
}

/// Why a transcript was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E> {
    /// The file could not be read.
    #[error("could not read the transcript: {0}")]
    Io(io::Error),
    /// The database could not be read.
    #[error("could not read the database: {0}")]
    Database(DatabaseError),
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

impl<E> From<io::Error> for ReadError<E> {
    fn from(error: io::Error) -> Self {
        match error.downcast::<DatabaseError>() {
            Ok(error) => Self::Database(error),
            Err(error) => Self::Io(error),
        }
    }
}

/// One reading in progress.
pub struct Reader<'a, S> {
    /// Made for this transcript, resumed or new.
    pub parser: Parser,
    /// The same.
    pub analyses: Analyses<'a>,
    /// Applied to every event before anything else sees it.
    pub redactor: &'a Redactor,
    /// What was taken out as secret.
    pub redacted: redact::Counts,
    /// What was taken out as nonsense.
    pub refused: event::Refused,
    /// Gets everything.
    pub sink: S,
}

impl<S: Sink> Reader<'_, S> {
    /// Reads to the end from `offset` on. `progress` is told the bytes of each step; `stop` is looked at between steps.
    pub fn read(
        &mut self,
        transcript: &mut Opened,
        offset: u64,
        stop: &AtomicBool,
        mut progress: impl FnMut(u64),
    ) -> Result<Reading, ReadError<S::Error>> {
        transcript.each_chunk(offset, &mut |chunk| {
            if stop.load(Ordering::Relaxed) {
                return Err(ReadError::Stopped);
            }
            let events = self.parser.feed(chunk)?;
            self.pass_on(events, false)?;
            progress(chunk.len() as u64);
            Ok(())
        })?;
        self.sink.settled();
        let parser = self.parser.checkpoint()?;
        let analysis = self.analyses.checkpoint()?;
        let events = self.parser.finish()?;
        self.pass_on(events, true)?;
        let last = self.analyses.conclude()?;
        self.sink.take(Vec::new(), last, true).map_err(ReadError::Sink)?;
        let mut tally = self.parser.tally()?;
        for entry in &mut tally {
            event::admit_name(&mut entry.what, &mut self.refused);
        }
        let refused = |(&what, &count): (&&str, &u64)| TallyEntry {
            outcome: Outcome::Broken,
            what: what.to_owned(),
            count,
            first: 0,
        };
        tally.extend(self.refused.iter().map(refused));
        Ok(Reading { parser, analysis, tally })
    }

    fn pass_on(&mut self, mut events: Vec<Event>, provisional: bool) -> Result<(), ReadError<S::Error>> {
        if events.is_empty() {
            return Ok(());
        }
        for event in &mut events {
            event::admit(event, &mut self.refused);
        }
        self.sink.sift(&mut events).map_err(ReadError::Sink)?;
        if events.is_empty() {
            return Ok(());
        }
        for event in &mut events {
            self.redactor.prepare(event, &mut self.redacted);
        }
        let signals = self.analyses.observe(&events)?;
        self.sink.take(events, signals, provisional).map_err(ReadError::Sink)
    }
}
