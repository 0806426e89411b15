//! Components that someone else made: what a person is shown, what they get, and how each attempt at more ends.

use std::{fs, path::PathBuf};

use crate::{
    guests,
    support::{Ran, User, marked, settle},
};

/// Puts something else between the marks of the greedy guest.
fn greedy(changes: &[(&str, &str)]) -> Vec<u8> {
    marked("greedy", changes)
}

impl User {
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        settle(&path);
        path
    }

    fn add(&self, bytes: &[u8]) -> Ran {
        self.file("downloads/greedy.wasm", bytes);
        self.run(&["adapters", "add", "--yes", "home/downloads/greedy.wasm"])
    }

    fn refused(&self, bytes: &[u8], words: &str) {
        let ran = self.add(bytes);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.err.contains(words), "{ran}");
        assert!(!self.state().join("components").exists(), "nothing of it was kept");
    }
}

#[test]
fn a_person_sees_what_an_adapter_asks_for_and_it_gets_that() {
    let user = User::new();
    user.file("tool/sessions/1.txt", b"greedy\nhello there\n");
    user.file("tool/secrets/2.txt", b"greedy\nnever read\n");
    let component = greedy(&[("root", "~/tool/sessions")]);
    user.file("downloads/greedy.wasm", &component);
    // Nobody is there to ask.
    let asked = user.run(&["adapters", "add", "home/downloads/greedy.wasm"]);
    assert_eq!(asked.code, Some(2), "{asked}");
    assert!(asked.out.contains("[DIR]/home/tool/sessions: files **/*.txt"), "{asked}");
    assert!(!asked.out.contains('\u{1b}'), "its version holds an escape code: {asked}");

    let added = user.ok(&["adapters", "add", "--yes", "home/downloads/greedy.wasm"]);
    assert!(added.out.contains("imports  nothing"), "{added}");
    let list = user.ok(&["adapters", "list", "--json"]).json();
    let row = list["components"].as_array().unwrap().iter().find(|row| row["name"] == "greedy").unwrap().clone();
    assert_eq!((&row["origin"], &row["health"]), (&"added".into(), &"works".into()), "{row}");

    let worked = user.ok(&["worker", "--reconcile"]);
    assert!(worked.err.contains("1 transcript read"), "{worked}");
    assert!(!fs::read(user.state().join("totalrecall.db")).unwrap().windows(10).any(|bytes| bytes == b"never read"));

    let removed = user.ok(&["adapters", "remove", "greedy"]);
    assert!(removed.err.contains("stays"), "{removed}");
    assert_eq!(user.run(&["adapters", "remove", "greedy"]).code, Some(3));
    assert_eq!(user.ok(&["status", "--json"]).json()["status"]["sessions"], 1, "what was read stays");
}

#[test]
fn another_file_under_the_name_is_refused_until_it_is_agreed_to() {
    let user = User::new();
    user.file("tool/1.txt", b"greedy\nhello\n");
    assert_eq!(user.add(&greedy(&[("root", "~/tool")])).code, Some(0));
    user.ok(&["worker", "--reconcile"]);

    // It behaved until it changed.
    user.file("other/1.txt", b"greedy\nother\n");
    let changed = greedy(&[("root", "~/other")]);
    fs::write(user.state().join("components/greedy.wasm"), &changed).unwrap();
    user.file("tool/2.txt", b"greedy\nmore\n");
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("greedy has changed since it was added"), "{ran}");
    assert!(ran.err.contains("0 transcripts read"), "{ran}");
    for arguments in [&["adapters", "list"][..], &["status"]] {
        let told = user.ok(arguments);
        assert!(told.out.contains("has changed since it was added"), "{told}");
    }
    let doctor = user.run(&["doctor"]);
    assert!(doctor.out.contains("has changed since it was added") && doctor.code == Some(1), "{doctor}");

    let again = user.add(&changed);
    assert!(again.out.contains("It replaces greedy") && again.out.contains("asks for other places"), "{again}");
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("1 transcript read"), "{ran}");
    assert!(!user.ok(&["status"]).out.contains("has changed"), "that is over");
}

#[test]
fn a_grant_that_is_edited_by_hand_is_what_is_read_and_no_more() {
    let user = User::new();
    user.file("tool/1.txt", b"greedy\nhello\n");
    assert_eq!(user.add(&greedy(&[("root", "~/tool")])).code, Some(0));
    let record = user.state().join("components/greedy.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("\"version\"", "\"versoin\"")).unwrap();
    let ran = user.ok(&["adapters", "list"]);
    assert!(ran.out.contains("greedy.json cannot be understood"), "{ran}");
    let home = user.home().canonicalize().unwrap();
    let wider = text.replace(&home.join("tool").display().to_string(), &home.display().to_string());
    fs::write(&record, wider).unwrap();
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("it is your home directory") && ran.err.contains("0 transcripts read"), "{ran}");
}

#[test]
fn what_is_too_wide_is_refused_by_name() {
    let user = User::new();
    for (root, words) in [
        ("~/.ssh", "[DIR]/home/.ssh is not granted"),
        ("~/", "it is your home directory, or around it"),
        ("/", "it is the whole file system"),
        ("~/.config", "holds keys or passwords"),
        ("~/tool/../.ssh", "it has `..` in it"),
        ("${XDG_CONFIG_HOME:-~/.gnupg}/x", "holds keys or passwords"),
    ] {
        user.refused(&greedy(&[("root", root)]), words);
    }
    user.refused(&greedy(&[("root", "~/tool"), ("database", "~/.mozilla/cookies.db")]), "holds keys or passwords");
    #[cfg(unix)]
    {
        // A folder that becomes a link after it was agreed to.
        let other = User::new();
        other.file("secret/1.txt", b"greedy\nsecret\n");
        fs::create_dir(other.home().join("tool")).unwrap();
        assert_eq!(other.add(&greedy(&[("root", "~/tool")])).code, Some(0));
        fs::remove_dir(other.home().join("tool")).unwrap();
        std::os::unix::fs::symlink(other.home().join("secret"), other.home().join("tool")).unwrap();
        let ran = other.ok(&["worker", "--reconcile"]);
        assert!(ran.err.contains("leads elsewhere since greedy was added"), "{ran}");
        assert!(ran.err.contains("0 transcripts read"), "{ran}");

        fs::create_dir_all(user.home().join(".ssh")).unwrap();
        std::os::unix::fs::symlink(user.home().join(".ssh"), user.home().join("innocent")).unwrap();
        user.refused(&greedy(&[("root", "~/innocent")]), "[DIR]/home/.ssh is not granted");
    }
}

#[test]
fn names_and_tools_of_others_are_taken() {
    let user = User::new();
    let rename = |bytes: &[u8], from: &[u8], to: &[u8]| {
        let mut bytes = bytes.to_vec();
        let mut at = 0;
        while let Some(found) = bytes[at..].windows(from.len()).position(|window| window == from) {
            bytes[at + found..at + found + from.len()].copy_from_slice(to);
            at += found + from.len();
        }
        bytes
    };
    let component = greedy(&[("root", "~/tool")]);
    user.refused(&rename(&component, b"greedy", b"../../"), "is no name for a component");
    user.refused(&rename(&component, b"greedy", b"codex\0"), "is no name for a component");
}

#[test]
fn a_component_that_is_none_is_told_apart() {
    let user = User::new();
    user.refused(b"hello", "no WebAssembly component");
    user.refused(b"\0asm\x01\0\0\0", "no WebAssembly component");
    // One that imports WASI is told, and gets nothing of it (`tests/sandbox/wasi.rs`).
    user.file("downloads/nosy.wasm", guests::guest("nosy").bytes());
    let nosy = user.ok(&["adapters", "add", "--yes", "home/downloads/nosy.wasm"]);
    assert!(nosy.out.contains("imports  WASI, with nothing behind it"), "{nosy}");
    assert!(nosy.out.contains("nothing but what you name"), "{nosy}");
}

#[test]
fn hostile_sql_ends_in_a_named_refusal() {
    let user = User::new();
    let kept = user.home().join("tool");
    fs::create_dir_all(&kept).unwrap();
    totalrecall::transcript::database::make(
        &kept.join("tool.db"),
        "CREATE TABLE message (session TEXT, text TEXT); INSERT INTO message VALUES ('a', 'greedy');",
    )
    .unwrap();
    settle(&kept.join("tool.db"));
    let before = fs::read(kept.join("tool.db")).unwrap();
    let sessions = "SELECT session, 1 FROM message";
    let rows = "SELECT text FROM message WHERE session = :key";
    for (sessions, rows, words) in [
        ("ATTACH '/etc/passwd' AS p", rows, "the adapter's SQL was refused"),
        ("PRAGMA user_version = 3", rows, "the adapter's SQL was refused"),
        ("DELETE FROM message RETURNING session, 1", rows, "the adapter's SQL was refused"),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x, x FROM n",
            rows,
            "went past the limit `sql-steps`",
        ),
        (sessions, "ATTACH '/etc/passwd' AS p", "the adapter's SQL was refused"),
    ] {
        let component =
            greedy(&[("root", "~/none"), ("database", "~/tool/tool.db"), ("sessions", sessions), ("rows", rows)]);
        assert_eq!(user.add(&component).code, Some(0));
        user.ok(&["init"]);
        fs::write(user.state().join("config.toml"), "[sandbox]\nsql-steps = 5000000\n").unwrap();
        let ran = user.ok(&["worker", "--reconcile"]);
        assert!(ran.err.contains(words), "{rows}: {ran}");
        let status = user.ok(&["status"]);
        assert!(status.out.contains(words) && status.out.contains("remove the adapter"), "{status}");
        let doctor = user.run(&["doctor"]);
        assert!(doctor.out.contains(words), "{doctor}");
    }
    let honest = greedy(&[("root", "~/none"), ("database", "~/tool/tool.db"), ("sessions", sessions), ("rows", rows)]);
    assert_eq!(user.add(&honest).code, Some(0));
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("1 transcript read"), "{ran}");
    assert!(!user.ok(&["status"]).out.contains("trouble"), "that is over");
    assert!(fs::read(kept.join("tool.db")).unwrap() == before, "the tool's database is as it was");
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 1, "nothing lies beside it");
}

#[test]
fn what_an_adapter_says_is_bounded_and_harms_no_one() {
    let user = User::with("2.1.120-tui");
    for (name, line) in
        [("1", "escape"), ("2", "year 9999"), ("3", "ten million"), ("4", "a gigabyte"), ("5", "long names")]
    {
        user.file(&format!("tool/{name}.txt"), format!("greedy\n{line}\n").as_bytes());
    }
    assert_eq!(user.add(&greedy(&[("root", "~/tool")])).code, Some(0));
    let ran = user.ok(&["worker", "--reconcile"]);
    let status = user.ok(&["status", "--json"]).json();
    let failures = status["failures"].as_array().unwrap();
    let failed = |name: &str| {
        let found = failures.iter().find(|it| it["path"].as_str().unwrap().ends_with(name));
        found.map(|it| (it["kind"].as_str().unwrap().to_owned(), it["why"].as_str().unwrap().to_owned()))
    };
    for (name, limits) in [("3.txt", ["answer-items", "memory-bytes"]), ("4.txt", ["answer-bytes", "memory-bytes"])] {
        let (kind, why) = failed(name).unwrap_or_else(|| panic!("{name} goes unnoticed: {ran}"));
        assert!(kind == "limit" && limits.iter().any(|limit| why.contains(limit)), "{name}: {kind}: {why}");
    }
    assert_eq!(failures.len(), 2, "{failures:?}");
    // Claude Code's transcripts and the harmless part of these are all there.
    assert!(status["status"]["done"].as_u64().unwrap() >= 4, "{status}");

    let report = user.ok(&["analyze", "--format", "json", "home/tool/1.txt", "home/tool/2.txt", "home/tool/5.txt"]);
    let sessions = report.json_lines();
    assert_eq!(sessions.len(), 3);
    // One each for: id, cwd, branch, version, call id and name, path, result's call, thread, key and record type.
    assert!(sessions[0]["tally"]["broken"].as_u64().unwrap() >= 8, "{}", sessions[0]["tally"]);
    assert_eq!(sessions[1]["tally"]["broken"], 4, "four times that are none");
    assert!(sessions[1]["started_at"].as_str().unwrap().starts_with("2025-11-24"), "{}", sessions[1]);
    assert_eq!(sessions[2]["tally"]["broken"], 3, "two names that are too long, and too many paths");
    let analyzed = user.ok(&["analyze", "home/tool"]);
    for ran in [&ran, &analyzed, &user.ok(&["status"]), &user.ok(&["insights"]), &user.ok(&["patterns"])] {
        for bad in ['\u{1b}', '\u{7}', '\u{202e}'] {
            assert!(!ran.out.contains(bad) && !ran.err.contains(bad), "{bad:?} reaches the terminal: {ran}");
        }
    }
}

#[test]
fn an_adapter_may_be_used_for_one_run() {
    let user = User::new();
    user.file("artifacts/sessions/1.txt", b"greedy\nhello\n");
    user.file("greedy.wasm", &greedy(&[("root", "~/.greedy/sessions")]));
    let ran = user.ok(&["analyze", "--json", "--adapter", "home/greedy.wasm", "--grant", "home/artifacts"]);
    assert_eq!(ran.json_lines().len(), 1, "{ran}");
    assert_eq!(ran.json_lines()[0]["tool"], "greedy");
    assert!(!user.state().exists(), "nothing is kept");
}

#[test]
fn an_added_analyzer_speaks_under_its_own_name() {
    let user = User::new();
    user.file("downloads/counter.wasm", guests::guest("counter").bytes());
    user.file("downloads/greedy.wasm", &greedy(&[("root", "~/tool")]));
    let added = user.ok(&["adapters", "add", "--yes", "home/downloads/counter.wasm"]);
    assert!(added.out.contains("counter/todo: The person speaks of something to do."), "{added}");
    user.ok(&["adapters", "add", "--yes", "home/downloads/greedy.wasm"]);
    user.file("tool/1.txt", b"greedy\nthere is a todo\nthis is a lie\n");
    user.file("tool/3.txt", b"greedy\nanother todo\n");
    user.file("tool/2.txt", b"greedy\na todo\nthen a crash\nanother todo\n");
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("3 transcripts read") && ran.err.contains("counter crashed"), "{ran}");
    let patterns = user.ok(&["patterns", "--json"]).json().to_string();
    assert!(patterns.contains("counter/todo") && !patterns.contains("pretends to be another"), "{patterns}");
    let page = user.ok(&["insights"]);
    assert!(page.out.contains("something to do"), "its signals are on the page like ours: {page}");
    assert!(!page.out.contains('\u{1b}'), "{page}");
    let status = user.ok(&["status"]);
    assert!(status.out.contains("counter crashed in `observe`"), "{status}");

    // Its settings, its removal.
    fs::write(user.state().join("config.toml"), "[signals]\n\"counter/word\" = \"there\"\n").unwrap();
    let ran = user.ok(&["worker"]);
    assert!(ran.err.contains("3 analysed again"), "{ran}");
    let removed = user.ok(&["adapters", "remove", "counter"]);
    assert!(removed.err.contains("Its signals go"), "{removed}");
    fs::remove_file(user.state().join("config.toml")).unwrap();
    user.ok(&["worker"]);
    assert_eq!(user.run(&["patterns", "--json"]).out, "[]\n", "they were its alone");
}
