//! Records: events in the form in which a model is shown them, one JSON object each. A JSON string cannot be broken out of, so
//! whatever a transcript says stays inside of it.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::{
    Events, PAGE, Subject,
    weigh::{Weighed, Window},
};
use crate::{
    clean::clean,
    event::{Author, Body, Channel, Event, Status},
    redact::Redactor,
    store::StoreError,
};

/// Most that texts are stretched where there is room.
pub(super) const GENEROUS: u32 = 8;

/// Events between two that are read at once with them, so as not to ask for each.
const BRIDGE: u64 = 16;

/// An event that may be shown.
#[derive(Debug)]
pub(super) struct Candidate {
    form: Form,
    /// Redacted, and no longer than is ever shown.
    text: String,
    pub(super) at: Option<i64>,
    pub(super) thread: Option<String>,
    /// Number of the sub-agent; none: the main conversation.
    agent: Option<usize>,
    copied: bool,
    /// The weight of its call, where it is a result.
    pub(super) call: Option<usize>,
}

/// What is special to a sort of event.
#[derive(Debug)]
enum Form {
    Human { via: Option<&'static str> },
    Agent,
    Summary,
    Call { tool: String },
    Result { status: &'static str, exit: Option<i32>, words: Option<String>, amended: bool },
    Event(&'static str),
}

/// A record, field by field.
#[derive(Serialize, Default)]
struct Shown<'a> {
    #[serde(rename = "ref")]
    reference: usize,
    /// Records of the session between the one before and this.
    #[serde(skip_serializing_if = "is_zero")]
    skipped: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copied: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    human: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    amended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Characters of a tool's name; those of MCP servers are long.
const NAME: usize = 80;

/// Tokens of what a person said along with a refusal.
const WORDS: u32 = 200;

impl Candidate {
    fn new(event: Event, call: Option<usize>, agent: Option<usize>, redactor: &Redactor) -> Option<Self> {
        let Event { at, thread, copied, body, .. } = event;
        // Whatever is longer is never shown whole; cutting only after redacting leaves no half of a secret.
        let tidy = |text: &str, most: u32| cut(&redactor.redact(&clean(text)), most);
        let (form, text) = match body {
            Body::Message(message) => {
                let form = match (message.author, message.channel) {
                    (_, Channel::Summary) => Form::Summary,
                    (Author::Human, channel) => Form::Human {
                        via: match channel {
                            Channel::Steering => Some("steering"),
                            Channel::Comment => Some("comment"),
                            Channel::Answer => Some("answer"),
                            Channel::Command => Some("command"),
                            Channel::Shell => Some("shell"),
                            _ => None,
                        },
                    },
                    (Author::Agent, _) => Form::Agent,
                    (Author::Harness, _) => return None,
                };
                (form, message.text)
            }
            Body::ToolCall(call) => {
                let tool = crate::insights::clean(&redactor.redact(&call.name), NAME);
                (Form::Call { tool }, call.command.unwrap_or(call.input))
            }
            Body::ToolResult(result) => {
                let status = match result.status {
                    Status::Ok => "ok",
                    Status::Error => "error",
                    Status::Denied => "denied",
                    Status::Blocked => "blocked",
                    Status::Interrupted => "interrupted",
                };
                let words = result.words.map(|words| tidy(&words, WORDS));
                (Form::Result { status, exit: result.exit_code, words, amended: result.amended }, result.text)
            }
            Body::Interrupt(interrupt) => {
                (Form::Event(if interrupt.in_tool { "interrupted-tool" } else { "interrupted-writing" }), String::new())
            }
            Body::Rewind(_) => (Form::Event("rewound"), String::new()),
            Body::Compaction(_) => (Form::Event("compacted"), String::new()),
            Body::ApiError(error) => (Form::Event("service-error"), error.text),
            Body::Usage(_) | Body::Session(_) => return None,
        };
        let most = form.tokens() * GENEROUS;
        Some(Self { text: tidy(&text, most), form, at, thread, agent, copied, call })
    }

    /// The record and, alone, what it says. `gap`: events between the record before and this one; `of`: the number of its call.
    pub(super) fn line(&self, number: usize, gap: usize, of: Option<usize>, generosity: u32) -> (String, String) {
        let text = cut(&self.text, self.form.tokens() * generosity);
        let base =
            Shown { reference: number, skipped: gap, subagent: self.agent, copied: self.copied, ..Shown::default() };
        let shown = match &self.form {
            Form::Human { via } => Shown { via: *via, human: Some(&text), ..base },
            Form::Agent => Shown { agent: Some(&text), ..base },
            Form::Summary => Shown { summary: Some(&text), ..base },
            Form::Call { tool } => Shown { call: Some(tool), input: Some(&text), ..base },
            Form::Result { status, exit, words, amended } => Shown {
                result: Some(status),
                of,
                exit: *exit,
                words: words.as_deref(),
                amended: *amended,
                output: Some(&text),
                ..base
            },
            Form::Event(event) => {
                Shown { event: Some(event), text: Some(text.as_str()).filter(|it| !it.is_empty()), ..base }
            }
        };
        // Strings, numbers and truth values: there is nothing that JSON could refuse.
        let line = serde_json::to_string(&shown).unwrap_or_default();
        (line, text)
    }
}

impl Form {
    /// Tokens of its text where room is scarce. What a person says is kept nearly always whole; of results, which are long, the
    /// ends tell what happened.
    fn tokens(&self) -> u32 {
        match self {
            Self::Human { .. } => 300,
            Self::Agent => 150,
            Self::Call { .. } => 100,
            Self::Result { status: "ok", .. } => 80,
            Self::Result { .. } => 180,
            Self::Summary => 60,
            Self::Event(_) => 40,
        }
    }
}

/// Reads the events of the windows, by their index.
pub(super) fn load(
    events: &impl Events,
    subject: &Subject<'_>,
    weighed: &Weighed,
    windows: &[Window],
    redactor: &Redactor,
) -> Result<HashMap<usize, Candidate>, StoreError> {
    let wanted: BTreeSet<usize> =
        windows.iter().flat_map(|window| window.records.iter().map(|(index, _)| *index)).collect();
    let wanted: Vec<usize> = wanted.into_iter().collect();
    let mut agents: HashMap<(usize, String), usize> = HashMap::new();
    let mut candidates = HashMap::with_capacity(wanted.len());
    let mut rest = wanted.as_slice();
    while let Some(&first) = rest.first() {
        let start = &weighed.weights[first];
        let near = rest.windows(2).take_while(|pair| {
            let (a, b) = (&weighed.weights[pair[0]], &weighed.weights[pair[1]]);
            a.transcript == b.transcript && b.ordinal - a.ordinal <= BRIDGE && b.ordinal - start.ordinal < PAGE as u64
        });
        let (run, others) = rest.split_at(near.count() + 1);
        let last = &weighed.weights[*run.last().unwrap_or(&first)];
        let length = (last.ordinal - start.ordinal + 1) as usize;
        let (page, _) = events.page(subject.transcripts[start.transcript], start.ordinal, length)?;
        let mut indices = run.iter().copied().peekable();
        for (event, ordinal) in page.into_iter().zip(start.ordinal..) {
            let Some(index) = indices.next_if(|index| weighed.weights[*index].ordinal == ordinal) else { continue };
            let agent = event.thread.clone().map(|thread| {
                let next = agents.len() + 1;
                *agents.entry((start.transcript, thread)).or_insert(next)
            });
            let candidate = Candidate::new(event, weighed.call_of(index), agent, redactor);
            candidates.extend(candidate.map(|candidate| (index, candidate)));
        }
        rest = others;
    }
    Ok(candidates)
}

/// What a character costs in JSON, in quarters of a token: `model::tokens` counts four characters for one, and some need two.
fn quarters(char: char) -> u32 {
    match char {
        '\n' | '\t' | '"' | '\\' => 2,
        '\u{2e80}'.. => 4,
        _ => 1,
    }
}

/// Shortens a text to about so many tokens: head and tail stay, and what was left out is said.
fn cut(text: &str, most: u32) -> String {
    let most = most.saturating_mul(4);
    // No text is that long without costing more.
    if text.len() <= (most / 2) as usize || text.chars().map(quarters).fold(0, u32::saturating_add) <= most {
        return text.to_owned();
    }
    let end = |chars: &mut dyn Iterator<Item = (usize, char)>, room: u32| {
        let mut left = room;
        chars
            .take_while(|(_, char)| {
                let cost = quarters(*char);
                let fits = cost <= left;
                left = left.saturating_sub(cost);
                fits
            })
            .map(|(at, char)| (at, at + char.len_utf8()))
            .last()
    };
    let room = most.saturating_sub(40);
    let head = end(&mut text.char_indices(), room / 5 * 3).map_or(0, |(_, end)| end);
    let tail = end(&mut text.char_indices().rev(), room / 5 * 2).map_or(text.len(), |(start, _)| start).max(head);
    let omitted = text[head..tail].chars().count();
    format!("{} […{omitted} characters…] {}", text[..head].trim_end(), text[tail..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_keeps_both_ends() {
        let text = format!("{} {} {}", "head ".repeat(40), "middle ".repeat(400), "tail ".repeat(40));
        let short = cut(&text, 60);
        assert!(short.starts_with("head head") && short.ends_with("tail tail "), "{short}");
        assert!(short.contains(" characters…] "), "{short}");
        assert_eq!(cut("short", 60), "short");
    }

    proptest! {
        #[test]
        fn no_text_costs_more_than_it_may(text in "(\\PC|[\n\t\"\\\\\u{4e00}-\u{4e20}]){0,400}", most in 12_u32..80) {
            let json = serde_json::to_string(&cut(&text, most)).unwrap();
            prop_assert!(crate::model::tokens(&json) <= most + 1, "{}", json);
        }
    }
}
