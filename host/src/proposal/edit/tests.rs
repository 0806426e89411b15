use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        fs::write(self.0.path().join(name), content).unwrap();
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.0.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn write(path: &Path, content: &[u8]) -> Result<Written, EditError> {
    let mut edits = Edits::default();
    edits.file(path)?.after = Some(content.to_vec());
    edits.stage()?.commit()
}

#[test]
fn permissions_stay_and_links_stay_links() {
    let folder = Folder::new();
    let real = folder.file("real.md", b"old");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.0.path().join("CLAUDE.md");
    symlink("real.md", &link).unwrap();
    write(&link, b"new").unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("real.md"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(folder.names(), ["CLAUDE.md", "real.md"], "nothing else is left");
}

#[test]
fn other_names_of_a_file_stay_names_of_it() {
    let folder = Folder::new();
    let file = folder.file("CLAUDE.md", b"longer than the new one");
    let other = folder.0.path().join("AGENTS.md");
    fs::hard_link(&file, &other).unwrap();
    write(&file, b"new").unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"new");
    assert_eq!(file.metadata().unwrap().ino(), other.metadata().unwrap().ino());
}

#[test]
fn what_cannot_be_written_is_said_and_nothing_is_changed() {
    let folder = Folder::new();
    let first = folder.file("first.md", b"first");
    let second = folder.file("second.md", b"second");
    fs::set_permissions(&second, fs::Permissions::from_mode(0o444)).unwrap();
    let mut edits = Edits::default();
    for path in [&first, &second] {
        edits.file(path).unwrap().after = Some(b"new".to_vec());
    }
    assert!(matches!(edits.stage(), Err(EditError::ReadOnly(path)) if path == second));
    assert_eq!(fs::read(&first).unwrap(), b"first");
    assert_eq!(folder.names(), ["first.md", "second.md"]);

    let mut edits = Edits::default();
    assert!(matches!(edits.file(folder.0.path()), Err(EditError::NoFile(_))));
    let dangling = folder.0.path().join("dangling.md");
    symlink("absent.md", &dangling).unwrap();
    assert!(matches!(edits.file(&dangling), Err(EditError::Dangling(_))));
    assert!(matches!(edits.file(&first.join("below")), Err(EditError::NoFile(_))));
}

#[test]
fn a_file_that_someone_else_changed_meanwhile_is_left_alone() {
    let folder = Folder::new();
    let path = folder.file("CLAUDE.md", b"old");
    let mut edits = Edits::default();
    edits.file(&path).unwrap().after = Some(b"ours".to_vec());
    let staged = edits.stage().unwrap();
    fs::write(&path, b"theirs").unwrap();
    assert!(matches!(staged.commit(), Err(EditError::Changed(_))));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");

    let mut edits = Edits::default();
    edits.file(&path).unwrap().after = Some(b"ours".to_vec());
    fs::remove_file(&path).unwrap();
    assert!(matches!(edits.stage(), Err(EditError::Changed(_))));
    assert!(folder.names().is_empty());
}

#[test]
fn files_are_written_in_order_and_deleted_last_the_other_way_round() {
    let folder = Folder::new();
    let (rules, entry) = (folder.file("rules.md", b"rules"), folder.file("CLAUDE.md", b"entry"));
    let mut edits = Edits::default();
    edits.file(&rules).unwrap().after = None;
    edits.file(&entry).unwrap().after = Some(b"less".to_vec());
    let order: Vec<_> = edits.changes().map(|edit| edit.path.clone()).collect();
    assert_eq!(order, [entry.clone(), rules.clone()], "what refers to a file goes before it");
    edits.file(&entry).unwrap().after = None;
    let order: Vec<_> = edits.changes().map(|edit| edit.path.clone()).collect();
    assert_eq!(order, [entry, rules]);
}

#[test]
fn copies_tell_where_they_are_from() {
    let folder = Folder::new();
    let path = folder.file("CLAUDE.md", b"old");
    let backups = folder.0.path().join("backups");
    let mut edits = Edits::default();
    edits.file(&path).unwrap().after = Some(b"new".to_vec());
    edits.file(&folder.0.path().join("new.md")).unwrap().after = Some(b"new".to_vec());
    let copies = edits.stage().unwrap().back_up(&backups, 1_764_590_400_000).unwrap();
    assert_eq!(copies.len(), 1, "there is nothing to keep of a new file");
    assert_eq!(fs::read(&copies[0]).unwrap(), b"old");
    let name = copies[0].file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("2025-12-01T12-00-00Z-") && name.ends_with("-CLAUDE.md"), "{name}");
    let list = fs::read_to_string(backups.join("list.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(list.trim()).unwrap();
    assert_eq!(line["file"], path.to_str().unwrap());
}
