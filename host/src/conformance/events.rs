//! `events`: what the contract says of them (`wit/since-v0.1.0/types.wit`), on the fixtures as they are.
//!
//! Lines need not ascend: an adapter may hold a record back until it knows what became of it.

use std::collections::HashSet;

use super::{
    report::Findings,
    subject::{Reading, Subject, TEXT_LIMIT, Transcript},
};
use crate::event::{self, Body, Event};

/// Nothing that the host would refuse; keys, ids, lines and texts as promised.
pub(super) fn check(subject: &Subject<'_>) -> Findings {
    if subject.read().next().is_none() {
        return Findings::not_applicable("no transcript of the fixtures could be read: see `describe` and `golden`");
    }
    let mut findings = Findings::default();
    let mut count = 0;
    for (transcript, reading) in subject.read() {
        count += reading.events().count();
        Looking { transcript, lines: transcript.lines().count() as u64, findings: &mut findings }.look(reading);
    }
    if count == 0 {
        findings.fail(
            ("", ""),
            "events",
            "none in any transcript",
            "an adapter that says nothing of its fixtures has nothing to say, or they are too short",
        );
    }
    findings.count("events", count);
    findings
}

struct Looking<'a> {
    transcript: &'a Transcript,
    lines: u64,
    findings: &'a mut Findings,
}

impl Looking<'_> {
    fn look(mut self, reading: &Reading) {
        let (mut keys, mut calls) = (HashSet::new(), HashSet::new());
        for event in reading.events() {
            self.look_at(event);
            if let Some(key) = &event.key
                && !matches!(event.body, Body::Usage(_))
                && !keys.insert(key)
            {
                let todo = "equal keys are one happening: add to the record's id what tells its events apart";
                self.fail(event, "a key that no other event of the transcript has", key, todo);
            }
            match &event.body {
                Body::ToolCall(call) if !calls.insert(&call.id) => {
                    let todo = "ids of calls are unique within the transcript, so that results find theirs";
                    self.fail(event, "a call's id that no other call has", &call.id, todo);
                }
                Body::ToolResult(result) if !calls.contains(&result.call) => {
                    let todo = "give the call before its result, with the id that the result names";
                    self.fail(event, "a result of a call that came before it", &result.call, todo);
                }
                _ => {}
            }
        }
    }

    fn look_at(&mut self, event: &Event) {
        let mut refused = event::Refused::new();
        event::admit(&mut event.clone(), &mut refused);
        for what in refused.keys() {
            let todo = "times are milliseconds since 1970, names hold no control characters and at most 1024 bytes";
            self.fail(event, "nothing that the host refuses", what, todo);
        }
        if event.line == 0 || event.line > self.lines {
            let (expected, came) = (format!("a line from 1 to {}", self.lines), event.line.to_string());
            self.fail(event, &expected, &came, "lines count from 1, of a document every event may say 1");
        }
        for text in texts(&event.body) {
            if text.len() > TEXT_LIMIT as usize {
                let (expected, came) =
                    (format!("texts of at most {TEXT_LIMIT} bytes"), format!("{} bytes", text.len()));
                let todo = "cut texts in the middle to `origin.text-limit`, and say in `omitted` how much is gone";
                self.fail(event, &expected, &came, todo);
            }
        }
    }

    fn fail(&mut self, event: &Event, expected: &str, came: &str, todo: &'static str) {
        let place = format!("{} line {}", self.transcript.place, event.line);
        self.findings.fail((&self.transcript.case, &place), expected, came, todo);
    }
}

/// Those that the limit is for: the ones beside which `omitted` stands.
fn texts(body: &Body) -> impl Iterator<Item = &str> {
    let text = match body {
        Body::Message(message) => Some(&message.text),
        Body::ToolCall(call) => Some(&call.input),
        Body::ToolResult(result) => Some(&result.text),
        _ => None,
    };
    text.into_iter().map(String::as_str)
}
