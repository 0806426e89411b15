//! Several real processes at one store, and processes that are killed. The test program starts itself as the child.

use std::{
    env,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use totalrecall::{
    event::Event,
    store::{Begin, Finality, LockError, Role, Store, StoreError, WorkerLock},
};

use crate::support::{ADAPTER, Home, done, facts, found, home, says, texts};

const CHILD: &str = "TOTALRECALL_TEST_CHILD";
const FILES: usize = 200;
const EVENTS: u64 = 150;

fn start(role: &str, home: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--ignored", "--nocapture"])
        .env(CHILD, role)
        .env("TOTALRECALL_TEST_HOME", home)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "what the other tests start as a process"]
fn child() {
    let (Ok(role), Ok(home)) = (env::var(CHILD), env::var("TOTALRECALL_TEST_HOME")) else { return };
    let home = Path::new(&home);
    match role.as_str() {
        "work" => {
            let mut store = Store::open(home).unwrap();
            while let Some(job) = store.claim_next(0).unwrap() {
                work(&mut store, job);
            }
            store.finish().unwrap();
        }
        "lock" => {
            // The parent takes it now and then to see whether we have it.
            let _lock = loop {
                match WorkerLock::take(home) {
                    Err(LockError::Busy { .. }) => thread::sleep(Duration::from_millis(1)),
                    other => break other.unwrap(),
                }
            };
            thread::sleep(Duration::from_secs(60));
        }
        "write" => {
            let mut store = Store::open(home).unwrap();
            let process = std::process::id();
            for number in 0..100 {
                store.enqueue([&found(&format!("/by/{process}/{number}.jsonl"), 1)], number).unwrap();
            }
        }
        "read-only" => {
            assert!(matches!(Store::open(home), Err(StoreError::ReadOnly(_))));
            let mut store = Store::open_read_only(home).unwrap();
            assert_eq!(store.sessions().unwrap().len(), 1);
            assert!(matches!(store.enqueue([&found("/p/x.jsonl", 1)], 0), Err(StoreError::ReadOnly(_))));
            assert!(matches!(WorkerLock::take(home), Err(LockError::Io { .. })));
        }
        other => panic!("{other}"),
    }
}

fn events(path: &str) -> Vec<Event> {
    (1..=EVENTS).map(|line| says(line, &format!("{path} {line}"), &format!("{path} says {line}"))).collect()
}

fn work(store: &mut Store, job: totalrecall::store::Job) {
    let path = job.path.clone();
    let mut ingest = store.ingest(job, Begin::Anew).unwrap();
    for part in events(&path).chunks(50) {
        let mut part = part.to_vec();
        ingest.mark_copied(&mut part).unwrap();
        ingest.add_events(&part, Finality::Settled).unwrap();
    }
    ingest.set_session(facts(&path, Role::Main));
    ingest.done(&done(10), 1).unwrap();
}

fn path(number: usize) -> String {
    format!("/p/{number}.jsonl")
}

/// Every transcript is either as it was or wholly there; nothing is lost, nothing is there twice.
fn assert_whole(home: &Home) -> usize {
    let known = home.store.survey(ADAPTER, &[], &[]).unwrap().absent;
    assert_eq!(known.len(), FILES);
    home.store.check().unwrap();
    let mut whole = 0;
    for row in known {
        let (stored, next) = home.store.events(row.id, 0, 10_000).unwrap();
        assert_eq!(next, None);
        let job = home.store.job(row.id).unwrap().unwrap();
        if job.session.is_some() {
            assert_eq!(texts(&stored), texts(&events(&row.path)));
            assert_eq!(job.resume.unwrap().checkpoint.offset, 10);
            whole += 1;
        } else {
            assert_eq!((stored.len(), job.resume.is_none()), (0, true));
        }
    }
    let status = home.store.status().unwrap();
    assert_eq!((status.done, status.queued), (whole as u64, (FILES - whole) as u64));
    assert_eq!((status.sessions, status.events), (whole as u64, whole as u64 * EVENTS));
    whole
}

#[test]
fn a_killed_worker_leaves_each_transcript_old_or_new() {
    let mut first = home();
    let all: Vec<_> = (0..FILES).map(|number| found(&path(number), 10)).collect();
    first.store.enqueue(&all, 0).unwrap();
    first.store.finish().unwrap();
    let dir = first.dir;
    drop(first.store);
    let mut kills = 0;
    for round in 0_u64.. {
        let mut child = start("work", dir.path());
        let wait = Duration::from_millis(40 + (round * 67) % 300);
        let until = Instant::now() + wait;
        let mut ended = false;
        while !ended && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
            ended = child.try_wait().unwrap().is_some();
        }
        if !ended {
            child.kill().unwrap();
            kills += 1;
        }
        let status = child.wait().unwrap();
        let home = Home { store: Store::open(dir.path()).unwrap(), dir: TempDir::new().unwrap() };
        let whole = assert_whole(&home);
        if ended {
            assert!(status.success());
            assert_eq!(whole, FILES);
            break;
        }
        // Slow machines need longer than the longest wait above to get a batch done.
        if round > 20 {
            assert!(start("work", dir.path()).wait().unwrap().success());
        }
    }
    assert!(kills > 0, "nothing was killed: the test proves nothing");
}

#[test]
fn a_killed_worker_leaves_no_lock() {
    let dir = TempDir::new().unwrap();
    let mut child = start("lock", dir.path());
    let until = Instant::now() + Duration::from_secs(20);
    while WorkerLock::take(dir.path()).is_ok() {
        assert!(Instant::now() < until, "the child never took the lock");
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(WorkerLock::take(dir.path()).unwrap());
}

/// Several writers, the worker's long transactions and readers get in each other's way and lose nothing.
#[test]
fn writers_wait_for_each_other() {
    let mut first = home();
    let all: Vec<_> = (0..FILES).map(|number| found(&path(number), 10)).collect();
    first.store.enqueue(&all, 0).unwrap();
    let mut children: Vec<_> = ["work", "write", "write", "write"].map(|role| start(role, first.dir.path())).into();
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        // What a reader sees is whole at any time.
        let status = first.store.status().unwrap();
        assert!(status.done <= status.sessions && status.events == status.sessions * EVENTS, "{status:?}");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    assert!(start("work", first.dir.path()).wait().unwrap().success());
    let status = first.store.status().unwrap();
    assert_eq!((status.queued, status.done), (0, FILES as u64 + 300));
}

/// As a user who may not write: permissions do not bind the administrator.
#[test]
#[cfg(unix)]
fn a_home_that_may_not_be_written_can_be_read() {
    use std::{fs, os::unix::fs::PermissionsExt, os::unix::process::CommandExt};
    const NOBODY: u32 = 65534;
    let mut first = home();
    first.put("/p/a.jsonl", 10, Begin::Anew, &[says(1, "u", "one")], &[], Some(facts("a", Role::Main)));
    first.store.finish().unwrap();
    let file = first.dir.path().join(totalrecall::store::FILE);
    let dir = first.dir;
    drop(first.store);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&file, 0o444);
    mode(dir.path(), 0o555);
    // The test program itself may lie where others cannot look.
    let program = TempDir::new().unwrap();
    mode(program.path(), 0o755);
    let copy = program.path().join("child");
    fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    mode(&copy, 0o755);
    let administrator = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let mut child = Command::new(&copy);
    child.args(["--exact", "processes::child", "--ignored", "--nocapture"]).env(CHILD, "read-only");
    child.env("TOTALRECALL_TEST_HOME", dir.path()).current_dir("/");
    if administrator {
        child.uid(NOBODY).gid(NOBODY);
    }
    let output = child.output().unwrap();
    mode(dir.path(), 0o755);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
