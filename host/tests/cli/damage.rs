//! What tools leave behind when something goes wrong: each is told with its place and what to do, and costs nothing else.

use std::fs;

use crate::support::{User, fixtures, settle};

#[test]
fn everything_that_is_damaged_is_told_and_the_rest_is_read() {
    let user = User::with("2.1.120-tui");
    let data = user.home().join(".local/share/opencode");
    fs::create_dir_all(&data).unwrap();
    let case = fixtures().join("opencode/1.18-fork-and-subagent/transcripts");
    totalrecall::conformance::lay_out(&case, &user.home().join("whole")).unwrap();
    let whole = fs::read(user.home().join("whole/opencode.db")).unwrap();
    // Each under a name that OpenCode's channels could have.
    fs::write(data.join("opencode-good.db"), &whole).unwrap();
    fs::write(data.join("opencode-cut.db"), &whole[..whole.len() / 2]).unwrap();
    fs::write(data.join("opencode-empty.db"), "").unwrap();
    fs::write(data.join("opencode-text.db"), "not what it seems").unwrap();
    fs::create_dir(data.join("opencode-folder.db")).unwrap();
    totalrecall::transcript::database::make(
        &data.join("opencode-newer.db"),
        "CREATE TABLE session (id TEXT, created_at INTEGER); CREATE TABLE message (id TEXT);",
    )
    .unwrap();
    // Rollouts: half of the first line, a torn line in the middle, an empty one.
    let sessions = user.home().join(".codex/sessions/2026/11/30");
    fs::create_dir_all(&sessions).unwrap();
    let meta = r#"{"timestamp":"2026-11-30T10:00:00.000Z","type":"session_meta","payload":{"id":"1","cwd":"/x"}}"#;
    fs::write(sessions.join("rollout-2026-11-30T10-00-00-1.jsonl"), &meta[..40]).unwrap();
    fs::write(sessions.join("rollout-2026-11-30T10-00-00-2.jsonl"), format!("{meta}\n{}\n{meta}\n", &meta[..60]))
        .unwrap();
    fs::write(sessions.join("rollout-2026-11-30T10-00-00-3.jsonl"), "").unwrap();
    fs::write(sessions.join("rollout-2026-11-30T10-00-00-4.jsonl.zst"), "no frame").unwrap();
    for file in crate::life::walk(&user.home()) {
        settle(&file);
    }

    let ran = user.ok(&["worker", "--reconcile"]);
    let status = user.ok(&["status"]);
    let doctor = user.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor}");
    for (place, why, hint) in [
        ("opencode-cut.db", "it is damaged", "integrity_check"),
        ("opencode-empty.db", "it is empty", "start the tool once"),
        ("opencode-text.db", "not an SQLite database", "move it away"),
        ("opencode-folder.db", "it is not a file", "move it away"),
        ("opencode-newer.db", "not those of any version", "look for a newer totalrecall"),
    ] {
        for told in [&status, &doctor] {
            let at = told.out.find(place).unwrap_or_else(|| panic!("{place} is not told: {told}"));
            let lines: String = told.out[at..].lines().take(3).collect();
            assert!(lines.contains(why) && lines.contains(hint), "{place}: {told}");
        }
        assert!(ran.err.contains(place), "{ran}");
    }
    let failed = user.ok(&["status", "--json"]).json();
    let failures = failed["failures"].to_string();
    assert!(failures.contains("-4.jsonl.zst") && !failures.contains("-1.jsonl"), "{failures}");
    assert!(status.out.contains("1 record could not be read"), "the torn line: {status}");
    // Claude Code's two, the good database, the rollouts that can be read.
    assert!(failed["status"]["done"].as_u64().unwrap() >= 6, "{failed}");

    // What was repaired is read, and is over.
    fs::remove_dir(data.join("opencode-folder.db")).unwrap();
    fs::remove_file(data.join("opencode-newer.db")).unwrap();
    for name in ["cut", "empty", "text"] {
        let file = data.join(format!("opencode-{name}.db"));
        fs::write(&file, &whole).unwrap();
        settle(&file);
    }
    user.ok(&["worker", "--reconcile"]);
    let status = user.ok(&["status"]);
    assert!(!status.out.contains("trouble"), "{status}");
}

#[test]
fn codex_home_and_compressed_rollouts() {
    let user = User::new();
    let codex = user.home().join("elsewhere/codex");
    let case = fixtures().join("codex/0.171-headless/transcripts");
    totalrecall::conformance::lay_out(&case, &codex).unwrap();
    let files: Vec<_> =
        crate::life::walk(&codex).into_iter().filter(|file| file.to_string_lossy().contains("rollout-")).collect();
    let signals = |user: &User| -> Vec<serde_json::Value> {
        let mut sessions = user.ok(&["analyze", "--json", "home/elsewhere/codex"]).json_lines();
        sessions.iter_mut().for_each(|session| session["path"] = serde_json::Value::Null);
        sessions
    };
    let plain = signals(&user);
    assert!(!plain.is_empty());
    for file in &files {
        let mut name = file.as_os_str().to_owned();
        name.push(".zst");
        let bytes = fs::read(file).unwrap();
        fs::write(&name, ruzstd::encoding::compress_to_vec(&bytes[..], ruzstd::encoding::CompressionLevel::Fastest))
            .unwrap();
    }
    assert_eq!(signals(&user), plain, "a compressed one beside the plain one is the same");
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    assert_eq!(signals(&user), plain, "and says the same alone");

    for file in crate::life::walk(&user.home()) {
        settle(&file);
    }
    let mut worker = user.command(&["worker", "--reconcile"]);
    let ran = worker.env("CODEX_HOME", &codex).output().unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(told.contains(&format!("{} transcript", files.len())), "{told}");
    assert_eq!(user.ok(&["status", "--json"]).json()["status"]["done"], files.len());
}

#[test]
fn sessions_that_are_deleted_from_a_database_expire_and_those_of_a_named_one_stay() {
    let user = User::new();
    let case = fixtures().join("opencode/1.18-fork-and-subagent/transcripts");
    let database = user.home().join(".local/share/opencode/opencode.db");
    totalrecall::conformance::lay_out(&case, database.parent().unwrap()).unwrap();
    totalrecall::conformance::lay_out(&case, &user.home().join("elsewhere")).unwrap();
    settle(&database);
    let count = |what: &str| user.ok(&["status", "--json"]).json()["status"][what].as_u64().unwrap();
    user.ok(&["sync-opencode"]);
    let known = count("done");
    assert!(known >= 2);
    user.ok(&["ingest", "home/elsewhere/opencode.db"]);
    assert_eq!(count("done"), 2 * known);

    // Ignored is not opened and not forgotten; what was ignored and is not any more is read.
    let config = user.state().join("config.toml");
    fs::write(&config, "[transcripts]\nignore = [\"**/opencode.db\"]\n").unwrap();
    user.ok(&["worker", "--reconcile"]);
    fs::remove_file(&config).unwrap();

    // Nothing has changed: nothing is looked at, and nothing is taken for deleted.
    let ran = user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("0 transcripts read"), "{ran}");
    assert_eq!((count("done"), count("expired")), (2 * known, 0));

    totalrecall::transcript::database::make(
        &database,
        "PRAGMA foreign_keys = OFF; DELETE FROM session WHERE id = (SELECT max(id) FROM session);",
    )
    .unwrap();
    user.ok(&["worker", "--reconcile"]);
    assert_eq!((count("done"), count("expired")), (2 * known - 1, 1), "one is deleted; the named database is another");
}
