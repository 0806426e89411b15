//! What each event of a session weighs, and the windows around those that weigh most.
//!
//! The weights are relative to each other and were set by hand: a person's push against the agent weighs most (a model can say
//! what it was about), then signals by severity and confidence, then what a person said besides; a failed result without a
//! signal of its own weighs little.

use std::collections::{BTreeMap, HashMap};

use super::{Events, PAGE, Subject};
use crate::{
    event::{Author, Body, Channel, Event, Status},
    finding::Category,
    sandbox::analyze::SignalKind,
    store::StoreError,
};

/// An event that can be shown.
#[derive(Debug, Clone)]
pub(super) struct Weight {
    /// Index into the session's transcripts.
    pub(super) transcript: usize,
    pub(super) ordinal: u64,
    pub(super) line: u64,
    /// Hash of the thread; 0 is the main one.
    thread: u64,
    pub(super) class: Class,
    /// Hash of the call that it is, or is the result of.
    call: u64,
    /// What it weighs by itself; 0: it is only shown around another.
    own: f32,
}

/// What an event is, as far as windows are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Human,
    Reply,
    Call,
    Result,
    /// A result that is no success, or that the person changed.
    Failure,
    /// An interrupt, a rewind: the person acted without words.
    Act,
    /// A compaction, an error of the service, a summary.
    Service,
}

/// A session, weighed.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    /// In the order of transcripts and events.
    pub(super) weights: Vec<Weight>,
    /// Signals that say the same, heaviest first.
    pub(super) signals: Vec<Group>,
}

/// Signals of one kind and subject, as indices.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) members: Vec<usize>,
    weight: f32,
}

/// A heavy event with those that explain it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Window {
    /// Indices into the weights with what they weigh here, heaviest first; the first is what the window is around.
    pub(super) records: Vec<(usize, f32)>,
}

/// The first prompt says what the session is about: without it nothing can be judged.
const FIRST: f32 = 20.0;
/// The person refused, stopped or took back what the agent did.
const REFUSED: f32 = 5.0;
const STOPPED: f32 = 5.0;
const REWOUND: f32 = 4.0;
const AMENDED: f32 = 3.0;
/// Words while the agent works, or along with a refusal.
const STEERED: f32 = 4.0;
const WORDS: f32 = 2.0;
/// More than an error with its signal: turns are few where errors are many, and what a person says of the work is lost otherwise.
const PROMPT: f32 = 3.0;
const ANSWER: f32 = 2.0;
const COMMAND: f32 = 0.5;
/// A turn after a refusal or an interrupt says why.
const FOLLOWED: f32 = 3.0;
const ERROR: f32 = 0.6;
const BLOCKED: f32 = 1.0;
const SERVICE: f32 = 0.2;
/// Signals about the person's will weigh double: those are what a model can explain.
const WILL: f32 = 2.0;
/// And those about the service little: a model has nothing to add.
const NOTHING_TO_ADD: f32 = 0.3;
/// Lines that a signal rests on besides its own.
const RESTS_ON: f32 = 0.5;
/// In a sub-agent no person is there.
const SUBAGENT: f32 = 0.5;
/// Copied history was judged where it first happened.
const COPIED: f32 = 0.2;
/// Severity of a signal whose kind nobody describes.
const UNKNOWN_SEVERITY: u8 = 2;

/// Records that a token budget can hold at most: the smallest takes about so many tokens.
const SMALLEST: u32 = 8;

/// Weighs every event of a session.
pub(super) fn session(events: &impl Events, subject: &Subject<'_>) -> Result<Weighed, StoreError> {
    let signals = groups(subject);
    let boosts = boosts(subject, &signals);
    let mut weights = Vec::new();
    let mut has_prompt = false;
    for (transcript, &number) in subject.transcripts.iter().enumerate() {
        // By thread: the person has just refused, stopped or taken back.
        let mut pushed: HashMap<u64, bool> = HashMap::new();
        let mut from = Some(0);
        while let Some(start) = from {
            let (page, next) = events.page(number, start, PAGE)?;
            for (event, ordinal) in page.iter().zip(start..) {
                let Some((class, mut own)) = weigh(event) else { continue };
                let thread = event.thread.as_deref().map_or(0, hash);
                if class == Class::Human {
                    if std::mem::take(pushed.entry(thread).or_default()) {
                        own += FOLLOWED;
                    }
                    if thread == 0 && !has_prompt && !event.copied {
                        has_prompt = true;
                        own += FIRST;
                    }
                }
                if own >= REWOUND && matches!(class, Class::Act | Class::Failure) {
                    pushed.insert(thread, true);
                }
                if let Some(boost) = boosts.get(&(number, event.line))
                    && !event.copied
                {
                    own += boost * fits(class);
                }
                if event.copied {
                    own *= COPIED;
                }
                if thread != 0 {
                    own *= SUBAGENT;
                }
                let call = match &event.body {
                    Body::ToolCall(call) => hash(&call.id),
                    Body::ToolResult(result) => hash(&result.call),
                    _ => 0,
                };
                weights.push(Weight { transcript, ordinal, line: event.line, thread, class, call, own });
            }
            from = next;
        }
    }
    Ok(Weighed { weights, signals })
}

/// What an event is and weighs without its signals; none: it is never shown.
fn weigh(event: &Event) -> Option<(Class, f32)> {
    Some(match &event.body {
        Body::Message(message) => match (message.author, message.channel) {
            (Author::Human, channel) => (
                Class::Human,
                match channel {
                    Channel::Steering | Channel::Comment => STEERED,
                    Channel::Answer => ANSWER,
                    Channel::Command | Channel::Shell => COMMAND,
                    _ => PROMPT,
                },
            ),
            (Author::Agent, Channel::Reasoning) => return None,
            (Author::Agent, Channel::Summary) | (Author::Harness, Channel::Summary) => (Class::Service, 0.0),
            (Author::Agent, _) => (Class::Reply, 0.0),
            // What the harness says is neither the person's nor the agent's, and mostly long.
            (Author::Harness, _) => return None,
        },
        Body::ToolCall(_) => (Class::Call, 0.0),
        Body::ToolResult(result) => {
            let own = match result.status {
                Status::Ok => 0.0,
                Status::Error => ERROR,
                Status::Blocked => BLOCKED,
                Status::Denied => REFUSED,
                Status::Interrupted => STOPPED,
            } + if result.words.is_some() { WORDS } else { 0.0 }
                + if result.amended { AMENDED } else { 0.0 };
            (if own > 0.0 { Class::Failure } else { Class::Result }, own)
        }
        Body::Interrupt(_) => (Class::Act, STOPPED),
        Body::Rewind(_) => (Class::Act, REWOUND),
        Body::Compaction(_) | Body::ApiError(_) => (Class::Service, SERVICE),
        Body::Usage(_) | Body::Session(_) => return None,
    })
}

/// How much of a signal's weight an event of its line gets: several events may come from one line, and signals rest on what
/// people said and on what failed.
fn fits(class: Class) -> f32 {
    match class {
        Class::Human | Class::Failure | Class::Act => 1.0,
        Class::Call | Class::Result | Class::Service => 0.6,
        Class::Reply => 0.3,
    }
}

fn groups(subject: &Subject<'_>) -> Vec<Group> {
    let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
    for (index, signal) in subject.signals.iter().enumerate() {
        let group =
            groups.entry((&signal.kind, &signal.subject)).or_insert_with(|| Group { members: Vec::new(), weight: 0.0 });
        group.members.push(index);
        group.weight = group.weight.max(signal_weight(&signal.kind, signal.confidence, subject.kinds));
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.members.cmp(&b.members)));
    groups
}

/// severity × confidence × how much a model can add to it.
pub(crate) fn signal_weight(kind: &str, confidence: f64, kinds: &[SignalKind]) -> f32 {
    let severity = kinds.iter().find(|known| known.name == kind).map_or(UNKNOWN_SEVERITY, |known| known.severity);
    let factor = match Category::of(kind, false) {
        Category::MisunderstoodIntent | Category::RepeatedCorrection => WILL,
        Category::Service => NOTHING_TO_ADD,
        _ => 1.0,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a weight")]
    let confidence = confidence as f32;
    f32::from(severity.clamp(1, 5)) * confidence.clamp(0.0, 1.0) * factor
}

/// What signals add to the weight of the lines they rest on. The second of the same adds half, the third a third: the tenth
/// failure of one kind says nothing that the first did not.
fn boosts(subject: &Subject<'_>, groups: &[Group]) -> HashMap<(i64, u64), f32> {
    let mut boosts: HashMap<(i64, u64), f32> = HashMap::new();
    for group in groups {
        for (member, nth) in group.members.iter().zip(1_u16..) {
            let signal = &subject.signals[*member];
            let weight = signal_weight(&signal.kind, signal.confidence, subject.kinds) / f32::from(nth);
            *boosts.entry((signal.transcript.0, signal.line)).or_default() += weight;
            for line in signal.evidence.iter().filter(|line| **line != signal.line) {
                *boosts.entry((signal.transcript.0, *line)).or_default() += weight * RESTS_ON;
            }
        }
    }
    boosts
}

/// Windows around the heaviest events, heaviest first, no more than a budget can hold.
pub(super) fn windows(weighed: &Weighed, budget: u32) -> Vec<Window> {
    let weights = &weighed.weights;
    let mut heavy: Vec<usize> = (0..weights.len()).filter(|index| weights[*index].own > 0.0).collect();
    // Among equals the later: it is nearer to how things are now.
    heavy.sort_by(|a, b| weights[*b].own.total_cmp(&weights[*a].own).then_with(|| b.cmp(a)));
    let threads = Threads::new(weights);
    let most = (budget / SMALLEST) as usize;
    let (mut windows, mut taken, mut count) = (Vec::new(), vec![false; weights.len()], 0);
    for index in heavy {
        if count >= most {
            break;
        }
        let window = threads.window(index);
        count += window.records.iter().filter(|(index, _)| !std::mem::replace(&mut taken[*index], true)).count();
        windows.push(window);
    }
    windows
}

/// The events of each thread of each transcript, which may be interleaved.
struct Threads<'a> {
    weights: &'a [Weight],
    by_thread: HashMap<(usize, u64), Vec<usize>>,
    /// Where each event stands in its thread.
    at: Vec<usize>,
}

/// How far from a turn its surroundings are looked for.
const REACH: usize = 40;

impl<'a> Threads<'a> {
    fn new(weights: &'a [Weight]) -> Self {
        let mut by_thread: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
        let mut at = Vec::with_capacity(weights.len());
        for (index, weight) in weights.iter().enumerate() {
            let thread = by_thread.entry((weight.transcript, weight.thread)).or_default();
            at.push(thread.len());
            thread.push(index);
        }
        Self { weights, by_thread, at }
    }

    fn window(&self, index: usize) -> Window {
        let weight = &self.weights[index];
        let thread = &self.by_thread[&(weight.transcript, weight.thread)];
        let at = self.at[index];
        let before = || thread[at.saturating_sub(REACH)..at].iter().rev().copied();
        let after = || thread[at + 1..].iter().take(REACH).copied();
        let is = |class: Class| move |index: &usize| self.weights[*index].class == class;
        let is_work =
            |index: &usize| matches!(self.weights[*index].class, Class::Call | Class::Result | Class::Failure);
        // Up to the next turn: what comes after that is another matter.
        let until_turn = |index: &usize| self.weights[*index].class != Class::Human;

        let mut records = vec![(index, 1.0)];
        if matches!(weight.class, Class::Human | Class::Act) {
            records.extend(before().find(is(Class::Reply)).map(|index| (index, 0.8)));
            records.extend(before().take_while(until_turn).filter(is_work).take(4).zip([0.6, 0.55, 0.4, 0.35]));
            records.extend(after().take_while(until_turn).find(is(Class::Reply)).map(|index| (index, 0.6)));
            records.extend(after().take_while(until_turn).filter(is_work).take(2).zip([0.3, 0.25]));
            if weight.class == Class::Act {
                records.extend(after().find(is(Class::Human)).map(|index| (index, 0.9)));
            }
        } else {
            records.extend(before().find(is(Class::Reply)).map(|index| (index, 0.4)));
            records.extend(after().take(2).zip([0.4, 0.3]));
            records.extend(before().find(is(Class::Human)).map(|index| (index, 0.3)));
        }
        // A result without its call says nothing, and a call without its result little.
        for (index, value) in records.clone() {
            records.extend(self.counterpart(index).map(|other| (other, value * 0.95)));
        }
        let own = weight.own;
        let mut best: Vec<(usize, f32)> = Vec::with_capacity(records.len());
        for (index, value) in records {
            match best.iter_mut().find(|(known, _)| *known == index) {
                Some((_, known)) => *known = known.max(value * own),
                None => best.push((index, value * own)),
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Window { records: best }
    }

    /// The call of a result, the result of a call.
    fn counterpart(&self, index: usize) -> Option<usize> {
        let weight = &self.weights[index];
        let thread = &self.by_thread[&(weight.transcript, weight.thread)];
        let at = self.at[index];
        let is_it = |other: &usize| self.weights[*other].call == weight.call && weight.call != 0;
        match weight.class {
            Class::Call => thread[at + 1..].iter().take(REACH).copied().find(is_it),
            Class::Result | Class::Failure => thread[at.saturating_sub(REACH)..at]
                .iter()
                .rev()
                .copied()
                .find(|other| is_it(other) && self.is_call(*other)),
            _ => None,
        }
    }

    fn is_call(&self, index: usize) -> bool {
        self.weights[index].class == Class::Call
    }
}

impl Weighed {
    /// The call that a result is of, where it lies near.
    pub(super) fn call_of(&self, index: usize) -> Option<usize> {
        let weight = &self.weights[index];
        let is_it = |other: &usize| {
            let other = &self.weights[*other];
            other.class == Class::Call && other.call == weight.call && other.transcript == weight.transcript
        };
        (matches!(weight.class, Class::Result | Class::Failure) && weight.call != 0)
            .then(|| (index.saturating_sub(REACH * 4)..index).rev().find(is_it))
            .flatten()
    }
}

fn hash(text: &str) -> u64 {
    // 0 stands for none.
    if text.is_empty() {
        return 0;
    }
    xxhash_rust::xxh3::xxh3_64(text.as_bytes()).max(1)
}
