//! Writing files so that whoever looks sees the old or the new content, and nobody else sees anything.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    time::{Duration, SystemTime},
};

use xxhash_rust::xxh3::xxh3_128;

/// How the name of a file begins that is being written, or was when we were killed.
const UNFINISHED: &str = ".tmp";

/// Age of one that nobody writes any more.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Replaces a file's content: written beside it, synced, and renamed.
///
/// # Errors
/// Those of the file system; the old content is there then.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it is no file"))?;
    // Created with permissions for the user alone.
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Makes a file with its content, at once.
///
/// # Errors
/// Those of the file system; there is such a file already.
pub fn write_first(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it is no file"))?;
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(content)?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// Writes what the user asked for to where the user said: atomically, but for devices and pipes, which stay what they are.
///
/// # Errors
/// Those of the file system.
pub fn write_report(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => fs::OpenOptions::new().write(true).open(path)?.write_all(content),
        // Behind a link lies the file that is meant.
        Ok(_) => write_atomically(&path.canonicalize()?, content),
        Err(_) => write_atomically(path, content),
    }
}

/// Adds to the end of a file, which is made if need be.
///
/// # Errors
/// Those of the file system.
pub fn append(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(content)
}

/// Makes a folder and those above it, for the user alone. One that is there stays as it is.
///
/// # Errors
/// Those of the file system.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A file's name for what may not be one: an id or a path of others.
pub fn name_of(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

/// Removes the files of a folder that were last written so long before `now`. What cannot be removed stays.
pub fn remove_older(folder: &Path, age: Duration, now: SystemTime) {
    remove_older_of(folder, "", age, now);
}

/// Removes what was being written into a folder when we were killed.
pub fn remove_unfinished(folder: &Path, now: SystemTime) {
    remove_older_of(folder, UNFINISHED, ABANDONED, now);
}

/// [`remove_older`], of files whose names begin so.
fn remove_older_of(folder: &Path, beginning: &str, age: Duration, now: SystemTime) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|file| file.modified());
        let is_old = written.is_ok_and(|written| now.duration_since(written).is_ok_and(|it| it > age));
        if is_old && entry.file_name().to_string_lossy().starts_with(beginning) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A path as SQLite takes it in a URI, with parameters such as `immutable=1`.
pub fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = String::from("file:");
    let bytes = path.as_os_str().as_encoded_bytes();
    // `C:\…`
    if cfg!(windows) {
        uri.push('/');
    }
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(*byte)),
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push('?');
    uri + parameters
}

/// Writes so many bytes into a file of a folder, and deletes it: only trying tells whether a disk is full or may be written.
///
/// # Errors
/// Those of the file system.
pub fn try_to_write(folder: &Path, bytes: usize) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".try-").tempfile_in(folder)?;
    file.write_all(&vec![0x55; bytes])?;
    // Some file systems say only now that there is no room.
    file.as_file().sync_all()
}

/// Has two folders change their places: at once, where the system can do that.
///
/// # Errors
/// Those of the file system.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::{
            fs::{CWD, RenameFlags, renameat_with},
            io::Errno,
        };
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            // A file system that cannot.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
    }
    let aside = one.with_extension("old");
    // Of one that was killed in between.
    if aside.exists() {
        fs::remove_dir_all(&aside)?;
    }
    fs::rename(one, &aside)?;
    fs::rename(other, one)?;
    fs::rename(&aside, other)
}

/// Bytes that the user may still write to a folder's file system. None: it does not say.
pub fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let space = rustix::fs::statvfs(folder).ok()?;
        space.f_bavail.checked_mul(space.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_unfinished_goes_once_nobody_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_atomically(&folder.join("kept"), b"x").unwrap();
        let being_written = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder).unwrap();
        let count = || fs::read_dir(folder).unwrap().count();
        remove_unfinished(folder, SystemTime::now());
        assert_eq!(count(), 2);
        remove_unfinished(folder, SystemTime::now() + 2 * ABANDONED);
        assert_eq!(count(), 1);
        assert!(folder.join("kept").exists() && !being_written.path().exists());
    }
}
