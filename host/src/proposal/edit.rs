//! Changing files of the person's: all of a command's changes are worked out first, then written, each whole or not at all.
//!
//! What can go wrong is found before anything is written: the new contents lie beside the files, a file that may not be written
//! is told, one that someone else has changed meanwhile is left alone. A copy of what was there is kept in the home. Then
//! files are replaced in the order in which they were asked for, and deleted in the reverse order after that, so that what
//! refers to a file is there only while the file is.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It may not be written.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// There is something else in its place.
    #[error("{} is not a file", .0.display())]
    NoFile(PathBuf),
    /// It is a link to a file that is not there.
    #[error("{} is a link to a file that does not exist", .0.display())]
    Dangling(PathBuf),
    /// Its content is another one than a moment ago.
    #[error("{} was changed by another program meanwhile", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// `read`, `write`, `delete` …
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl EditError {
    /// What the person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ReadOnly(_) => "Make it writable (`chmod u+w`) and try again; nothing was changed.",
            Self::NoFile(_) | Self::Dangling(_) => {
                "Put a file there or take it away, and try again; nothing was changed."
            }
            Self::Changed(_) => "Try again: the command goes on from what is there now.",
            Self::Io { .. } => {
                "Check who owns the folder and whether its disk is full, then run the command again: it completes what was begun."
            }
        }
    }

    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if what != "read" => {
                Self::ReadOnly(path)
            }
            _ => Self::Io { what, path, source },
        }
    }
}

/// A file that is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// As it was named; behind it may be a link.
    pub path: PathBuf,
    /// The file itself.
    target: PathBuf,
    /// What is there; none: no file.
    pub before: Option<Vec<u8>>,
    /// What shall be there; none: no file.
    pub after: Option<Vec<u8>>,
}

impl Edit {
    /// What shall be there; nothing where there is no file.
    pub fn content(&self) -> &[u8] {
        self.after.as_deref().unwrap_or_default()
    }

    fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// The changes of one command.
#[derive(Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
}

/// What was written.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Files that are new, or have another content.
    pub written: Vec<PathBuf>,
    /// Files that are gone.
    pub deleted: Vec<PathBuf>,
    /// Copies of what was there.
    pub backups: Vec<PathBuf>,
}

impl Edits {
    /// A file, with the changes so far.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn file(&mut self, path: &Path) -> Result<&mut Edit, EditError> {
        let target = target(path)?;
        if let Some(at) = self.edits.iter().position(|edit| edit.target == target) {
            return Ok(&mut self.edits[at]);
        }
        let before = match fs::read(&target) {
            Ok(content) => Some(content),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(EditError::io("read", path)(error)),
        };
        self.edits.push(Edit { path: path.to_path_buf(), target, after: before.clone(), before });
        Ok(self.edits.last_mut().unwrap_or_else(|| unreachable!("it was just put there")))
    }

    /// What is to change, in the order in which it will be.
    pub fn changes(&self) -> impl Iterator<Item = &Edit> {
        let written = self.edits.iter().filter(|edit| edit.changes() && edit.after.is_some());
        written.chain(self.edits.iter().rev().filter(|edit| edit.changes() && edit.after.is_none()))
    }

    /// Writes the new contents beside the files, which shows that they can be written, and changes nothing yet. Missing folders
    /// are made.
    ///
    /// # Errors
    /// See [`EditError`]; nothing has changed then, but for folders.
    pub fn stage(self) -> Result<Staged, EditError> {
        let mut staged = Vec::new();
        for edit in self.changes() {
            let before = fs::metadata(&edit.target).ok();
            if before.as_ref().is_some_and(|file| file.permissions().readonly()) {
                return Err(EditError::ReadOnly(edit.path.clone()));
            }
            let folder = edit.target.parent().ok_or_else(|| EditError::NoFile(edit.path.clone()))?;
            let Some(content) = &edit.after else {
                staged.push((edit.clone(), None));
                continue;
            };
            fs::create_dir_all(folder).map_err(EditError::io("make the folder of", &edit.path))?;
            let file = beside(folder, content, before.as_ref()).map_err(EditError::io("write", &edit.path))?;
            staged.push((edit.clone(), Some(file)));
        }
        let staged = Staged { staged };
        staged.is_as_read()?;
        Ok(staged)
    }
}

/// Changes that lie ready.
#[derive(Debug)]
pub struct Staged {
    staged: Vec<(Edit, Option<NamedTempFile>)>,
}

impl Staged {
    fn is_as_read(&self) -> Result<(), EditError> {
        self.staged.iter().try_for_each(|(edit, _)| unchanged(edit))
    }

    /// Keeps copies of what is there in a folder.
    ///
    /// # Errors
    /// When they cannot be written; nothing has changed then.
    pub fn back_up(&self, backups: &Path, now: i64) -> Result<Vec<PathBuf>, EditError> {
        let mut copies = Vec::new();
        for (edit, _) in &self.staged {
            let Some(before) = &edit.before else { continue };
            crate::files::make_private_folder(backups).map_err(EditError::io("make the folder", backups))?;
            let copy = backups.join(backup_name(edit, now));
            crate::files::write_atomically(&copy, before).map_err(EditError::io("write", &copy))?;
            let line = serde_json::json!({ "at": now, "file": edit.path, "copy": copy });
            let list = backups.join("list.jsonl");
            crate::files::append(&list, format!("{line}\n").as_bytes()).map_err(EditError::io("write", &list))?;
            copies.push(copy);
        }
        Ok(copies)
    }

    /// Changes the files, in order.
    ///
    /// # Errors
    /// See [`EditError`]; what was changed before stays changed, the file that is named is as it was.
    pub fn commit(self) -> Result<Written, EditError> {
        let mut done = Written::default();
        self.is_as_read()?;
        for (edit, file) in self.staged {
            unchanged(&edit)?;
            let Some(file) = file else {
                fs::remove_file(&edit.target).map_err(EditError::io("delete", &edit.path))?;
                done.deleted.push(edit.path);
                continue;
            };
            if has_other_names(&edit.target) {
                // A new file would leave the other names with the old one. There is a copy of it.
                let content = edit.content();
                write_in_place(&edit.target, content).map_err(EditError::io("write", &edit.path))?;
            } else {
                file.persist(&edit.target).map_err(|error| EditError::io("write", &edit.path)(error.error))?;
            }
            done.written.push(edit.path);
        }
        Ok(done)
    }
}

/// The file behind a name: where links lead to, so that the link stays.
fn target(path: &Path) -> Result<PathBuf, EditError> {
    match fs::symlink_metadata(path) {
        Ok(_) => {
            let target = path.canonicalize().map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => EditError::Dangling(path.to_path_buf()),
                _ => EditError::io("read", path)(error),
            })?;
            if target.is_file() { Ok(target) } else { Err(EditError::NoFile(path.to_path_buf())) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The folder may be a link too, and not be there.
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(EditError::NoFile(path.to_path_buf()));
            };
            Ok(folder.canonicalize().map_or_else(|_| path.to_path_buf(), |folder| folder.join(name)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(EditError::NoFile(path.to_path_buf())),
        Err(error) => Err(EditError::io("read", path)(error)),
    }
}

fn unchanged(edit: &Edit) -> Result<(), EditError> {
    let now = match fs::read(&edit.target) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(EditError::io("read", &edit.path)(error)),
    };
    if now == edit.before { Ok(()) } else { Err(EditError::Changed(edit.path.clone())) }
}

/// A file with this content in the folder, with permissions and owner of the one it is to replace.
fn beside(folder: &Path, content: &[u8], before: Option<&fs::Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".totalrecall-");
    // A new file is like one that an editor makes: what others may do is the umask's matter.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    if let Some(before) = before {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            // Only root may give files away; anyone else owns the file or a copy of it.
            let _ = std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        }
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| std::os::unix::fs::MetadataExt::nlink(&file) > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &Path) -> bool {
    false
}

fn write_in_place(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

/// `2026-12-01T12-00-00Z-1f0c9a3e-CLAUDE.md`: sorts by time; the number tells files of one name and their states apart.
fn backup_name(edit: &Edit, now: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(now).map_or_else(|_| now.to_string(), |time| time.to_string());
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    hasher.update(edit.target.as_os_str().as_encoded_bytes());
    hasher.update(edit.before.as_deref().unwrap_or_default());
    let name = edit.target.file_name().unwrap_or_default().to_string_lossy();
    format!("{}-{:08x}-{name}", time.replace([':', '.'], "-"), hasher.digest() as u32)
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
