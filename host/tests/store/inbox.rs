//! Notices are handed over once, and garbage keeps nobody from being heard.

use std::{fs, io, path::Path};

use tempfile::TempDir;
use totalrecall::inbox::{self, FOLDER, Notice, REJECTED};

fn notice(path: &str, at: i64) -> Notice {
    Notice { transcript_path: path.into(), session_id: Some("s1".into()), event: "SessionEnd".into(), at }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn take(home: &Path) -> (Vec<Notice>, inbox::Drained) {
    let mut taken = Vec::new();
    let drained = inbox::drain(home, |notices| {
        taken.extend_from_slice(notices);
        io::Result::Ok(())
    });
    (taken, drained.unwrap())
}

#[test]
fn notices_come_out_in_the_order_of_their_time_and_only_once() {
    let home = TempDir::new().unwrap();
    assert_eq!(take(home.path()).0, []);
    for notice in [notice("/t/b.jsonl", 9_000), notice("/t/a.jsonl", 3_000), notice("/t/c.jsonl", 1_700_000_000_000)] {
        inbox::drop(home.path(), &notice).unwrap();
    }
    let (taken, drained) = take(home.path());
    assert_eq!(
        taken,
        [notice("/t/a.jsonl", 3_000), notice("/t/b.jsonl", 9_000), notice("/t/c.jsonl", 1_700_000_000_000)]
    );
    assert_eq!((drained.taken, drained.rejected.len()), (3, 0));
    assert_eq!(take(home.path()).0, []);
}

#[test]
fn equal_notices_of_one_second_are_one() {
    let home = TempDir::new().unwrap();
    for at in [5_001, 5_002, 5_999] {
        inbox::drop(home.path(), &notice("/t/a.jsonl", at)).unwrap();
    }
    inbox::drop(home.path(), &notice("/t/a.jsonl", 6_000)).unwrap();
    inbox::drop(home.path(), &Notice { event: "Stop".into(), ..notice("/t/a.jsonl", 5_001) }).unwrap();
    assert_eq!(take(home.path()).0.len(), 3);
}

#[test]
fn notices_stay_until_they_are_safe() {
    let home = TempDir::new().unwrap();
    inbox::drop(home.path(), &notice("/t/a.jsonl", 1)).unwrap();
    let refused = inbox::drain(home.path(), |_| Err(io::Error::other("the disk is full")));
    assert!(refused.is_err());
    assert_eq!(take(home.path()).0, [notice("/t/a.jsonl", 1)]);
}

#[test]
fn garbage_is_moved_aside_with_a_reason() {
    let home = TempDir::new().unwrap();
    inbox::drop(home.path(), &notice("/t/a.jsonl", 1)).unwrap();
    let inbox = home.path().join(FOLDER);
    let put = |name: &str, text: &str| fs::write(inbox.join(name), text).unwrap();
    put("0-empty.json", "");
    put("1-long.json", &format!("{}{}", serde_json::to_string(&notice("/t/a.jsonl", 1)).unwrap(), " ".repeat(20_000)));
    put("2-relative.json", &serde_json::to_string(&notice("t/a.jsonl", 1)).unwrap());
    put("3-climbing.json", &serde_json::to_string(&notice("/t/../etc/passwd", 1)).unwrap());
    put("4-nul.json", &serde_json::to_string(&notice("/t/\0", 1)).unwrap());
    put("5-binary.json", "\u{1}\u{2}");
    fs::create_dir(inbox.join("6-folder.json")).unwrap();
    put(".half-written.json.1", "{");
    #[cfg(unix)]
    {
        fs::write(home.path().join("secret"), serde_json::to_string(&notice("/t/secret.jsonl", 1)).unwrap()).unwrap();
        std::os::unix::fs::symlink(home.path().join("secret"), inbox.join("7-link.json")).unwrap();
    }
    let (taken, drained) = take(home.path());
    assert_eq!(taken, [notice("/t/a.jsonl", 1)]);
    let rejected: Vec<_> = drained.rejected.iter().map(|rejected| &rejected.name[..1]).collect();
    let expected: &[&str] =
        if cfg!(unix) { &["0", "1", "2", "3", "4", "5", "6", "7"] } else { &["0", "1", "2", "3", "4", "5", "6"] };
    assert_eq!(rejected, expected);
    assert!(drained.rejected.iter().all(|rejected| !rejected.why.is_empty()));
    assert_eq!(names(&inbox.join(REJECTED)).len(), expected.len());
    assert_eq!(names(&inbox), [".half-written.json.1", REJECTED]);
    assert_eq!(take(home.path()), (vec![], inbox::Drained::default()));
}

#[test]
fn rejected_notices_do_not_pile_up() {
    let home = TempDir::new().unwrap();
    let inbox = home.path().join(FOLDER);
    fs::create_dir(&inbox).unwrap();
    for number in 0..150 {
        fs::write(inbox.join(format!("{number}.json")), "garbage").unwrap();
    }
    assert_eq!(take(home.path()).1.rejected.len(), 150);
    assert_eq!(names(&inbox.join(REJECTED)).len(), 100);
    assert_eq!(names(&inbox), [REJECTED]);
}

/// A worker that is at it looks whether anything came since: what one session says twice has one name.
#[test]
fn what_is_left_again_is_told_from_what_was_there() {
    let home = tempfile::TempDir::new().unwrap();
    let notice = Notice { event: "Stop".into(), ..notice("/t/a.jsonl", 1) };
    inbox::drop(home.path(), &notice).unwrap();
    let before = inbox::names(home.path());
    assert!(inbox::names(home.path()).is_subset(&before));
    take(home.path());
    // Times of files are as exact as the system's clock ticks.
    std::thread::sleep(std::time::Duration::from_millis(20));
    inbox::drop(home.path(), &notice).unwrap();
    let again = inbox::names(home.path());
    assert_eq!((before.len(), again.len(), again.is_subset(&before)), (1, 1, false));
}
