//! Sessions of a person, read, shown to the model through the real client, and what is known of them afterwards: all of it by
//! the commands that the person types.

use std::{fs, process::Stdio};

use serde_json::{Value, json};
use totalrecall::store::CallOutcome;

use crate::{
    api::Reply,
    person::{Person, Ran},
    tests,
};

tests! {
    nothing_is_sent_before_the_person_has_seen_what_and_agreed,
    what_the_model_finds_rests_on_what_it_was_shown,
    that_it_finds_nothing_is_an_answer,
    a_session_without_an_answer_is_asked_about_again,
    a_session_whose_run_was_killed_stays_due,
    secrets_of_a_transcript_do_not_leave,
    a_worker_asks_by_itself_once_that_was_agreed_to,
    a_rule_is_drafted_and_patterns_become_one,
}

/// One with a session in which the agent was steered and refused, read. The transcript is changed before.
fn with_a_session_of(script: impl IntoIterator<Item = Reply>, change: impl Fn(String) -> String) -> Person {
    let person = Person::asking(script);
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/claude-code/2.1.332-steering-and-refusal/transcripts");
    totalrecall::conformance::lay_out(&case, &person.home().join(".claude/projects/-work")).unwrap();
    let [transcript] = &person.transcripts()[..] else { panic!("{:?}", person.transcripts()) };
    fs::write(transcript, change(fs::read_to_string(transcript).unwrap())).unwrap();
    person.ok(&["init"]);
    person.ok(&["worker", "--reconcile", "--quiet"]);
    assert_eq!(person.ok(&["status", "--json"]).json()["status"]["sessions"], 1);
    person
}

fn with_a_session(script: impl IntoIterator<Item = Reply>) -> Person {
    with_a_session_of(script, |text| text)
}

fn learn(person: &Person) -> Value {
    person.ok(&["learn", "--yes", "--json"]).json()
}

/// What `status` says of reviews that failed: why, and how many.
fn failed(person: &Person) -> Value {
    let status = person.ok(&["status", "--json"]).json();
    let failed: Vec<Value> =
        status["reviews"].as_array().unwrap().iter().filter(|it| it["state"] == "failed").cloned().collect();
    assert!(failed.len() < 2, "{status}");
    failed.into_iter().next().unwrap_or_default()
}

fn found(subject: &str) -> Value {
    json!({ "findings": [{
        "category": "misunderstood-intent",
        "form": "scope",
        "subject": subject,
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

fn nothing_is_sent_before_the_person_has_seen_what_and_agreed() {
    let person = with_a_session([Reply::good(nothing())]);
    let offer = person.ok(&["learn"]);
    assert!(offer.out.contains("1 due") && offer.err.contains("Nothing was sent"), "{offer}");
    person.ok(&["worker", "--reconcile", "--quiet"]);
    assert_eq!((person.api.asked().len(), person.calls().len()), (0, 0));
    learn(&person);
    assert_eq!(person.api.questions().len(), 1);
    person.api.assert_asked_nothing_else();
}

fn what_the_model_finds_rests_on_what_it_was_shown() {
    let person = with_a_session([Reply::good(found("listing files without need")).used(10_000, 200)]);
    let learned = learn(&person);
    assert_eq!((&learned["findings"], &learned["left"]), (&json!(1), &json!(0)), "{learned}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!((call.outcome, call.input_tokens), (CallOutcome::Ok, Some(10_000)), "{call:?}");
    assert_eq!(learned["spent_usd"], json!(call.cost_usd));
    let spent = person.ok(&["spend", "--json"]).json();
    assert_eq!(spent["sums"][0]["usd"], json!(call.cost_usd), "{spent}");

    // What tools had said was shown; what the transcript says besides was not, and no hook of ours or theirs was called.
    let [question] = &person.api.questions()[..] else { panic!("{:#?}", person.api.questions()) };
    let text = question.text();
    assert!(text.contains(r#""result""#) && text.contains("drwxr-xr-x"), "{text}");
    assert!(!text.contains("toolu_"), "{text}");

    // It is a pattern, and on the page.
    let patterns = person.ok(&["patterns", "--json"]).out;
    assert!(patterns.contains("listing files without need"), "{patterns}");
    let page = person.ok(&["insights"]).out;
    assert!(page.contains("listing files without need") && page.contains("Answer first."), "{page}");

    // Neither the session nor our question is asked about again.
    let transcripts = person.transcripts();
    assert_eq!(transcripts.len(), 1, "{transcripts:?}");
    person.ok(&["worker", "--reconcile", "--quiet"]);
    assert_eq!(person.ok(&["status", "--json"]).json()["status"]["sessions"], 1);
    assert_eq!(person.run(&["learn"]).code, Some(3));
    assert_eq!(person.api.questions().len(), 1);
}

fn that_it_finds_nothing_is_an_answer() {
    let person = with_a_session([Reply::good(nothing())]);
    let learned = learn(&person);
    assert_eq!((&learned["asked"], &learned["empty"]), (&json!(1), &json!(1)), "{learned}");
    assert_eq!(learned["failed"], json!([]), "{learned}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!(call.outcome, CallOutcome::OkEmpty, "{call:?}");
    assert!(person.ok(&["status"]).out.contains("0 due, 1 done"));
}

fn a_session_without_an_answer_is_asked_about_again() {
    let person = with_a_session([Reply::empty()]);
    let failures = [
        (Reply::garbage(), "no-answer"),
        (Reply::schema_missing(&found("x")), "no-answer"),
        (Reply::empty(), "no-answer"),
        (Reply::overloaded(), "overloaded"),
        (Reply::rate_limited(1), "rate-limited"),
        (Reply::cut_off(), "network"),
        (Reply::slow(), "timeout"),
    ];
    let count = failures.len();
    fs::write(person.state().join("config.toml"), "[model]\ntimeout-seconds = 10\nusd-per-day = 5.0\n").unwrap();
    for ((reply, kind), day) in failures.into_iter().zip(2..) {
        person.api.answer([reply]);
        // A day later each time, so that every wait is over.
        let mut later = person.totalrecall(&["learn", "--yes"]);
        let ran: Ran = later.env("TOTALRECALL_NOW", format!("2036-06-{day:02}T12:00:00Z")).output().unwrap().into();
        assert_eq!(ran.code, Some(1), "nothing was answered: {ran}");
        assert!(ran.err.contains(&format!("({kind}")), "{kind}: {ran}");
        let last = person.calls().pop().unwrap();
        assert_eq!((last.outcome, last.kind.as_deref()), (CallOutcome::Failed, Some(kind)), "{last:?}");
        let failed = failed(&person);
        assert_eq!((&failed["why"], &failed["count"]), (&json!(kind), &json!(1)), "{failed}");
    }
    assert_eq!(person.calls().len(), count);
    let text = person.ok(&["status"]).out;
    assert!(text.contains("unanswered") && text.contains("timeout"), "{text}");

    // When it is asked for, it is asked at once, and an answer is one.
    person.ok(&["retry"]);
    person.api.answer([Reply::good(nothing())]);
    let mut later = person.totalrecall(&["learn", "--yes"]);
    let ran: Ran = later.env("TOTALRECALL_NOW", "2036-06-20T12:00:00Z").output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(failed(&person), Value::Null);
}

fn a_session_whose_run_was_killed_stays_due() {
    let person = with_a_session([Reply::slow()]);
    let mut run = person.totalrecall(&["learn", "--yes"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    person.api.wait_for_questions(1);
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(person.ok(&["status"]).out.contains("1 due"));
    person.api.answer([Reply::good(found("listing files"))]);
    assert_eq!(learn(&person)["findings"], 1);
    let [killed, answered] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!((killed.kind.as_deref(), killed.usd()), (Some("killed"), killed.reserved_usd), "{killed:?}");
    assert_eq!(answered.outcome, CallOutcome::Ok);
}

fn secrets_of_a_transcript_do_not_leave() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let person = with_a_session_of([Reply::good(nothing())], |text| text.replace("drwxr-xr-x", &secret));
    assert!(fs::read_to_string(&person.transcripts()[0]).unwrap().contains(&secret));
    learn(&person);
    let [question] = &person.api.questions()[..] else { panic!("{:#?}", person.api.questions()) };
    assert!(!question.text().contains(&secret[..20]) && question.text().contains("[redacted"), "{}", question.text());
}

fn a_worker_asks_by_itself_once_that_was_agreed_to() {
    let person = with_a_session([Reply::good(nothing())]);
    person.ok(&["learn", "--yes", "--limit", "0"]);
    person.ok(&["worker", "--no-model"]);
    assert_eq!(person.api.questions().len(), 0);
    let ran = person.ok(&["worker"]);
    assert!(ran.err.contains("1 session: 0 findings"), "{ran}");
    assert_eq!(person.api.questions().len(), 1);
    person.ok(&["learn", "--withdraw"]);
    person.ok(&["learn", "--session", "0"]);
    assert_eq!(person.api.questions().len(), 1, "withdrawn");
}

fn a_rule_is_drafted_and_patterns_become_one() {
    let person = with_a_session([Reply::good(found("listing files"))]);
    learn(&person);
    let patterns = person.ok(&["patterns", "--json", "--limit", "100"]).json();
    let ids: Vec<&str> = patterns.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    let judged = ids.iter().find(|id| id.contains("listing-files")).unwrap();

    person.api.answer([Reply::good(json!({
        "covered": null, "rule": "Answer the question before you list files.\n@secrets.md <!-- x -->",
        "rationale": "It was asked for a word.", "paths": [], "check": null,
    }))]);
    let proposed = person.ok(&["propose", "--pattern", judged, "--json"]).json();
    let draft = &proposed["drafted"][0];
    assert!(draft["text"].as_str().unwrap().starts_with("Answer the question before you list files."), "{draft}");
    assert!(!draft["text"].as_str().unwrap().contains("<!--") && draft["author"]["model"].is_string(), "{draft}");
    let asked = person.api.questions().pop().unwrap().text();
    assert!(asked.contains("listing files") && asked.contains("You draft one rule"), "{asked}");

    let other = ids.iter().find(|id| *id != judged).unwrap();
    person.api.answer([Reply::good(json!({ "groups": [{ "keep": judged, "others": [other, "made-up"] }] }))]);
    let found = person.ok(&["synth", "--json"]).json();
    assert_eq!((&found["by"], &found["dropped"]), (&json!("model"), &json!(1)), "{found}");
    let count = |person: &Person| person.ok(&["patterns", "--json", "--limit", "100"]).json().as_array().unwrap().len();
    assert_eq!(count(&person), ids.len() - 1);
    person.ok(&["patterns", "undo", "--last"]);
    assert_eq!(count(&person), ids.len());
    let purposes: Vec<String> = person.calls().into_iter().map(|call| call.purpose).collect();
    assert_eq!(purposes, ["findings", "draft", "synth"]);
}
