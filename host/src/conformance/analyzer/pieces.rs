//! `chunks`, `resume` and `determinism`: signals depend on the events, and on nothing else.

use super::{OBSERVED, Subject, Told, Transcript, observe};
use crate::{
    conformance::{
        compare,
        random::Random,
        report::{Findings, Unit},
    },
    event::Event,
    sandbox::SandboxError,
};

/// Largest state of a checkpoint.
const STATE: usize = 1 << 20;

/// Events that are observed one by one at most.
const SINGLY: usize = 2_000;

/// Where a transcript may have ended when it was read first.
const POINTS: usize = 4;

fn differs(expected: &Told, came: &Told) -> Option<(String, String)> {
    compare::lists("settled signal", &expected.settled, &came.settled)
        .or_else(|| compare::lists("concluded signal", &expected.concluded, &came.concluded))
}

impl Subject<'_> {
    /// However events are cut into calls, the signals are the same.
    pub(crate) fn chunks(&self) -> Findings {
        let todo = "keep in the state what a later event needs; nothing may happen at the end of a call";
        self.compared("calls", todo, |transcript, _| {
            let events = &transcript.events;
            let mut random = Random::of(&transcript.place);
            let mut pieces: Vec<&[Event]> = Vec::new();
            let mut rest = &events[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((1 + random.below(7)).min(rest.len()));
                pieces.push(piece);
                // A call without events says nothing.
                pieces.push(&[]);
                rest = after;
            }
            let singly =
                events[..events.len().min(SINGLY)].chunks(1).chain(events[events.len().min(SINGLY)..].chunks(OBSERVED));
            vec![
                ("in random groups", observe(self.analyzer, None, pieces)),
                ("one by one", observe(self.analyzer, None, singly)),
            ]
        })
    }

    /// Going on from a checkpoint gives what observing on gives.
    pub(crate) fn resume(&self) -> Findings {
        let largest = std::cell::Cell::new(0);
        let todo = "whatever a later event depends on, settings included, belongs into the state";
        let mut findings = self.compared("resumes", todo, |transcript, _| {
            let events = &transcript.events;
            let mut random = Random::of(&transcript.place);
            let mut points: Vec<_> = (0..POINTS).map(|_| random.below(events.len() + 1)).collect();
            points.sort_unstable();
            let alone = points.iter().map(|point| vec![*point]);
            let runs = alone.chain([points.clone()]);
            runs.map(|points| ("after a checkpoint", self.resumed(events, &points, &largest))).collect()
        });
        if largest.get() > STATE {
            let (expected, came) =
                (format!("states of at most {STATE} bytes"), format!("one of {} bytes", largest.get()));
            findings.fail(("", ""), expected, came, "keep nothing that no later event needs");
        }
        findings.figure("largest state", largest.get() as f64, Unit::Bytes);
        findings
    }

    fn resumed(
        &self,
        events: &[Event],
        points: &[usize],
        largest: &std::cell::Cell<usize>,
    ) -> Result<Told, SandboxError> {
        let (mut settled, mut from, mut state) = (Vec::new(), 0, None::<Vec<u8>>);
        for point in points {
            let part = observe(self.analyzer, state.as_deref(), events[from..*point].chunks(OBSERVED))?;
            settled.extend(part.settled);
            largest.set(part.state.len().max(largest.get()));
            (from, state) = (*point, Some(part.state));
        }
        let mut rest = observe(self.analyzer, state.as_deref(), events[from..].chunks(OBSERVED))?;
        settled.append(&mut rest.settled);
        rest.settled = settled;
        Ok(rest)
    }

    /// The same events give the same signals and state, whoever looks on.
    pub(crate) fn determinism(&self) -> Findings {
        let todo = "use nothing but the events: no clock, no random numbers, no order of a hash table; `checkpoint` changes nothing";
        let mut findings = self.compared("runs", todo, |transcript, _| {
            vec![
                ("a second time", observe(self.analyzer, None, transcript.events.chunks(OBSERVED))),
                ("with checkpoints on the way", self.looked_on(&transcript.events)),
            ]
        });
        for (transcript, told) in self.read() {
            if let Ok(again) = observe(self.analyzer, None, transcript.events.chunks(OBSERVED))
                && again.state != told.state
            {
                findings.fail(transcript.at(), "the same state a second time", "another one", todo);
            }
        }
        findings
    }

    fn looked_on(&self, events: &[Event]) -> Result<Told, SandboxError> {
        let mut analysis = self.analyzer.analysis(&[], None)?;
        let mut settled = Vec::new();
        for piece in events.chunks(events.len().div_ceil(8).max(1)) {
            settled.extend(analysis.observe(piece)?);
            analysis.checkpoint()?;
        }
        let state = analysis.checkpoint()?;
        let concluded = analysis.conclude()?;
        Ok(Told { settled, state, concluded, memory: analysis.memory() })
    }

    /// Compares runs of every transcript with its first one.
    fn compared(
        &self,
        name: &'static str,
        todo: &'static str,
        runs: impl Fn(&Transcript, &Told) -> Vec<(&'static str, Result<Told, SandboxError>)>,
    ) -> Findings {
        if self.read().next().is_none() {
            return Findings::not_applicable("no transcript could be analysed: see `golden`");
        }
        let mut findings = Findings::default();
        let mut count = 0;
        for (transcript, told) in self.read() {
            for (how, run) in runs(transcript, told) {
                count += 1;
                let wrong = match run {
                    Ok(other) => differs(told, &other),
                    Err(error) => Some(("the same signals".to_owned(), error.to_string())),
                };
                if let Some((expected, came)) = wrong {
                    findings.fail(transcript.at(), expected, format!("{how}: {came}"), todo);
                }
            }
        }
        findings.count(name, count);
        findings
    }
}
