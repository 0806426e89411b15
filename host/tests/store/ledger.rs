//! How a transcript's row moves between its states.

use std::io::Cursor;

use totalrecall::store::{Begin, Edges, Failure, Finality, Role, Skip, Stamp, Standing};

use crate::support::{ADAPTER, ANALYZER, Home, PARSER, done, facts, found, home, says, stamp, texts};

const MINUTE: i64 = 60_000;

fn failure(retry: bool) -> Failure {
    Failure {
        stamp: stamp(10),
        parsed_by: PARSER.into(),
        kind: "limit".into(),
        why: "too deep".into(),
        place: Some(3),
        retry,
    }
}

fn standing(home: &Home, path: &str, size: u64) -> Standing {
    let one = home.store.observe(&found(path, size)).unwrap();
    let all = home.store.survey(ADAPTER, &[found(path, size)], &[]).unwrap();
    assert_eq!(all.standings, [one]);
    one
}

#[test]
fn a_transcript_is_new_then_queued_then_unchanged_then_grown_or_replaced() {
    let mut home = home();
    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::New);
    assert_eq!(home.store.enqueue([&found("/p/a.jsonl", 10)], 0).unwrap(), 1);
    assert_eq!(home.store.enqueue([&found("/p/a.jsonl", 10)], 5).unwrap(), 0);
    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Queued);
    home.put("/p/a.jsonl", 10, Begin::Anew, &[], &[], None);
    assert_eq!(home.store.claim_next(0).unwrap().map(|job| job.path), None);

    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Unchanged);
    assert_eq!(standing(&home, "/p/a.jsonl", 11), Standing::Grown);
    assert_eq!(standing(&home, "/p/a.jsonl", 9), Standing::Replaced);
    let mut other = found("/p/a.jsonl", 11);
    other.stamp.inode += 1;
    assert_eq!(home.store.observe(&other).unwrap(), Standing::Replaced);
    let mut rewritten = found("/p/a.jsonl", 10);
    rewritten.stamp.mtime_ns += 1;
    assert_eq!(home.store.observe(&rewritten).unwrap(), Standing::Replaced);
    let mut elsewhere = found("/p/a.jsonl", 10);
    elsewhere.key = "session-1".into();
    assert_eq!(home.store.observe(&elsewhere).unwrap(), Standing::New);
}

#[test]
fn a_database_session_is_told_by_its_version() {
    let mut home = home();
    let mut found = found("/p/opencode.db", 0);
    found.key = "ses_1".into();
    found.stamp = Stamp::version("5/2");
    home.store.enqueue([&found], 0).unwrap();
    let job = home.store.claim_next(0).unwrap().unwrap();
    let ingest = home.store.ingest(job, Begin::Anew).unwrap();
    let mut end = done(0);
    end.stamp = found.stamp.clone();
    ingest.done(&end, 1).unwrap();
    assert_eq!(home.store.observe(&found).unwrap(), Standing::Unchanged);
    found.stamp = Stamp::version("6/2");
    assert_eq!(home.store.observe(&found).unwrap(), Standing::Replaced);
}

#[test]
fn failures_are_repeated_ever_later_and_then_given_up() {
    let mut home = home();
    home.store.enqueue([&found("/p/a.jsonl", 10)], 0).unwrap();
    let mut now = 0;
    for (attempt, delay) in [(1, 1), (2, 4), (3, 16), (4, 64)] {
        let job = home.store.claim_next(now).unwrap().unwrap();
        assert_eq!(job.attempts, attempt - 1);
        home.store.ingest(job, Begin::Anew).unwrap().fail(&failure(true), now).unwrap();
        let next_try = now + delay * MINUTE;
        assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Failed { next_try: Some(next_try) });
        assert!(home.store.claim_next(next_try - 1).unwrap().is_none());
        now = next_try;
    }
    let job = home.store.claim_next(now).unwrap().unwrap();
    home.store.ingest(job, Begin::Anew).unwrap().fail(&failure(true), now).unwrap();
    assert!(home.store.claim_next(i64::MAX).unwrap().is_none());
    let failed = &home.store.failures().unwrap()[0];
    assert_eq!((failed.kind.as_str(), failed.place, failed.attempts, failed.next_try), ("limit", Some(3), 5, None));
    assert_eq!((home.store.status().unwrap().given_up, home.store.status().unwrap().failed), (1, 0));

    assert_eq!(home.store.retry(now).unwrap(), 1);
    assert_eq!(home.store.claim_next(now).unwrap().unwrap().attempts, 0);
}

#[test]
fn a_failure_that_repetition_cannot_cure_waits_for_a_change() {
    let mut home = home();
    let job = home.claim("/p/a.jsonl", 10);
    home.store.ingest(job, Begin::Anew).unwrap().fail(&failure(false), 0).unwrap();
    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Failed { next_try: None });
    assert_eq!(standing(&home, "/p/a.jsonl", 11), Standing::Grown);
    assert_eq!(home.store.requeue_stale(ADAPTER, PARSER, 0).unwrap(), 0);
    assert_eq!(home.store.requeue_stale(ADAPTER, "parser-2", 0).unwrap(), 1);
    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Queued);
}

#[test]
fn a_grown_transcript_that_fails_keeps_what_was_stored_and_its_checkpoint() {
    let mut home = home();
    home.put("/p/a.jsonl", 10, Begin::Anew, &[says(1, "u1", "one")], &[], Some(facts("a", Role::Main)));
    let job = home.claim("/p/a.jsonl", 20);
    let mut ingest = home.store.ingest(job, Begin::Onward).unwrap();
    ingest.add_events(&[says(2, "u2", "two")], Finality::Settled).unwrap();
    ingest.fail(&failure(true), 0).unwrap();
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one"]);
    assert_eq!(home.job_of("/p/a.jsonl").resume.unwrap().checkpoint.offset, 10);
    let job = home.store.claim_next(MINUTE).unwrap().unwrap();
    home.put_job(job, 20, Begin::Onward, &[says(2, "u2", "two")], &[], None);
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one", "two"]);
}

#[test]
fn a_skipped_transcript_is_left_alone_until_it_changes() {
    let mut home = home();
    let job = home.claim("/p/a.jsonl", 10);
    let skip = Skip { stamp: stamp(10), parsed_by: PARSER.into(), kind: "ignored".into(), why: "by a rule".into() };
    home.store.ingest(job, Begin::Anew).unwrap().skip(&skip).unwrap();
    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Unchanged);
    assert_eq!(standing(&home, "/p/a.jsonl", 12), Standing::Grown);
    assert_eq!(home.store.status().unwrap().skipped, 1);
}

#[test]
fn a_vanished_transcript_keeps_its_rows_and_may_come_back() {
    let mut home = home();
    home.put("/p/a.jsonl", 10, Begin::Anew, &[says(1, "u1", "one")], &[], Some(facts("a", Role::Main)));
    home.store.enqueue([&found("/p/never-read.jsonl", 1)], 0).unwrap();
    let absent = home.store.survey(ADAPTER, &[], &[]).unwrap().absent;
    assert_eq!(absent.len(), 2);
    home.store.expire(&absent).unwrap();
    assert_eq!(home.store.survey(ADAPTER, &[], &[]).unwrap().absent, []);
    assert!(home.store.claim_next(i64::MAX).unwrap().is_none());

    let status = home.store.status().unwrap();
    assert_eq!((status.expired, status.sessions, status.events), (2, 1, 1));
    assert!(home.store.events(absent[0].id, 0, 10).unwrap().0.len() == 1);
    assert_eq!(home.store.stale_analyses("analyzer-2").unwrap(), [absent[0].id]);
    assert_eq!(home.store.requeue_stale(ADAPTER, "parser-2", 0).unwrap(), 0);

    assert_eq!(standing(&home, "/p/a.jsonl", 10), Standing::Returned);
    assert_eq!(standing(&home, "/p/never-read.jsonl", 1), Standing::New);
}

/// As a process that is killed while it reads the transcript which is next, and as the store is found after that.
fn die(mut home: Home) -> Home {
    let job = home.store.claim_next(0).unwrap().unwrap();
    // Neither the ingest nor the store end.
    std::mem::forget(home.store.ingest(job, Begin::Anew).unwrap());
    let Home { dir, store } = home;
    std::mem::forget(store);
    // The forgotten store holds its lock on the database, so go on with a copy.
    let copy = tempfile::TempDir::new().unwrap();
    for file in ["totalrecall.db", "totalrecall.db-wal"] {
        std::fs::copy(dir.path().join(file), copy.path().join(file)).unwrap();
    }
    let store = totalrecall::store::Store::open(copy.path()).unwrap();
    Home { dir: copy, store }
}

fn order(home: &mut Home) -> Vec<String> {
    let mut order = Vec::new();
    while let Some(job) = home.store.claim_next(10).unwrap() {
        order.push(job.path.clone());
        home.put_job(job, 10, Begin::Anew, &[], &[], None);
    }
    order
}

fn three() -> Home {
    let mut home = home();
    for (at, path) in ["/p/deadly.jsonl", "/p/b.jsonl", "/p/c.jsonl"].iter().enumerate() {
        home.store.enqueue([&found(path, 10)], at as i64).unwrap();
    }
    home
}

#[test]
fn a_machine_that_is_switched_off_does_not_change_the_order() {
    assert_eq!(order(&mut die(three())), ["/p/deadly.jsonl", "/p/b.jsonl", "/p/c.jsonl"]);
}

#[test]
fn what_kills_the_process_again_and_again_comes_last() {
    let mut home = three();
    for _ in 0..5 {
        home = die(home);
    }
    home.store.enqueue([&found("/p/d.jsonl", 10)], 9).unwrap();
    assert_eq!(order(&mut home), ["/p/b.jsonl", "/p/c.jsonl", "/p/d.jsonl", "/p/deadly.jsonl"]);
}

#[test]
fn claims_that_were_not_begun_are_given_back() {
    let mut home = home();
    home.store.enqueue([&found("/p/a.jsonl", 1), &found("/p/b.jsonl", 1)], 0).unwrap();
    let job = home.store.claim_next(0).unwrap().unwrap();
    home.put_job(job, 1, Begin::Anew, &[], &[], None);
    home.store.finish().unwrap();
    home.store.enqueue([&found("/p/c.jsonl", 1)], 0).unwrap();
    assert_eq!(home.store.claim_next(0).unwrap().unwrap().path, "/p/b.jsonl");
}

#[test]
fn what_is_in_a_hurry_comes_before_what_was_claimed() {
    let mut home = three();
    let job = home.store.claim_next(10).unwrap().unwrap();
    home.put_job(job, 10, Begin::Anew, &[], &[], None);
    home.store.hurry(&found("/p/c.jsonl", 10)).unwrap();
    home.store.unclaim().unwrap();
    assert_eq!(order(&mut home), ["/p/c.jsonl", "/p/b.jsonl"]);
    // What was read is not queued again.
    home.store.hurry(&found("/p/c.jsonl", 10)).unwrap();
    assert_eq!(order(&mut home), Vec::<String>::new());
}

#[test]
fn reading_goes_on_only_where_the_file_is_the_same_and_longer() {
    let mut home = home();
    let first = vec![b'a'; 9000];
    let job = home.claim("/p/a.jsonl", 9000);
    let mut end = done(9000);
    end.edges = Edges::read(&mut Cursor::new(&first), 9000).unwrap();
    home.store.ingest(job, Begin::Anew).unwrap().done(&end, 1).unwrap();
    let job = home.job_of("/p/a.jsonl");

    let resumes =
        |bytes: &[u8], stamp: &Stamp| job.resume(PARSER, ANALYZER, stamp, &mut Cursor::new(bytes)).unwrap().is_some();
    let mut grown = first.clone();
    grown.extend_from_slice(b"more");
    assert!(resumes(&grown, &stamp(9004)));
    let mut moved = stamp(9004);
    moved.inode = 99;
    assert!(resumes(&grown, &moved), "copied by an editor or a backup, and appended to");
    grown[0] = b'b';
    assert!(!resumes(&grown, &stamp(9004)), "another head");
    grown[0] = b'a';
    grown[8999] = b'b';
    assert!(!resumes(&grown, &stamp(9004)), "another seam");
    assert!(!resumes(&first[..8000], &stamp(8000)), "shorter");
    assert!(!resumes(&first[..8000], &stamp(9004)), "shorter than it says");
    let mut touched = stamp(9000);
    touched.mtime_ns += 1;
    assert!(!resumes(&first, &touched), "written to without growing");
    let other = |parser: &str, analyzer: &str| {
        job.resume(parser, analyzer, &stamp(9004), &mut Cursor::new([&first[..], b"more"].concat())).unwrap().is_some()
    };
    assert!(other(PARSER, ANALYZER));
    assert!(!other("parser-2", ANALYZER));
    assert!(!other(PARSER, "analyzer-2"));
}
