//! A process that asks the model as any command of ours does, in the environment of a person: what it is to ask it is told by
//! a variable, what came of it it prints, a line of JSON for each question.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use totalrecall::{
    clock,
    config::Config,
    model::{self, Model, ModelError, Purpose, Request},
    paths::Home,
    store::Store,
};

use crate::person::{Person, Ran};

/// The questions, a JSON list of texts. Set in the process that asks them.
pub(crate) const QUESTIONS: &str = "TOTALRECALL_TEST_QUESTIONS";

/// What is asked for.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "names": { "type": "array", "items": { "type": "string" } } },
        "required": ["names"],
        "additionalProperties": false,
    })
}

/// Asks, if this is the process for it.
pub(crate) fn is_done() -> bool {
    let Ok(questions) = std::env::var(QUESTIONS) else { return false };
    let questions: Vec<String> = serde_json::from_str(&questions).unwrap();
    let home = Home::choose(None).unwrap();
    let config = Config::load(&home.config()).unwrap();
    let mut store = Store::open(home.path()).unwrap();
    let stop = AtomicBool::new(false);
    let mut model = Model::new(&config, &home, clock::now(), &stop);
    let schema = schema();
    for input in &questions {
        let request = Request {
            purpose: Purpose::Findings,
            subject: "a test",
            instructions: "You name things.",
            input,
            schema: &schema,
        };
        let said = match model.ask(&mut store, &request) {
            Ok(answer) => json!({ "value": answer.value, "cost_usd": answer.cost_usd, "model": answer.model }),
            Err(ModelError::Refused(refusal)) => json!({ "refused": refusal.to_string() }),
            Err(ModelError::Failed { kind, why, .. }) => json!({ "failed": kind.name(), "why": why }),
            Err(ModelError::Store(error)) => panic!("{error}"),
        };
        println!("{said}");
    }
    true
}

impl Person {
    /// Agrees to asking, with more settings of the model.
    pub(crate) fn agree(&self, settings: &str) {
        self.ok(&["init"]);
        std::fs::write(self.state().join("config.toml"), format!("[model]\n{settings}\n")).unwrap();
        let settings = Config::load(&self.state().join("config.toml")).unwrap().model;
        model::agree(&mut Store::open(&self.state()).unwrap(), &settings, 0).unwrap();
    }

    /// The process that asks these questions, one after the other.
    pub(crate) fn asker(&self, questions: &[&str]) -> std::process::Command {
        let mut asker = self.command(&std::env::current_exe().unwrap());
        asker.env(QUESTIONS, json!(questions).to_string());
        asker
    }

    /// Asks them, and returns what came of each.
    pub(crate) fn ask(&self, questions: &[&str]) -> Vec<Value> {
        let ran: Ran = self.asker(questions).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{ran}");
        let said: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(said.len(), questions.len(), "{ran}");
        said
    }

    /// The ledger of calls.
    pub(crate) fn calls(&self) -> Vec<totalrecall::store::Call> {
        Store::open_read_only(&self.state()).unwrap().calls(0).unwrap()
    }

    /// What the calls count against the budget, in USD.
    pub(crate) fn spent(&self) -> f64 {
        self.calls().iter().map(totalrecall::store::Call::usd).sum()
    }
}
