//! What was done to the person's files, so that exactly that can be taken back. It is a file of its own in the home: hooks are
//! no rules, and whoever wants to know of them needs no store.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    WiringError,
    hooks::{Entry, Made},
};
use crate::{files, paths::Home};

/// Files of the person's that hold something of ours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Each file once.
    pub files: Vec<Wired>,
}

/// What of a file is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wired {
    /// The tool that reads it: `claude-code`.
    pub tool: String,
    /// The file, as it was named.
    pub path: PathBuf,
    /// There was no file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// Folders that were made for it, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// What was put there.
    #[serde(flatten)]
    pub what: What,
}

/// See [`Wired::what`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum What {
    /// Entries among others.
    Hooks {
        /// Those of ours.
        entries: Vec<Entry>,
        /// What was made for them.
        made: Made,
    },
    /// The whole file, which says itself what it is.
    Whole,
}

impl Wired {
    /// What is put into a file now, which may have held something of ours before.
    pub(super) fn new(tool: &str, path: &Path, is_new: bool, earlier: Option<Self>, what: What) -> Self {
        let (created, folders) = match earlier {
            Some(earlier) if !is_new => (earlier.created, earlier.folders),
            Some(earlier) if !earlier.folders.is_empty() => (true, earlier.folders),
            _ if is_new => (true, Self::folders_for(path)),
            _ => (false, Vec::new()),
        };
        Self { tool: tool.to_owned(), path: path.to_path_buf(), created, folders, what }
    }

    /// With what may still be there of what was put there before.
    pub(super) fn with(mut self, earlier: Option<&Self>) -> Self {
        if let What::Hooks { entries, .. } = &mut self.what
            && let Some(Self { what: What::Hooks { entries: old, .. }, .. }) = earlier
        {
            let more: Vec<_> = old.iter().filter(|entry| !entries.contains(entry)).cloned().collect();
            entries.extend(more);
        }
        self
    }

    /// Folders that have to be made for a file.
    fn folders_for(path: &Path) -> Vec<PathBuf> {
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
    }
}

impl Record {
    /// The file's name in the home.
    pub const FILE: &str = "wiring.json";

    /// What was done; nothing where there is no such file.
    ///
    /// # Errors
    /// `Record`.
    pub fn load(home: &Home) -> Result<Self, WiringError> {
        let file = home.path().join(Self::FILE);
        let refused = |why: String| WiringError::Record { file: file.clone(), why };
        match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| refused(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// What of a file is ours.
    pub fn of(&self, path: &Path) -> Option<&Wired> {
        self.files.iter().find(|wired| wired.path == path)
    }

    pub(super) fn put(&mut self, wired: Wired) {
        self.remove(&wired.path);
        self.files.push(wired);
    }

    pub(super) fn remove(&mut self, path: &Path) -> Option<Wired> {
        let at = self.files.iter().position(|wired| wired.path == path)?;
        Some(self.files.remove(at))
    }

    pub(super) fn save(&self, home: &Home) -> Result<(), WiringError> {
        let file = home.path().join(Self::FILE);
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        let saved = if self.files.is_empty() {
            fs::remove_file(&file).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
        } else {
            files::write_atomically(&file, text.as_bytes())
        };
        saved.map_err(|error| WiringError::Unnoted { file, why: error.to_string() })
    }
}
