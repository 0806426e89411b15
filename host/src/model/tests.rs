use serde_json::json;

use super::*;
use crate::event::{Author, Body, Channel, Event, Message};

#[test]
fn tokens_are_counted_by_script() {
    assert_eq!(tokens("hello you"), 3);
    assert_eq!(tokens("你好吗"), 3);
}

#[test]
fn a_reservation_is_more_than_the_prices_say() {
    let settings = config::Model::default();
    let reserved = reservation(&settings, 20_000);
    assert!((reserved - (0.09 + 0.06)).abs() < 1e-9, "{reserved}");
}

#[test]
fn prompts_differ_by_instructions_and_schema() {
    let schema = json!({"type": "object"});
    assert_ne!(prompt_hash("a", &schema), prompt_hash("b", &schema));
    assert_ne!(prompt_hash("a", &schema), prompt_hash("a", &json!({})));
}

#[test]
fn another_program_and_a_higher_budget_are_not_agreed_to() {
    let settings = config::Model::default();
    let agreement = Agreement::new(&settings, 0);
    assert_eq!(agreement.lacks(&settings), None);
    assert_eq!(
        agreement.lacks(&config::Model { usd_per_day: 0.5, name: "haiku".to_owned(), ..settings.clone() }),
        None
    );
    assert!(agreement.lacks(&config::Model { usd_per_day: 1.01, ..settings.clone() }).is_some());
    assert!(agreement.lacks(&config::Model { usd_per_day: f64::NAN, ..settings.clone() }).is_some());
    assert!(agreement.lacks(&config::Model { command: vec!["x".to_owned()], ..settings }).is_some());
}

#[test]
fn messages_tell_what_kind_of_failure_it_is() {
    for (message, kind) in [
        ("API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", Some(Kind::Overloaded)),
        ("API Error: 429 rate limited", Some(Kind::RateLimited)),
        ("API Error: 500 internal", Some(Kind::Server)),
        ("API Error: Connection error.", Some(Kind::Network)),
        ("Not logged in · Please run /login", Some(Kind::Auth)),
        ("Credit balance is too low", Some(Kind::Auth)),
        ("You've hit your limit · resets 3pm", Some(Kind::RateLimited)),
        ("error: unknown option '--json-schema'", Some(Kind::Outdated)),
        ("stream error: unexpected status 401 Unauthorized", Some(Kind::Auth)),
        ("something else", None),
    ] {
        assert_eq!(Kind::of_message(message), kind, "{message}");
    }
}

#[test]
fn claude_is_asked_with_everything_switched_off_that_is_not_the_question() {
    let mut settings = config::Model::default();
    let call = |settings: &config::Model, instructions: &str| {
        let question = program::Question {
            purpose: Purpose::Draft,
            instructions,
            input: "the words of others",
            schema: "{\"a\":1}",
        };
        program::claude(settings, &question, 0.123_456)
    };
    let asked = call(&settings, "the prompt");
    let after = |option: &str| {
        asked.arguments.iter().position(|argument| argument == option).map(|at| asked.arguments[at + 1].as_str())
    };
    for (option, value) in [
        ("--output-format", "json"),
        ("--json-schema", "{\"a\":1}"),
        ("--model", "sonnet"),
        ("--max-budget-usd", "0.1235"),
        ("--settings", "{\"disableAllHooks\":true}"),
        ("--setting-sources", ""),
        ("--tools", ""),
        ("--system-prompt", "the prompt"),
    ] {
        assert_eq!(after(option), Some(value), "{option}");
    }
    for option in ["-p", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"] {
        assert!(asked.arguments.iter().any(|argument| argument == option), "{option}");
    }
    assert_eq!(asked.input, format!("{MARKER}\n\nthe words of others"));
    assert!(!asked.arguments.iter().any(|argument| argument.contains("others")), "arguments can be seen by everyone");
    assert!(asked.variables.contains(&("TOTALRECALL_ANALYSIS", "1".to_owned())));
    // Longer than a system may take as an argument.
    let long = "long ".repeat(10_000);
    let asked = call(&settings, &long);
    assert!(asked.input.contains(&long) && asked.arguments.iter().all(|argument| argument.len() < 1_000));
    settings.claude_settings = true;
    let asked = call(&settings, "the prompt");
    assert!(
        asked.arguments.contains(&"--safe-mode".to_owned())
            && !asked.arguments.contains(&"--setting-sources".to_owned())
    );
}

fn says(text: &str) -> Event {
    let message = Message { author: Author::Human, channel: Channel::Prompt, text: text.to_owned(), omitted: 0 };
    Event { line: 1, at: None, thread: None, key: None, copied: false, body: Body::Message(message) }
}

#[test]
fn sessions_of_our_own_are_recognised_by_how_they_begin() {
    let home = Home::choose(Some("/nowhere".into())).unwrap();
    let found = |texts: &[&str]| {
        let mut own = Own::new(&home);
        texts.iter().for_each(|text| own.learn(&says(text)));
        own.is_found()
    };
    assert!(found(&[&format!("{MARKER}\n\nsomething")]));
    assert!(found(&[&format!("\n\"{MARKER}\n\nsomething\"")]));
    assert!(!found(&["What does this mean?", MARKER]));
    assert!(!found(&[&format!("What does {MARKER} mean?")]));
}

#[test]
fn sessions_of_our_own_are_recognised_by_where_they_were_held() {
    let home = Home::choose(Some("/nowhere".into())).unwrap();
    let found = |cwd: &str| {
        let session = crate::event::Session {
            id: None,
            cwd: Some(cwd.to_owned()),
            branch: None,
            title: None,
            version: None,
            parent: None,
        };
        let mut own = Own::new(&home);
        own.learn(&Event { body: Body::Session(session), ..says("") });
        own.is_found()
    };
    assert!(found("/nowhere/analysis"));
    assert!(found("/nowhere/analysis/below"));
    assert!(!found("/nowhere/analysis-of-mine"));
    assert!(!found("/nowhere"));
}

#[cfg(unix)]
mod programs {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::{
        child::{Ended, Output},
        model::answer::{self, Form, Said},
    };

    fn read(form: Form, code: i32, stdout: &str, stderr: &str) -> Said {
        let ended = Ended::Exited(std::process::ExitStatus::from_raw(code << 8));
        answer::read(&Output { ended, stdout: stdout.into(), stderr: stderr.into() }, form)
    }

    fn kind(form: Form, code: i32, stdout: &str, stderr: &str) -> Kind {
        read(form, code, stdout, stderr).answer.unwrap().unwrap_err().0
    }

    fn envelope(more: serde_json::Value) -> String {
        let mut envelope = json!({"type": "result", "subtype": "success", "is_error": false, "result": "{\"a\": 1}",
            "total_cost_usd": 0.01, "usage": {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 7},
            "modelUsage": {"claude-haiku": {"costUSD": 0.001}, "claude-sonnet": {"costUSD": 0.009}}});
        envelope.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        envelope.to_string()
    }

    #[test]
    fn a_good_answer_of_claude_comes_with_its_cost() {
        let said = read(Form::Claude, 0, &envelope(json!({"structured_output": {"findings": []}})), "warning: x");
        assert_eq!(said.answer.unwrap().unwrap(), json!({"findings": []}));
        assert_eq!((said.input_tokens, said.output_tokens, said.cost_usd), (Some(103), Some(7), Some(0.01)));
        assert_eq!(said.model.as_deref(), Some("claude-sonnet"));
    }

    #[test]
    fn every_way_in_which_claude_fails_is_a_failure_of_its_own_kind() {
        use Form::Claude;
        let error = |more: serde_json::Value| {
            let mut all = json!({"is_error": true});
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            envelope(all)
        };
        for (status, expected) in [
            (429, Kind::RateLimited),
            (529, Kind::Overloaded),
            (503, Kind::Server),
            (401, Kind::Auth),
            (404, Kind::Rejected),
        ] {
            let text = error(json!({"api_error_status": status, "result": "API Error"}));
            assert_eq!(kind(Claude, 1, &text, ""), expected);
        }
        assert_eq!(kind(Claude, 1, &error(json!({"result": "API Error: 529 overloaded"})), ""), Kind::Overloaded);
        assert_eq!(kind(Claude, 1, &error(json!({"result": "Not logged in · Please run /login"})), ""), Kind::Auth);
        assert_eq!(kind(Claude, 1, &error(json!({"subtype": "error_max_budget_usd"})), ""), Kind::Budget);
        assert_eq!(kind(Claude, 1, &envelope(json!({"subtype": "error_max_turns"})), ""), Kind::MaxTurns);
        assert_eq!(kind(Claude, 0, &envelope(json!({"subtype": "error_during_execution"})), ""), Kind::Error);
        // A good envelope does not make up for a bad exit code.
        assert_eq!(kind(Claude, 1, &envelope(json!({"structured_output": {}})), ""), Kind::Error);
        // What the model says in text was not checked against the schema.
        assert_eq!(kind(Claude, 0, &envelope(json!({})), ""), Kind::NoAnswer);
        assert_eq!(kind(Claude, 0, &envelope(json!({"structured_output": "text"})), ""), Kind::NoAnswer);
        assert_eq!(kind(Claude, 0, "{\"findings\": []}", ""), Kind::Garbage);
        assert_eq!(kind(Claude, 0, "Execution error\n", ""), Kind::Interrupted);
        assert_eq!(kind(Claude, 1, "Not logged in · Please run /login\n", ""), Kind::Auth);
        assert_eq!(kind(Claude, 1, "", "error: unknown option '--json-schema'\n"), Kind::Outdated);
        assert_eq!(kind(Claude, 0, " \n", ""), Kind::Empty);
        assert_eq!(kind(Claude, 0, "{\"type\":\"result\",\"struc", ""), Kind::Garbage);
        assert_eq!(kind(Claude, 3, "", ""), Kind::Exit);
    }

    #[test]
    fn other_programs_may_answer_in_several_forms() {
        use Form::Any;
        let answer = |stdout: &str| read(Any, 0, stdout, "").answer.unwrap().unwrap();
        let wanted = json!({"a": 1});
        assert_eq!(answer("{\"a\": 1}\n"), wanted);
        assert_eq!(
            answer("I thought about it.\n\n```json\n{\"b\": 2}\n```\nBetter:\n```\n{\"a\":\n1}\n```\nBye."),
            wanted
        );
        assert_eq!(answer("progress\n{\"a\":1}"), wanted);
        assert_eq!(answer(&envelope(json!({}))), wanted);
        assert_eq!(answer(&envelope(json!({"result": "Here:\n```json\n{\"a\": 1}\n```"}))), wanted);
        assert_eq!(answer(&envelope(json!({"result": {"a": 1}}))), wanted);
        assert_eq!(answer(&envelope(json!({"structured_output": {"a": 1}}))), wanted);
        // An answer of which a field is called `result` is no envelope.
        assert_eq!(answer("{\"result\": \"x\"}"), json!({"result": "x"}));
        assert_eq!(kind(Any, 0, "[1, 2]", ""), Kind::Garbage);
        assert_eq!(kind(Any, 0, "no", ""), Kind::Garbage);
        assert_eq!(kind(Any, 75, "", "later"), Kind::RateLimited);
        assert_eq!(kind(Any, 77, "", ""), Kind::Auth);
        assert_eq!(kind(Any, 1, "{\"a\": 1}", "the disk is full"), Kind::Exit);
        assert_eq!(kind(Any, 1, "", "prompt: my rate limit\na\nb\nERROR: overloaded"), Kind::Overloaded);
        assert_eq!(
            kind(Any, 0, &envelope(json!({"is_error": true, "result": "API Error: 429"})), ""),
            Kind::RateLimited
        );
    }

    #[test]
    fn numbers_that_cannot_be_are_left_out() {
        let said = read(Form::Any, 0, &envelope(json!({"total_cost_usd": -1.0, "usage": {"input_tokens": -3}})), "");
        assert_eq!((said.cost_usd, said.input_tokens, said.output_tokens), (None, None, None));
        let said = read(Form::Any, 0, &envelope(json!({"modelUsage": {}, "model": "a\u{1b}[31m"})), "");
        assert_eq!(said.model, None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_program_writes_is_an_answer_or_a_failure(stdout in ".{0,200}", code in 0..256) {
            for form in [Form::Claude, Form::Any] {
                let answer = read(form, code, &stdout, "").answer.unwrap();
                proptest::prop_assert!(code == 0 || answer.is_err());
                if let Ok(value) = answer {
                    proptest::prop_assert!(value.is_object());
                }
            }
        }

        #[test]
        fn a_cut_answer_of_claude_is_none(cut in 0_usize..300) {
            let whole = envelope(json!({"structured_output": {"findings": [1, 2, 3]}}));
            let cut = cut.min(whole.len() - 1);
            proptest::prop_assert!(read(Form::Claude, 0, &whole[..cut], "").answer.unwrap().is_err());
        }
    }
}
