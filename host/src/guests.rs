//! The components in use: the adapters that are switched on with what they may read, and the analyzers with their settings.

use std::{cell::OnceCell, io, path::Path};

use sha2::{Digest as _, Sha256};

use crate::{
    added::{self, AddedError, Agreement, Kind},
    analyses::{Analyses, Configured},
    config::Config,
    event,
    grant::Grant,
    paths::{self, Home},
    pause::Ahead,
    reading::Reader,
    redact::{self, Redactor},
    sandbox::{
        Adapter, Guest, Limits, Sandbox, SandboxError,
        analyze::{SignalKind, Value},
        parse::{self, Origin},
    },
    store::Resume,
    transcript::{self, Database, Opened, Source, Unreadable},
};

/// An adapter that is in use.
pub struct Installed {
    /// The component.
    pub adapter: Adapter,
    /// What it may have read.
    pub grant: Grant,
    /// The person added it; otherwise TotalRecall came with it.
    pub added: bool,
}

impl Installed {
    /// As it calls itself, which is unique among those in use.
    pub fn name(&self) -> &str {
        &self.adapter.descriptor().name
    }

    /// The tool whose transcripts it reads.
    pub fn tool(&self) -> &str {
        &self.adapter.descriptor().tool
    }

    /// Is a file by itself a transcript of the tool, or only rows of a tree or a database?
    pub fn reads_files(&self) -> bool {
        self.adapter.descriptor().sources.iter().any(|source| matches!(source, parse::Source::Files(_)))
    }

    /// The granted places that exist, and those that cannot be looked at.
    pub fn sources(&self, limits: &Limits) -> (Vec<Source>, Vec<Unreadable>) {
        transcript::sources(&self.grant, limits)
    }
}

/// A component that was added and cannot be used.
#[derive(Debug)]
pub struct Refused {
    /// Its name, where that much is known.
    pub name: String,
    /// Why.
    pub why: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
}

/// Loaded components. Making one costs some milliseconds when they are in the cache.
pub struct Guests {
    /// In the order in which they are asked whether a transcript is theirs: built-in ones first.
    pub adapters: Vec<Installed>,
    /// Added components that are not used.
    pub refused: Vec<Refused>,
    analyzers: Vec<Configured>,
    kinds: Vec<SignalKind>,
    limits: Limits,
    text_limit: u32,
    analyzed_by: String,
    /// Every granted place with the adapter it was granted to; looked for when it is first asked for.
    places: OnceCell<Vec<(usize, Source)>>,
}

/// No component could be used.
#[derive(Debug, thiserror::Error)]
pub enum GuestsError {
    /// A built-in component, which is a defect, or a setting that makes no sense to it.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// What was added cannot be listed.
    #[error(transparent)]
    Added(#[from] AddedError),
}

impl Guests {
    /// Loads the built-in components that the settings leave on, and those that were added to `home`. An added one that
    /// cannot be used is [`refused`](Self::refused), and the rest goes on.
    ///
    /// # Errors
    /// When a built-in component cannot be used, or the added ones cannot be listed.
    pub fn load(config: &Config, home: Option<&Home>) -> Result<Self, GuestsError> {
        let sandbox = sandbox(config);
        let mut guests = Self::builtin(config, &sandbox)?;
        if let Some(home) = home {
            for agreement in added::agreements(home.path())? {
                guests.take_added(config, &sandbox, home.path(), agreement);
            }
        }
        guests.count_up(config);
        Ok(guests)
    }

    /// Loads the built-in components, and one adapter for this run alone, which may have read what lies below `folder` as it
    /// declares it.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn load_with(config: &Config, guest: &Guest, folder: Option<&Path>) -> Result<Self, GuestsError> {
        let sandbox = sandbox(config);
        let mut guests = Self::builtin(config, &sandbox)?;
        let adapter = sandbox.adapter(guest)?;
        let descriptor = adapter.descriptor();
        added::check_name(&descriptor.name)?;
        let grant = folder.map(|folder| Grant::below(folder, &descriptor.sources)).unwrap_or_default();
        // It is what the person named for this run: it goes before the others, and instead of one of its name or tool.
        guests.adapters.retain(|other| other.name() != descriptor.name && other.tool() != descriptor.tool);
        guests.adapters.insert(0, Installed { adapter, grant, added: true });
        guests.count_up(config);
        Ok(guests)
    }

    fn builtin(config: &Config, sandbox: &Sandbox) -> Result<Self, GuestsError> {
        let adapters = Guest::builtin_adapters()
            .filter(|guest| config.reads(guest.name()))
            .map(|guest| {
                let adapter = sandbox.adapter(&guest)?;
                let sources = &adapter.descriptor().sources;
                let mut grant = Grant::declared(sources);
                grant.add_roots(&config.roots(guest.name()), sources);
                Ok(Installed { adapter, grant, added: false })
            })
            .collect::<Result<_, SandboxError>>()?;
        let analyzer = sandbox.analyzer(&Guest::builtin_analyzer())?;
        let analyzer = Configured::new(analyzer, settings(config, None), None);
        // Settings that make no sense are told now, not once for each transcript.
        Analyses::new(std::slice::from_ref(&analyzer), None)?.observe(&[])?;
        Ok(Self {
            adapters,
            refused: Vec::new(),
            analyzers: vec![analyzer],
            kinds: Vec::new(),
            limits: config.sandbox.clone(),
            text_limit: config.transcripts.text_limit,
            analyzed_by: String::new(),
            places: OnceCell::new(),
        })
    }

    fn take_added(
        &mut self,
        config: &Config,
        sandbox: &Sandbox,
        home: &Path,
        agreement: Result<Agreement, AddedError>,
    ) {
        let agreement = match agreement {
            Ok(agreement) if config.reads(&agreement.name) => agreement,
            Ok(_) => return,
            Err(error) => {
                let (why, hint) = (error.to_string(), error.hint());
                return self.refused.push(Refused { name: "?".to_owned(), why, hint });
            }
        };
        let loaded = added::component(home, &agreement)
            .and_then(|guest| self.check_free(&agreement.name).map(|()| guest))
            .and_then(|guest| added::check_grant(&agreement).map(|()| guest))
            .map_err(|error| (error.to_string(), error.hint()))
            .and_then(|guest| self.use_added(config, sandbox, &guest, &agreement));
        if let Err((why, hint)) = loaded {
            self.refused.push(Refused { name: agreement.name, why, hint });
        }
    }

    fn use_added(
        &mut self,
        config: &Config,
        sandbox: &Sandbox,
        guest: &Guest,
        agreement: &Agreement,
    ) -> Result<(), (String, Option<&'static str>)> {
        let sandboxed = |error: SandboxError| (error.to_string(), None);
        match agreement.kind {
            Kind::Adapter => {
                let adapter = sandbox.adapter(guest).map_err(sandboxed)?;
                self.check_tool(&adapter.descriptor().tool).map_err(|error| (error.to_string(), error.hint()))?;
                // What was agreed to is read, whatever it declares by now.
                let mut grant = agreement.grant.clone();
                grant.add_roots(&config.roots(&agreement.name), &adapter.descriptor().sources);
                self.adapters.push(Installed { adapter, grant, added: true });
            }
            Kind::Analyzer => {
                let analyzer = sandbox.analyzer(guest).map_err(sandboxed)?;
                let namespace = Some(agreement.name.clone());
                self.analyzers.push(Configured::new(analyzer, settings(config, Some(&agreement.name)), namespace));
            }
        }
        Ok(())
    }

    /// Is the name one that an added component may have?
    ///
    /// # Errors
    /// When it is a built-in component's.
    pub fn check_free(&self, name: &str) -> Result<(), AddedError> {
        added::check_name(name)?;
        let mut builtin = Guest::builtin_adapters().chain([Guest::builtin_analyzer()]);
        let analyzers = || self.analyzers.iter().filter(|analyzer| analyzer.is_builtin());
        let is_analyzer = || analyzers().any(|it| it.analyzer().descriptor().name == name);
        if builtin.any(|guest| guest.name() == name) || is_analyzer() {
            Err(AddedError::Taken(name.to_owned()))
        } else {
            Ok(())
        }
    }

    /// May an added adapter read this tool's transcripts? Two would say everything twice.
    ///
    /// # Errors
    /// When another adapter does.
    pub fn check_tool(&self, tool: &str) -> Result<(), AddedError> {
        match self.adapters.iter().find(|installed| installed.tool() == tool) {
            Some(by) => Err(AddedError::ToolTaken { tool: tool.to_owned(), by: by.name().to_owned() }),
            None => Ok(()),
        }
    }

    fn count_up(&mut self, config: &Config) {
        self.kinds = self.analyzers.iter().flat_map(Configured::kinds).collect();
        self.analyzed_by = producer(&self.analyzers, config.transcripts.text_limit);
    }

    /// Every kind of signal, those of added analyzers with their name before it.
    pub fn kinds(&self) -> &[SignalKind] {
        &self.kinds
    }

    /// The analyzers, the built-in one first.
    pub fn analyzers(&self) -> &[Configured] {
        &self.analyzers
    }

    /// What guests may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Settings in `config` that no analyzer has.
    pub fn unknown_settings<'a>(&'a self, config: &'a Config) -> impl Iterator<Item = &'a str> {
        let known = |name: &str| {
            let (namespace, setting) =
                name.split_once('/').map_or((None, name), |(name, setting)| (Some(name), setting));
            self.analyzers.iter().any(|configured| {
                let descriptor = configured.analyzer().descriptor();
                namespace.is_none_or(|namespace| namespace == descriptor.name)
                    && descriptor.settings.iter().any(|known| known.name == setting)
            })
        };
        config.signals.keys().map(String::as_str).filter(move |name| !known(name))
    }

    /// Index of the adapter that reads a tool's transcripts.
    pub fn of_tool(&self, tool: &str) -> Option<usize> {
        self.adapters.iter().position(|installed| installed.tool() == tool)
    }

    /// Index of the adapter that was granted the place where a file lies.
    pub fn of_place(&self, path: &Path) -> Option<usize> {
        let all = |(index, installed): (usize, &Installed)| {
            installed.sources(&self.limits).0.into_iter().map(move |source| (index, source))
        };
        let places = self.places.get_or_init(|| self.adapters.iter().enumerate().flat_map(all).collect());
        places.iter().find(|(_, source)| source.holds(path, "")).map(|(index, _)| *index)
    }

    /// The adapter of this name.
    pub fn named(&self, name: &str) -> Option<&Installed> {
        self.adapters.iter().find(|installed| installed.name() == name)
    }

    /// Index of the adapter that says a transcript which begins like this is its own. One that fails has said no.
    pub fn recognise(&self, head: &[u8]) -> Option<usize> {
        self.adapters
            .iter()
            .position(|installed| installed.reads_files() && installed.adapter.recognise(head).unwrap_or(false))
    }

    /// A database that the person named, for the adapter (of this index, or whichever it is) whose SQL it understands.
    pub fn database(&self, path: &Path, only: Option<usize>) -> Option<(usize, Database)> {
        let candidates = self.adapters.iter().enumerate().filter(|(index, _)| only.is_none_or(|only| only == *index));
        candidates.into_iter().find_map(|(index, installed)| {
            let queries = installed.grant.queries(&installed.adapter.descriptor().sources);
            let database = Database::new(path.to_owned(), queries, self.limits.clone());
            database.discover().is_ok().then_some((index, database))
        })
    }

    /// The time that a transcript says it begins at, in milliseconds since the Unix epoch. Of a session and its copies the one
    /// that begins first is the original, whatever happened to the files' own times. A guest that fails knows no time.
    pub fn begins_at(&self, adapter: &Adapter, path: &Path, key: &str, head: &[u8]) -> Option<i64> {
        let origin = self.origin(path, key);
        let mut parser = adapter.parser(&origin, None).ok()?;
        let mut events = parser.feed(head).ok()?;
        if events.is_empty() {
            // A document says everything at its end.
            events = parser.finish().unwrap_or_default();
        }
        events.iter().filter_map(|event| event.at).filter(|at| event::is_plausible(*at)).min()
    }

    /// The first time and the first folder that a transcript tells, wherever it does. What it has to say otherwise is for a
    /// reading, as is a guest that fails.
    ///
    /// # Errors
    /// Those of reading the transcript.
    pub fn look_ahead(
        &self,
        adapter: &Adapter,
        (path, key): (&Path, &str),
        opened: &mut Opened,
        needs_folder: bool,
    ) -> io::Result<Ahead> {
        let mut ahead = Ahead::default();
        let Ok(mut parser) = adapter.parser(&self.origin(path, key), None) else { return Ok(ahead) };
        let mut is_over = false;
        let read = opened.each_chunk(0, &mut |chunk| {
            let Ok(events) = parser.feed(chunk) else {
                is_over = true;
                return Err(io::ErrorKind::WriteZero.into());
            };
            events.iter().for_each(|event| ahead.learn(event));
            is_over = ahead.at.is_some() && (ahead.cwd.is_some() || !needs_folder);
            if is_over { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
        });
        match read {
            Err(error) if !is_over => return Err(error),
            Err(_) => {}
            // A document says everything at its end.
            Ok(()) => parser.finish().unwrap_or_default().iter().for_each(|event| ahead.learn(event)),
        }
        Ok(ahead)
    }

    fn origin(&self, path: &Path, key: &str) -> Origin {
        let key = (!key.is_empty()).then(|| key.to_owned());
        Origin { path: path.to_string_lossy().into_owned(), key, text_limit: self.text_limit }
    }

    /// What the ledger notes as the producer of signals: the analyzers, and everything else that their signals depend on.
    pub fn analyzed_by(&self) -> &str {
        &self.analyzed_by
    }

    /// A reading of one transcript, from its beginning or from where an earlier one ended.
    ///
    /// # Errors
    /// When a guest crashes or goes past a limit.
    pub fn reader<'a, S>(
        &'a self,
        adapter: &Adapter,
        (path, key): (&Path, &str),
        resume: Option<&Resume>,
        redactor: &'a Redactor,
        sink: S,
    ) -> Result<Reader<'a, S>, SandboxError> {
        let parser =
            adapter.parser(&self.origin(path, key), resume.map(|resume| resume.checkpoint.state.as_slice()))?;
        let analyses = Analyses::new(&self.analyzers, resume.map(|resume| resume.analysis.as_slice()))?;
        let (redacted, refused) = (redact::Counts::default(), event::Refused::default());
        Ok(Reader { parser, analyses, redactor, redacted, refused, sink })
    }

    /// An analysis of events that are stored already.
    ///
    /// # Errors
    /// When the built-in analyzer crashes or goes past a limit.
    pub fn analyses(&self) -> Result<Analyses<'_>, SandboxError> {
        Analyses::new(&self.analyzers, None)
    }
}

/// A sandbox with the settings' limits and the user's cache.
pub fn sandbox(config: &Config) -> Sandbox {
    Sandbox::new(paths::component_cache(), config.sandbox.clone())
}

/// Settings for the built-in analyzer, or (`name/setting`) for an added one.
fn settings(config: &Config, name: Option<&str>) -> Vec<Value> {
    let mine = |key: &str| match (key.split_once('/'), name) {
        (None, None) => Some(key.to_owned()),
        (Some((namespace, setting)), Some(name)) if namespace == name => Some(setting.to_owned()),
        _ => None,
    };
    let value = |(key, value): (&String, &crate::config::Setting)| {
        mine(key).map(|setting| Value { setting, value: value.to_string() })
    };
    config.signals.iter().filter_map(value).collect()
}

fn producer(analyzers: &[Configured], text_limit: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(text_limit.to_le_bytes());
    for configured in analyzers {
        hash.update(configured.analyzer().hash().to_string());
        hash.update((configured.settings().len() as u64).to_le_bytes());
        for value in configured.settings() {
            for part in [&value.setting, &value.value] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
