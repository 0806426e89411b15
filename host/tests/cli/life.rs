//! What happens to transcripts and to the program: growth, replacement, deletion, kills, a second worker, full and read-only
//! disks, hooks.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use crate::support::{User, copy, fixture, settle, touch};

/// What the store knows, without what differs between runs that end the same.
fn known(user: &User) -> serde_json::Value {
    let mut status = user.ok(&["status", "--json"]).json()["status"].take();
    for volatile in ["last_done", "bytes", "queued"] {
        status.as_object_mut().unwrap().remove(volatile);
    }
    let patterns = user.run(&["patterns", "--json", "--limit", "10000"]);
    let patterns = if patterns.code == Some(0) { patterns.json() } else { serde_json::Value::Null };
    serde_json::json!({ "status": status, "patterns": strip_numbers_of_rows(patterns) })
}

/// Like `assert_eq`, but shows only the lines that differ.
fn assert_same(left: &serde_json::Value, right: &serde_json::Value) {
    let (left, right) = (format!("{left:#}"), format!("{right:#}"));
    let differing: Vec<_> = left.lines().zip(right.lines()).filter(|(left, right)| left != right).take(20).collect();
    assert!(left == right, "{differing:#?}");
}

/// Row numbers depend on the order of reading.
fn strip_numbers_of_rows(mut patterns: serde_json::Value) -> serde_json::Value {
    for pattern in patterns.as_array_mut().into_iter().flatten() {
        for place in pattern["evidence"].as_array_mut().into_iter().flatten() {
            place.as_object_mut().unwrap().remove("transcript");
        }
    }
    patterns
}

fn session(user: &User) -> PathBuf {
    user.projects().join("3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl")
}

fn read(user: &User) -> String {
    user.ok(&["worker", "--reconcile"]).err
}

#[test]
fn a_transcript_read_in_pieces_says_what_it_says_whole() {
    let whole = User::with("2.1.120-tui");
    read(&whole);

    let pieces = User::with("2.1.120-tui");
    let path = session(&pieces);
    let text = fs::read(&path).unwrap();
    fs::write(&path, "").unwrap();
    let mut written = 0;
    // Cuts fall into lines as well as between them.
    for cut in [0, 1, 5_000, 20_000, 20_001, 43_210, 60_000, 80_000, text.len()] {
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&text[written..cut]).unwrap();
        written = cut;
        drop(file);
        settle(&path);
        pieces.ok(&["ingest", path.to_str().unwrap()]);
    }
    read(&pieces);
    assert_same(&known(&pieces), &known(&whole));
}

#[test]
fn reading_again_changes_nothing() {
    let user = User::with("2.1.332-tui");
    read(&user);
    let before = known(&user);
    let files: Vec<_> = walk(&user.projects());
    for file in &files {
        user.ok(&["ingest", file.to_str().unwrap()]);
        // Touched, but the same inside: read anew from its beginning.
        let later = fs::metadata(file).unwrap().modified().unwrap() + Duration::from_secs(1);
        fs::File::options().write(true).open(file).unwrap().set_modified(later).unwrap();
    }
    assert!(read(&user).contains(&format!("{} transcripts read", files.len())));
    assert_same(&known(&user), &before);
}

#[test]
fn a_replaced_transcript_replaces_what_was_known_of_it() {
    let user = User::with("2.1.120-tui");
    read(&user);
    let before = known(&user);
    let original = fs::read_to_string(session(&user)).unwrap();

    let shorter: String = original.lines().take(30).map(|line| format!("{line}\n")).collect();
    fs::write(session(&user), shorter).unwrap();
    settle(&session(&user));
    read(&user);
    assert!(known(&user)["status"]["signals"].as_u64() < before["status"]["signals"].as_u64());

    fs::write(session(&user), original).unwrap();
    settle(&session(&user));
    read(&user);
    assert_same(&known(&user), &before);
}

#[test]
fn what_was_known_of_a_deleted_transcript_stays() {
    let user = User::with("2.1.120-tui");
    read(&user);
    let before = known(&user)["patterns"].clone();
    fs::remove_dir_all(user.projects()).unwrap();
    fs::create_dir(user.projects()).unwrap();
    let ran = user.run(&["reconcile"]);
    assert!(ran.err.contains("2 deleted by their tool"), "{ran}");
    user.ok(&["worker"]);
    assert_eq!(known(&user)["patterns"], before);
    assert_eq!(known(&user)["status"]["expired"], 2);
}

#[test]
fn a_transcript_deleted_while_it_waits_is_no_failure() {
    let user = User::with("2.1.120-tui");
    user.ok(&["reconcile"]);
    fs::remove_file(session(&user)).unwrap();
    let ran = user.ok(&["worker"]);
    assert!(ran.err.contains("1 deleted by their tool before they were read"), "{ran}");
    assert_eq!(known(&user)["status"]["failed"], 0);
}

#[test]
fn two_files_with_one_session_id_are_two_sessions() {
    let user = User::with("2.1.332-parallel-calls");
    let file = walk(&user.projects()).remove(0);
    let elsewhere = user.projects().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    // Another session that claims the same id: no event of it is a copy.
    let other = fs::read_to_string(fixture("2.1.332-steering-and-refusal").join(OTHER)).unwrap();
    let id = file.file_stem().unwrap().to_str().unwrap();
    let copy = elsewhere.join(file.file_name().unwrap());
    fs::write(&copy, other.replace(OTHER.trim_end_matches(".jsonl"), id)).unwrap();
    settle(&copy);
    read(&user);
    assert_eq!(known(&user)["status"]["sessions"], 2);
    let rounds: Vec<_> = (0..3).map(|_| read(&user)).collect();
    assert!(rounds.iter().all(|said| said.contains("0 transcripts read")), "{rounds:?}");
}

const OTHER: &str = "075b217f-fbfd-4163-9d79-534c70e85013.jsonl";

#[test]
fn a_session_that_goes_on_is_left_for_later() {
    let user = User::with("2.1.332-parallel-calls");
    let file = walk(&user.projects()).remove(0);
    touch(&file, Duration::from_secs(60));
    let ran = user.ok(&["reconcile"]);
    assert!(ran.err.contains("0 queued (0 B), 1 left for later"), "{ran}");
    fs::create_dir_all(user.state()).unwrap();
    fs::write(user.state().join("config.toml"), "[transcripts]\nsettle-seconds = 30\n").unwrap();
    assert!(user.ok(&["reconcile"]).err.contains("1 queued"));
}

#[test]
fn ignored_paths_are_not_read() {
    let user = User::with("2.1.120-tui");
    fs::create_dir_all(user.state()).unwrap();
    fs::write(user.state().join("config.toml"), "[transcripts]\nignore = [\"**/subagents/**\"]\n").unwrap();
    let ran = user.ok(&["reconcile"]);
    assert!(ran.err.contains("1 queued") && ran.err.contains("1 ignored"), "{ran}");
}

#[test]
fn a_killed_worker_loses_nothing_and_repeats_nothing() {
    // Nothing among these that could be taken for a copy: which of two copies counts depends on which is read first, and after
    // so many kills that is not the older one any more.
    let (user, fresh) = (User::new(), User::new());
    for case in ["2.1.332-steering-and-refusal", "2.1.120-tui", "2.0-tui-rejections", "2.1.332-parallel-calls"] {
        copy(&fixture(case), &user.projects().join(case));
        copy(&fixture(case), &fresh.projects().join(case));
    }
    read(&fresh);
    let expected = known(&fresh);
    let started = Instant::now();
    for round in 0..40_u64 {
        let mut child =
            user.command(&["worker", "--reconcile"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Somewhere in start, reading, commits, or the page.
        std::thread::sleep(Duration::from_micros(500 + round * 1_700));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(started.elapsed() < Duration::from_secs(120), "killing must not make it slow");
    }
    read(&user);
    assert_same(&known(&user), &expected);
    let left: Vec<_> = fs::read_dir(user.state()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(user.ok(&["insights"]).out.starts_with("# What gets in the way"), "{left:?}");
}

#[test]
fn a_second_worker_leaves_the_work_to_the_first() {
    let user = User::new();
    for case in ["2.1.332-headless", "2.1.332-tui", "1.0-resume-chain", "2.0-sidechain-files", "2.1.120-tui"] {
        copy(&fixture(case), &user.projects().join(case));
    }
    user.ok(&["reconcile"]);
    let workers: Vec<_> = (0..6)
        .map(|_| user.command(&["worker"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut said = String::new();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{error}");
        said += &error;
    }
    assert!(said.contains("transcripts read"), "{said}");

    let alone = User::new();
    copy(&user.projects(), &alone.projects());
    read(&alone);
    assert_same(&known(&user), &known(&alone));
}

#[test]
fn ctrl_c_leaves_the_rest_in_the_queue() {
    let user = User::new();
    // Enough to be at it for a while.
    for copy_number in 0..60 {
        copy(&fixture("2.1.332-headless"), &user.projects().join(copy_number.to_string()));
    }
    user.ok(&["reconcile"]);
    let child = user.command(&["worker"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(120));
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let status = user.ok(&["status", "--json"]).json()["status"].take();
    let (done, queued) = (status["done"].as_u64().unwrap(), status["queued"].as_u64().unwrap());
    assert_eq!(done + queued, walk(&user.projects()).len() as u64);
    // On a busy machine the signal may come before the program listens to it, and ends it at once.
    let killed = output.status.code().is_none();
    assert!(queued == 0 || killed || said.contains("interrupted"), "{said}");
    read(&user);
    assert_eq!(user.ok(&["status", "--json"]).json()["status"]["queued"], 0);
}

#[test]
fn damage_in_one_transcript_costs_the_others_nothing() {
    let user = User::with("2.1.332-parallel-calls");
    let folder = user.projects();
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    fs::write(folder.join("garbage.jsonl"), [0xff, 0x00, b'\n', 0x1b, b'[', b'2', b'J', b'\n']).unwrap();
    fs::write(folder.join("torn.jsonl"), "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"half")
        .unwrap();
    fs::write(folder.join("news.jsonl"), "{\"type\":\"hologram\",\"x\":1}\n").unwrap();
    for file in ["empty.jsonl", "garbage.jsonl", "torn.jsonl", "news.jsonl"] {
        settle(&folder.join(file));
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", folder.join("link.jsonl")).unwrap();
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("5 transcripts read"), "{ran}");
    assert!(ran.err.contains("link.jsonl"), "what was not followed is told:\n{ran}");
    let status = user.ok(&["status"]);
    assert!(status.out.contains("record type hologram ×1"), "{status}");
    assert!(!status.out.contains('\u{1b}'));
}

#[test]
fn secrets_do_not_reach_the_disk() {
    let user = User::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = fs::read_to_string(fixture("2.1.332-parallel-calls").join("ad93bee8-324a-4d96-ae1e-d4d900c3cd80.jsonl"));
    let prompt = format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s\",\"timestamp\":\"2026-11-29T00:00:00Z\",\"message\":{{\"role\":\
         \"user\",\"content\":\"No, that is wrong, use {secret} <private>my salary</private> instead\"}}}}\n"
    );
    fs::create_dir_all(user.projects()).unwrap();
    let path = user.projects().join("s.jsonl");
    // Waits in the queue: the adapter keeps it until what becomes of it is told.
    let waiting = format!(
        "{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"2026-11-29T00:00:01Z\",\"sessionId\":\"s\",\
         \"content\":\"then use {secret} <private>my salary</private> again\"}}\n"
    );
    let text = text.unwrap();
    let is_clean = || {
        for file in walk(&user.state()) {
            let bytes = fs::read(&file).unwrap();
            for hidden in [secret.as_bytes(), b"my salary"] {
                assert!(!bytes.windows(hidden.len()).any(|window| window == hidden), "{}", file.display());
            }
        }
    };
    fs::write(&path, format!("{text}{prompt}{waiting}")).unwrap();
    settle(&path);
    read(&user);
    is_clean();
    // Gone on with, it says what it says as a whole.
    fs::write(&path, format!("{text}{prompt}{waiting}{}", prompt.replace("u1", "u2"))).unwrap();
    settle(&path);
    read(&user);
    is_clean();
    let whole = User::new();
    copy(&user.projects(), &whole.projects());
    read(&whole);
    assert_same(&known(&user), &known(&whole));
    assert!(!user.ok(&["analyze", path.to_str().unwrap()]).out.contains(&secret));
}

/// One that may not be written is the store's tests' matter: they take away the rights of a child process.
#[test]
fn a_home_whose_database_is_none_is_told() {
    let user = User::with("2.1.120-tui");
    fs::create_dir(user.state()).unwrap();
    fs::write(user.state().join("totalrecall.db"), "this is no database, it is a letter to my grandmother").unwrap();
    let ran = user.run(&["worker"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.err.contains("totalrecall.db") || ran.err.contains("damaged"), "{ran}");
    assert_eq!(user.run(&["doctor"]).code, Some(1));
}

#[test]
fn a_hook_leaves_a_notice_and_a_worker_reads_the_session() {
    let user = User::with("2.1.120-tui");
    // Just written to: only the client's word makes it ready.
    let path = session(&user);
    let agents: Vec<_> =
        walk(&path.with_extension("")).into_iter().filter(|it| it.extension() == path.extension()).collect();
    assert!(!agents.is_empty());
    for file in agents.iter().chain([&path]) {
        touch(file, Duration::ZERO);
    }
    let event = serde_json::json!({
        "session_id": "3cf2385f", "transcript_path": path, "cwd": "/", "hook_event_name": "SessionEnd", "reason": "other"
    });
    assert_eq!(hook(&user, "SessionEnd", event.to_string().as_bytes(), &[]), 0);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !user.state().join("insights.md").exists() {
        assert!(Instant::now() < deadline, "the worker that the hook started never finished");
        std::thread::sleep(Duration::from_millis(50));
    }
    // With the sub-agent's, which nobody has named.
    assert_eq!(known(&user)["status"]["done"], 2);
}

#[test]
fn a_hook_never_fails() {
    let user = User::with("2.1.120-tui");
    assert_eq!(hook(&user, "Stop", b"not json", &[]), 0);
    assert_eq!(hook(&user, "Stop", b"", &[]), 0);
    assert_eq!(hook(&user, "Stop", b"{\"transcript_path\": 7}", &[]), 0);
    assert_eq!(hook(&user, "Stop", &vec![b'x'; 3 << 20], &[]), 0);
    assert!(!user.state().join("totalrecall.db").exists(), "it never opens the store");
    // Our own children's hooks say nothing.
    let event = serde_json::json!({ "transcript_path": session(&user), "session_id": "s" }).to_string();
    assert_eq!(hook(&user, "Stop", event.as_bytes(), &[("TOTALRECALL_ANALYSIS", "1")]), 0);
    assert!(!user.state().join("inbox").exists());
    assert_eq!(hook(&user, "Stop", event.as_bytes(), &[]), 0);
    assert_eq!(user.run(&["status"]).code, Some(3));
    assert_eq!(fs::read_dir(user.state().join("inbox")).unwrap().count(), 1);

    // A broken configuration is the worker's trouble.
    fs::write(user.state().join("config.toml"), "][").unwrap();
    assert_eq!(hook(&user, "Stop", event.as_bytes(), &[]), 0);
}

#[test]
fn a_notice_can_only_name_what_an_adapter_may_read() {
    let user = User::with("2.1.120-tui");
    let elsewhere = user.home().join("elsewhere.jsonl");
    fs::copy(session(&user), &elsewhere).unwrap();
    let event = serde_json::json!({ "transcript_path": elsewhere, "session_id": "s" }).to_string();
    assert_eq!(hook(&user, "SessionStart", event.as_bytes(), &[]), 0);
    let ran = user.ok(&["worker"]);
    assert!(ran.err.contains("lies in no folder that an adapter reads"), "{ran}");
    assert_eq!(known(&user)["status"]["done"], 0);
}

fn hook(user: &User, event: &str, input: &[u8], environment: &[(&str, &str)]) -> i32 {
    let mut child = user
        .command(&["hook", event])
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may be gone before it was given everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "a hook's output reaches the agent");
    output.status.code().unwrap()
}

/// All files below a folder, by path.
pub(crate) fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}
