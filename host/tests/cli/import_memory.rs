//! What RLM and claude-mem remembered, and files of our own form: taken over once, as it was, and with nothing that leads elsewhere.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use totalrecall::{
    store::{Origin, Store},
    transcript::database,
};

use crate::{
    life::walk,
    secrets::settings,
    support::{Ran, User},
};

fn import(user: &User, arguments: &[&str]) -> Value {
    let ran = user.ok(&[&["import"], arguments, &["--json"]].concat());
    ran.json()
}

fn counts(report: &Value, what: &str) -> [u64; 5] {
    ["found", "new", "changed", "known", "forgotten"].map(|key| report[what][key].as_u64().unwrap())
}

fn skipped(report: &Value) -> BTreeMap<String, String> {
    let rows = report["skipped"].as_array().unwrap().iter();
    rows.map(|row| (row["what"].as_str().unwrap().to_owned(), row["why"].as_str().unwrap().to_owned())).collect()
}

fn memories(user: &User) -> Vec<Value> {
    let ran = user.run(&["recall", "--json", "--all", "--limit", "1000"]);
    ran.json()["memories"].as_array().unwrap().clone()
}

fn store(user: &User) -> Store {
    Store::open_read_only(&user.state()).unwrap()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    walk(folder).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

fn gz(path: &Path, bytes: &[u8]) {
    let mut file = flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::default());
    file.write_all(bytes).unwrap();
    file.finish().unwrap();
}

fn head(id: &str, summary: &str, body: &str) -> String {
    format!(
        "---\nid: {id}\nsummary: {summary}\ntags: [alpha, beta]\nchunk_type: debug\nproject: ledger\nticket: BILL-7\n\
         created_at: 2025-03-04T05:06:07\ntokens_estimate: 12\ncontent_hash: abc\nformat_version: \"2.0\"\n---\n\n{body}"
    )
}

/// A folder as RLM keeps it, as its layout tells.
fn rlm(user: &User) -> PathBuf {
    let folder = user.folder().join("context");
    fs::create_dir_all(folder.join("chunks")).unwrap();
    fs::create_dir_all(folder.join("archive")).unwrap();
    let write = |name: &str, value: Value| fs::write(folder.join(name), value.to_string()).unwrap();
    write(
        "session_memory.json",
        json!({"version": "1.0.0", "metadata": {}, "insights": [
            {"id": "0a1b2c3d", "content": "Le déploiement se fait le mardi", "category": "decision",
             "importance": "critical", "tags": ["ops", "release"], "created_at": "2025-01-02T03:04:05.678901"},
            {"id": "11111111", "content": "部署密钥在保险库里", "category": "rumour", "importance": "huge", "tags": "a, b"},
            {"id": "22222222", "category": "fact"},
            "no insight",
            {"id": "33333333", "content": "The password is password=Tr0ub4dor&3x9Kq!", "category": "fact"},
        ]}),
    );
    let entry = |id: &str, more: Value| {
        let mut entry = json!({"id": id, "file": format!("chunks/{id}.md"), "summary": format!("About {id}"),
            "tags": ["alpha"], "access_count": 4, "last_accessed": "2025-05-01T00:00:00", "chunk_type": "session",
            "created_at": "2025-03-04T05:06:07", "project": "ledger", "domain": "billing", "session_id": "S-1"});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    write(
        "index.json",
        json!({"version": "2.0.0", "total_chunks": 4, "chunks": [
            entry("2025-03-04_ledger_001_BILL-7", json!({"ticket": "BILL-7"})),
            // Its summary has broken the head of its file.
            entry("2025-03-04_ledger_002", json!({"summary": "one\n---\ntwo"})),
            entry("2025-03-04_gone_003", json!({})),
            entry("../../outside", json!({})),
        ]}),
    );
    fs::write(folder.join("chunks/2025-03-04_ledger_001_BILL-7.md"), head("x", "y", "Rounding in src/price.rs\n"))
        .unwrap();
    fs::write(folder.join("chunks/2025-03-04_ledger_002.md"), head("x", "one\n---\ntwo", "The body alone")).unwrap();
    fs::write(folder.join("chunks/2025-02-01_007.md"), head("x", "By its head", "Nobody lists me")).unwrap();
    gz(&folder.join("archive/2024-12-01_ledger_001.md.gz"), head("x", "Old", "What was archived").as_bytes());
    gz(&folder.join("archive/2024-12-01_ledger_002.md.gz"), &vec![b'a'; 11 << 20]);
    fs::write(folder.join("archive/2024-12-01_ledger_003.md.gz"), "no gzip").unwrap();
    write(
        "archive_index.json",
        json!({"version": "1", "archives": [entry("2024-12-01_ledger_001", json!({"archived_at": "x"}))]}),
    );
    write("sessions.json", json!({"sessions": {"2025-03-04_ledger": {"chunks": []}}}));
    fs::write(folder.join("domains.json"), "{ broken").unwrap();
    fs::write(user.folder().join("outside.md"), "leads out").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../outside.md", folder.join("chunks/2025-03-04_link_009.md")).unwrap();
    folder
}

#[test]
fn rlm_is_taken_over_once_and_as_it_was() {
    let user = User::new();
    let folder = rlm(&user);
    let before = files(&folder);
    let rehearsed = import(&user, &["rlm", "context", "--dry-run"]);
    assert!(!user.state().exists(), "a rehearsal makes nothing");
    let report = import(&user, &["rlm", "context"]);
    assert_eq!(files(&folder), before);
    assert_eq!(counts(&report, "memories"), [3, 3, 0, 0, 0]);
    assert_eq!(counts(&report, "chunks"), [4, 4, 0, 0, 0]);
    for what in ["memories", "chunks", "skipped", "notes", "redacted"] {
        assert_eq!(report[what], rehearsed[what], "{what}");
    }

    let found = memories(&user);
    let first = &found[0];
    assert_eq!(first["content"], "Le déploiement se fait le mardi");
    assert_eq!((first["category"].as_str(), first["importance"].as_str()), (Some("decision"), Some("critical")));
    assert_eq!(
        (first["trust"].as_str(), first["tags"].to_string()),
        (Some("agent"), "[\"ops\",\"release\"]".to_owned())
    );
    assert_eq!(first["created_at"], 1_735_787_045_678_i64, "the day it was said stays");
    assert!(found.iter().any(|it| it["category"] == "general" && it["tags"] == json!(["a", "b"])));
    assert!(!found.iter().any(|it| it.to_string().contains("Tr0ub4dor")));
    assert_eq!(report["redacted"], 1);

    let store = store(&user);
    let chunks = store.chunks().unwrap();
    let of = |text: &str| {
        let chunk = chunks.iter().find(|it| store.chunk_text(it.row).unwrap().unwrap().contains(text)).unwrap();
        (chunk, store.chunk_text(chunk.row).unwrap().unwrap())
    };
    let (rounding, text) = of("Rounding");
    assert_eq!(text, "Rounding in src/price.rs\n");
    assert_eq!((rounding.summary.as_str(), rounding.kind.name()), ("About 2025-03-04_ledger_001_BILL-7", "session"));
    assert_eq!(
        [&rounding.project, &rounding.ticket, &rounding.domain, &rounding.session].map(|it| it.as_deref().unwrap()),
        ["ledger", "BILL-7", "billing", "S-1"]
    );
    assert_eq!(rounding.created_at, 1_741_064_767_000);
    assert!(store.marks(Origin::Chunk, rounding.row, "entity").unwrap().contains(&"src/price.rs".to_owned()));
    let looked_at = store.access(Origin::Chunk, rounding.row, 1_746_057_600_000).unwrap();
    assert!((3.9..4.1).contains(&looked_at), "{looked_at}");
    let (broken, text) = of("The body alone");
    assert_eq!((text.as_str(), broken.summary.as_str()), ("The body alone", "one --- two"));
    assert_eq!(of("Nobody lists me").0.summary, "By its head");
    assert_eq!(of("What was archived").0.summary, "About 2024-12-01_ledger_001");
    assert!(!chunks.iter().any(|it| store.chunk_text(it.row).unwrap().unwrap().contains("leads out")));

    let skipped = skipped(&report);
    for (place, why) in [
        ("session_memory.json, insight 3 22222222", "no content"),
        ("session_memory.json, insight 4", "no content"),
        ("index.json, ../../outside", "may lead elsewhere"),
        ("chunks/2025-03-04_gone_003.md", "there is no file"),
        ("archive/2024-12-01_ledger_002.md.gz", "larger than 10 MiB"),
        ("archive/2024-12-01_ledger_003.md.gz", "cannot be decompressed"),
        ("domains.json", "no JSON"),
    ] {
        assert!(skipped.get(place).is_some_and(|it| it.contains(why)), "{place}: {skipped:#?}");
    }
    #[cfg(unix)]
    assert!(skipped["chunks/2025-03-04_link_009.md"].contains("link"), "{skipped:#?}");

    let again = import(&user, &["rlm", "context"]);
    assert_eq!((counts(&again, "memories"), counts(&again, "chunks")), ([3, 0, 0, 3, 0], [4, 0, 0, 4, 0]));
    assert_eq!(memories(&user).len(), 3);
}

#[test]
fn what_was_forgotten_stays_so_and_what_was_kept_here_is_not_doubled() {
    let user = User::new();
    rlm(&user);
    user.ok(&["remember", "部署密钥在保险库里", "--importance", "high"]);
    let report = import(&user, &["rlm", "context"]);
    assert_eq!(counts(&report, "memories"), [3, 2, 0, 1, 0]);
    user.ok(&["forget", "--matching", "deploiement", "--yes"]);
    user.ok(&["forget", "--matching", "rounding price", "--yes"]);
    let again = import(&user, &["rlm", "context"]);
    assert_eq!((counts(&again, "memories"), counts(&again, "chunks")), ([3, 0, 0, 2, 1], [4, 0, 0, 3, 1]));
    assert_eq!(memories(&user).len(), 2);
}

#[test]
fn what_is_none_is_refused_and_nothing_is_made() {
    let user = User::new();
    fs::create_dir(user.folder().join("empty")).unwrap();
    fs::create_dir(user.folder().join("other")).unwrap();
    fs::write(user.folder().join("other/claude-mem.db"), "no database, but long enough for a header ".repeat(9))
        .unwrap();
    fs::write(user.folder().join("list.json"), "[]").unwrap();
    for (arguments, why) in [
        (["rlm", "nowhere"], "there is no folder nowhere"),
        (["rlm", "empty"], "is no context folder of RLM"),
        (["claude-mem", "nowhere"], "there is no folder nowhere"),
        (["claude-mem", "empty"], "it holds no claude-mem.db"),
        (["claude-mem", "other"], "could not read other/claude-mem.db"),
        (["json", "nowhere.json"], "there is no such file"),
        (["json", "empty"], "it is no file"),
        (["json", "list.json"], "neither a list `memories`"),
    ] {
        let ran: Ran = user.run(&[&["import"], &arguments[..]].concat());
        assert!(ran.code == Some(1) && ran.err.contains(why) && ran.err.contains("hint:"), "{arguments:?}: {ran}");
    }
    assert!(!user.state().exists());
}

const SCHEMA: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT UNIQUE, project TEXT,
        platform_source TEXT, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT, custom_title TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
        title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER, content_hash TEXT, merged_into_project TEXT,
        created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT, request TEXT,
        investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, files_read TEXT, files_edited TEXT,
        prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT, prompt_number INTEGER,
        prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
    INSERT INTO sdk_sessions (id, content_session_id, memory_session_id, project) VALUES (1, 'C-1', 'M-1', 'ledger');
    INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts, files_modified,
        created_at_epoch) VALUES
        ('M-1', 'ledger', 'decision', 'Round at the end', 'Not at each line', '[\"Totals agree\", \"Lines may differ\"]',
         'Rounding each line lost cents.', '[\"gotcha: cents\", \"why-it-exists\"]', '[\"src/price.rs\"]', 1740000000000),
        ('M-1', 'ledger', 'security_alert', 'A key lay open', NULL, 'no json', NULL, NULL, '[]', 1740000001),
        ('M-9', 'fix/ledger', 'change', NULL, NULL, NULL, NULL, NULL, NULL, 1740000002000),
        ('M-9', 'ledger/fix', 'bugfix', 'Merged', NULL, NULL, NULL, NULL, NULL, 1740000003000);
    UPDATE observations SET merged_into_project = 'ledger' WHERE title = 'Merged';
    INSERT INTO session_summaries (memory_session_id, project, request, learned, next_steps, files_edited, prompt_number,
        created_at) VALUES ('M-1', 'ledger', 'Fix the rounding', 'Cents were lost', 'Tax next', '[\"src/price.rs\"]', 1,
        '2025-02-19T21:20:00.000Z');
    INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at_epoch) VALUES
        ('C-1', 1, 'the totals are off by a cent', 1740000000000),
        ('C-1', 2, 'and now the tax, please', 1740000005000);
";

#[test]
fn claude_mem_is_taken_over_with_little_trust() {
    let user = User::new();
    let folder = user.folder().join("mem");
    fs::create_dir(&folder).unwrap();
    database::make(&folder.join("claude-mem.db"), SCHEMA).unwrap();
    let before = files(&folder);
    let report = import(&user, &["claude-mem", "mem"]);
    assert_eq!(files(&folder), before, "nothing is written, and nothing is left beside it");
    assert_eq!((counts(&report, "memories"), counts(&report, "chunks")), ([3, 3, 0, 0, 0], [2, 2, 0, 0, 0]));
    assert_eq!(skipped(&report)["observation 3"], "it says nothing");

    let found = memories(&user);
    assert_eq!(found[0]["content"], "A key lay open\n- no json");
    assert_eq!(
        (found[0]["importance"].as_str(), found[0]["created_at"].as_i64()),
        (Some("high"), Some(1_740_000_001_000))
    );
    let decision = &found[1];
    assert_eq!(
        decision["content"],
        "Round at the end\nNot at each line\nRounding each line lost cents.\n- Totals agree\n- Lines may differ\nFiles: src/price.rs"
    );
    assert_eq!(decision["tags"], json!(["decision", "gotcha", "why-it-exists"]));
    assert_eq!(
        ["category", "trust", "project", "session"].map(|key| decision[key].as_str().unwrap()),
        ["decision", "tool", "ledger", "C-1"]
    );
    assert_eq!(decision["confidence"], 0.5);
    assert_eq!(found[2]["project"], "ledger", "the worktree was merged");
    let shown = user.ok(&["recall", "cents"]).out;
    assert!(shown.contains("from what a tool or a model wrote, 50 % sure"), "{shown}");

    let store = store(&user);
    let texts: Vec<_> = store.chunks().unwrap().iter().map(|it| store.chunk_text(it.row).unwrap().unwrap()).collect();
    let summary = "# Prompt\n\nthe totals are off by a cent\n\n# Request\n\nFix the rounding\n\n# Learned\n\nCents were lost\n\n\
                   # Next steps\n\nTax next\n\n# Files edited\n\nsrc/price.rs";
    assert!(texts.contains(&summary.to_owned()), "{texts:#?}");
    assert!(texts.contains(&"# Prompt\n\nand now the tax, please".to_owned()), "{texts:#?}");
}

#[test]
fn claude_mem_may_be_running_and_what_came_since_is_added() {
    let user = User::new();
    let folder = user.folder().join("mem");
    fs::create_dir(&folder).unwrap();
    let running = rusqlite::Connection::open(folder.join("claude-mem.db")).unwrap();
    running.pragma_update(None, "journal_mode", "wal").unwrap();
    running.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    running.execute_batch(SCHEMA).unwrap();
    let before = files(&folder);
    let report = import(&user, &["claude-mem", "mem"]);
    assert_eq!(counts(&report, "memories")[1], 3, "what is in the log only is read, too");
    let written = |files: BTreeMap<PathBuf, Vec<u8>>| -> BTreeMap<PathBuf, Vec<u8>> {
        files.into_iter().filter(|(file, _)| !file.to_string_lossy().ends_with("-shm")).collect()
    };
    assert_eq!(written(files(&folder)), written(before));

    running
        .execute_batch(
            "INSERT INTO observations (memory_session_id, type, title) VALUES ('M-1', 'discovery', 'Tax is a table');
             INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text) VALUES ('C-1', 3, 'thanks');",
        )
        .unwrap();
    let report = import(&user, &["claude-mem", "mem"]);
    assert_eq!((counts(&report, "memories"), counts(&report, "chunks")), ([4, 1, 0, 3, 0], [2, 0, 1, 1, 0]));
    let store = store(&user);
    let chunks = store.chunks().unwrap();
    let prompts: Vec<_> = chunks.iter().filter(|it| it.tags == ["prompts"]).collect();
    assert_eq!(prompts.len(), 1, "the session's prompts are one chunk");
    assert!(store.chunk_text(prompts[0].row).unwrap().unwrap().ends_with("thanks"));
    let again = import(&user, &["claude-mem", "mem"]);
    assert_eq!((counts(&again, "memories"), counts(&again, "chunks")), ([4, 0, 0, 4, 0], [2, 0, 0, 2, 0]));
}

#[test]
fn an_early_database_of_claude_mem_has_less() {
    let user = User::new();
    fs::create_dir(user.folder().join("mem")).unwrap();
    let schema = "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
        created_at TEXT); INSERT INTO observations VALUES (7, 'M', 'p', 'It was plain text then', 'discovery', '2025-01-01T00:00:00Z');";
    database::make(&user.folder().join("mem/claude-mem.db"), schema).unwrap();
    let report = import(&user, &["claude-mem", "mem"]);
    assert_eq!(counts(&report, "memories"), [1, 1, 0, 0, 0]);
    assert_eq!(report["notes"].as_array().unwrap().len(), 3, "{report}");
}

#[test]
fn what_recall_prints_can_be_taken_over() {
    let user = User::new();
    let remember = |arguments: &[&str]| {
        let ran = user.ok(&[&["remember", "--json"], arguments].concat());
        ran.json()["id"].as_str().unwrap().to_owned()
    };
    let old = remember(&["Tabs", "--tags", "style,go"]);
    remember(&["Spaces", "--supersedes", &old, "--importance", "critical", "--trust", "agent", "--confidence", "0.7"]);
    let todo = remember(&["Format all", "--category", "todo", "--expires", "30d", "--project=.", "--domain", "code"]);
    user.ok(&["done", &todo]);
    let recalled = user.ok(&["recall", "--all", "--json"]).out;
    fs::write(user.folder().join("all.json"), &recalled).unwrap();

    let other = User::new();
    fs::write(other.folder().join("all.json"), &recalled).unwrap();
    assert_eq!(counts(&import(&other, &["json", "all.json"]), "memories"), [3, 3, 0, 0, 0]);
    let bare = |user: &User| -> Vec<Value> {
        let mut found = memories(user);
        found.iter_mut().for_each(|it| {
            it.as_object_mut().unwrap().remove("missing");
        });
        found.sort_by_key(|it| it["id"].to_string());
        found
    };
    assert_eq!(bare(&other), bare(&user), "ids, days and what became of each stay");
    for user in [&user, &other] {
        assert_eq!(counts(&import(user, &["json", "all.json"]), "memories"), [3, 0, 0, 3, 0]);
    }
}

#[test]
fn what_is_broken_in_a_file_costs_nothing_else() {
    let user = User::new();
    let file = json!({
        "memories": [
            {"content": "kept", "created_at": "2025-01-02T00:00:00Z", "id": "../../x"},
            {"content": "kept"},
            {"contents": "misspelt"},
            {"content": "bad", "importance": "huge"},
            {"content": "  "},
            {"content": "odd", "created_at": 99_999_999_999_999_999_i64, "confidence": 7, "tags": ["ok", "x".repeat(99), "a\u{1b}b"]},
            {"content": "long ".repeat(5_000)},
            7,
        ],
        "chunks": [{"content": "a text"}, {"content": null, "archived": true}, {"content": "line\n".repeat(500_000), "summary": "big"}],
    });
    fs::write(user.folder().join("file.json"), file.to_string()).unwrap();
    let report = import(&user, &["json", "file.json"]);
    assert_eq!(counts(&report, "memories"), [3, 2, 0, 1, 0], "{report}");
    assert_eq!(counts(&report, "chunks"), [4, 4, 0, 0, 0], "{report}");
    let skipped = skipped(&report);
    let places: Vec<_> = skipped.keys().map(String::as_str).collect();
    assert_eq!(places, ["chunk 2", "memory 3", "memory 4", "memory 5", "memory 8"], "{skipped:#?}");
    let odd = memories(&user).into_iter().find(|it| it["content"] == "odd").unwrap();
    assert_eq!((odd["tags"].clone(), odd["confidence"].as_f64()), (json!(["ok"]), Some(1.0)));
    let ran = user.ok(&["import", "json", "file.json", "--dry-run"]);
    assert!(ran.out.contains("Not taken over") && ran.err.contains("Nothing was written: --dry-run."), "{ran}");
}

/// Another machine, or another checkout, counts its chunks and insights from the beginning, too.
#[test]
fn the_same_ids_of_another_folder_take_nothing_away() {
    let user = User::new();
    let folder = |name: &str, text: &str| {
        let folder = user.folder().join(name);
        fs::create_dir_all(folder.join("chunks")).unwrap();
        let insights = json!({"insights": [{"id": "0a1b2c3d", "content": format!("Insight of {text}")}, {"content": format!("Nameless {text}")}]});
        fs::write(folder.join("session_memory.json"), insights.to_string()).unwrap();
        let index = json!({"chunks": [{"id": "2025-03-04_ledger_001", "summary": "One", "created_at": "2025-03-04T05:06:07", "project": "ledger"}]});
        fs::write(folder.join("index.json"), index.to_string()).unwrap();
        fs::write(folder.join("chunks/2025-03-04_ledger_001.md"), format!("Chunk of {text}\n")).unwrap();
        let file = json!({
            "memories": [{"id": "11112222", "content": format!("Memory of {text}")}, {"content": "Of both", "project": text}],
            "chunks": [{"id": "2025-03-04_app_001", "content": format!("JSON of {text}")}],
        });
        fs::write(user.folder().join(format!("{name}.json")), file.to_string()).unwrap();
    };
    folder("laptop", "the laptop");
    folder("server", "the server");
    for name in ["laptop", "server"] {
        let rlm = import(&user, &["rlm", name]);
        assert_eq!((counts(&rlm, "memories"), counts(&rlm, "chunks")), ([2, 2, 0, 0, 0], [1, 1, 0, 0, 0]), "{rlm}");
        let json = import(&user, &["json", &format!("{name}.json")]);
        assert_eq!((counts(&json, "memories"), counts(&json, "chunks")), ([2, 2, 0, 0, 0], [1, 1, 0, 0, 0]), "{json}");
    }
    let store = store(&user);
    let texts: Vec<_> = store.chunks().unwrap().iter().map(|it| store.chunk_text(it.row).unwrap().unwrap()).collect();
    let said: Vec<_> = store.memories().unwrap().into_iter().map(|memory| memory.content).collect();
    for of in ["the laptop", "the server"] {
        for what in ["Insight of", "Nameless", "Memory of"] {
            assert!(said.contains(&format!("{what} {of}")), "{what} {of}: {said:?}");
        }
        for text in [format!("Chunk of {of}\n"), format!("JSON of {of}")] {
            assert!(texts.contains(&text), "{text}: {texts:?}");
        }
    }
    // Each of both is known from now on, and what is forgotten stays so.
    user.ok(&["forget", "--matching", "chunk of the laptop", "--yes"]);
    for (name, chunks) in [("laptop", [1, 0, 0, 0, 1]), ("server", [1, 0, 0, 1, 0])] {
        let rlm = import(&user, &["rlm", name]);
        assert_eq!((counts(&rlm, "memories"), counts(&rlm, "chunks")), ([2, 0, 0, 2, 0], chunks), "{rlm}");
        let json = import(&user, &["json", &format!("{name}.json")]);
        assert_eq!((counts(&json, "memories"), counts(&json, "chunks")), ([2, 0, 0, 2, 0], [1, 0, 0, 1, 0]), "{json}");
    }
}

#[test]
fn what_several_say_is_forgotten_once_for_all() {
    let user = User::new();
    let file = |name: &str, ids: &[&str]| {
        let of = |text: &str| ids.iter().map(|id| json!({ "id": id, "content": text })).collect::<Vec<_>>();
        let all = json!({ "memories": of("Deploys are on Tuesdays"), "chunks": of("How deploys went wrong") });
        fs::write(user.folder().join(name), all.to_string()).unwrap();
    };
    let both = |name: &str| {
        let report = import(&user, &["json", name]);
        assert_eq!(counts(&report, "memories"), counts(&report, "chunks"), "{report}");
        counts(&report, "memories")
    };
    user.ok(&["remember", "Deploys are on Tuesdays"]);
    fs::write(user.folder().join("notes.md"), "How deploys went wrong").unwrap();
    user.ok(&["chunk", "save", "notes.md"]);
    file("own.json", &["own"]);
    assert_eq!(both("own.json"), [1, 0, 0, 1, 0], "they are here already");
    file("two.json", &["one", "two"]);
    assert_eq!(both("two.json"), [2, 0, 0, 2, 0]);
    user.ok(&["forget", "--matching", "deploys", "--yes"]);
    assert_eq!((both("own.json"), both("two.json")), ([1, 0, 0, 0, 1], [2, 0, 0, 0, 2]));
    file("two.json", &["two", "one", "three"]);
    assert_eq!(both("two.json"), [3, 0, 0, 0, 3], "one that came since says the same");
    file("two.json", &["two"]);
    assert_eq!(both("two.json"), [1, 0, 0, 0, 1]);
    assert!(memories(&user).is_empty() && store(&user).chunks().unwrap().is_empty());
}

#[test]
fn what_several_of_one_import_say_is_forgotten_for_each() {
    let user = User::new();
    let file = |ids: &[&str]| {
        let all: Vec<_> = ids.iter().map(|id| json!({ "id": id, "content": "Deploys are on Tuesdays" })).collect();
        fs::write(user.folder().join("two.json"), json!({ "memories": all }).to_string()).unwrap();
    };
    file(&["one", "two"]);
    assert_eq!(counts(&import(&user, &["json", "two.json"]), "memories"), [2, 1, 0, 1, 0]);
    user.ok(&["forget", "--matching", "deploys", "--yes"]);
    file(&["two"]);
    assert_eq!(counts(&import(&user, &["json", "two.json"]), "memories"), [1, 0, 0, 0, 1]);
}

#[test]
fn what_privacy_names_since_makes_nothing_another() {
    let user = User::new();
    let of = |text: &str| json!([{ "id": "a", "content": format!("{text} of CUST-12") }, { "id": "b", "content": format!("{text} of CUST-77") }]);
    let all = json!({ "memories": of("The bill"), "chunks": of("The story") });
    fs::write(user.folder().join("all.json"), all.to_string()).unwrap();
    fs::create_dir(user.folder().join("mem")).unwrap();
    database::make(&user.folder().join("mem/claude-mem.db"), SCHEMA).unwrap();
    let prompt = "UPDATE user_prompts SET prompt_text = 'and now CUST-12' WHERE prompt_number = 2";
    rusqlite::Connection::open(user.folder().join("mem/claude-mem.db")).unwrap().execute_batch(prompt).unwrap();
    import(&user, &["claude-mem", "mem"]);
    assert_eq!(counts(&import(&user, &["json", "all.json"]), "memories"), [2, 2, 0, 0, 0]);
    user.ok(&["forget", "--matching", "CUST-77", "--yes"]);
    for rules in ["[privacy]\npatterns = ['CUST-\\d+']\n", "[privacy]\npatterns = ['bill', 'story', 'C.ST-\\d']\n", ""]
    {
        settings(&user, rules);
        let again = import(&user, &["json", "all.json"]);
        assert_eq!(
            (counts(&again, "memories"), counts(&again, "chunks")),
            ([2, 0, 0, 1, 1], [2, 0, 0, 1, 1]),
            "{rules}"
        );
        let again = import(&user, &["claude-mem", "mem"]);
        assert_eq!(
            (counts(&again, "memories"), counts(&again, "chunks")),
            ([3, 0, 0, 3, 0], [2, 0, 0, 2, 0]),
            "{rules}"
        );
    }
}

/// Prompts of sessions are alike more often than not.
#[test]
fn what_says_something_else_since_takes_nothing_from_its_twin() {
    let user = User::new();
    fs::create_dir(user.folder().join("mem")).unwrap();
    let file = user.folder().join("mem/claude-mem.db");
    database::make(
        &file,
        "CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT);
         INSERT INTO user_prompts VALUES (1, 'C-1', 1, 'go on'), (2, 'C-2', 1, 'go on');",
    )
    .unwrap();
    let imported = || counts(&import(&user, &["claude-mem", "mem"]), "chunks");
    assert_eq!(imported(), [2, 1, 0, 1, 0]);
    let more = "INSERT INTO user_prompts VALUES (3, 'C-2', 2, 'and test it')";
    rusqlite::Connection::open(&file).unwrap().execute_batch(more).unwrap();
    assert_eq!(imported(), [2, 1, 0, 1, 0]);
    assert_eq!(imported(), [2, 0, 0, 2, 0]);
    assert_eq!(store(&user).chunks().unwrap().len(), 2);
    let first = store(&user).chunks().unwrap().into_iter().find(|it| it.session.as_deref() == Some("C-1")).unwrap();
    user.ok(&["forget", &first.id, "--yes"]);
    assert_eq!(imported(), [2, 0, 0, 1, 1], "the other one was not forgotten with it");

    let more = "INSERT INTO user_prompts VALUES (4, 'C-3', 1, 'well done'), (5, 'C-4', 1, 'well done')";
    rusqlite::Connection::open(&file).unwrap().execute_batch(more).unwrap();
    assert_eq!(imported(), [4, 1, 0, 2, 1]);
    let more = "INSERT INTO user_prompts VALUES (6, 'C-3', 2, 'and now the rest')";
    rusqlite::Connection::open(&file).unwrap().execute_batch(more).unwrap();
    assert_eq!(imported(), [4, 1, 1, 1, 1], "what the first of them said alone is what the other one says");
    assert_eq!(imported(), [4, 0, 0, 3, 1]);
}
