//! An analyzer as someone might add it: it sees prompts that hold `todo`. Where one holds `crash` or `lie` it does that.
#![cfg(target_family = "wasm")]

use serde::{Deserialize, Serialize};
use totalrecall_sdk::analyzer::{Analyzer, Descriptor, Setting, Settings, Signal, SignalKind};
use totalrecall_sdk::types::{Body, Event, Fault};

#[derive(Serialize, Deserialize)]
struct Counter {
    word: String,
}

totalrecall_sdk::export_analyzer!(Counter);

impl Analyzer for Counter {
    fn describe() -> Descriptor {
        Descriptor {
            name: "counter".into(),
            version: "0.1.0".into(),
            signals: vec![SignalKind {
                name: "todo".into(),
                summary: "The person speaks of something to do.".into(),
                severity: 2,
                advice: "Do it.".into(),
            }],
            settings: vec![Setting {
                name: "word".into(),
                default: "todo".into(),
                summary: "What it looks for.".into(),
            }],
        }
    }

    fn new(settings: &Settings) -> Result<Self, Fault> {
        Ok(Self { word: settings.text("word").to_owned() })
    }

    fn observe(&mut self, events: &[Event], signals: &mut Vec<Signal>) -> Result<(), Fault> {
        for event in events {
            let Body::Message(message) = &event.body else { continue };
            assert!(!message.text.contains("crash"), "as told");
            let mut signal = |kind: &str, subject: &str| {
                signals.push(Signal {
                    kind: kind.into(),
                    subject: subject.into(),
                    line: event.line,
                    at: event.at,
                    thread: None,
                    confidence: 7.0,
                    detail: format!("{subject}\nand more"),
                    evidence: vec![event.line],
                });
            };
            if message.text.contains(&self.word) {
                signal("todo", "something to do");
            }
            if message.text.contains("lie") {
                signal("tool-error", "pretends to be another");
                signal("todo", "\u{1b}[31mred\u{1b}[0m");
            }
        }
        Ok(())
    }
}
