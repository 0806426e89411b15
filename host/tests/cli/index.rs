//! What search makes of indexes that are not what they should be, and of what is in none.

use std::fs;

use totalrecall::store::{SessionId, Store};

use crate::{
    filters::{edits, record, said, transcript},
    support::{User, copy},
};

const AT: &str = "2026-11-20T10:00:00.000Z";

fn user(name: &str, text: &str) -> User {
    let user = User::new();
    transcript(&user, name, &[record(name, 0, "/w/a", AT, said(text))]);
    user.ok(&["worker", "--reconcile"]);
    user
}

fn excerpts(user: &User, query: &str) -> Vec<String> {
    let hits = user.run(&["search", query, "--json"]).json()["hits"].as_array().unwrap().clone();
    hits.iter().map(|hit| hit["excerpt"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_index_of_a_database_that_is_gone_is_not_used() {
    let user = user("old", "obsidian is what the former one says");
    let (index, kept) = (user.state().join("index"), user.folder().join("kept"));
    copy(&index, &kept);
    for file in ["totalrecall.db", "totalrecall.db-wal", "totalrecall.db-shm"] {
        drop(fs::remove_file(user.state().join(file)));
    }
    fs::remove_file(user.projects().join("old.jsonl")).unwrap();
    transcript(&user, "new", &[record("new", 0, "/w/a", AT, said("pyrite is what this one says"))]);
    user.ok(&["worker", "--reconcile"]);
    assert_eq!(excerpts(&user, "obsidian"), [""; 0]);
    assert_eq!(excerpts(&user, "pyrite").len(), 1);
    // As if the worker had not come to it.
    fs::remove_dir_all(&index).unwrap();
    copy(&kept, &index);
    assert_eq!((excerpts(&user, "obsidian").len(), excerpts(&user, "pyrite").len()), (0, 1));
    let told = user.ok(&["search", "pyrite"]);
    assert!(told.err.contains("of another database") && told.err.contains("totalrecall reindex"), "{told}");
    assert!(user.run(&["doctor"]).out.contains("of another database"));
    user.ok(&["worker"]);
    let repaired = user.ok(&["search", "pyrite"]);
    assert!(!repaired.err.contains("warning"), "{repaired}");
}

#[test]
fn what_cannot_be_made_anew_is_not_removed() {
    let user = user("one", "peridot");
    fs::create_dir_all(user.state().join("models")).unwrap();
    fs::write(user.state().join("models/use"), "gone").unwrap();
    let ran = user.run(&["reindex"]);
    assert!(ran.code == Some(1) && ran.err.contains("there is no model `gone`"), "{ran}");
    assert!(user.state().join("index/words/meta.json").exists());
    fs::remove_file(user.state().join("models/use")).unwrap();
    assert!(!user.ok(&["search", "peridot"]).err.contains("warning"));
}

#[test]
fn of_many_that_are_in_no_index_the_newest_are_found_and_the_rest_is_told() {
    let user = User::new();
    let count = 4_300;
    let records: Vec<_> = (0..count)
        .map(|number| record("long", number, "/w/a", AT, said(&format!("quartz number n{number}x"))))
        .collect();
    transcript(&user, "long", &records);
    user.ok(&["worker", "--reconcile"]);
    let index = user.state().join("index");
    let all = user.ok(&["search", "quartz", "-n", "1", "--json"]).json();
    assert_eq!(
        (all["is_more"].as_bool(), all["unindexed"].as_u64(), all["meaning"].as_f64()),
        (Some(true), Some(0), Some(1.0))
    );
    for found in ["n3x", "n4299x"] {
        assert_eq!(excerpts(&user, &format!("\"{found}\"")).len(), 1, "{found}");
    }
    fs::remove_dir_all(&index).unwrap();
    assert_eq!((excerpts(&user, "\"n3x\"").len(), excerpts(&user, "\"n4299x\"").len()), (0, 1));
    let told = user.ok(&["search", "n4299x"]);
    assert!(
        told.err.contains("newer passages are not indexed yet") && told.err.contains("by its meaning yet"),
        "{told}"
    );
    // A phrase whose words all of them have: the best are looked at, not all.
    user.ok(&["reindex"]);
    let told = user.run(&["search", "\"number quartz\""]);
    assert!(told.code == Some(3) && told.err.contains("Only the best 4000 passages"), "{told}");
    let found = user.ok(&["search", "\"quartz number\"", "-n", "3"]);
    assert!(!found.err.contains("Only the best"), "{found}");
}

#[test]
fn what_was_put_away_with_its_session_is_not_called_gone() {
    let user = user("one", "rhodonite");
    let found = user.ok(&["search", "rhodonite", "--kind", "prompt", "--json"]).json();
    let (id, session) =
        (found["hits"][0]["id"].as_str().unwrap(), found["hits"][0]["source"]["session"].as_str().unwrap());
    let row = SessionId(session[1..].parse().unwrap());
    let mut store = Store::open(&user.state()).unwrap();
    store.archive_session(row, 1_796_000_000_000).unwrap();
    drop(store);
    let ran = user.run(&["show", id]);
    assert!(ran.code == Some(3) && ran.err.contains(&format!("run: totalrecall restore {session}")), "{ran}");
    let shown = user.ok(&["show", session]);
    assert!(shown.out.contains("archived on"), "{shown}");
    assert!(user.run(&["show", "e1.9999"]).err.contains("there is no e1.9999"));
    user.ok(&["restore", session]);
    assert!(user.ok(&["show", id]).out.contains("rhodonite"));
    let mut store = Store::open(&user.state()).unwrap();
    store.purge_session(row, 1_796_000_000_000).unwrap();
    drop(store);
    let ran = user.run(&["show", id]);
    assert!(ran.code == Some(3) && ran.err.contains("was thrown away"), "{ran}");
    assert!(user.ok(&["show", session]).out.contains("purged on"));
}

#[test]
fn a_copy_that_becomes_the_original_brings_its_files() {
    let user = User::new();
    let prompt = record("first", 0, "/w/a", AT, said("spinel is to be changed"));
    let edit = record("first", 1, "/w/a", AT, edits("/w/a/src/spinel.rs"));
    transcript(&user, "first", &[prompt.clone(), edit.clone()]);
    user.ok(&["worker", "--reconcile"]);
    let forked = |record: &serde_json::Value| {
        let mut record = record.clone();
        record["sessionId"] = "second".into();
        record
    };
    let own = record("second", 2, "/w/a", "2026-11-21T10:00:00.000Z", said("and go on"));
    transcript(&user, "second", &[forked(&prompt), forked(&edit), own]);
    user.ok(&["worker", "--reconcile"]);
    let sessions = || {
        let told = user.run(&["timeline", "--kind", "prompt", "--path", "src/spinel.rs", "--json"]).json();
        let moments = told["moments"].as_array().unwrap().clone();
        moments.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(sessions(), ["spinel is to be changed"]);
    // The first one is written anew, so that what it began with is of the second now.
    transcript(&user, "first", &[record("first", 7, "/w/a", AT, said("something else"))]);
    user.ok(&["worker", "--reconcile"]);
    assert_eq!(sessions(), ["and go on", "spinel is to be changed"]);
    let files = user.ok(&["search", "spinel", "--kind", "session", "--json"]).json();
    assert_eq!(files["hits"][0]["source"]["native_id"], "second", "{files:#}");
}
