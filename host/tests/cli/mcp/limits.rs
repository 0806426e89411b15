//! How long an answer is, and what is said of what it leaves out.

use serde_json::{Value, json};
use totalrecall::{chunk, config::Config, memory, store::Store};

use super::agent::Agent;
use crate::support::User;

/// What is promised: so many characters of texts, and a little for what stands around them.
const ROOM: usize = 24_000;
const AROUND: usize = 1_000;

const NOW: i64 = 1_796_126_400_000;

fn store(user: &User) -> Store {
    totalrecall::files::make_private_folder(&user.state()).unwrap();
    Store::open(&user.state()).unwrap()
}

fn remember(store: &mut Store, content: String, tags: Vec<String>) {
    let new = memory::NewMemory { content, tags, ..memory::NewMemory::default() };
    memory::remember(store, &Config::default().redactor(), new, NOW).unwrap();
}

fn save(store: &mut Store, content: String, domain: Option<String>) {
    let new = chunk::NewChunk { content, domain, ..chunk::NewChunk::default() };
    chunk::save(store, &Config::default().redactor(), new, NOW).unwrap();
}

/// What a tool answers, which must have room.
fn bounded(agent: &mut Agent, tool: &str, arguments: Value) -> (Value, String) {
    let text = agent.text(tool, arguments.clone());
    let length = text.chars().count();
    assert!(length < ROOM + AROUND, "{tool} {arguments}: {length} characters");
    (agent.ok(tool, arguments), text)
}

#[test]
fn an_answer_has_room_for_so_much_and_says_what_has_none() {
    let user = User::new();
    let mut store = store(&user);
    for number in 0..60 {
        let words = "words of src/price.rs ".repeat(90);
        remember(&mut store, format!("Memory {number}: {words}"), vec!["long".to_owned()]);
        save(
            &mut store,
            format!("Chunk {number} about src/price.rs {}\n{}", "x".repeat(300), "line\n".repeat(400)),
            None,
        );
    }
    drop(store);
    let mut agent = Agent::of(&user);

    let (recalled, text) = bounded(&mut agent, "recall", json!({ "limit": 500, "project": "*" }));
    let shown = recalled["memories"].as_array().unwrap().len();
    assert!((5..60).contains(&shown), "{shown}");
    assert!(
        text.starts_with(&format!("Only {shown} of 60 memories are shown: an answer has no room for more")),
        "{text}"
    );
    let (few, _) = bounded(&mut agent, "recall", json!({ "limit": 2, "project": "*" }));
    let about = few["about"].as_str().unwrap();
    assert!(about.starts_with("Only 2 of 60 memories are shown: a higher limit shows more"), "{about}");

    let (related, _) = bounded(&mut agent, "related_to_file", json!({ "path": "src/price.rs" }));
    let told = related["memories"].as_array().unwrap().len() + related["chunks"].as_array().unwrap().len();
    let about = related["about"].as_str().unwrap();
    assert!(told > 5 && about.starts_with(&format!("{} more memories and chunks name it", 120 - told)), "{about}");

    for (tool, arguments) in [
        ("list_chunks", json!({ "limit": 500 })),
        ("timeline", json!({ "limit": 200 })),
        ("grep", json!({ "pattern": "price", "limit": 200 })),
        ("search", json!({ "query": "price", "limit": 50 })),
    ] {
        let (answer, _) = bounded(&mut agent, tool, arguments);
        assert!(answer["total"].as_u64().unwrap() > 0, "{tool}: {answer}");
    }
}

#[test]
fn what_stands_around_takes_room_too() {
    let user = User::new();
    let (id, steps) = ("3f1c6a52-0000-4000-8000-000000000001", 120);
    let line = |number: usize| {
        let (kind, role) = if number.is_multiple_of(2) { ("user", "user") } else { ("assistant", "assistant") };
        let content = if kind == "user" {
            json!(format!("Step {number} {}", "w ".repeat(100)))
        } else {
            json!([{ "type": "text", "text": format!("Step {number} {}", "w ".repeat(100)) }])
        };
        json!({
            "type": kind, "uuid": format!("3f1c6a52-0000-4000-8000-1{number:011}"), "sessionId": id, "version": "2.1.120",
            "parentUuid": number.checked_sub(1).map(|before| format!("3f1c6a52-0000-4000-8000-1{before:011}")),
            "cwd": "/w", "timestamp": format!("2026-11-30T10:{:02}:{:02}.000Z", number / 60, number % 60),
            "isSidechain": false, "userType": "external", "message": { "role": role, "content": content },
        })
        .to_string()
    };
    let file = user.projects().join(format!("-w/{id}.jsonl"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, (0..steps).map(line).collect::<Vec<_>>().join("\n") + "\n").unwrap();
    crate::support::settle(&file);
    user.ok(&["worker", "--reconcile"]);
    let mut agent = Agent::of(&user);
    let hits = agent.ok("grep", json!({ "pattern": "^Step", "limit": 20 }));
    let ids: Vec<_> = hits["lines"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids.len(), 20, "{hits}");
    let (got, text) = bounded(&mut agent, "get", json!({ "ids": ids, "neighbours": 20 }));
    assert!(text.contains("There was no room for"), "{text}");
    assert_eq!(got["items"].as_array().unwrap().len(), 20);
    // The nearest ones are there.
    let alone = agent.ok("get", json!({ "ids": ids[10], "neighbours": 2 }));
    let (first, alone) = (&got["items"][0], &alone["items"][0]);
    assert!(!first["before"].as_array().unwrap().is_empty(), "{first}");
    assert_eq!(
        (alone["before"].as_array().unwrap().len(), alone["after"].as_array().unwrap().len()),
        (2, 2),
        "{alone}"
    );
}

#[test]
fn what_is_left_out_of_lists_can_be_had_as_it_says() {
    let user = User::new();
    let mut store = store(&user);
    for number in 0..510 {
        save(&mut store, format!("{number}"), Some(format!("domain{number}")));
    }
    for number in 0..40 {
        remember(&mut store, format!("{number}"), vec![format!("tag{number}")]);
    }
    drop(store);
    let mut agent = Agent::of(&user);
    let about = |agent: &mut Agent, tool: &str, limit: u32| {
        agent.ok(tool, json!({ "limit": limit, "project": "*" }))["about"].as_str().unwrap().to_owned()
    };
    let told = about(&mut agent, "recall", 10);
    assert!(told.starts_with("Only 10 of 40 memories are shown: limit 40 shows all."), "{told}");
    assert!(!about(&mut agent, "recall", 40).contains("shown"));
    // More than are ever shown at once.
    let told = about(&mut agent, "list_chunks", 20);
    assert!(told.starts_with("Only 20 of 510 chunks are shown: limit 500 is the highest"), "{told}");
    let domains = agent.ok("domains", json!({}));
    assert_eq!(domains["domains"].as_array().unwrap().len(), 100);
    let about = domains["about"].as_str().unwrap();
    for said in ["Only 100 of 510 domains are shown", "Only 30 of 40 tags are shown"] {
        assert!(about.contains(said), "{about}");
    }
}
