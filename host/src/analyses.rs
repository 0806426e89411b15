//! All analyzers at work on one transcript: the built-in one, and those that the person added.
//!
//! An added analyzer's signals carry its name (`notes/todo-left`), so they cannot pass for ours; and when it fails, it alone
//! is left out of that transcript.

use crate::{
    clean::clean,
    event::Event,
    sandbox::{
        Analysis, Analyzer, ComponentHash, SandboxError,
        analyze::{Signal, SignalKind, Value},
    },
};

/// Longest subject and detail of an added analyzer's signal, in characters.
const SUBJECT: usize = 200;
const DETAIL: usize = 500;

/// Most lines that one of its signals rests on.
const EVIDENCE: usize = 1_000;

/// Stands in a checkpoint for an analysis that failed.
const FAILED: u32 = u32::MAX;

/// An analyzer with its settings.
pub struct Configured {
    analyzer: Analyzer,
    settings: Vec<Value>,
    /// None: the built-in one, whose signals have no name before theirs.
    namespace: Option<String>,
}

impl Configured {
    /// The built-in analyzer, or with a `namespace` an added one.
    pub fn new(analyzer: Analyzer, settings: Vec<Value>, namespace: Option<String>) -> Self {
        Self { analyzer, settings, namespace }
    }

    /// The component.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// What it was given.
    pub fn settings(&self) -> &[Value] {
        &self.settings
    }

    /// Did TotalRecall come with it?
    pub fn is_builtin(&self) -> bool {
        self.namespace.is_none()
    }

    /// Its signals under the names they are stored by.
    pub fn kinds(&self) -> impl Iterator<Item = SignalKind> {
        self.analyzer.descriptor().signals.iter().map(|kind| SignalKind { name: self.name(&kind.name), ..kind.clone() })
    }

    fn name(&self, kind: &str) -> String {
        self.namespace.as_ref().map_or_else(|| kind.to_owned(), |namespace| format!("{namespace}/{kind}"))
    }

    fn begin(&self, resume: Option<&[u8]>) -> Result<Analysis, SandboxError> {
        self.analyzer.analysis(&self.settings, resume)
    }

    /// An added analyzer's signal as it may be stored; none if it is of a kind that the analyzer did not declare.
    fn admit(&self, mut signal: Signal) -> Option<Signal> {
        if self.namespace.is_none() {
            return Some(signal);
        }
        if !self.analyzer.descriptor().signals.iter().any(|kind| kind.name == signal.kind) {
            return None;
        }
        signal.kind = self.name(&signal.kind);
        for (text, most) in [(&mut signal.subject, SUBJECT), (&mut signal.detail, DETAIL)] {
            *text = clean(text).replace(['\n', '\r', '\t'], " ").chars().take(most).collect();
        }
        signal.confidence = if signal.confidence.is_finite() { signal.confidence.clamp(0.0, 1.0) } else { 0.0 };
        signal.evidence.truncate(EVIDENCE);
        signal.at = signal.at.filter(|at| crate::event::is_plausible(*at));
        signal.thread = signal.thread.map(|thread| clean(&thread).chars().take(SUBJECT).collect());
        Some(signal)
    }
}

/// An added analyzer failed; its signals of this transcript are not complete.
#[derive(Debug, Clone)]
pub struct AnalyzerFailed {
    /// The analyzer.
    pub name: String,
    /// Which one it is: another version may do better.
    pub hash: ComponentHash,
    /// A stable word for it.
    pub kind: &'static str,
    /// What happened.
    pub why: String,
}

/// All analyses of one transcript.
pub struct Analyses<'a> {
    of: &'a [Configured],
    running: Vec<Option<Analysis>>,
    failed: Vec<AnalyzerFailed>,
}

impl<'a> Analyses<'a> {
    /// From the beginning, or from the state of an earlier [`checkpoint`](Self::checkpoint) by the same analyzers.
    ///
    /// # Errors
    /// When the built-in analyzer fails.
    pub fn new(of: &'a [Configured], resume: Option<&[u8]>) -> Result<Self, SandboxError> {
        let states = resume.map(|state| split(state).collect::<Vec<_>>());
        let mut analyses = Self { of, running: Vec::with_capacity(of.len()), failed: Vec::new() };
        for (index, configured) in of.iter().enumerate() {
            let state = states.as_ref().map(|states| states.get(index).copied().flatten());
            let begun = match state {
                None => Some(configured.begin(None)),
                Some(Some(state)) => Some(configured.begin(Some(state))),
                // It failed earlier in this transcript, and has missed something. The built-in one cannot have: a state that
                // is not there is a damaged checkpoint, which the guest refuses.
                Some(None) => configured.is_builtin().then(|| configured.begin(Some(&[]))),
            };
            analyses.running.push(None);
            if let Some(begun) = begun {
                analyses.running[index] = analyses.settle(index, begun)?;
            }
        }
        Ok(analyses)
    }

    /// Gives events to all; the signals that no later event can change.
    ///
    /// # Errors
    /// When the built-in analyzer fails.
    pub fn observe(&mut self, events: &[Event]) -> Result<Vec<Signal>, SandboxError> {
        self.each(|analysis| analysis.observe(events))
    }

    /// The signals that hold if nothing follows.
    ///
    /// # Errors
    /// When the built-in analyzer fails.
    pub fn conclude(&mut self) -> Result<Vec<Signal>, SandboxError> {
        self.each(Analysis::conclude)
    }

    /// State after the last [`observe`](Self::observe).
    ///
    /// # Errors
    /// When the built-in analyzer fails.
    pub fn checkpoint(&mut self) -> Result<Vec<u8>, SandboxError> {
        let mut all = Vec::new();
        for index in 0..self.running.len() {
            let state = match self.running[index].as_mut().map(Analysis::checkpoint) {
                Some(state) => self.settle(index, state)?,
                None => None,
            };
            let length = state.as_ref().map_or(FAILED, |state| u32::try_from(state.len()).unwrap_or(FAILED));
            all.extend(length.to_le_bytes());
            all.extend(state.filter(|_| length != FAILED).unwrap_or_default());
        }
        Ok(all)
    }

    /// The analyzers that failed at this transcript.
    pub fn failed(&self) -> &[AnalyzerFailed] {
        &self.failed
    }

    fn each(
        &mut self,
        mut call: impl FnMut(&mut Analysis) -> Result<Vec<Signal>, SandboxError>,
    ) -> Result<Vec<Signal>, SandboxError> {
        let mut all = Vec::new();
        for index in 0..self.running.len() {
            let Some(signals) = self.running[index].as_mut().map(&mut call) else { continue };
            let Some(signals) = self.settle(index, signals)? else { continue };
            all.extend(signals.into_iter().filter_map(|signal| self.of[index].admit(signal)));
        }
        Ok(all)
    }

    /// Passes on a failure of the built-in analyzer, and notes one of an added analyzer, which is of no more use then.
    fn settle<T>(&mut self, index: usize, result: Result<T, SandboxError>) -> Result<Option<T>, SandboxError> {
        match (result, &self.of[index].namespace) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(error), None) => Err(error),
            (Err(error), Some(name)) => {
                self.running[index] = None;
                let hash = self.of[index].analyzer.hash();
                self.failed.push(AnalyzerFailed {
                    name: name.clone(),
                    hash,
                    kind: error.kind(),
                    why: error.to_string(),
                });
                Ok(None)
            }
        }
    }
}

/// The states in a checkpoint; none for an analysis that had failed, and nothing where the bytes make no sense.
fn split(mut state: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    std::iter::from_fn(move || {
        let (length, rest) = state.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        if length == FAILED {
            state = rest;
            return Some(None);
        }
        let (this, rest) = rest.split_at_checked(length as usize)?;
        state = rest;
        Some(Some(this))
    })
}
