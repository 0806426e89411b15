//! The components in use: the adapters that are switched on, and the analyzer with its settings.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::{
    config::Config,
    paths,
    reading::Reader,
    redact::{self, Redactor},
    sandbox::{Adapter, Analyzer, Guest, Sandbox, SandboxError, analyze, parse::Origin},
    store::Resume,
    transcript,
};

/// Loaded components. Making one costs some milliseconds when they are in the cache.
pub struct Guests {
    /// In the order in which they are asked whether a transcript is theirs.
    pub adapters: Vec<Adapter>,
    /// The one analyzer.
    pub analyzer: Analyzer,
    settings: Vec<analyze::Value>,
    text_limit: u32,
    analyzed_by: String,
}

impl Guests {
    /// Loads the built-in components that the settings leave on.
    ///
    /// # Errors
    /// When a component cannot be used, which for a built-in one is a defect, or a setting names nothing.
    pub fn load(config: &Config) -> Result<Self, SandboxError> {
        let sandbox = Sandbox::new(paths::component_cache(), config.sandbox.clone());
        let adapters = Guest::builtin_adapters()
            .filter(|guest| config.reads(guest.name()))
            .map(|guest| sandbox.adapter(&guest))
            .collect::<Result<_, _>>()?;
        let analyzer = sandbox.analyzer(&Guest::builtin_analyzer())?;
        let settings: Vec<_> = config
            .signals
            .iter()
            .map(|(setting, value)| analyze::Value { setting: setting.clone(), value: value.to_string() })
            .collect();
        // Settings that make no sense are told now, not once for each transcript.
        analyzer.analysis(&settings, None)?.observe(&[])?;
        let analyzed_by = producer(&analyzer, &settings, config.transcripts.text_limit);
        Ok(Self { adapters, analyzer, settings, text_limit: config.transcripts.text_limit, analyzed_by })
    }

    /// Settings in `config` that the analyzer does not have.
    pub fn unknown_settings(&self) -> impl Iterator<Item = &str> {
        let known = &self.analyzer.descriptor().settings;
        self.settings
            .iter()
            .map(|value| value.setting.as_str())
            .filter(move |name| !known.iter().any(|setting| setting.name == *name))
    }

    /// Index of the adapter that reads a tool's transcripts.
    pub fn of_tool(&self, tool: &str) -> Option<usize> {
        self.adapters.iter().position(|adapter| adapter.descriptor().tool == tool)
    }

    /// Index of the adapter that declares the place where a transcript lies.
    pub fn of_place(&self, path: &Path) -> Option<usize> {
        self.adapters.iter().position(|adapter| {
            let (roots, _) = transcript::roots(&adapter.descriptor().sources);
            roots.iter().any(|root| root.names(path))
        })
    }

    /// The adapter of this name.
    pub fn named(&self, name: &str) -> Option<&Adapter> {
        self.adapters.iter().find(|adapter| adapter.descriptor().name == name)
    }

    /// Index of the adapter that says a transcript which begins like this is its own. One that fails has said no.
    pub fn recognise(&self, head: &[u8]) -> Option<usize> {
        self.adapters.iter().position(|adapter| adapter.recognise(head).unwrap_or(false))
    }

    /// The time that a transcript says it begins at, in milliseconds since the Unix epoch. Of a session and its copies the one
    /// that begins first is the original, whatever happened to the files' own times. A guest that fails knows no time.
    pub fn begins_at(&self, adapter: &Adapter, path: &Path, head: &[u8]) -> Option<i64> {
        let origin = self.origin(path);
        let events = adapter.parser(&origin, None).and_then(|mut parser| parser.feed(head)).ok()?;
        events.iter().filter_map(|event| event.at).min()
    }

    fn origin(&self, path: &Path) -> Origin {
        Origin { path: path.to_string_lossy().into_owned(), key: None, text_limit: self.text_limit }
    }

    /// What the ledger notes as the producer of signals: the analyzer, and everything else that its signals depend on.
    pub fn analyzed_by(&self) -> &str {
        &self.analyzed_by
    }

    /// A reading of one transcript, from its beginning or from where an earlier one ended.
    ///
    /// # Errors
    /// When a guest crashes or goes past a limit.
    pub fn reader<'a, S>(
        &self,
        adapter: &Adapter,
        path: &Path,
        resume: Option<&Resume>,
        redactor: &'a Redactor,
        sink: S,
    ) -> Result<Reader<'a, S>, SandboxError> {
        let parser = adapter.parser(&self.origin(path), resume.map(|resume| resume.checkpoint.state.as_slice()))?;
        let analysis = self.analyzer.analysis(&self.settings, resume.map(|resume| resume.analysis.as_slice()))?;
        Ok(Reader { parser, analysis, redactor, redacted: redact::Counts::default(), sink })
    }

    /// An analysis of events that are stored already.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn analysis(&self) -> Result<crate::sandbox::Analysis, SandboxError> {
        self.analyzer.analysis(&self.settings, None)
    }
}

fn producer(analyzer: &Analyzer, settings: &[analyze::Value], text_limit: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(analyzer.hash().to_string());
    hash.update(text_limit.to_le_bytes());
    for value in settings {
        for part in [&value.setting, &value.value] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
