//! The user's settings, `config.toml`: every key has a default, an unknown key is an error with its place.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    paths,
    redact::{self, Redactor},
    sandbox,
};

/// All settings. `totalrecall config` prints them as they are in force.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Language of `insights.md` and of what is printed: a tag such as `en` or `zh`. Empty: the system's.
    pub language: String,
    /// What a person is told when a session begins.
    pub session: Session,
    /// What an agent is told of earlier sessions when one begins.
    pub inject: Inject,
    /// What is done before a conversation is compacted.
    pub guard: Guard,
    /// Which sessions count as unsaved.
    pub unsaved: Unsaved,
    /// Which transcripts are read, and when.
    pub transcripts: Transcripts,
    /// Adapters and analyzers by name; `false` switches one off.
    pub adapters: BTreeMap<String, bool>,
    /// Folders that an adapter may look in besides those it declares, by its name; written as `~/…`, `${NAME:-…}/…` or whole.
    pub roots: BTreeMap<String, Vec<String>>,
    /// Settings of the analyzer, by their names in `docs/signals.md`.
    pub signals: BTreeMap<String, Setting>,
    /// How patterns age.
    pub patterns: Patterns,
    /// The model, and what it may cost.
    pub model: Model,
    /// What is put away, and what is thrown away.
    pub retention: Retention,
    /// Rules that are drafted and applied.
    pub rules: Rules,
    /// What is taken out of all texts besides secrets.
    pub privacy: redact::Privacy,
    /// What a guest may use.
    pub sandbox: sandbox::Limits,
}

/// See [`Config::session`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Session {
    /// One line about what is new since the last one, where there is something new.
    pub line: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self { line: true }
    }
}

/// See [`Config::inject`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Inject {
    /// When a session begins, goes on, or was compacted.
    pub session: bool,
    /// Most tokens of that.
    pub tokens: u32,
    /// When the person asks something: what earlier sessions say about it, if anything does.
    pub prompt: bool,
    /// Before a file is read: what is known of it.
    pub file: bool,
    /// Most tokens of each of these two.
    pub aside_tokens: u32,
    /// Most milliseconds of each: what takes longer is not told.
    #[serde(deserialize_with = "aside_milliseconds")]
    pub aside_milliseconds: u32,
}

impl Default for Inject {
    fn default() -> Self {
        // A hook takes some 20 ms, and a person who has typed does not notice 150.
        Self { session: true, tokens: 800, prompt: false, file: false, aside_tokens: 300, aside_milliseconds: 150 }
    }
}

/// The client ends these hooks after five seconds (`plugin/hooks.json`), and until then a person waits.
const ASIDE_MILLISECONDS: u32 = 4_000;

fn aside_milliseconds<'de, D: serde::Deserializer<'de>>(given: D) -> Result<u32, D::Error> {
    let milliseconds = u32::deserialize(given)?;
    if milliseconds > ASIDE_MILLISECONDS {
        let why = format!("`aside-milliseconds` is at most {ASIDE_MILLISECONDS}: the agent waits for it");
        return Err(serde::de::Error::custom(why));
    }
    Ok(milliseconds)
}

/// See [`Config::guard`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Guard {
    /// Refuse `/compact` once in a session of which nothing was saved lately.
    pub manual: bool,
}

/// See [`Config::unsaved`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Unsaved {
    /// A session with more changes of files than this changed much.
    pub edits: u32,
    /// So did one that ran one of these.
    pub programs: Vec<String>,
    /// Hours after its end from which it counts.
    pub idle_hours: u32,
    /// Days after which it does not count any more.
    pub days: u32,
}

impl Default for Unsaved {
    fn default() -> Self {
        // The figures of RLM 0.11, whose users know them: programs that change what git does not keep.
        let programs = ["ssh", "scp", "rsync", "psql", "kubectl", "terraform", "ansible-playbook"];
        Self { edits: 5, programs: programs.map(str::to_owned).into(), idle_hours: 2, days: 30 }
    }
}

/// See [`Config::transcripts`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transcripts {
    /// A file that was written to in the last so many seconds is left for later: its session is still going on.
    pub settle_seconds: u64,
    /// Patterns of paths that are never read, such as `**/*-secret-project/**`.
    pub ignore: Vec<String>,
    /// Longest text kept of one event, in bytes; a longer one keeps head and tail.
    pub text_limit: u32,
}

impl Default for Transcripts {
    fn default() -> Self {
        // 120 s is the predecessor's rule. 16 KiB holds 99 % of tool results whole; what is longer is logs and files,
        // told apart by their beginning and end.
        Self { settle_seconds: 120, ignore: Vec::new(), text_limit: 16 << 10 }
    }
}

/// See [`Config::patterns`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Patterns {
    /// Days after which a pattern that did not recur counts half.
    pub half_life_days: f64,
    /// Days after which a pattern that did not recur is called fading.
    pub fading_days: u32,
    /// Sessions a model was asked about, over all runs, after which near-duplicates are merged; 0: only when asked to.
    pub synth_every: u32,
}

impl Default for Patterns {
    fn default() -> Self {
        Self { half_life_days: 14.0, fading_days: 30, synth_every: 20 }
    }
}

/// See [`Config::model`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Model {
    /// Program and arguments that answer instead of `claude`, as `docs/model.md` tells. Empty: `claude`.
    pub command: Vec<String>,
    /// The model asked for.
    pub name: String,
    /// `claude` reads its own settings (`--safe-mode`): where they hold the credentials, as `env` or `apiKeyHelper`.
    pub claude_settings: bool,
    /// Most that a day (UTC) may cost, in USD.
    pub usd_per_day: f64,
    /// Most calls of one run.
    pub calls_per_run: u32,
    /// Most tokens of one call's input.
    pub input_tokens: u32,
    /// Most tokens of one call's answer, as far as costs are estimated.
    pub output_tokens: u32,
    /// Seconds after which a call has failed.
    pub timeout_seconds: u64,
    /// Prices for estimates, in USD for a million tokens of input and output.
    pub usd_per_million_input: f64,
    /// See above.
    pub usd_per_million_output: f64,
    /// Known patterns that the model is told of, the strongest ones; those with rules always.
    pub catalogue: usize,
    /// Keep what was said, redacted, with findings. Otherwise only where it was said.
    pub store_snippets: bool,
    /// Sessions without signals and without pushback are shown to the model too.
    pub quiet_sessions: bool,
}

impl Default for Model {
    fn default() -> Self {
        // The prices are those of Claude Sonnet (USD 3 and 15), 2026. A call of 20,000 tokens then costs about USD 0.08,
        // so that a dollar is a dozen sessions a day.
        Self {
            command: Vec::new(),
            name: "sonnet".to_owned(),
            claude_settings: false,
            usd_per_day: 1.0,
            calls_per_run: 20,
            input_tokens: 20_000,
            output_tokens: 4_000,
            timeout_seconds: 300,
            usd_per_million_input: 3.0,
            usd_per_million_output: 15.0,
            catalogue: 40,
            store_snippets: false,
            quiet_sessions: false,
        }
    }
}

/// See [`Config::retention`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Retention {
    /// Put sessions and chunks away that are old and not looked at, by itself.
    pub archive: bool,
    /// Days after which a chunk is old.
    pub archive_after_days: u32,
    /// Days after which a session is old.
    pub archive_sessions_after_days: u32,
    /// Throw away for good what was put away long ago, by itself.
    pub purge: bool,
    /// Days after which that is long ago.
    pub purge_after_days: u32,
    /// Most bytes of the store: the oldest sessions are put away, then thrown away, until it fits. 0: no limit.
    pub store_bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        // Days of chunks as the predecessor's (RLM 0.11), which kept no sessions: what was said is searched for longer than notes
        // about it. 2 GiB are some millions of events.
        Self {
            archive: true,
            archive_after_days: 30,
            archive_sessions_after_days: 365,
            purge: false,
            purge_after_days: 180,
            store_bytes: 2 << 30,
        }
    }
}

/// See [`Config::rules`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rules {
    /// Most proposals that one `propose` drafts.
    pub top: usize,
    /// Sessions in which a pattern must have come up for a rule to be drafted.
    pub min_occurrences: u32,
    /// Most tokens of all applied rules of one file: they are read in every session.
    pub tokens: u32,
    /// Days without an occurrence after which the simple reading calls a pattern with a rule resolved.
    pub resolved_after_days: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self { top: 10, min_occurrences: 3, tokens: 1_500, resolved_after_days: 14 }
    }
}

/// A value of an analyzer's setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// `churn-edits = 3`
    Integer(i64),
    /// `correction-confidence = 0.5`
    Float(f64),
    /// `x = true`
    Bool(bool),
    /// `x = "text"`
    Text(String),
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Bool(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// The settings could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there but cannot be read.
    #[error("could not read {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is no valid configuration; `why` names line and key.
    #[error("{path} is not a valid configuration:\n{why}\nhint: correct it, or move it away to use the defaults")]
    Invalid {
        /// The file.
        path: String,
        /// Place and reason.
        why: String,
    },
}

impl Config {
    /// Reads the file; the defaults where there is none. What was set as an option of the plugin holds in what the plugin
    /// starts.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let mut config = match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .map_err(|why| ConfigError::Invalid { path: path.display().to_string(), why: why.to_string() })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(source) => return Err(ConfigError::Unreadable { path: path.display().to_string(), source }),
        };
        if let Some(language) = language_option() {
            config.language = language;
        }
        if let Some(line) = session_line_option() {
            config.session.line = line;
        }
        if let Some(memory) = session_memory_option() {
            config.inject.session = memory;
        }
        if let Some(prompt) = prompt_memory_option() {
            config.inject.prompt = prompt;
        }
        if let Some(file) = file_memory_option() {
            config.inject.file = file;
        }
        if let Some(guard) = compact_guard_option() {
            config.guard.manual = guard;
        }
        Ok(config)
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// What takes secrets, and what the person named, out of everything that is kept or shown.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(&redact::Settings {
            text_limit: self.transcripts.text_limit as usize,
            privacy: self.privacy.clone(),
        })
    }

    /// Is the adapter of this name switched on?
    pub fn reads(&self, adapter: &str) -> bool {
        self.adapters.get(adapter).copied().unwrap_or(true)
    }

    /// Folders for the adapter of this name besides those it declares.
    pub fn roots(&self, adapter: &str) -> Vec<PathBuf> {
        self.roots.get(adapter).into_iter().flatten().filter_map(|root| paths::expand(root)).collect()
    }

    /// The language asked for: the setting, else what the system says.
    pub fn language(&self) -> Option<String> {
        (!self.language.is_empty()).then(|| self.language.clone()).or_else(system_language)
    }
}

/// The language of this system's user.
pub fn system_language() -> Option<String> {
    // sys-locale reads LC_ALL, LC_CTYPE and LANG, or asks the system where there are no such variables.
    sys_locale::get_locale()
}

/// What `init` writes: every setting with its default, commented out, so that a later default reaches old homes too.
pub const TEMPLATE: &str = include_str!("config/template.toml");

/// The plugin's option `language`.
const OPTION_LANGUAGE: &str = "CLAUDE_PLUGIN_OPTION_LANGUAGE";

/// The plugin's option `session_line`.
const OPTION_SESSION_LINE: &str = "CLAUDE_PLUGIN_OPTION_SESSION_LINE";

/// The plugin's option `session_memory`.
const OPTION_SESSION_MEMORY: &str = "CLAUDE_PLUGIN_OPTION_SESSION_MEMORY";

/// The plugin's option `prompt_memory`.
const OPTION_PROMPT_MEMORY: &str = "CLAUDE_PLUGIN_OPTION_PROMPT_MEMORY";

/// The plugin's option `file_memory`.
const OPTION_FILE_MEMORY: &str = "CLAUDE_PLUGIN_OPTION_FILE_MEMORY";

/// The plugin's option `compact_guard`.
const OPTION_COMPACT_GUARD: &str = "CLAUDE_PLUGIN_OPTION_COMPACT_GUARD";

/// What the plugin's option says about the line; none if it is not set or says nothing that we understand.
pub fn session_line_option() -> Option<bool> {
    switch(OPTION_SESSION_LINE)
}

/// Likewise about what an agent is told when a session begins.
pub fn session_memory_option() -> Option<bool> {
    switch(OPTION_SESSION_MEMORY)
}

/// Likewise about what it is told when the person asks something.
pub fn prompt_memory_option() -> Option<bool> {
    switch(OPTION_PROMPT_MEMORY)
}

/// Likewise about what it is told before it reads a file.
pub fn file_memory_option() -> Option<bool> {
    switch(OPTION_FILE_MEMORY)
}

/// Likewise about `/compact` where nothing was saved.
pub fn compact_guard_option() -> Option<bool> {
    switch(OPTION_COMPACT_GUARD)
}

fn switch(variable: &str) -> Option<bool> {
    match paths::variable(variable)?.trim().to_ascii_lowercase().as_str() {
        "false" | "0" | "no" | "off" => Some(false),
        "true" | "1" | "yes" | "on" => Some(true),
        _ => None,
    }
}

/// The plugin's option for the language, for whoever has no settings.
pub fn language_option() -> Option<String> {
    paths::variable(OPTION_LANGUAGE)
}

/// The variable that marks processes which TotalRecall itself has started: their hooks do nothing.
pub const CHILD: &str = "TOTALRECALL_ANALYSIS";

/// Were we started by ourselves, through whatever lies between?
pub fn is_our_child() -> bool {
    paths::variable(CHILD).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_all_defaults() {
        assert_eq!(Config::parse(TEMPLATE).unwrap(), Config::default());
        let uncommented: String = TEMPLATE
            .lines()
            .map(|line| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line))
            .map(|line| format!("{line}\n"))
            .collect();
        let mut all = Config::parse(&uncommented).unwrap();
        assert_eq!(all.adapters.remove("claude-code"), Some(true));
        assert_eq!(all.roots.remove("aider"), Some(vec!["~/src".to_owned()]));
        assert_eq!(all.signals.remove("churn-edits"), Some(Setting::Integer(3)));
        assert_eq!(all.signals.remove("retry-failures"), Some(Setting::Integer(3)));
        assert_eq!(all, Config::default());
    }

    #[test]
    fn what_is_wrong_in_privacy_is_named() {
        for (text, key) in [
            ("patterns = [\"ok\", \"(\"]", "`patterns`"),
            ("patterns = [\"x*\"]", "`patterns`"),
            ("patterns = [\"(a{1000}){1000}\"]", "`patterns`"),
            ("fields = [\"a b\"]", "`fields`"),
            ("hosts = [\"https://corp.example\"]", "`hosts`"),
            ("feilds = []", "feilds"),
        ] {
            let error = Config::parse(&format!("[privacy]\n{text}\n")).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("line "), "{text}: {error}");
        }
    }

    #[test]
    fn nobody_waits_for_asides_for_long() {
        let error = Config::parse("[inject]\naside-milliseconds = 60000\n").unwrap_err().to_string();
        assert!(error.contains("`aside-milliseconds` is at most 4000") && error.contains("line 2"), "{error}");
        assert_eq!(Config::parse("[inject]\naside-milliseconds = 4000\n").unwrap().inject.aside_milliseconds, 4_000);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = Config::parse("language = \"en\"\nlangauge = \"zh\"\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("langauge"), "{error}");
    }
}
