//! `mutations`: events that no session gives, but a damaged transcript or another adapter might.

use super::{OBSERVED, Subject, Transcript, observe};
use crate::{
    conformance::{damage::LONG, random::Random, report::Findings},
    event::{Body, Event, Status},
};

impl Subject<'_> {
    /// No trap, no limit, no fault.
    pub(crate) fn mutations(&self) -> Findings {
        if self.read().next().is_none() {
            return Findings::not_applicable("no transcript could be analysed: see `golden`");
        }
        let mut findings = Findings::default();
        let mut count = 0;
        let mut survives = |transcript: &Transcript, what: &str, events: &[Event]| {
            count += 1;
            if let Err(error) = observe(self.analyzer, None, events.chunks(OBSERVED)) {
                let came = format!("with {what}: {error}");
                let todo = "whatever the events are, the analyzer goes on: no trap, no limit, no fault";
                findings.fail(transcript.at(), "an end without a failure", came, todo);
            }
        };
        for (transcript, _) in self.read() {
            let mut random = Random::of(&transcript.place);
            for (what, events) in mutated(&transcript.events, &mut random) {
                survives(transcript, what, &events);
            }
        }
        if let Some((transcript, _)) = self.read().find(|(transcript, _)| !transcript.events.is_empty()) {
            survives(transcript, "no events", &[]);
            let mut long = transcript.events.clone();
            long.iter_mut().take(1).for_each(|event| event.body = long_message());
            survives(transcript, "a text of 8 MB", &long);
        }
        findings.count("mutated transcripts", count);
        findings
    }
}

fn long_message() -> Body {
    use crate::event::{Author, Channel, Message};
    let text = "x".repeat(LONG);
    Body::Message(Message { author: Author::Human, channel: Channel::Prompt, text, omitted: 0 })
}

fn mutated(events: &[Event], random: &mut Random) -> Vec<(&'static str, Vec<Event>)> {
    let each = |change: &mut dyn FnMut(&mut Event)| {
        let mut events = events.to_vec();
        events.iter_mut().for_each(change);
        events
    };
    let mut shuffled = events.to_vec();
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, random.below(at + 1));
    }
    let third = events.iter().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, event)| event.clone()).collect();
    vec![
        ("every third event left out", third),
        ("every event twice", events.iter().flat_map(|event| [event.clone(), event.clone()]).collect()),
        ("events in any order", shuffled),
        ("no times, threads and keys", each(&mut |event| (event.at, event.thread, event.key) = (None, None, None))),
        ("all events at one line", each(&mut |event| event.line = u64::MAX)),
        ("all events copied", each(&mut |event| event.copied = true)),
        ("threads of their own", each(&mut |event| event.thread = Some(random.below(5).to_string()))),
        ("other texts", each(&mut |event| other_text(event, random))),
        ("results of other calls, ended in other ways", each(&mut |event| other_result(event, random))),
    ]
}

fn other_text(event: &mut Event, random: &mut Random) {
    const TEXTS: [&str; 5] =
        ["", "\u{0}\u{1b}[2J", "ééé\u{1f600}\u{202e}", "\n\n\n", "((((((((((((((((((((((((((((a+)+)+)+"];
    let other = || TEXTS[0].to_owned();
    let text = TEXTS[random.below(TEXTS.len())];
    match &mut event.body {
        Body::Message(message) => message.text = text.to_owned(),
        Body::ToolCall(call) => {
            (call.input, call.name, call.command) = (text.to_owned(), text.to_owned(), Some(text.to_owned()));
            call.paths = vec![text.to_owned(); random.below(4)];
            call.id = other();
        }
        Body::ToolResult(result) => result.text = text.to_owned(),
        Body::ApiError(error) => error.text = text.to_owned(),
        _ => {}
    }
}

fn other_result(event: &mut Event, random: &mut Random) {
    const STATUSES: [Status; 5] = [Status::Ok, Status::Error, Status::Denied, Status::Blocked, Status::Interrupted];
    if let Body::ToolResult(result) = &mut event.body {
        result.status = STATUSES[random.below(STATUSES.len())];
        result.exit_code = [None, Some(i32::MIN), Some(137)][random.below(3)];
        result.words = [None, Some(String::new())][random.below(2)].clone();
        if random.below(2) == 0 {
            result.call = "no call has this id".to_owned();
        }
    }
}
