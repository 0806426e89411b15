//! What a person wants taken out besides secrets: before anything is stored, and out of what is stored already.

use std::{collections::BTreeMap, fs};

use serde_json::json;
use totalrecall::{event::Event, store::Store};

use crate::{
    memory::database,
    support::{Ran, User},
};

const PRIVACY: &str = "[privacy]\nfields = ['x-internal-key']\nhosts = ['corp.example']\nprivate-addresses = true\npatterns = ['CUST-\\d+', 'pytest']\n";

pub(crate) fn settings(user: &User, text: &str) {
    fs::create_dir_all(user.state()).unwrap();
    fs::write(user.state().join("config.toml"), text).unwrap();
}

fn scan(user: &User, more: &[&str]) -> Ran {
    user.ok(&[&["secrets", "scan"], more].concat())
}

/// Does any file of the home but the settings hold this text? Indexes and the database are files, too.
fn holds(user: &User, text: &str) -> bool {
    let settings = user.state().join("config.toml");
    crate::life::walk(&user.state()).iter().filter(|file| **file != settings).any(|file| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

fn events(user: &User) -> BTreeMap<String, Vec<Event>> {
    let store = Store::open_read_only(&user.state()).unwrap();
    let mut all = BTreeMap::new();
    for session in store.sessions().unwrap() {
        for transcript in store.transcripts(session.id).unwrap() {
            all.insert(transcript.path.clone(), store.events(transcript.id, 0, 100_000).unwrap().0);
        }
    }
    all
}

#[test]
fn what_is_named_is_taken_out_before_it_is_stored() {
    let user = User::with("2.1.120-tui");
    settings(&user, PRIVACY);
    user.ok(&["worker", "--reconcile"]);
    user.ok(&["remember", "CUST-12 is served from db.corp.example (10.1.2.3), X-Internal-Key: abc123"]);
    let ran = user.ok(&["recall"]);
    let expected =
        "[redacted:pattern] is served from [redacted:host] ([redacted:address]), X-Internal-Key: [redacted:field]";
    assert!(ran.out.contains(expected), "{ran}");
    for gone in ["pytest", "corp.example", "CUST-12", "10.1.2.3", "abc123"] {
        assert!(!holds(&user, gone), "{gone}");
    }
    assert!(!user.ok(&["status"]).out.contains("privacy"), "all of it was stored so");
    assert_eq!(scan(&user, &["--json"]).json()["found"], serde_json::json!({}));
}

#[test]
fn what_was_stored_before_is_found_told_and_taken_out() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let about = ["--tags", "CUST-12,keep", "--ticket", "CUST-12", "--importance", "critical"];
    user.ok(&[&["remember", "Customer CUST-12 is on db.corp.example"], &about[..]].concat());
    // What sessions are told, and what one would be told that was compacted just now.
    let inject = user.state().join("inject");
    assert!(fs::read_to_string(inject.join("everywhere.json")).unwrap().contains("CUST-12"));
    fs::create_dir_all(inject.join("compacted")).unwrap();
    fs::write(inject.join("compacted/some.json"), "{\"place\":null,\"lines\":[],\"note\":\"CUST-12\"}").unwrap();
    fs::write(user.state().join("insights.html"), "CUST-12").unwrap();
    fs::write(user.folder().join("notes.md"), "pytest of CUST-99\n10.0.0.7 and 8.8.8.8\nsee src/CUST-99/a.rs").unwrap();
    user.ok(&["chunk", "save", "notes.md", "--summary", "About CUST-99"]);
    assert!(!user.ok(&["status"]).out.contains("privacy"));
    assert_eq!(scan(&user, &["--json"]).json()["found"], serde_json::json!({}));

    settings(&user, PRIVACY);
    let status = user.ok(&["status"]).out;
    assert!(
        status.contains("privacy      [privacy] has changed since texts were stored: `totalrecall secrets scan`"),
        "{status}"
    );
    let shown = [user.ok(&["recall"]), user.ok(&["chunk", "show", "2026-12-01_none_001"])];
    assert!(
        shown.iter().all(|it| it.out.contains("[redacted:pattern]") && !it.out.contains("of CUST")),
        "{}",
        shown[0]
    );
    let ran = scan(&user, &[]);
    for secret in ["CUST-", "corp.example", "10.0.0.7", "pytest"] {
        assert!(!ran.to_string().contains(secret), "{secret}: {ran}");
        assert!(holds(&user, secret), "{secret}: looking changes nothing");
    }
    let found = scan(&user, &["--json"]).json();
    let of = |kind: &str| found["found"][kind].clone();
    // The address is an entity of the chunk as well.
    assert_eq!((of("host")["count"].as_u64(), of("address")["count"].as_u64()), (Some(1), Some(2)), "{found}");
    assert_eq!(of("address")["places"], serde_json::json!(["2026-12-01_none_001"]));
    let places = of("pattern")["places"].to_string();
    assert!(places.contains("\"e1.") && places.contains("2026-12-01_none_001"), "{places}");

    let before = events(&user);
    let removals =
        Store::open_read_only(&user.state()).unwrap().removals_after(0).unwrap().last().map_or(0, |it| it.id);
    let indexed =
        || crate::life::walk(&user.state()).iter().filter(|it| it.to_string_lossy().contains("/words/")).count();
    assert!(indexed() > 0);
    let refused = scan(&user, &["--fix"]);
    assert!(refused.err.contains("Nothing was taken out."), "{refused}");
    let ran = scan(&user, &["--fix", "--yes"]);
    assert!(ran.err.contains("taken out. `totalrecall reindex` makes"), "{ran}");
    for secret in ["CUST-", "corp.example", "10.0.0.7"] {
        assert!(!holds(&user, secret), "{secret}");
    }
    assert_eq!(indexed(), 0, "words lie in the files of an index, too");
    assert!(
        fs::read_to_string(inject.join("everywhere.json")).unwrap().contains("redacted"),
        "the rest is told as before"
    );
    let after = events(&user);
    let (mut same, mut other) = (0, 0);
    for (path, events) in &before {
        assert_eq!(events.len(), after[path].len());
        for (old, new) in events.iter().zip(&after[path]) {
            let (old, new) = (serde_json::to_string(old).unwrap(), serde_json::to_string(new).unwrap());
            if old == new {
                same += 1;
                continue;
            }
            other += 1;
            // A session's folder is what it is filed under, and stays.
            assert!(old.contains("pytest") && new.contains("[redacted:pattern]"), "{old}\n{new}");
        }
    }
    assert!(same > 10 && other > 0, "{same} {other}");
    let store = Store::open_read_only(&user.state()).unwrap();
    assert!(!store.removals_after(removals).unwrap().is_empty(), "indexes forget what was there");
    let memory = &store.memories().unwrap()[0];
    assert_eq!(memory.content, "Customer [redacted:pattern] is on [redacted:host]");
    assert_eq!(
        (memory.tags.join(","), memory.ticket.as_deref()),
        ("[redacted:pattern],keep".to_owned(), Some("[redacted:pattern]"))
    );
    let chunk = store.chunks().unwrap().remove(0);
    assert_eq!(chunk.summary, "About [redacted:pattern]");
    drop(store);
    assert_eq!(
        user.ok(&["chunk", "show", "2026-12-01_none_001", "--lines", "2"]).out,
        "[redacted:address] and 8.8.8.8\n"
    );
    assert_eq!(scan(&user, &["--json"]).json()["found"], serde_json::json!({}));
    assert!(!user.ok(&["status"]).out.contains("privacy"));
    // It reads on as before, and the page can be made.
    user.ok(&["worker", "--reconcile"]);
    user.ok(&["insights", "--renew"]);
    let check: String = database(&user).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn a_secret_that_got_in_is_found_by_its_kind() {
    let user = User::new();
    user.ok(&["remember", "placeholder"]);
    let secret = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    // As an older version may have stored it.
    database(&user).execute("UPDATE memory SET content = ?1", [format!("token: {secret}")]).unwrap();
    let ran = scan(&user, &[]);
    assert!(ran.out.contains("github-token") && !ran.to_string().contains(&secret), "{ran}");
    scan(&user, &["--fix", "--yes"]);
    assert!(!holds(&user, &secret));
    assert_eq!(scan(&user, &["--json"]).json()["found"], serde_json::json!({}));
}

#[test]
fn what_is_archived_is_looked_at_too() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    fs::write(user.folder().join("notes.md"), "for CUST-77012 only").unwrap();
    user.ok(&["chunk", "save", "notes.md", "--summary", "x"]);
    let mut store = Store::open(&user.state()).unwrap();
    let session = store.sessions().unwrap()[0].id;
    let chunk = store.chunks().unwrap()[0].row;
    store.archive_chunk(chunk, 1_796_000_000_000).unwrap();
    store.archive_session(session, 1_796_000_000_000).unwrap().unwrap();
    drop(store);
    settings(&user, "[privacy]\npatterns = ['CUST-\\d+', 'ZeroDivisionError']\n");
    let found = scan(&user, &["--json"]).json();
    let places = found["found"]["pattern"]["places"].to_string();
    assert!(places.contains("2026-12-01_none_001") && places.contains("\"e1."), "{found}");
    scan(&user, &["--fix", "--yes"]);
    assert_eq!(scan(&user, &["--json"]).json()["found"], serde_json::json!({}));
    assert_eq!(user.ok(&["chunk", "show", "2026-12-01_none_001"]).out, "for [redacted:pattern] only\n");
    assert!(!format!("{:?}", events(&user)).contains("ZeroDivisionError"));
}

/// A way to look at what is stored: a verb of the program's, or a tool of the server.
#[test]
fn what_was_stored_before_is_shown_to_nobody() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let kept = user.ok(&["remember", "Customer CUST-12 is on db.corp.example", "--tags", "CUST-12", "--json"]).json();
    let memory = kept["id"].as_str().unwrap();
    fs::write(user.folder().join("notes.md"), "The customer\nCUST-99 called about src/CUST-99/a.rs\nand pytest")
        .unwrap();
    user.ok(&["chunk", "save", "notes.md", "--summary", "About CUST-99", "--tags", "CUST-99", "--domain", "CUST-99"]);
    let patterns = user.ok(&["patterns", "--json", "--limit", "100"]).json();
    let mut ids = patterns.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap());
    user.ok(&["patterns", "rename", ids.find(|id| id.contains("pytest")).unwrap(), "CUST-12 wants pytest"]);
    user.ok(&["insights", "--renew"]);
    let event = user.ok(&["grep", "pytest", "--kind", "call", "--json"]).json()["lines"][0]["id"].clone();
    let event = event.as_str().unwrap();
    let looks: &[&[&str]] = &[
        &["search", "customer"],
        &["search", "pytest"],
        &["grep", "customer"],
        &["grep", "pytest"],
        &["timeline"],
        &["timeline", "--kind", "prompt,memory,chunk"],
        &["show", memory, "2026-12-01_none_001", event, "s1"],
        &["recall"],
        &["recall", "customer", "--all"],
        &["chunk", "list"],
        &["chunk", "show", "2026-12-01_none_001"],
        &["domains"],
        &["insights"],
        &["insights", "wants"],
        &["insights", "--since", "1y"],
        &["insights", "--since", "1y", "--html"],
        &["patterns"],
        &["patterns", "undo"],
        &["sessions", "show", "s1"],
        &["sessions", "export", "s1"],
        &["sessions", "export", "s1", "--format", "json"],
        &["export"],
        &["export", "--format", "json"],
        &["export", "--query", "customer"],
        &["inject", "--dry-run", "--project", "."],
        &["forget", "--matching", "customer", "--dry-run"],
    ];
    let tools = [
        ("search", json!({ "query": "customer" })),
        ("search", json!({ "query": "pytest" })),
        ("grep", json!({ "pattern": "pytest|customer" })),
        ("timeline", json!({})),
        ("get", json!({ "ids": [memory, "2026-12-01_none_001", event, "s1"], "neighbours": 5 })),
        ("recall", json!({})),
        ("list_chunks", json!({})),
        ("peek", json!({ "chunk_id": "2026-12-01_none_001" })),
        ("session_digest", json!({ "session": "s1" })),
        ("sessions", json!({})),
        ("related_to_file", json!({ "path": "a.rs" })),
        ("domains", json!({})),
        ("insights", json!({})),
    ];
    let secrets = ["CUST-", "corp.example", "pytest"];
    let mut seen = BTreeMap::new();
    let mut look = |is_private: bool| {
        let mut agent = crate::mcp::Agent::of(&user);
        let mut all = Vec::new();
        for arguments in looks {
            for more in [&[][..], &["--json"]] {
                // A terminal's colours stand between words, not within them.
                let ran = user.run(&[&["--color", "always"], *arguments, more].concat());
                all.push((format!("{arguments:?} {more:?}"), format!("{}{}", ran.out, ran.err)));
            }
        }
        all.extend(
            tools.iter().map(|(tool, asked)| (format!("{tool} {asked}"), agent.call(tool, asked.clone()).to_string())),
        );
        let page = agent.ask("resources/read", json!({ "uri": "totalrecall://session/s1" })).to_string();
        all.push(("resource".to_owned(), page));
        for (what, answer) in all {
            let found = secrets.iter().any(|secret| answer.contains(secret));
            if is_private {
                assert!(!found, "{what}: {answer}");
                assert_eq!(answer.contains("[redacted:"), seen[&what], "{what}: {answer}");
            } else {
                seen.insert(what, found);
            }
        }
    };
    look(false);
    settings(&user, PRIVACY);
    look(true);
    assert!(seen.values().filter(|found| **found).count() > 25, "{seen:#?}");
}

#[test]
fn what_is_told_of_sessions_shows_nothing_of_it_and_ids_stay() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    user.ok(&["sessions", "rename", "s1", "About CUST-12"]);
    fs::write(user.folder().join("notes.md"), "acme called").unwrap();
    let about = ["--summary", "About acme", "--domain", "acme", "--json"];
    let saved = user.ok(&[&["chunk", "save", "notes.md"], &about[..]].concat()).json();
    let chunk = saved["chunk"]["id"].as_str().unwrap();
    assert!(chunk.contains("acme"), "{chunk}");
    settings(&user, &PRIVACY.replace("'pytest'", "'acme', '\\bs1\\b'"));
    let looks: [(&str, &[&str]); 9] = [
        ("s1", &["retention", "preview"]),
        ("s1", &["retention", "preview", "--json"]),
        (chunk, &["retention", "preview"]),
        ("s1", &["sessions", "delete", "s1", "--dry-run"]),
        ("s1", &["sessions", "tag", "s1", "+seen"]),
        ("s1", &["sessions", "list"]),
        (chunk, &["chunk", "list", "--json"]),
        (chunk, &["forget", "--matching", "acme", "--dry-run"]),
        ("s1", &["sessions", "rename", "s1", "About CUST-13"]),
    ];
    for (id, arguments) in looks {
        // When all of it is old.
        let mut command = user.command(arguments);
        let told = Ran::of(&user, command.env("TOTALRECALL_NOW", "2028-12-01T12:00:00Z").output().unwrap()).to_string();
        assert!(told.contains(id) && told.contains("[redacted:pattern]"), "{arguments:?}: {told}");
        assert!(!told.contains("CUST-") && !told.replace(chunk, "").contains("acme"), "{arguments:?}: {told}");
    }
    let mut agent = crate::mcp::Agent::of(&user);
    let told = agent.text("list_chunks", json!({}));
    assert!(told.contains(chunk) && !told.replace(chunk, "").contains("acme"), "{told}");
    let refused = agent.refused("get", json!({ "ids": ["CUST-12"] }));
    assert!(refused.contains("[redacted:pattern]") && !refused.contains("CUST-12"), "{refused}");
}

#[test]
fn a_server_that_makes_the_home_notes_what_is_private() {
    let user = User::new();
    settings(&user, PRIVACY);
    let mut agent = crate::mcp::Agent::of(&user);
    agent.ok("remember", json!({ "content": "CUST-12 called" }));
    assert!(!user.ok(&["status"]).out.contains("privacy"), "all of it was stored so");
    assert!(!holds(&user, "CUST-"));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let user = User::new();
    for (line, key) in [
        ("patterns = ['(']", "`patterns`"),
        ("patterns = ['a*']", "`patterns`"),
        ("fields = ['two words']", "`fields`"),
        ("hosts = ['https://corp.example/x']", "`hosts`"),
        ("private-addresses = 'yes'", "private-addresses"),
        ("pattern = []", "pattern"),
    ] {
        settings(&user, &format!("[privacy]\n{line}\n"));
        let ran = user.run(&["remember", "x"]);
        assert!(ran.code == Some(1) && ran.err.contains(key) && ran.err.contains("config.toml"), "{line}: {ran}");
    }
    assert_eq!(user.run(&["secrets", "scan"]).code, Some(1), "nothing goes on with settings that are half understood");
    settings(&user, "");
    assert_eq!(user.run(&["secrets", "scan"]).code, Some(3), "nothing is stored yet");
}

#[test]
fn analyze_shows_nothing_of_it() {
    let user = User::with("2.1.120-tui");
    let path = user.projects().join("3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl");
    let path = path.to_string_lossy();
    settings(&user, "");
    assert!(user.ok(&["analyze", &path, "--json"]).out.contains("pytest"));
    settings(&user, "[privacy]\npatterns = ['pytest']\n");
    let ran = user.ok(&["analyze", &path, "--json"]);
    assert!(!ran.out.contains("pytest"), "{ran}");
}
