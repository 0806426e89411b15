//! Reading a folder that is not to be trusted: nothing outside of it, nothing that is no file, nothing without end.

use std::{
    fs::Metadata,
    io::{self, Read},
    path::Path,
};

use cap_std::{ambient_authority, fs::Dir};

/// Most bytes of one file. A ledger of 100,000 sessions has about 20 MB.
const MOST: u64 = 32 << 20;

/// Most files of one folder that are looked at. A library has a file a pattern, and some hundred patterns.
const FILES: usize = 100_000;

/// A folder, opened once. What is reached through it lies in it: links that lead out of it are refused.
pub(super) struct Folder(Dir);

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(Self)
    }

    pub(super) fn has_folder(&self, name: &str) -> bool {
        self.0.metadata(name).is_ok_and(|it| it.is_dir())
    }

    /// A file's text without byte order mark. `Ok(None)`: there is none of that name.
    ///
    /// # Errors
    /// Why it cannot be had, for a person.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, String> {
        self.file(name)?.map(text).transpose()
    }

    /// A file, open. `Ok(None)`: there is none of that name.
    ///
    /// # Errors
    /// Why it cannot be had, for a person.
    pub(super) fn file(&self, name: &str) -> Result<Option<std::fs::File>, String> {
        // Opening a pipe waits for whoever writes to it.
        match self.0.metadata(name) {
            Ok(it) if !it.is_file() => return Err("it is no file".to_owned()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.0.symlink_metadata(name).is_err() => {
                return Ok(None);
            }
            Err(error) => return Err(self.refusal(name, &error)),
        }
        let file = self.0.open(name).map_err(|error| self.refusal(name, &error))?;
        Ok(Some(file.into_std()))
    }

    fn refusal(&self, name: &str, error: &io::Error) -> String {
        if self.0.symlink_metadata(name).is_ok_and(|it| it.is_symlink()) {
            "it is a link that leads to nothing, or out of the folder".to_owned()
        } else {
            error.to_string()
        }
    }

    /// Names of the files in a folder of it (`.` is itself) that end so, sorted. None where there is no such folder.
    ///
    /// # Errors
    /// Why they cannot be listed.
    pub(super) fn names(&self, folder: &str, end: &str) -> Result<Vec<String>, String> {
        let entries = match self.0.read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.refusal(folder, &error)),
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(end))
            .take(FILES)
            .collect();
        names.sort();
        Ok(names)
    }
}

/// The text of a file outside of the folder that the other program's settings name; `Ok(None)`: it is not there.
///
/// # Errors
/// Why it cannot be had.
pub(super) fn named(path: &Path) -> Result<Option<(String, Metadata)>, String> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err("it is no file".to_owned()),
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    Ok(Some((text(file)?, metadata)))
}

pub(super) fn text(file: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST {
        return Err(format!("it is larger than the {} MiB that are read of a file", MOST >> 20));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("it is no UTF-8 from byte {} on", error.utf8_error().valid_up_to()))?;
    // Editors on Windows put it there.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
