//! Search as its user has it: what was said is found where it stands, in every state that the indexes can be in.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;
use totalrecall::store::Store;

use crate::{
    life::walk,
    support::{User, settle},
};

/// Words of a prompt of the fixture, and the prompt.
const ASKED: &str = "pytest every check";
const SAID: &str = "use pytest for every check in this project";

fn read(user: &User) {
    user.ok(&["worker", "--reconcile"]);
}

fn one() -> User {
    let user = User::with("2.1.120-tui");
    read(&user);
    user
}

/// A transcript of one prompt.
fn session(user: &User, name: &str, cwd: &str, prompt: &str) {
    let file = user.projects().join(format!("{name}.jsonl"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let record = serde_json::json!({
        "type": "user", "uuid": format!("{name}-0000"), "parentUuid": null, "sessionId": name, "isSidechain": false,
        "cwd": cwd, "version": "2.1.332", "timestamp": "2026-11-20T10:00:00.000Z",
        "message": { "role": "user", "content": prompt },
    });
    fs::write(&file, format!("{record}\n")).unwrap();
    settle(&file);
}

fn hits(user: &User, arguments: &[&str]) -> Vec<Value> {
    let ran = user.run(&[&["search", "--json"], arguments].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{ran}");
    ran.json()["hits"].as_array().unwrap().clone()
}

fn excerpts(user: &User, arguments: &[&str]) -> Vec<String> {
    hits(user, arguments).iter().map(|hit| hit["excerpt"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_said_is_found_where_it_stands() {
    let user = one();
    let hits = hits(&user, &[ASKED]);
    let first = &hits[0];
    assert!(first["excerpt"].as_str().unwrap().contains(SAID), "{first:#}");
    assert_eq!((first["kind"].as_str(), first["source"]["tool"].as_str()), (Some("prompt"), Some("claude-code")));
    let path = first["source"]["path"].as_str().unwrap();
    let line = first["source"]["line"].as_u64().unwrap() as usize;
    let written = fs::read_to_string(path.replace("[DIR]", &user.folder().to_string_lossy())).unwrap();
    assert!(written.lines().nth(line - 1).unwrap().contains(SAID), "line {line}");
    let shown = user.ok(&["show", first["id"].as_str().unwrap()]).out;
    assert!(shown.contains(SAID) && shown.contains(&format!("line {line}")), "{shown}");
    let session = first["source"]["session"].as_str().unwrap();
    assert!(user.ok(&["show", session]).out.contains(SAID));
    assert!(user.ok(&["timeline", "--kind", "prompt", "--session", session]).out.contains(SAID));
}

#[test]
fn typing_errors_phrases_beginnings_and_accents_are_understood() {
    let user = one();
    let ran = user.ok(&["search", "pytets"]);
    assert!(ran.out.contains(SAID) && ran.err.contains("Nothing holds `pytets`"), "{ran}");
    assert!(excerpts(&user, &["\"for every check\""])[0].contains(SAID));
    assert!(excerpts(&user, &["\"check every for\""]).is_empty());
    assert!(excerpts(&user, &["pytes*"]).iter().any(|excerpt| excerpt.contains(SAID)));
    assert!(excerpts(&user, &["Pÿtést"]).iter().any(|excerpt| excerpt.contains(SAID)));
    let none = user.run(&["search", "xylophone quaternion"]);
    assert_eq!((none.code, none.out.as_str()), (Some(3), ""), "{none}");
}

#[test]
fn chinese_japanese_and_accents_are_found() {
    let user = User::new();
    session(&user, "zh", "/w/a", "请把价格四舍五入到分，不要用浮点数");
    session(&user, "ja", "/w/a", "価格の端数処理を修正してください");
    session(&user, "fr", "/w/a", "le déploiement échoue depuis hier");
    read(&user);
    for (query, said) in [
        ("四舍五入", "请把"),
        ("浮点", "请把"),
        ("端数処理", "価格の"),
        ("deploiement", "le déploiement"),
        ("ÉCHOUE", "le déploiement"),
    ] {
        assert!(excerpts(&user, &[query])[0].starts_with(said), "{query}");
    }
}

#[test]
fn what_is_asked_for_is_filtered_before_it_is_ranked() {
    let user = User::new();
    for i in 0..60 {
        session(&user, &format!("noise{i}"), "/w/loud", &format!("cache cache cache invalidation {}", word(i)));
    }
    session(&user, "quiet", "/w/quiet", "a long story in which at the very end something is said about the cache");
    read(&user);
    let all = excerpts(&user, &["cache", "-n", "5"]);
    assert!(all.iter().all(|excerpt| excerpt.contains("invalidation")), "{all:?}");
    for filter in [["--project", "quiet"], ["--session", "quiet"], ["--project", "/w/quiet"]] {
        let found = excerpts(&user, &[&["cache", "-n", "5"], &filter[..]].concat());
        assert!(found.len() == 1 && found[0].contains("long story"), "{filter:?}: {found:?}");
    }
    assert!(hits(&user, &["cache", "--kind", "result,memory"]).is_empty());
    assert!(hits(&user, &["cache", "--until", "2026-11-19"]).is_empty());
    assert!(!hits(&user, &["cache", "--since", "2026-11-20", "--until", "2026-11-20"]).is_empty());
    let unknown = user.run(&["search", "cache", "--project", "nowhere"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("no session of the project"), "{unknown}");
}

#[test]
fn without_an_index_the_same_is_found() {
    let user = one();
    let best = |user: &User| excerpts(user, &[ASKED])[0].clone();
    let indexed = best(&user);
    fs::remove_dir_all(user.state().join("index")).unwrap();
    assert_eq!(best(&user), indexed);
    user.ok(&["reindex"]);
    assert_eq!(best(&user), indexed);
    for file in walk(&user.state().join("index")) {
        fs::write(&file, b"nonsense").unwrap();
    }
    let damaged = user.run(&["search", ASKED]);
    assert!(
        damaged.code == Some(0) && damaged.out.contains(SAID) && damaged.err.contains("totalrecall reindex"),
        "{damaged}"
    );
    user.ok(&["worker"]);
    let repaired = user.ok(&["search", ASKED]);
    assert!(repaired.out.contains(SAID) && !repaired.err.contains("warning"), "{repaired}");
}

#[test]
fn what_is_gone_is_not_found() {
    let user = User::new();
    session(&user, "old", "/w/a", "the heliotrope migration is planned for monday");
    session(&user, "other", "/w/a", "something else entirely");
    read(&user);
    assert_eq!(hits(&user, &["heliotrope"]).len(), 1);
    let index = user.folder().join("kept");
    crate::support::copy(&user.state().join("index"), &index);
    session(&user, "old", "/w/a", "the vermilion migration is planned for some later tuesday");
    read(&user);
    assert!(hits(&user, &["heliotrope"]).is_empty());
    assert_eq!(hits(&user, &["vermilion"]).len(), 1);
    // An index that is older than the database: a crash between the two.
    fs::remove_dir_all(user.state().join("index")).unwrap();
    crate::support::copy(&index, &user.state().join("index"));
    assert!(hits(&user, &["heliotrope"]).is_empty());
    assert_eq!(hits(&user, &["vermilion"]).len(), 1);
    let lines = user.run(&["grep", "heliotrope"]);
    assert_eq!(lines.code, Some(3), "{lines}");
}

#[test]
fn whoever_kills_the_indexing_has_lost_nothing() {
    let user = User::new();
    for i in 0..300 {
        session(&user, &format!("s{i}"), "/w/a", &format!("{} of the killed index", word(i)));
    }
    read(&user);
    let whole = hits(&user, &["killed", "index", "-n", "1000"]).len();
    assert_eq!(whole, 300);
    for delay in [0, 5, 20, 60, 150] {
        let mut child = user.command(&["reindex"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(excerpts(&user, &[&format!("\"{}\"", word(117))]).len(), 1, "after {delay} ms");
    }
    user.ok(&["worker"]);
    assert_eq!(hits(&user, &["killed", "index", "-n", "1000"]).len(), whole);
}

/// A word that no other number has.
fn word(number: usize) -> String {
    let letter = |of: usize| char::from(b'a' + (of % 26) as u8);
    format!("zq{}{}{}x", letter(number / 676), letter(number / 26), letter(number))
}

#[test]
fn grep_finds_lines_and_counts_all_of_them() {
    let user = one();
    let found = user.ok(&["grep", "def [a-z]+\\(", "--json", "-n", "2"]).json();
    assert_eq!(found["lines"].as_array().unwrap().len(), 2);
    assert!(found["total"].as_u64().unwrap() > 2);
    assert_eq!(found["is_partial"], false);
    let cut = user.ok(&["grep", "def [a-z]+\\(", "-n", "2"]);
    assert!(cut.err.contains(&format!("2 of {} lines shown", found["total"])), "{cut}");
    let literal = user.ok(&["grep", "mean(xs"]);
    assert!(literal.out.contains("def mean(xs):") && literal.err.contains("no regular expression"), "{literal}");
    assert_eq!(user.run(&["grep", "DEF MEAN", "--case"]).code, Some(3));
    let near = user.ok(&["grep", "--fuzzy", "evry chek in this projekt"]);
    assert!(near.out.contains(SAID), "{near}");
}

/// Two sessions that take turns, each with lines that match.
#[test]
fn grep_gives_the_newest_lines_of_all_sessions_first() {
    let user = User::new();
    for (name, minutes) in [("one", [1, 4, 5]), ("two", [2, 3, 6])] {
        let file = user.projects().join(format!("{name}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let records = minutes.map(|minute| {
            serde_json::json!({
                "type": "user", "uuid": format!("{name}-{minute}"), "parentUuid": null, "sessionId": name, "isSidechain": false,
                "cwd": "/w/a", "version": "2.1.332", "timestamp": format!("2026-11-20T10:{minute:02}:00.000Z"),
                "message": { "role": "user", "content": format!("turn {minute} a\nturn {minute} b") },
            })
            .to_string()
        });
        fs::write(&file, records.join("\n") + "\n").unwrap();
        settle(&file);
    }
    read(&user);
    let lines = |arguments: &[&str]| -> Vec<String> {
        let found = user.ok(&[&["grep", "turn", "--json"], arguments].concat()).json();
        assert_eq!(found["total"], 12);
        found["lines"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()[5..].to_owned()).collect()
    };
    assert_eq!(lines(&[]).join(" "), "6 a 6 b 5 a 5 b 4 a 4 b 3 a 3 b 2 a 2 b 1 a 1 b");
    assert_eq!(lines(&["-n", "3"]).join(" "), "6 a 6 b 5 a");

    let none = user.run(&["grep", "turn", "--json", "--budget", "0"]);
    assert_eq!((none.code, &none.json()["total"], &none.json()["is_partial"]), (Some(3), &0.into(), &true.into()));
    let told = user.run(&["grep", "turn", "--budget", "0"]).err;
    assert!(told.contains("Not all was looked through, only what was said after 2026-11-20 "), "{told}");
    let forever = u64::MAX.to_string();
    assert_eq!(lines(&["--budget", &forever]).len(), 12);
}

#[test]
fn lines_of_windows_end_where_they_end() {
    let user = User::new();
    session(&user, "crlf", "/w/a", "the gate\r\nis closed\r\n");
    read(&user);
    let found = user.ok(&["grep", "(gate|closed)$", "--json"]).json();
    assert_eq!((&found["total"], &found["lines"][0]["text"]), (&2.into(), &"the gate".into()));
}

/// What is passed over by its trigrams holds nothing that is looked for, before and after a transcript has grown.
#[test]
fn grep_passes_over_what_cannot_match_and_nothing_else() {
    let user = one();
    let file =
        walk(&user.projects()).into_iter().find(|file| file.extension().is_some_and(|it| it == "jsonl")).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let record = text.lines().find(|line| line.contains("\"type\":\"user\"")).unwrap();
    let mut record: Value = serde_json::from_str(record).unwrap();
    record["uuid"] = "later".into();
    record["message"] = serde_json::json!({ "role": "user", "content": "then the Zirconium gate was closed" });
    let patterns =
        ["zirconium", "def mean", "def [a-z]+\\(", "(pytest|zirconium) ?", "no such thing anywhere", "^", "\\bxs\\b"];
    let found = |pattern: &str| user.run(&["grep", pattern, "--json", "-n", "1000"]).json();
    for round in 0..2 {
        let with = patterns.map(found);
        Store::open(&user.state()).unwrap().clear_trigrams().unwrap();
        for (pattern, with) in patterns.iter().zip(with) {
            let without = found(pattern);
            assert_eq!((&with["total"], &with["lines"]), (&without["total"], &without["lines"]), "{pattern}");
            let (few, all) = (with["bytes"].as_u64().unwrap(), without["bytes"].as_u64().unwrap());
            match *pattern {
                "^" => assert_eq!(few, all),
                "no such thing anywhere" => assert!(all > 0 && few == 0, "{few} of {all}"),
                "zirconium" => assert_eq!((&with["total"], few > 0), (&Value::from(round), round == 1)),
                _ => assert!(few <= all),
            }
        }
        // They come back, and what is new has one.
        fs::write(&file, format!("{text}{record}\n")).unwrap();
        settle(&file);
        read(&user);
    }
}

#[test]
fn grep_leaves_out_what_does_not_hold_any_more() {
    let user = User::new();
    user.ok(&["remember", "the gate is zirconium"]);
    let id = user.ok(&["recall", "--json"]).json()["memories"][0]["id"].as_str().map(str::to_owned);
    user.ok(&["remember", "the gate is beryllium", "--supersedes", &id.unwrap()]);
    let found = |arguments: &[&str]| user.run(&[&["grep", "the gate is", "--json"], arguments].concat()).json();
    assert_eq!(found(&[])["total"], 1);
    assert_eq!(found(&["--outdated"])["total"], 2);
}

#[test]
fn nothing_of_others_reaches_the_terminal_as_it_is() {
    let user = User::new();
    session(&user, "evil", "/w/a", "zirconium \u{1b}]0;owned\u{7} \u{1b}[31mred\u{202e} ::error::x");
    read(&user);
    let id = hits(&user, &["zirconium"])[0]["id"].as_str().unwrap().to_owned();
    for arguments in
        [&["search", "zirconium"][..], &["grep", "zirconium"], &["timeline", "--kind", "prompt"], &["show", &id]]
    {
        let ran = user.ok(arguments);
        assert!(ran.out.contains("zirconium"), "{ran}");
        assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{ran}");
    }
}

#[test]
fn an_old_home_is_brought_to_the_newest_and_searched() {
    let user = one();
    let before = excerpts(&user, &[ASKED])[0].clone();
    let changed = || user.ok(&["show", "s1", "--json"]).json()[0]["files"].clone();
    let files = changed();
    assert!(!files.as_array().unwrap().is_empty());
    make_old(&user.state());
    assert_eq!(excerpts(&user, &[ASKED])[0], before);
    user.ok(&["worker"]);
    assert_eq!(excerpts(&user, &[ASKED])[0], before);
    // Which files a session changed was not kept by itself then.
    assert_eq!(changed(), files);
}

#[test]
fn what_was_put_away_is_named_and_comes_back() {
    let user = User::new();
    for (file, text) in
        [("notes.txt", "The tripod was level, then the circle was read."), ("other.txt", "Nothing of it.")]
    {
        fs::write(user.folder().join(file), text).unwrap();
    }
    let saved = user.ok(&["chunk", "save", "--summary", "how the theodolite was calibrated", "--json", "notes.txt"]);
    let id = saved.json()["chunk"]["id"].as_str().unwrap().to_owned();
    user.ok(&["chunk", "save", "--summary", "something else", "other.txt"]);
    assert_eq!(hits(&user, &["theodolite"]).len(), 1);
    age_chunks(&user.state());
    user.ok(&["retention", "run"]);
    let ran = user.run(&["search", "theodolite", "calibrated", "--json"]);
    assert_eq!(ran.json()["archived"][0]["id"], id.as_str(), "{ran}");
    assert_eq!(excerpts(&user, &["tripod"]), [""; 0], "its text is put away");
    let told = user.run(&["search", "theodolite"]);
    assert!(told.err.contains(&format!("Archived: {id}")), "{told}");
    user.ok(&["restore", &id]);
    assert_eq!(excerpts(&user, &["tripod"]).len(), 1);
}

/// Makes all chunks some months older.
#[expect(clippy::disallowed_methods, reason = "it plays time that passes")]
fn age_chunks(state: &Path) {
    let db = rusqlite::Connection::open(state.join("totalrecall.db")).unwrap();
    db.execute_batch("UPDATE chunk SET created_at = created_at - 90 * 86400000").unwrap();
}

/// Takes back what the fifth migration did.
#[expect(clippy::disallowed_methods, reason = "it plays an older version")]
fn make_old(state: &Path) {
    fs::remove_dir_all(state.join("index")).unwrap();
    let db = rusqlite::Connection::open(state.join("totalrecall.db")).unwrap();
    db.execute_batch(
        "DROP TABLE span; DROP TABLE removal; DROP TABLE trigram; DROP TABLE touch; DROP TABLE file; DROP TABLE memory; DROP TABLE chunk;
         DROP TABLE mark; DROP TABLE access; DROP TABLE archive; DROP TABLE deleted;
         ALTER TABLE session DROP COLUMN renamed; ALTER TABLE session DROP COLUMN acknowledged;
         ALTER TABLE session DROP COLUMN acknowledged_at; ALTER TABLE session DROP COLUMN purged_at;
         DELETE FROM meta WHERE key IN ('next-passage', 'trigrams'); PRAGMA user_version = 4;",
    )
    .unwrap();
}

#[test]
fn searching_while_the_worker_writes_is_answered() {
    let user = User::new();
    for i in 0..100 {
        session(&user, &format!("a{i}"), "/w/a", &format!("apatite {}", word(i)));
    }
    read(&user);
    for i in 0..400 {
        session(&user, &format!("b{i}"), "/w/a", &format!("beryl {}", word(i)));
    }
    let mut worker =
        user.command(&["worker", "--reconcile"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while worker.try_wait().unwrap().is_none() {
        assert!(!hits(&user, &["apatite", "-n", "3"]).is_empty());
        assert!(started.elapsed() < Duration::from_secs(120));
    }
    assert!(worker.wait().unwrap().success());
    assert_eq!(hits(&user, &["\"beryl\"", "-n", "1000"]).len(), 400);
}
