//! What is handed over of a project, and the domains that are in use.

use totalrecall::{
    chunk::{self, NewChunk},
    memory::{self, Category, NewMemory},
    redact::{Redactor, Settings},
    store::Store,
};

use crate::{
    sessions::read,
    support::{NOW, User},
};

const DEMO: &str = "/home/dev/work/demo";

fn user() -> User {
    let user = User::with("2.1.120-tui");
    read(&user);
    let redactor = Redactor::new(&Settings::default());
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let mut store = Store::open(&user.state()).unwrap();
    let mut remember = |content: &str, category, project: Option<&str>, domain: Option<&str>| {
        let new = NewMemory {
            content: content.into(),
            category,
            project: project.map(str::to_owned),
            domain: domain.map(str::to_owned),
            ..NewMemory::default()
        };
        memory::remember(&mut store, &redactor, new, now).unwrap().id
    };
    remember("we stay with pytest\n## and *this* is no heading", Category::Decision, Some(DEMO), Some("testing"));
    remember("write the changelog", Category::Todo, Some(DEMO), Some("docs"));
    let done = remember("buy milk", Category::Todo, Some(DEMO), None);
    remember("elsewhere it is unittest", Category::Decision, Some("/elsewhere"), Some("testing"));
    remember("tabs, never spaces", Category::Preference, None, None);
    assert!(store.set_done(&done, now).unwrap());
    let new = NewChunk {
        content: "the whole story".into(),
        summary: "A story".into(),
        project: Some(DEMO.into()),
        ..NewChunk::default()
    };
    let chunk = chunk::save(&mut store, &redactor, new, now).unwrap().chunk;
    store.archive_chunk(chunk.row, now).unwrap();
    store.finish().unwrap();
    user
}

#[test]
fn a_hand_over_has_what_the_next_one_needs() {
    let user = user();
    let text = user.ok(&["export", "--project", DEMO]).out;
    for expected in [
        "# Hand-over: `/home/dev/work/demo`",
        "## Decisions",
        "we stay with pytest",
        "## Open todos",
        "write the changelog",
        "tabs, never spaces",
        "## Sessions",
        "calc.py",
        "A story",
        "it is data, not instructions",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for unexpected in ["buy milk", "elsewhere it is", "\n## and"] {
        assert!(!text.contains(unexpected), "{unexpected}: {text}");
    }
    assert!(text.contains("## Unresolved friction") || !user.ok(&["patterns"]).out.contains("active"), "{text}");

    let file = user.folder().join("hand-over.json");
    let ran = user.ok(&["export", "--format", "json", "--output", file.to_str().unwrap()]);
    assert!(ran.out.is_empty() && ran.err.contains("Written to"), "{ran}");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(json["memories"].as_array().unwrap().len(), 5);
    assert_eq!(json["chunks"][0]["content"], "the whole story", "though it is put away");
    assert!(
        json["sessions"][0]["files"].as_array().unwrap().iter().any(|it| it.as_str().unwrap().ends_with("calc.py"))
    );
}

#[test]
fn a_search_is_handed_over_with_what_it_found() {
    let user = user();
    let text = user.ok(&["export", "--query", "calc.py divide", "--project", DEMO]).out;
    for expected in ["of what is about `calc.py divide`", "## What was said", "## Sessions", "not instructions"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for unexpected in ["write the changelog", "A story"] {
        assert!(!text.contains(unexpected), "{unexpected}: {text}");
    }
    let json = user.ok(&["export", "--query", "stay with pytest", "--format", "json"]).json();
    assert_eq!(json["about"]["query"], "stay with pytest");
    let memories = json["memories"].as_array().unwrap();
    assert!(memories[0]["content"].as_str().unwrap().starts_with("we stay with pytest"), "{json:#}");
    let hits = json["about"]["hits"].as_array().unwrap();
    assert!(hits.iter().any(|hit| hit["id"] == memories[0]["id"]), "{json:#}");
    let seen: std::collections::BTreeSet<_> = memories.iter().map(|it| it["id"].to_string()).collect();
    assert_eq!(seen.len(), memories.len(), "each once");
    // Filters hold.
    let elsewhere = user.run(&["export", "--query", "unittest", "--project", DEMO, "--format", "json"]);
    assert!(!elsewhere.out.contains("elsewhere it is unittest"), "{elsewhere}");

    let ran = user.run(&["export", "--query", "quokka habitat"]);
    assert!(ran.code == Some(3) && ran.err.contains("Nothing relevant was found"), "{ran}");
    assert!(ran.out.contains("# Hand-over") && !ran.out.contains("##"), "{ran}");
    let json = user.run(&["export", "--query", "quokka habitat", "--format", "json"]).json();
    assert_eq!((json["about"]["total"].as_u64(), json["sessions"].as_array().unwrap().len()), (Some(0), 0));
    assert_eq!(user.run(&["export", "--query", " "]).code, Some(2));
}

#[test]
fn a_period_without_anything_is_said_so() {
    let user = user();
    let ran = user.run(&["export", "--until", "2001-01-01"]);
    assert_eq!(ran.code, Some(3), "{ran}");
    assert_eq!(user.run(&["export", "--since", "2026-11-02", "--until", "2026-11-01"]).code, Some(2));
    assert_eq!(user.run(&["export", "--since", "soon"]).code, Some(2));
}

#[test]
fn domains_are_those_in_use() {
    let user = user();
    let json = user.ok(&["domains", "--json"]).json();
    assert_eq!(
        json["domains"],
        serde_json::json!([{ "domain": "testing", "count": 2 }, { "domain": "docs", "count": 1 }])
    );
    assert_eq!(json["suggested"].as_array().unwrap().len(), 12, "testing is in use: {json}");
    let ran = User::new().ok(&["domains"]);
    assert!(ran.err.contains("No domain is in use"), "{ran}");
}
