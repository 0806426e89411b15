//! The adapter that is tested, and the transcripts of its fixtures, each read once as the host reads it.

use std::ops::Range;

use super::{Case, FixtureError};
use crate::{
    event::Event,
    sandbox::{
        Adapter, SandboxError,
        parse::{Checkpoint, Origin, TallyEntry},
    },
};

/// Short texts keep the golden files readable, and show how long ones are cut.
pub(super) const TEXT_LIMIT: u32 = 400;

/// Bytes in one piece, as the host gives them.
pub(super) const FEED: usize = 256 << 10;

/// Transcripts that are cut, resumed and damaged: enough to see every shape, few enough for a guest that takes long to start.
const SAMPLES: usize = 16;

/// Of a longer one its first lines are taken.
const SAMPLE_BYTES: usize = 128 << 10;

/// A document cannot be cut: a longer one is left out.
const DOCUMENT_BYTES: usize = 1 << 20;

/// What an adapter gives of a transcript.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// From `feed`.
    pub(super) settled: Vec<Event>,
    /// Taken between the two.
    pub(super) checkpoint: Checkpoint,
    /// From `finish`.
    pub(super) provisional: Vec<Event>,
    /// Taken at the end.
    pub(super) tally: Vec<TallyEntry>,
    /// Linear memory at the end, in bytes.
    pub(super) memory: usize,
}

impl Reading {
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.settled.iter().chain(&self.provisional)
    }

    pub(super) fn counted(&self) -> u64 {
        self.tally.iter().map(|entry| entry.count).sum()
    }
}

/// Reads these pieces the way the host does.
pub(super) fn read<'b>(
    adapter: &Adapter,
    origin: &Origin,
    resume: Option<&[u8]>,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Result<Reading, SandboxError> {
    let mut parser = adapter.parser(origin, resume)?;
    let mut settled = Vec::new();
    for piece in pieces {
        settled.extend(parser.feed(piece)?);
    }
    let checkpoint = parser.checkpoint()?;
    let provisional = parser.finish()?;
    let tally = parser.tally()?;
    Ok(Reading { settled, checkpoint, provisional, tally, memory: parser.memory() })
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A JSON object a line, but for damaged ones; so are rows.
    JsonLines,
    /// Other lines.
    Lines,
    /// All of it is one: nothing is said before its end, and there is nothing to resume.
    Document,
}

/// A transcript of the fixtures.
pub(super) struct Transcript {
    pub(super) case: String,
    /// Path below the case's `transcripts`, and after `#` the key.
    pub(super) place: String,
    pub(super) origin: Origin,
    pub(super) bytes: Vec<u8>,
    pub(super) shape: Shape,
    /// As the host reads it, or why that failed.
    pub(super) whole: Result<Reading, String>,
}

impl Transcript {
    pub(super) fn at(&self) -> (&str, &str) {
        (&self.case, &self.place)
    }

    /// Its lines, and whether the last one is ended.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        lines(&self.bytes)
    }
}

/// Lines without their ends.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// A transcript, or the first lines of a long one.
pub(super) struct Sample<'s> {
    pub(super) of: &'s Transcript,
    pub(super) bytes: &'s [u8],
    pub(super) whole: Reading,
}

/// The adapter with what it is tested on.
pub(super) struct Subject<'a> {
    pub(super) adapter: &'a Adapter,
    /// Those that could be laid out.
    pub(super) cases: Vec<Case>,
    /// By case, path and key.
    pub(super) transcripts: Vec<Transcript>,
}

/// A case that the adapter's sources do not find, and why.
pub(super) type Unread = (Case, Result<(), FixtureError>);

impl<'a> Subject<'a> {
    /// Lays the cases out and reads every transcript.
    pub(super) fn lay_out(adapter: &'a Adapter, cases: &[Case]) -> (Self, Vec<Unread>) {
        let mut subject = Self { adapter, cases: Vec::new(), transcripts: Vec::new() };
        let mut unread = Vec::new();
        for case in cases {
            match subject.lay_out_case(case) {
                Ok(true) => subject.cases.push(case.clone()),
                Ok(false) => unread.push((case.clone(), Ok(()))),
                Err(error) => unread.push((case.clone(), Err(error))),
            }
        }
        (subject, unread)
    }

    fn lay_out_case(&mut self, case: &Case) -> Result<bool, FixtureError> {
        let laid_out = case.lay_out(&self.adapter.descriptor().sources)?;
        let mut transcripts = Vec::new();
        for (found, bytes) in laid_out.transcripts()? {
            let place = laid_out.place(&found);
            let path = place.strip_suffix(&format!("#{}", found.key)).unwrap_or(&place).to_owned();
            let key = (!found.key.is_empty()).then(|| found.key.clone());
            let origin = Origin { path, key, text_limit: TEXT_LIMIT };
            let whole = read(self.adapter, &origin, None, bytes.chunks(FEED)).map_err(|error| error.to_string());
            let shape = shape(&bytes, &origin, whole.as_ref().ok());
            transcripts.push(Transcript { case: case.name.clone(), place, origin, bytes, shape, whole });
        }
        // By the text of the path, as everyone sorts files.
        transcripts.sort_by(|a, b| (&a.origin.path, &a.origin.key).cmp(&(&b.origin.path, &b.origin.key)));
        let found = !transcripts.is_empty();
        self.transcripts.append(&mut transcripts);
        Ok(found)
    }

    /// Those that were read to their end.
    pub(super) fn read(&self) -> impl Iterator<Item = (&Transcript, &Reading)> {
        self.transcripts.iter().filter_map(|transcript| Some((transcript, transcript.whole.as_ref().ok()?)))
    }

    /// Some transcripts of every case, short enough to be read many times. Why there are none, if there are none.
    pub(super) fn samples(&self) -> Result<Vec<Sample<'_>>, String> {
        let mut by_case: Vec<Vec<&Transcript>> = Vec::new();
        for case in &self.cases {
            let mut of: Vec<_> = self
                .read()
                .map(|(transcript, _)| transcript)
                .filter(|transcript| transcript.case == case.name && !transcript.bytes.is_empty())
                .filter(|it| it.shape != Shape::Document || it.bytes.len() <= DOCUMENT_BYTES)
                .collect();
            of.sort_by_key(|transcript| transcript.bytes.len());
            by_case.push(of);
        }
        // The longest of each case, then the second longest.
        let mut samples = Vec::new();
        while samples.len() < SAMPLES && by_case.iter().any(|of| !of.is_empty()) {
            for transcript in by_case.iter_mut().filter_map(Vec::pop) {
                let bytes = match transcript.shape {
                    Shape::Document => &transcript.bytes[..],
                    Shape::JsonLines | Shape::Lines => &transcript.bytes[first_lines(&transcript.bytes, SAMPLE_BYTES)],
                };
                if let Ok(whole) = read(self.adapter, &transcript.origin, None, bytes.chunks(FEED)) {
                    samples.push(Sample { of: transcript, bytes, whole });
                }
            }
        }
        samples.truncate(SAMPLES);
        if samples.is_empty() {
            Err("no transcript of the fixtures could be read: see `describe` and `golden`".into())
        } else {
            Ok(samples)
        }
    }
}

/// The first lines, at most so many bytes of them; or so many bytes of the first line.
pub(super) fn first_lines(bytes: &[u8], most: usize) -> Range<usize> {
    if bytes.len() <= most {
        return 0..bytes.len();
    }
    let end = bytes[..most].iter().rposition(|byte| *byte == b'\n').map_or(most, |at| at + 1);
    0..end
}

fn shape(bytes: &[u8], origin: &Origin, whole: Option<&Reading>) -> Shape {
    let says_nothing_before_its_end =
        whole.is_some_and(|whole| whole.settled.is_empty() && whole.checkpoint.offset == 0);
    if says_nothing_before_its_end && !bytes.is_empty() && origin.key.is_none() {
        return Shape::Document;
    }
    let whole = lines(bytes).filter(|line| !line.trim_ascii().is_empty());
    let (objects, others): (Vec<_>, Vec<_>) = whole.partition(|line| is_object(line));
    // One of JSON may have lines that are damaged: fixtures show how they are read.
    if objects.len() >= others.len() { Shape::JsonLines } else { Shape::Lines }
}

/// Is this line a JSON object?
pub(super) fn is_object(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<_, serde_json::Value>>(line).is_ok()
}
