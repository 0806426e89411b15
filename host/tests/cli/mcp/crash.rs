//! Several servers at once, workers beside them, and kills: what was said to be saved is saved, and nothing else is.

use std::{
    collections::BTreeSet,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use totalrecall::store::Store;

use super::agent::Agent;
use crate::support::{User, copy, fixture};

#[test]
fn two_servers_lose_nothing_of_what_both_write_at_once() {
    let user = User::new();
    let mut agents = [Agent::of(&user), Agent::of(&user)];
    let mut asked = Vec::new();
    for number in 0..40 {
        for (which, agent) in agents.iter_mut().enumerate() {
            let arguments = if number % 4 == 3 {
                json!({ "name": "chunk", "arguments": { "content": format!("Text {number} of {which}.") } })
            } else {
                json!({ "name": "remember", "arguments": { "content": format!("Statement {number} of {which}."), "project": "*" } })
            };
            asked.push((which, agent.begin("tools/call", arguments)));
        }
    }
    let mut ids = BTreeSet::new();
    let mut waiting: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); 2];
    for (which, id) in asked {
        waiting[which].insert(id);
    }
    for (agent, waiting) in agents.iter_mut().zip(&mut waiting) {
        while !waiting.is_empty() {
            let message = agent.hear();
            assert!(waiting.remove(&message["id"].as_u64().unwrap()), "{message}");
            let value = &message["result"]["structuredContent"];
            assert_ne!(message["result"]["isError"], true, "{message}");
            assert!(ids.insert(value["id"].as_str().unwrap().to_owned()), "twice: {message}");
        }
    }
    let store = Store::open_read_only(&user.state()).unwrap();
    assert_eq!((store.memories().unwrap().len(), store.chunks().unwrap().len()), (60, 20));
    // Each sees what the other has said.
    for agent in &mut agents {
        assert_eq!(agent.ok("recall", json!({ "limit": 1 }))["total"], 60);
        assert_eq!(agent.ok("search", json!({ "query": "statement 7" }))["hits"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn a_kill_while_it_remembers_leaves_whole_memories_only() {
    let user = User::new();
    let mut answered = BTreeSet::new();
    for round in 0..12_u64 {
        let mut agent = Agent::of(&user);
        for number in 0..20 {
            let content = format!("Round {round}, number {number}: {}", "words ".repeat(200));
            agent.begin(
                "tools/call",
                json!({ "name": "remember", "arguments": { "content": content, "tags": "a,b", "project": "*" } }),
            );
        }
        let until = Instant::now() + Duration::from_millis(round * 7);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        // What it has answered by then is kept.
        for _ in 0..round {
            let message = agent.hear();
            if let Some(id) = message["result"]["structuredContent"]["id"].as_str() {
                answered.insert(id.to_owned());
            }
        }
        agent.kill();
    }
    let store = Store::open_read_only(&user.state()).unwrap();
    store.check().unwrap();
    let memories = store.memories().unwrap();
    for memory in &memories {
        assert!(memory.content.ends_with("words") && memory.tags == ["a", "b"], "{memory:?}");
    }
    let kept: BTreeSet<_> = memories.iter().map(|memory| memory.id.clone()).collect();
    assert!(answered.is_subset(&kept), "it said that it remembered what it did not");
    assert!(!answered.is_empty());
    let mut agent = Agent::of(&user);
    assert_eq!(agent.ok("recall", json!({ "limit": 1 }))["total"], kept.len());
    // The indexes tell of each, too.
    assert!(
        agent.ok("search", json!({ "query": "round number words" }))["total"].as_u64().unwrap() > 0 || kept.is_empty()
    );
}

#[test]
fn what_was_asked_before_the_end_of_the_input_is_done() {
    let user = User::new();
    let mut agent = Agent::of(&user);
    for number in 0..10 {
        agent.begin(
            "tools/call",
            json!({ "name": "remember", "arguments": { "content": format!("Number {number}."), "project": "*" } }),
        );
    }
    assert!(agent.leave().success());
    assert_eq!(Store::open_read_only(&user.state()).unwrap().count_memories().unwrap(), 10);
}

/// A worker commits every half second and begins again at once; who waits for it must come in between.
#[test]
fn a_memory_is_kept_while_a_worker_reads_everything() {
    let user = User::new();
    for number in 0..150 {
        copy(&fixture("2.1.120-tui"), &user.projects().join(format!("copy-{number}")));
    }
    user.ok(&["init"]);
    let mut agent = Agent::of(&user);
    let mut worker =
        user.command(&["worker", "--reconcile"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut count, mut slowest) = (0, Duration::ZERO);
    while worker.try_wait().unwrap().is_none() {
        let begun = Instant::now();
        let result = agent.call("remember", json!({ "content": format!("While it works, {count}."), "project": "*" }));
        assert_ne!(result["isError"], true, "after {:?}: {result}", begun.elapsed());
        slowest = slowest.max(begun.elapsed());
        count += 1;
        let hits: Value = agent.ok("search", json!({ "query": "while it works" }));
        assert_ne!(hits["hits"], json!([]));
    }
    println!("{count} memories while a worker ran, the slowest took {slowest:?}");
    assert!(worker.wait().unwrap().success());
    assert_eq!(agent.ok("recall", json!({ "limit": 1 }))["total"], count);
}
