//! What we believe of Claude Code, which `totalrecall::model` relies on. A version that behaves differently fails here, with
//! what it does instead.

use serde_json::{Value, json};

use crate::{
    api::Reply,
    person::{Person, Ran},
    tests,
};

tests! {
    an_object_is_handed_over,
    an_object_of_another_shape_is_asked_for_again_and_is_a_failure_then,
    words_instead_of_an_object_are_no_failure_and_leave_it_out,
    an_answer_without_a_word_leaves_it_out,
    errors_of_the_api_are_a_success_that_is_an_error,
    a_stream_that_breaks_off_is_asked_for_whole_and_is_an_error_then,
    a_key_that_is_refused_is_an_error,
    without_a_key_nothing_is_asked,
    silence_is_waited_for,
    a_budget_ends_it_after_the_call_that_used_it_up,
}

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": { "name": { "type": "string" } },
    "required": ["name"],
    "additionalProperties": false
}"#;

/// As `host/src/model/program.rs` has them.
const BARE: &[&str] = &[
    "-p",
    "--output-format=json",
    "--model=sonnet",
    "--max-turns=4",
    "--settings={\"disableAllHooks\":true}",
    "--tools=",
    "--setting-sources=",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--no-session-persistence",
    "--system-prompt=You name things.",
];

fn asking(script: impl IntoIterator<Item = Reply>) -> Person {
    Person::asking(script).with("CLAUDE_CODE_MAX_RETRIES", "1")
}

/// Asks for an object with a name.
fn ask(person: &Person, more: &[&str]) -> Ran {
    let schema = format!("--json-schema={SCHEMA}");
    let ran = person.ask_claude(&[BARE, &[&schema], more].concat(), "Name this.");
    // Whatever comes of it:
    person.api.assert_asked_nothing_else();
    assert_eq!(person.transcripts(), [] as [std::path::PathBuf; 0], "it kept a transcript:\n{ran}");
    ran
}

/// How it says that it failed.
#[track_caller]
fn assert_failed(ran: &Ran, subtype: &str, status: &Value) {
    let said = ran.json();
    assert_eq!(ran.code, Some(1), "{ran}");
    assert_eq!((&said["is_error"], &said["subtype"]), (&json!(true), &json!(subtype)), "{ran}");
    assert_eq!(&said["api_error_status"], status, "{ran}");
    assert_eq!(said["structured_output"], Value::Null, "{ran}");
}

fn an_object_is_handed_over() {
    let person = asking([Reply::good(json!({ "name": "it" })).used(20_000, 500)]);
    let ran = ask(&person, &[]);
    let said = ran.json();
    assert_eq!((ran.code, &said["is_error"], &said["subtype"]), (Some(0), &json!(false), &json!("success")), "{ran}");
    assert_eq!(said["structured_output"], json!({ "name": "it" }), "{ran}");
    // What it cost, by the API's count of tokens and the client's prices.
    assert_eq!(
        (&said["usage"]["input_tokens"], &said["usage"]["output_tokens"]),
        (&json!(20_000), &json!(500)),
        "{ran}"
    );
    let cost = said["total_cost_usd"].as_f64().unwrap();
    assert!((0.005..0.5).contains(&cost), "{ran}");
    let (model, used) = said["modelUsage"].as_object().unwrap().iter().next().unwrap();
    assert!(model.contains("sonnet") && used["costUSD"] == cost, "{ran}");

    // One question, with our prompt and next to nothing else.
    let [question] = &person.api.questions()[..] else { panic!("{:#?}", person.api.questions()) };
    let text = question.text();
    assert!(text.contains("You name things.") && text.contains("Name this."), "{text}");
    assert!(text.len() < 2_000, "{} bytes of prompt: {text}", text.len());
    for tool in question.tools() {
        assert!(["StructuredOutput", "DeferredToolPlaceholder"].contains(&tool), "{:?}", question.tools());
    }
}

fn an_object_of_another_shape_is_asked_for_again_and_is_a_failure_then() {
    let (wrong, right) = (json!({ "nome": 1 }), json!({ "name": "it" }));
    let person = asking([Reply::good(wrong.clone()), Reply::good(right.clone())]);
    assert_eq!(ask(&person, &[]).json()["structured_output"], right);
    assert_eq!(person.api.questions().len(), 2);

    person.api.answer([Reply::good(wrong)]);
    person.api.forget();
    let ran = ask(&person, &[]);
    assert_failed(&ran, "error_max_turns", &Value::Null);
    assert!(ran.json()["total_cost_usd"].as_f64().unwrap() > 0.0, "{ran}");
    let asked = person.api.questions().len();
    assert!((2..=5).contains(&asked), "asked {asked} times");
}

fn words_instead_of_an_object_are_no_failure_and_leave_it_out() {
    for reply in [Reply::garbage(), Reply::schema_missing(&json!({ "name": "it" }))] {
        let person = asking([reply]);
        let ran = ask(&person, &[]);
        assert_no_object(&ran);
        // It insists once. What both answers cost is told.
        assert_eq!(person.api.questions().len(), 2, "{ran}");
        assert_eq!(ran.json()["usage"]["input_tokens"], 2_000, "{ran}");
    }
}

fn an_answer_without_a_word_leaves_it_out() {
    let person = asking([Reply::empty()]);
    let ran = ask(&person, &[]);
    assert_no_object(&ran);
    assert_eq!(ran.json()["result"], "", "{ran}");
}

#[track_caller]
fn assert_no_object(ran: &Ran) {
    let said = ran.json();
    assert_eq!((ran.code, &said["is_error"], &said["subtype"]), (Some(0), &json!(false), &json!("success")), "{ran}");
    assert!(said.get("structured_output").is_none(), "{ran}");
}

fn errors_of_the_api_are_a_success_that_is_an_error() {
    for (reply, status) in [(Reply::rate_limited(1), 429), (Reply::overloaded(), 529), (Reply::broken(), 500)] {
        let person = asking([reply]);
        let ran = ask(&person, &[]);
        assert_failed(&ran, "success", &json!(status));
        assert!(ran.json()["result"].as_str().unwrap().starts_with("API Error: "), "{ran}");
        assert_eq!(ran.json()["total_cost_usd"], 0, "{ran}");
        // As often as CLAUDE_CODE_MAX_RETRIES says.
        assert_eq!(person.api.questions().len(), 2, "{ran}");
    }
}

fn a_stream_that_breaks_off_is_asked_for_whole_and_is_an_error_then() {
    for (reply, words) in [(Reply::cut_off(), "Connection to the API was lost"), (Reply::malformed(), "API Error: ")] {
        let person = asking([reply]);
        let ran = ask(&person, &[]);
        assert_failed(&ran, "success", &Value::Null);
        assert!(ran.json()["result"].as_str().unwrap().contains(words), "{ran}");
        let streamed: Vec<_> = person.api.questions().iter().map(|asked| asked.body["stream"] == true).collect();
        assert!(
            streamed.len() <= 4 && streamed.first() == Some(&true) && streamed.last() == Some(&false),
            "{streamed:?}"
        );
    }
}

fn a_key_that_is_refused_is_an_error() {
    let person = asking([Reply::text("never said")]).with("ANTHROPIC_API_KEY", "another");
    let schema = format!("--json-schema={SCHEMA}");
    let ran = person.ask_claude(&[BARE, &[&schema]].concat(), "Name this.");
    assert_failed(&ran, "success", &json!(401));
}

fn without_a_key_nothing_is_asked() {
    let person = asking([Reply::text("never said")]).with("ANTHROPIC_API_KEY", "");
    let ran = ask(&person, &[]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.out.contains("Not logged in"), "{ran}");
    assert_eq!(person.api.questions().len(), 0);
}

fn silence_is_waited_for() {
    let person = asking([Reply::slow()]);
    let mut child = person.claude(BARE).arg("Name this.").stdout(std::process::Stdio::piped()).spawn().unwrap();
    person.api.wait_for_questions(1);
    assert!(child.try_wait().unwrap().is_none(), "it did not wait for an answer");
    child.kill().unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (None, ""), "{ran}");
}

fn a_budget_ends_it_after_the_call_that_used_it_up() {
    let person = asking([Reply::garbage().used(100_000, 100)]);
    let ran = ask(&person, &["--max-budget-usd=0.01"]);
    assert_failed(&ran, "error_max_budget_usd", &Value::Null);
    assert_eq!(person.api.questions().len(), 1, "{ran}");
    assert!(ran.json()["total_cost_usd"].as_f64().unwrap() > 0.01, "{ran}");
}
