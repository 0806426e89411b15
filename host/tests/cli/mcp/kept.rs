//! What is kept on purpose: that it goes when it is to go, is found where it holds, and is shown as far as it may be.

use std::fs;

use serde_json::json;
use totalrecall::store::Store;
use totalrecall_retrieval::words::WordIndex;

use super::agent::Agent;
use crate::{life::walk, support::User};

fn holds(user: &User, text: &str) -> bool {
    let files = walk(&user.state());
    files.iter().any(|file| fs::read(file).unwrap().windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn what_is_forgotten_is_overwritten() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    agent.ok("remember", json!({ "content": "This one stays." }));
    let memory = agent.ok("remember", json!({ "content": "The okapi eats leaves.", "importance": "critical" }));
    let chunk = agent.ok("chunk", json!({ "content": "# Quaggas\nare extinct", "summary": "About a quagga" }));
    for word in ["okapi", "quagga"] {
        assert!(holds(&user, word), "{word}");
    }
    user.ok(&["worker"]);
    // Words are not found in an index's files by looking for them: they are taken apart there.
    let indexed = |word: &str| {
        let index = |name: &str| WordIndex::open(&user.state().join("index").join(name)).unwrap().df(word).unwrap();
        (index("words"), index("groups"))
    };
    assert_eq!((indexed("okapi"), indexed("extinct")), ((1, 1), (1, 1)));
    assert_eq!(agent.ok("forget", json!({ "memory_id": memory["id"] }))["outcome"], "forgotten");
    assert_eq!(indexed("okapi"), (0, 0));
    assert_eq!(agent.ok("forget", json!({ "chunk_id": chunk["id"] }))["id"], chunk["id"]);
    for word in ["okapi", "quagga", "extinct"] {
        assert_eq!(indexed(word), (0, 0), "{word}");
        assert!(!holds(&user, word), "{word}");
    }
    assert_eq!(agent.ok("list_chunks", json!({}))["total"], 0);
    assert_eq!(agent.ok("recall", json!({}))["total"], 1);
    let refusal = agent.refused("forget", json!({ "memory_id": chunk["id"] }));
    assert!(refusal.contains("no memory and no chunk") && refusal.contains("list_chunks"), "{refusal}");
}

#[test]
fn a_project_is_the_same_for_an_agent_as_for_a_person() {
    let user = User::new();
    let (home, app) = (user.home(), user.home().join("work/app"));
    fs::create_dir_all(app.join("src")).unwrap();
    let file = json!({ "memories": [{ "content": "By its name.", "project": "app" }, { "content": "Everywhere." }] });
    fs::write(user.folder().join("file.json"), file.to_string()).unwrap();
    user.ok(&["import", "json", "file.json"]);
    let mut inside = Agent::in_folder(&user, &app);
    inside.ok("remember", json!({ "content": "Of the app." }));
    let person = |folder: &std::path::Path| {
        let output = user.command(&["recall", "--project", "--json"]).current_dir(folder).output().unwrap();
        crate::support::Ran::of(&user, output).json()["total"].clone()
    };
    assert_eq!((inside.ok("recall", json!({}))["total"].clone(), person(&app)), (json!(3), json!(3)));
    // The home folder is no project of all that lies below it.
    let mut at_home = Agent::in_folder(&user, &home);
    assert_eq!((at_home.ok("recall", json!({}))["total"].clone(), person(&home)), (json!(1), json!(1)));
    let output = user.command(&["remember", "x", "--project"]).current_dir(&home).output().unwrap();
    let refused = crate::support::Ran::of(&user, output);
    assert!(refused.code == Some(2) && refused.err.contains("is no project"), "{refused}");
    assert_eq!(at_home.ok("remember", json!({ "content": "From home." }))["project"], json!(null));
    // Who names a folder does not mean everywhere.
    assert!(at_home.refused("remember", json!({ "content": "x", "project": home })).contains("is no project"));
    // A folder that nothing is kept for yet is a project; one that is not there is none.
    let empty = user.home().join("work/empty");
    fs::create_dir_all(&empty).unwrap();
    assert_eq!(at_home.ok("recall", json!({ "project": empty }))["total"], 2);
    assert!(at_home.refused("recall", json!({ "project": "/nowhere/at/all" })).contains("known are"));
    assert!(at_home.refused("remember", json!({ "content": "x", "project": "/nowhere/at/all" })).contains("known are"));
    let filed = at_home.ok("remember", json!({ "content": "There.", "project": empty }));
    assert_eq!(filed["project"].as_str().unwrap(), empty.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn what_is_archived_is_read_and_said_to_be_so() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let mut agent = Agent::of(&user);
    let id = agent.ok("chunk", json!({ "content": "one\nthe okapi\nthree" }))["id"].as_str().unwrap().to_owned();
    assert!(!agent.ok("grep", json!({ "pattern": "x" }))["about"].as_str().unwrap().contains("archived"));
    let mut store = Store::open(&user.state()).unwrap();
    let (chunk, session) = (store.chunks().unwrap()[0].row, store.sessions().unwrap()[0].id);
    store.archive_chunk(chunk, 1_796_000_000_000).unwrap();
    store.archive_session(session, 1_796_000_000_000).unwrap().unwrap();
    drop(store);
    let hint = format!("{id} is archived, so search does not find its text: `restore` brings it back.");
    let lines = agent.ok("peek", json!({ "chunk_id": id, "start": 1, "end": 2 }));
    assert_eq!((&lines["text"], &lines["archived"]), (&json!("the okapi\n"), &json!(true)));
    assert!(lines["about"].as_str().unwrap().contains(&hint), "{lines}");
    let got = agent.ok("get", json!({ "ids": [id] }));
    assert_eq!(got["items"][0]["text"], "one\nthe okapi\nthree");
    assert!(got["about"].as_str().unwrap().contains(&hint), "{got}");
    let found = agent.ok("grep", json!({ "pattern": "okapi" }));
    let about = found["about"].as_str().unwrap();
    assert_eq!((&found["total"], &found["lines"][0]["archived"]), (&json!(1), &json!(true)));
    assert!(about.contains("marked archived"), "{about}");
    let ran = user.run(&["grep", "okapi"]);
    assert!(ran.out.contains("archived") && ran.err.contains("marked archived"), "{ran}");
    assert_eq!(agent.ok("restore", json!({ "chunk_id": id }))["restored"], true);
    assert_eq!(agent.ok("grep", json!({ "pattern": "okapi" }))["total"], 1);
}

#[test]
fn what_retention_does_for_the_size_is_told() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    fs::write(user.state().join("config.toml"), "[retention]\nstore-bytes = 4096\n").unwrap();
    let mut agent = Agent::of(&user);
    let preview = agent.ok("retention_preview", json!({}));
    assert!(preview["archive_total"].as_u64().unwrap() > 0, "{preview}");
    assert_eq!(preview["archive"][0]["reason"], "size");
    assert_eq!(preview["purge"][0]["reason"], "size", "without being asked for: {preview}");
    let done = agent.ok("retention_run", json!({ "archive": false }));
    assert!(done["purged"].as_u64().unwrap() > 0 && done["over"].as_u64().unwrap() > 0, "{done}");
    assert!(done["about"].as_str().unwrap().contains("over its limit (`retention.store-bytes`)"), "{done}");
}

#[test]
fn search_says_what_it_has_to_do_without() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    agent.ok("remember", json!({ "content": "The okapi eats leaves." }));
    user.ok(&["reindex"]);
    let about =
        |agent: &mut Agent| agent.ok("search", json!({ "query": "okapi" }))["about"].as_str().unwrap().to_owned();
    assert!(!about(&mut agent).contains("totalrecall"));
    fs::create_dir_all(user.state().join("models")).unwrap();
    fs::write(user.state().join("models/use"), "gone\n").unwrap();
    let told = about(&mut agent);
    assert!(told.contains("there is no model `gone`") && told.contains("models use built-in"), "{told}");
    fs::remove_file(user.state().join("models/use")).unwrap();
    assert!(!about(&mut agent).contains("gone"), "it is mended");
    for file in walk(&user.state().join("index/words")) {
        fs::write(file, "damaged").unwrap();
    }
    let told = about(&mut agent);
    assert!(told.contains("`totalrecall reindex` makes it anew"), "{told}");
    assert!(agent.text("status", json!({})).contains("`totalrecall reindex` makes it anew"));
    user.ok(&["reindex"]);
    assert!(!about(&mut agent).contains("reindex"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    agent.ok("remember", json!({ "content": "The okapi eats leaves.", "domain": "api" }));
    let both = json!({ "query": "okapi", "kinds": "memory", "include_insights": false });
    assert!(agent.refused("search", both).contains("`include_insights` leaves them out"));
    for (tool, arguments) in [
        ("remember", json!({ "content": "x", "domain": "api, auth" })),
        ("chunk", json!({ "content": "x", "domain": "api, auth" })),
        ("search", json!({ "query": "okapi", "domain": "api, auth" })),
    ] {
        assert!(agent.refused(tool, arguments).contains("there can be one domain, and these are 2: api, auth"));
    }
    let ran = user.run(&["remember", "x", "--ticket", "A-1,A-2"]);
    assert!(ran.code == Some(1) && ran.err.contains("there can be one ticket"), "{ran}");
    // What was said besides is not taken over.
    let again = agent.text("remember", json!({ "content": "The okapi eats leaves.", "importance": "critical" }));
    assert!(again.contains("says this already") && again.contains("stays as it is"), "{again}");
    assert_eq!(agent.ok("recall", json!({}))["memories"][0]["importance"], "medium");
}
