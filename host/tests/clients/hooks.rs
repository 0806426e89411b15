//! Hooks of ours in the client's settings: a person's sessions are noticed, sessions of our own making are not, and each of
//! the two things that keep them from it suffices.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{api::Reply, person::Person, tests};

tests! {
    a_session_is_noticed,
    the_end_of_a_session_is_read_by_a_worker,
    what_init_adds_is_called_until_it_is_taken_back,
    without_hooks_and_persistence_there_is_nothing_to_notice,
    the_guard_variable_silences_hooks,
}

/// A person whose Claude Code calls us at these events.
pub(crate) fn hooked(events: &[&str]) -> Person {
    let person = Person::asking([Reply::text("Hello.")]);
    let hooks = |event: &&str| {
        let hook = json!({ "type": "command", "command": format!("totalrecall hook {event}") });
        ((*event).to_owned(), json!([{ "hooks": [hook] }]))
    };
    person.set_up(&json!({ "hooks": Value::from_iter(events.iter().map(hooks)) }));
    person.ok(&["init"]);
    person
}

fn a_session_is_noticed() {
    // Neither of them starts a worker, which would take the notices away.
    let person = hooked(&["SessionStart", "Stop"]);
    let ran = person.ask_claude(&["-p", "--output-format=json"], "Hello!");
    assert_eq!(ran.json()["result"], "Hello.", "{ran}");
    let [transcript] = &person.transcripts()[..] else { panic!("{:?}", person.transcripts()) };
    let mut seen: Vec<_> = person.notices();
    seen.sort_by_key(|notice| notice["event"].to_string());
    let events: Vec<_> = seen.iter().map(|notice| notice["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["SessionStart", "Stop"]);
    for notice in &seen {
        assert_eq!(Path::new(notice["transcript_path"].as_str().unwrap()), transcript);
        assert_eq!(notice["session_id"], ran.json()["session_id"]);
    }
    person.api.assert_asked_nothing_else();
}

fn the_end_of_a_session_is_read_by_a_worker() {
    let person = hooked(&["SessionEnd"]);
    person.ask_claude(&["-p"], "Hello!");
    assert_read(&person);
}

fn what_init_adds_is_called_until_it_is_taken_back() {
    let person = Person::asking([Reply::text("Hello.")]);
    person.set_up(&json!({ "cleanupPeriodDays": 30 }));
    let settings = person.home().join(".claude/settings.json");
    let before = fs::read(&settings).unwrap();
    person.ok(&["init", "--hooks", "--tool", "claude-code"]);
    let ran = person.ask_claude(&["-p", "--output-format=json"], "Hello!");
    assert_eq!((ran.code, &ran.json()["result"]), (Some(0), &json!("Hello.")), "{ran}");
    assert_read(&person);
    person.ok(&["init", "--no-hooks"]);
    assert_eq!(fs::read(&settings).unwrap(), before);
    person.ask_claude(&["-p"], "Hello again!");
    assert_eq!((person.transcripts().len(), person.notices()), (2, Vec::new()), "it was called all the same");
}

/// The client's one session was read, because the client said that it is over.
#[track_caller]
fn assert_read(person: &Person) {
    // The worker has outlived the client. Ours leaves the work to it, or finds what it has left.
    for _ in 0..100 {
        person.ok(&["worker", "--quiet"]);
        if person.ok(&["status", "--json"]).json()["status"]["sessions"] == 1 {
            assert_eq!(person.notices(), [] as [Value; 0]);
            return;
        }
    }
    panic!("nobody has read the session:\n{}", person.run(&["status"]));
}

fn without_hooks_and_persistence_there_is_nothing_to_notice() {
    let person = hooked(&["SessionStart", "Stop", "SessionEnd"]);
    let ours = ["--settings={\"disableAllHooks\":true}", "--no-session-persistence"];
    let ran = person.ask_claude(&[&["-p", "--output-format=json"], &ours[..]].concat(), "Hello!");
    assert_eq!(ran.json()["result"], "Hello.", "{ran}");
    assert_eq!((person.notices(), person.transcripts()), (Vec::new(), Vec::new()));
}

fn the_guard_variable_silences_hooks() {
    let person = hooked(&["SessionStart", "Stop", "SessionEnd"]).with("TOTALRECALL_ANALYSIS", "1");
    let ran = person.ask_claude(&["-p", "--output-format=json"], "Hello!");
    assert_eq!(ran.json()["result"], "Hello.", "{ran}");
    // The client has kept a transcript, and told our hooks of it.
    assert_eq!((person.notices(), person.transcripts().len()), (Vec::new(), 1));
    assert!(!person.state().join("worker.lock").exists(), "a worker was started");
}
