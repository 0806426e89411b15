//! What becomes of each kind of answer when TotalRecall asks through the real client: an answer, or a failure with its reason
//! in the ledger; never more than the budget, and nothing that could go on by itself.

use std::process::Stdio;

use serde_json::{Value, json};
use totalrecall::store::CallOutcome;

use crate::{
    api::Reply,
    hooks::hooked,
    person::{Person, Ran},
    tests,
};

tests! {
    an_answer_is_in_the_ledger_with_what_the_client_says_it_cost,
    nothing_is_asked_before_the_person_has_agreed,
    what_is_no_answer_has_failed,
    what_passes_with_time_holds_back_all_further_calls,
    silence_has_failed_when_its_time_is_over,
    a_killed_process_has_spent_what_was_reserved,
    failures_do_not_spend_more_than_the_budget,
    secrets_do_not_leave,
    asking_is_no_session,
}

fn names() -> Value {
    json!({ "names": ["it"] })
}

fn asking(script: impl IntoIterator<Item = Reply>) -> Person {
    let person = Person::asking(script);
    person.agree("");
    person
}

fn an_answer_is_in_the_ledger_with_what_the_client_says_it_cost() {
    let person = asking([Reply::good(names()).used(20_000, 500)]);
    let [said] = &person.ask(&["Name it."])[..] else { unreachable!("one question, one line") };
    assert_eq!(said["value"], names(), "{said}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!((call.outcome, call.input_tokens, call.output_tokens), (CallOutcome::Ok, Some(20_000), Some(500)));
    assert!(call.model.contains("sonnet") && said["model"] == call.model, "{call:?}");
    assert!(call.cost_usd.unwrap() > 0.0 && said["cost_usd"] == json!(call.cost_usd), "{call:?} {said}");
    assert_eq!(call.estimated_usd, None);
    let [question] = &person.api.questions()[..] else { panic!("{:#?}", person.api.questions()) };
    assert!(question.text().contains("You name things.") && question.text().contains("Name it."));
    person.api.assert_asked_nothing_else();
}

fn nothing_is_asked_before_the_person_has_agreed() {
    let person = Person::asking([Reply::good(names())]);
    person.ok(&["init"]);
    let said = person.ask(&["Name it."]);
    assert!(said[0]["refused"].as_str().unwrap().contains("agreed"), "{said:?}");
    assert_eq!((person.api.asked().len(), person.calls().len()), (0, 0));
}

fn what_is_no_answer_has_failed() {
    let person = asking([Reply::empty()]);
    for (reply, kind) in [
        (Reply::garbage(), "no-answer"),
        (Reply::schema_missing(&names()), "no-answer"),
        (Reply::empty(), "no-answer"),
        (Reply::good(json!({ "nomes": 1 })), "max-turns"),
    ] {
        person.api.answer([reply]);
        let said = person.ask(&["Name it."]);
        assert_eq!(said[0]["failed"], kind, "{said:?}");
        let calls = person.calls();
        let call = calls.last().unwrap();
        assert_eq!((call.outcome, call.kind.as_deref()), (CallOutcome::Failed, Some(kind)), "{call:?}");
        // It was paid for all the same.
        assert!(call.cost_usd.unwrap() > 0.0, "{call:?}");
        assert!(!call.why.as_deref().unwrap_or_default().is_empty(), "{call:?}");
    }
    // None of them keeps the next one from being asked.
    person.api.answer([Reply::good(names())]);
    assert_eq!(person.ask(&["Name it."])[0]["value"], names());
}

fn what_passes_with_time_holds_back_all_further_calls() {
    for (reply, kind) in [
        (Reply::rate_limited(1), "rate-limited"),
        (Reply::overloaded(), "overloaded"),
        (Reply::broken(), "server"),
        (Reply::cut_off(), "network"),
    ] {
        let person = asking([reply]);
        let said = person.ask(&["Name it.", "Name that."]);
        assert_eq!(said[0]["failed"], kind, "{said:?}");
        let asked = person.api.questions().len();
        // Neither this run nor the next one asks again, as the clock stands still.
        assert!(said[1]["refused"].is_string(), "{said:?}");
        let later = person.ask(&["Name it."]);
        assert!(later[0]["refused"].as_str().unwrap().contains("before 2036-06-01 12:01 UTC"), "{later:?}");
        assert_eq!((person.api.questions().len(), person.calls().len()), (asked, 1));
    }
}

fn silence_has_failed_when_its_time_is_over() {
    let person = Person::asking([Reply::slow()]);
    person.agree("timeout-seconds = 2");
    let said = person.ask(&["Name it."]);
    assert_eq!(said[0]["failed"], "timeout", "{said:?}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    // Whatever it has cost, nobody has said.
    assert_eq!((call.outcome, call.usd()), (CallOutcome::Failed, call.reserved_usd), "{call:?}");
}

fn a_killed_process_has_spent_what_was_reserved() {
    let person = asking([Reply::slow()]);
    let mut asker = person.asker(&["Name it."]).stdout(Stdio::piped()).spawn().unwrap();
    person.api.wait_for_questions(1);
    asker.kill().unwrap();
    let ran = Ran::from(asker.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (None, ""), "{ran}");
    let [call] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!((call.outcome, call.usd()), (CallOutcome::Running, call.reserved_usd), "{call:?}");

    // The next one notes it, and is not kept from asking.
    person.api.answer([Reply::good(names())]);
    assert_eq!(person.ask(&["Name it."])[0]["value"], names());
    let [killed, answered] = &person.calls()[..] else { panic!("{:?}", person.calls()) };
    assert_eq!((killed.outcome, killed.kind.as_deref()), (CallOutcome::Failed, Some("killed")), "{killed:?}");
    assert_eq!((killed.usd(), answered.outcome), (killed.reserved_usd, CallOutcome::Ok));
}

fn failures_do_not_spend_more_than_the_budget() {
    let person = Person::asking([Reply::garbage().used(8_000, 100)]);
    person.agree("usd-per-day = 0.2");
    let said = person.ask(&["Name it."; 8]);
    let calls = person.calls().len();
    assert!((2..8).contains(&calls), "{calls} calls: {said:?}");
    assert!(said[..calls].iter().all(|said| said["failed"] == "no-answer"), "{said:?}");
    assert!(said[calls..].iter().all(|said| said["refused"].as_str().unwrap().contains("budget")), "{said:?}");
    assert!(person.spent() <= 0.2, "USD {}", person.spent());
    let asked = person.api.questions().len();
    person.ask(&["Name it."]);
    assert_eq!(person.api.questions().len(), asked, "the next run asked once more");
}

fn secrets_do_not_leave() {
    let person = asking([Reply::good(names())]);
    // Put together here, so that no scanner takes it for one.
    let secret = ["sk-ant-", "api03-", &"Zx8Qw3Er".repeat(11), "AA"].concat();
    person.ask(&[&format!("export ANTHROPIC_API_KEY={secret} && make")]);
    let [question] = &person.api.questions()[..] else { panic!("{:#?}", person.api.questions()) };
    let sent = format!("{} {:?}", question.body, question.headers);
    assert!(!sent.contains("Zx8Qw3Er"), "{}", question.text());
    assert!(question.text().contains("&& make"), "{}", question.text());
}

fn asking_is_no_session() {
    let person = hooked(&["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]);
    person.api.answer([Reply::good(names())]);
    person.agree("");
    assert_eq!(person.ask(&["Name it."])[0]["value"], names());
    assert_eq!((person.notices(), person.transcripts()), (Vec::new(), Vec::new()));
    person.ok(&["worker", "--reconcile", "--quiet"]);
    assert_eq!(person.ok(&["status", "--json"]).json()["status"]["sessions"], 0);
    assert_eq!(person.calls().len(), 1);
}
