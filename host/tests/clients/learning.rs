//! Sessions of a person, read, shown to the model through the real client, and what is known of them afterwards.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use totalrecall::{
    clock,
    config::Config,
    guests::Guests,
    model::Model,
    paths::Home,
    review::Reviewer,
    store::{CallOutcome, Store},
};

use crate::{
    api::Reply,
    person::{Person, Ran},
    tests,
};

tests! {
    what_the_model_finds_rests_on_what_it_was_shown,
    that_it_finds_nothing_is_an_answer,
    a_session_without_an_answer_is_asked_about_again,
}

/// Set in the process that has the model look at sessions.
pub(crate) const LEARN: &str = "TOTALRECALL_TEST_LEARN";

/// Has the model look at what is due, if this is the process for it, and prints what came of it.
pub(crate) fn is_done() -> bool {
    if std::env::var_os(LEARN).is_none() {
        return false;
    }
    let home = Home::choose(None).unwrap();
    let config = Config::load(&home.config()).unwrap();
    let guests = Guests::load(&config, Some(&home)).unwrap();
    let mut store = Store::open(home.path()).unwrap();
    let (stop, now) = (AtomicBool::new(false), clock::now());
    let reviewer = Reviewer::new(&home, &config, guests.kinds(), now).unwrap();
    let plan = reviewer.plan(&store, false).unwrap();
    let mut model = Model::new(&config, &home, now, &stop);
    let learned = reviewer.run(&mut store, &plan, usize::MAX, &mut model, &stop, &mut |_, _| {}).unwrap();
    let after = reviewer.plan(&store, false).unwrap();
    println!("{}", json!({ "learned": learned, "due": after.due.len(), "later": after.later, "done": after.done }));
    true
}

/// One with a session in which the agent was steered and refused, read.
fn with_a_session(script: impl IntoIterator<Item = Reply>) -> Person {
    let person = Person::asking(script);
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/claude-code/2.1.332-steering-and-refusal/transcripts");
    totalrecall::conformance::lay_out(&case, &person.home().join(".claude/projects/-work")).unwrap();
    person.agree("");
    person.ok(&["worker", "--reconcile", "--no-model", "--quiet"]);
    assert_eq!(person.ok(&["status", "--json"]).json()["status"]["sessions"], 1);
    person
}

fn learn(person: &Person) -> Value {
    let ran: Ran = person.command(&std::env::current_exe().unwrap()).env(LEARN, "1").output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran}");
    ran.json()
}

fn found() -> Value {
    json!({ "findings": [{
        "category": "misunderstood-intent",
        "form": "scope",
        "subject": "listing files without need",
        "description": "The agent listed files though a word was asked for.",
        "severity": 2,
        "references": [1],
        "pattern": null,
        "hint": "Answer first.",
    }] })
}

fn nothing() -> Value {
    json!({ "findings": [] })
}

fn what_the_model_finds_rests_on_what_it_was_shown() {
    let person = with_a_session([Reply::good(found()).used(10_000, 200)]);
    let learned = learn(&person);
    assert_eq!((&learned["learned"]["findings"], &learned["done"]), (&json!(1), &json!(1)), "{learned}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!((call.outcome, call.input_tokens), (CallOutcome::Ok, Some(10_000)), "{call:?}");
    assert_eq!(learned["learned"]["spent_usd"], json!(call.cost_usd));

    // What tools had said was shown; what the transcript says besides was not, and no hook of ours or theirs was called.
    let [question] = &person.api.questions()[..] else { panic!("{:#?}", person.api.questions()) };
    let text = question.text();
    assert!(text.contains(r#""result""#) && text.contains("drwxr-xr-x"), "{text}");
    assert!(!text.contains("toolu_"), "{text}");

    // It is a pattern.
    let patterns = person.ok(&["patterns", "--json"]).out;
    assert!(patterns.contains("listing files without need"), "{patterns}");

    // Neither the session nor our question is asked about again.
    let transcripts = person.transcripts();
    assert_eq!(transcripts.len(), 1, "{transcripts:?}");
    person.ok(&["worker", "--reconcile", "--quiet"]);
    assert_eq!(person.ok(&["status", "--json"]).json()["status"]["sessions"], 1);
    learn(&person);
    assert_eq!(person.api.questions().len(), 1);
}

fn that_it_finds_nothing_is_an_answer() {
    let person = with_a_session([Reply::good(nothing())]);
    let learned = learn(&person);
    assert_eq!((&learned["learned"]["empty"], &learned["done"]), (&json!(1), &json!(1)), "{learned}");
    assert_eq!(learned["learned"]["failed"], json!([]), "{learned}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert!(matches!(call.outcome, CallOutcome::Ok | CallOutcome::OkEmpty), "{call:?}");
}

fn a_session_without_an_answer_is_asked_about_again() {
    let person = with_a_session([Reply::empty()]);
    let failures = [
        Reply::garbage(),
        Reply::schema_missing(&found()),
        Reply::empty(),
        Reply::overloaded(),
        Reply::cut_off(),
        Reply::good(json!({ "findings": "none" })),
    ];
    for (reply, day) in failures.into_iter().zip(1..) {
        person.api.answer([reply]);
        // A day later each time, so that every wait is over.
        let mut later = person.command(&std::env::current_exe().unwrap());
        later.env(LEARN, "1").env("TOTALRECALL_NOW", format!("2036-06-{:02}T12:00:00Z", day + 1));
        let ran: Ran = later.output().unwrap().into();
        let learned = ran.json();
        let failed = learned["learned"]["failed"].as_array().unwrap();
        assert_eq!((failed.len(), &learned["done"]), (1, &json!(0)), "{learned}");
        assert_eq!(learned["learned"]["findings"], 0, "{learned}");
        if day < 4 {
            assert_eq!(learned["later"].as_u64().unwrap() + learned["due"].as_u64().unwrap(), 1, "{learned}");
        }
    }
    assert!(person.calls().iter().all(|call| call.outcome == CallOutcome::Failed), "{:?}", person.calls());
}
