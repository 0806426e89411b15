//! The user's settings, `config.toml`: every key has a default, an unknown key is an error with its place.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{paths, sandbox};

/// All settings. `totalrecall config` prints them as they are in force.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Language of `insights.md` and of what is printed: a tag such as `en` or `zh`. Empty: the system's.
    pub language: String,
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
    /// What a guest may use.
    pub sandbox: sandbox::Limits,
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
}

impl Default for Patterns {
    fn default() -> Self {
        Self { half_life_days: 14.0, fading_days: 30 }
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
    /// Reads the file; the defaults where there is none.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .map_err(|why| ConfigError::Invalid { path: path.display().to_string(), why: why.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Unreadable { path: path.display().to_string(), source }),
        }
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
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

fn system_language() -> Option<String> {
    // sys-locale reads LC_ALL, LC_CTYPE and LANG, or asks the system where there are no such variables.
    sys_locale::get_locale()
}

/// What `init` writes: every setting with its default, commented out, so that a later default reaches old homes too.
pub const TEMPLATE: &str = include_str!("config/template.toml");

/// The variable that marks processes which TotalRecall itself has started: their hooks do nothing.
pub fn is_our_child() -> bool {
    paths::variable("TOTALRECALL_ANALYSIS").is_some()
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
    fn an_unknown_key_is_named_with_its_line() {
        let error = Config::parse("language = \"en\"\nlangauge = \"zh\"\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("langauge"), "{error}");
    }
}
