//! Compiled components between runs: never trusted when anything about them is odd.

use std::{
    fs,
    path::{Path, PathBuf},
};

use totalrecall::sandbox::{Limits, Sandbox};

use crate::{feed, texts};

/// Loads and runs a guest with this cache, and gives the cache's files.
fn run(folder: &Path) -> Vec<PathBuf> {
    let sandbox = Sandbox::new(Some(folder.to_owned()), Limits::default());
    assert_eq!(texts(&feed(&sandbox, "hostile", "echo", b"hello").expect("a parse")), ["hello"]);
    let files = fs::read_dir(folder).into_iter().flatten();
    files.map(|entry| entry.expect("an entry").path()).collect()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("deep/components");
    (temporary, folder)
}

#[test]
fn it_is_used() {
    let (_temporary, folder) = folder();
    let files = run(&folder);
    assert_eq!(files.len(), 1);
    let written = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified()).expect("a time");
    let first = written(&files[0]);
    assert_eq!(run(&folder), files);
    assert_eq!(written(&files[0]), first, "compiled once");
}

#[test]
fn damage_is_noticed() {
    let (_temporary, folder) = folder();
    let file = run(&folder).remove(0);
    let sound = fs::read(&file).expect("a file");
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    let others: [&[u8]; 5] = [&flipped, &sound[..sound.len() / 2], &sound[..sound.len() - 1], b"", b"junk"];
    for damaged in others {
        fs::remove_file(&file).expect("it is ours");
        fs::write(&file, damaged).expect("it is ours");
        run(&folder);
        assert_eq!(fs::read(&file).expect("a file").len(), sound.len(), "compiled anew");
    }
}

#[cfg(unix)]
#[test]
fn what_others_can_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");

    let (_temporary, folder) = folder();
    let file = run(&folder).remove(0);
    assert_eq!(fs::metadata(&folder).expect("a folder").permissions().mode() & 0o777, 0o700);
    // A file that others may have changed is replaced.
    set(&file, 0o666);
    run(&folder);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o022, 0);
    // A folder of that kind is left alone.
    fs::remove_file(&file).expect("it is ours");
    set(&folder, 0o777);
    assert!(run(&folder).is_empty());
    // So is a symbolic link, wherever it leads.
    set(&folder, 0o700);
    let link = folder.with_file_name("link");
    std::os::unix::fs::symlink(&folder, &link).expect("a link");
    assert!(run(&link).is_empty());
}

#[test]
fn a_cache_that_cannot_be_is_done_without() {
    let (temporary, _) = folder();
    let file = temporary.path().join("file");
    fs::write(&file, b"in the way").expect("a file");
    assert!(run(&file).is_empty());
    assert!(run(&file.join("below")).is_empty());
}
