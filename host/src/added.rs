//! Components that the person added: kept in the home, each beside the record of what was agreed to.
//!
//! `components/<name>.wasm` is a copy of the file that was shown; `components/<name>.json` says its hash, and for an adapter
//! its grant. A component whose hash is another one is not loaded.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    files,
    grant::{Grant, TooWide},
    sandbox::Guest,
};

/// What was agreed to when a component was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Agreement {
    /// Its name, which is its files' too.
    pub name: String,
    /// Adapter or analyzer.
    pub kind: Kind,
    /// As it says itself.
    pub version: String,
    /// Of the component, in hexadecimal.
    pub sha256: String,
    /// What an adapter may have read for it.
    #[serde(default)]
    pub grant: Grant,
    /// When it was agreed to, in milliseconds since the Unix epoch.
    pub agreed_at: i64,
}

/// The two kinds of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Transcripts in, events out.
    Adapter,
    /// Events in, signals out.
    Analyzer,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Adapter => "adapter",
            Self::Analyzer => "analyzer",
        })
    }
}

/// Why a component cannot be added, or one that was added cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AddedError {
    /// The component is another one than was agreed to.
    #[error("{name} has changed since it was added: its hash is {found}, agreed to was {agreed}")]
    Changed {
        /// The component.
        name: String,
        /// Hash of the file that is there.
        found: String,
        /// Hash that was agreed to.
        agreed: String,
    },
    /// Its name cannot be one.
    #[error("`{0}` is no name for a component: it takes lower case letters, digits and `-`, at most 40 of them")]
    BadName(String),
    /// There is another one with the name.
    #[error("there is a built-in component with the name {0}")]
    Taken(String),
    /// Another adapter reads the tool's transcripts.
    #[error("transcripts of {tool} are read by the adapter {by} already")]
    ToolTaken {
        /// The tool.
        tool: String,
        /// The adapter.
        by: String,
    },
    /// A granted place is a link by now.
    #[error("{} leads elsewhere since {name} was added", path.display())]
    Moved {
        /// The component.
        name: String,
        /// The place.
        path: PathBuf,
    },
    /// It asks for what no adapter gets.
    #[error(transparent)]
    TooWide(#[from] TooWide),
    /// There is none of this name.
    #[error("no component of the name {0} was added")]
    Unknown(String),
    /// The record of what was agreed to makes no sense.
    #[error("{path} cannot be understood: {why}")]
    BadRecord {
        /// The record.
        path: String,
        /// Line and reason.
        why: String,
    },
    /// The system's word.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
}

impl AddedError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Changed { .. } | Self::BadRecord { .. } | Self::Moved { .. } => {
                Some("if you trust the new one, look at it with `totalrecall adapters add FILE`; otherwise remove it")
            }
            Self::ToolTaken { .. } => Some("switch that one off in `[adapters]` of the configuration first"),
            Self::TooWide(_) => Some("the adapter must declare the folders of its tool"),
            Self::Unknown(_) => Some("`totalrecall adapters list` shows those that were added"),
            Self::BadName(_) | Self::Taken(_) => Some("its author must give it another name"),
            Self::Io { .. } => None,
        }
    }
}

/// May a component be called this?
///
/// # Errors
/// When it may not: the name becomes a file's, and a part of signals' names.
pub fn check_name(name: &str) -> Result<(), AddedError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good = (1..=40).contains(&name.len())
        && name.bytes().all(fits)
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with('-');
    if good { Ok(()) } else { Err(AddedError::BadName(crate::clean::clean(name).chars().take(60).collect())) }
}

fn folder(home: &Path) -> PathBuf {
    home.join("components")
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> AddedError {
    let path = path.display().to_string();
    move |source| AddedError::Io { path: path.clone(), source }
}

/// What was agreed to, by name. Those whose record cannot be read are told instead.
///
/// # Errors
/// When the folder cannot be read.
pub fn agreements(home: &Path) -> Result<Vec<Result<Agreement, AddedError>>, AddedError> {
    let folder = folder(home);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error(&folder)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(io_error(&folder))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.iter().map(|path| read(path)).collect())
}

fn read(path: &Path) -> Result<Agreement, AddedError> {
    let text = fs::read_to_string(path).map_err(io_error(path))?;
    let bad = |why: String| AddedError::BadRecord { path: path.display().to_string(), why };
    let agreement: Agreement = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    check_name(&agreement.name)?;
    if path.file_stem().is_none_or(|stem| stem != agreement.name.as_str()) {
        return Err(bad(format!("it speaks of {}", agreement.name)));
    }
    Ok(agreement)
}

/// The component that was agreed to.
///
/// # Errors
/// When it is another one by now, or gone.
pub fn component(home: &Path, agreement: &Agreement) -> Result<Guest, AddedError> {
    let path = folder(home).join(&agreement.name).with_extension("wasm");
    let guest = Guest::new(&agreement.name, fs::read(&path).map_err(io_error(&path))?);
    let found = guest.hash().to_string();
    if found != agreement.sha256 {
        let (name, agreed) = (agreement.name.clone(), agreement.sha256.clone());
        return Err(AddedError::Changed { name, found, agreed });
    }
    Ok(guest)
}

/// Is what was agreed to still what it was? The record may have been edited, and a folder may have become a link.
///
/// # Errors
/// When a place is too wide, or leads elsewhere.
pub fn check_grant(agreement: &Agreement) -> Result<(), AddedError> {
    agreement.grant.check()?;
    let now = agreement.grant.clone().resolved();
    match agreement.grant.0.iter().zip(&now.0).find(|(agreed, now)| agreed.path() != now.path()) {
        Some((agreed, _)) => Err(AddedError::Moved { name: agreement.name.clone(), path: agreed.path().to_owned() }),
        None => Ok(()),
    }
}

/// Keeps a component and what was agreed to; an earlier one of the name is replaced.
///
/// # Errors
/// Those of the file system.
pub fn keep(home: &Path, guest: &Guest, agreement: &Agreement) -> Result<(), AddedError> {
    check_name(&agreement.name)?;
    let folder = folder(home);
    files::make_private_folder(&folder).map_err(io_error(&folder))?;
    let component = folder.join(&agreement.name).with_extension("wasm");
    let record = component.with_extension("json");
    let text = serde_json::to_vec_pretty(agreement).map_err(|error| io_error(&record)(error.into()))?;
    // The component first: with the old record it is refused, so that no moment of this grants anything new.
    files::write_atomically(&component, guest.bytes()).map_err(io_error(&component))?;
    files::write_atomically(&record, &text).map_err(io_error(&record))
}

/// Forgets a component, and what was agreed to. What was read through it stays.
///
/// # Errors
/// When there is none of this name.
pub fn remove(home: &Path, name: &str) -> Result<(), AddedError> {
    check_name(name)?;
    let component = folder(home).join(name).with_extension("wasm");
    let record = component.with_extension("json");
    match fs::remove_file(&record) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(AddedError::Unknown(name.to_owned())),
        other => other.map_err(io_error(&record))?,
    }
    match fs::remove_file(&component) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(io_error(&component)),
    }
}
