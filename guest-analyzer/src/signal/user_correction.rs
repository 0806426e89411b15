//! `user-correction`: the person corrects, rejects or redirects what the agent did or is about to do, with a graded
//! confidence.
//!
//! **Why it matters.** This is what the person knows and the agent did not: the raw material of every rule.
//!
//! **Example.** "hmm, I'd rather not have people's names in it, we do blameless", after which the agent says "makes sense" and
//! edits the lines it had just written.
//!
//! **False friends.** A new task, an answer to the agent's question, "and also …", praise, curiosity, a change of the person's
//! own mind; pasted logs and review comments full of "wrong" and "fails"; a bug report that is the task. Slash commands, answers
//! given through a tool, and notices are not judged. Words that come with a refusal are a correction whatever they are: the
//! refusal says so.
//!
//! **How it is judged.** A turn is kept until the agent has answered and the next human turn begins. Everything that speaks
//! for or against is a piece of [`Evidence`] with a weight; the confidence is the logistic function of their sum. Words come from
//! constructions in English, French, Chinese and Japanese ([`crate::language`]), looked for in the person's own words only
//! ([`crate::prose`]); the rest is the turn's surroundings.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Status, ToolCall, ToolKind};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::{Call, Moment};
use crate::pieces::{pieces, shared};
use crate::prose::Prose;
use crate::text::{hash, one_line};
use crate::thresholds::Thresholds;

pub mod evidence;
mod reply;
mod words;

pub use evidence::{Case, Evidence};
pub(crate) use words::reminds;

const NAME: &str = "user-correction";

/// Edits whose lines are remembered: those that a correction may be about.
const EDITS: usize = 24;

/// Edits after a turn that may answer it; later ones are other work.
const ANSWERING_EDITS: u32 = 3;

/// Files remembered: those that a correction may be about.
const FILES: usize = 32;

/// Words remembered of what the agent said and wrote.
const TOPICS: usize = 1024;

/// Of 80 labelled refusals with words, 72 say what to do instead; the others only explain ("not now", "did it myself").
const REFUSING: f32 = 0.9;

/// Pieces of evidence named in a detail.
const NAMED: usize = 3;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UserCorrection {
    /// Human turns so far.
    turns: u64,
    /// What the agent's last text was.
    said: reply::Said,
    /// Record of a refusal or interrupt since the last human turn.
    stopped: Option<u64>,
    /// The agent asked through a tool since the last human turn.
    asked: bool,
    /// The agent called tools since the last human turn.
    worked: bool,
    /// Hashes of telling lines that the edits since the last human turn wrote.
    written: Vec<Vec<u32>>,
    /// The same of the last time it edited before that turn: what the turn may be about.
    before: Vec<Vec<u32>>,
    /// Files edited up to the turn and not yet followed by an edit after it, hashed.
    files: Vec<u64>,
    /// What the agent said and wrote since the last human turn, as hashed words.
    topics: Vec<u32>,
    pending: Option<Turn>,
}

/// A human turn that waits for what comes next.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Turn {
    place: Place,
    gist: String,
    case: Case,
    /// Lines of what it rests on besides itself.
    lines: Vec<u64>,
    /// The agent has called a tool since.
    acted: bool,
    /// The agent has said something since.
    answered: bool,
    /// Calls since that edited.
    edits: u32,
}

impl Detector for UserCorrection {
    fn kind() -> SignalKind {
        kind(
            NAME,
            3,
            "The person corrects, rejects or redirects what the agent did or is about to do.",
            "Write what was corrected into the project's instructions, as a rule with its reason.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let event = moment.event;
        if event.thread.is_some() {
            return;
        }
        match &event.body {
            Body::Message(message) => match (message.author, message.channel) {
                (Author::Human, Channel::Prompt | Channel::Steering | Channel::Comment) => {
                    self.settle(moment.thresholds, found);
                    self.begin(event, &message.text, message.channel);
                }
                (Author::Human, _) => {
                    // A command, an answer or a shell line is the person's move: what they said before is settled.
                    self.settle(moment.thresholds, found);
                    self.turns += 1;
                    self.stopped = None;
                    self.asked = false;
                }
                (Author::Agent, Channel::Reply) if !message.text.trim().is_empty() => self.reply(event, &message.text),
                _ => {}
            },
            Body::ToolCall(call) => {
                self.worked = true;
                for edit in call.edits.iter().take(4) {
                    self.topics.extend(pieces(&edit.added));
                }
                self.topics.extend(call.command.as_deref().map(pieces).unwrap_or_default());
                self.tidy();
                if let Some(turn) = &mut self.pending {
                    turn.act(call);
                }
                // The agent went on: what stopped it is dealt with.
                self.stopped = None;
            }
            Body::ToolResult(result) => match result.status {
                Status::Denied => {
                    self.settle(moment.thresholds, found);
                    self.stopped = Some(event.line);
                    found.extend(refusal(moment, result.words.as_deref().unwrap_or_default()));
                }
                Status::Interrupted => self.stopped = Some(event.line),
                Status::Ok => {
                    if let Some(call) = moment.call {
                        self.worked(event, call);
                    }
                }
                Status::Error | Status::Blocked => {}
            },
            Body::Interrupt(_) => self.stopped = Some(event.line),
            _ => {}
        }
    }

    fn conclude(&self, thresholds: &Thresholds, found: &mut Vec<Signal>) {
        found.extend(self.pending.as_ref().and_then(|turn| turn.signal(thresholds)));
    }
}

impl UserCorrection {
    /// Judges the turn that was waiting.
    fn settle(&mut self, thresholds: &Thresholds, found: &mut Vec<Signal>) {
        let Some(mut turn) = self.pending.take() else { return };
        turn.case.add_if(Evidence::Unanswered, !turn.answered);
        turn.case.add_if(Evidence::OnlyTalks, turn.answered && !turn.acted);
        found.extend(turn.signal(thresholds));
    }

    fn begin(&mut self, event: &Event, text: &str, channel: Channel) {
        let prose = Prose::new(text);
        let mut case = words::listen(&prose, text);
        let mut lines = Vec::new();
        case.add_if(Evidence::First, self.turns == 0 && !self.worked);
        case.add_if(Evidence::Steering, channel == Channel::Steering);
        case.add_if(Evidence::WithApproval, channel == Channel::Comment);
        case.add_if(Evidence::Claimed, self.said.claims_done);
        case.add_if(Evidence::Answering, self.said.asks);
        let chooses =
            [Evidence::Rejection, Evidence::Prohibition, Evidence::Alternative, Evidence::Limit, Evidence::Expectation];
        case.add_if(Evidence::Choosing, (self.said.asks || self.asked) && case.any(&chooses));
        case.add_if(Evidence::AskedByTool, self.asked);
        case.add_if(Evidence::Worked, self.worked);
        if let Some(line) = self.stopped.take() {
            case.add(Evidence::Stopped);
            lines.push(line);
        }
        let reports_failure = case.has(Evidence::PastedError) || case.any(&[Evidence::StillFailing, Evidence::Failure]);
        case.add_if(Evidence::FailureAfterClaim, reports_failure && self.said.claims_done);
        words::weigh(&mut case, self.turns > 0 && !self.said.asks && !self.asked);
        self.sort_topics();
        let words = pieces(&prose.text);
        let shared = shared(&words, &self.topics);
        case.add_if(Evidence::Echoes, words.len() >= 3 && shared * 3 >= words.len());
        case.add_if(Evidence::Unrelated, words.len() >= 3 && shared == 0);
        self.turns += 1;
        self.asked = false;
        self.worked = false;
        self.topics.clear();
        if !self.written.is_empty() {
            self.before = std::mem::take(&mut self.written);
        }
        if event.copied || text.trim().is_empty() {
            return;
        }
        let gist = one_line(if prose.text.trim().is_empty() { text } else { &prose.text }, 160);
        self.pending =
            Some(Turn { place: Place::of(event), gist, case, lines, acted: false, answered: false, edits: 0 });
    }

    /// Keeps what is remembered small.
    fn tidy(&mut self) {
        let surplus = self.files.len().saturating_sub(FILES);
        self.files.drain(..surplus);
        if self.topics.len() > 2 * TOPICS {
            self.sort_topics();
        }
    }

    /// The smallest hashes stay: the same ones, however often this is called in between.
    fn sort_topics(&mut self) {
        self.topics.sort_unstable();
        self.topics.dedup();
        self.topics.truncate(TOPICS);
    }

    fn reply(&mut self, event: &Event, text: &str) {
        if let Some(turn) = self.pending.as_mut().filter(|turn| !turn.answered) {
            turn.answered = true;
            if reply::listen(text, !turn.acted, &mut turn.case) {
                turn.lines.push(event.line);
            }
        }
        self.said = reply::Said::new(text);
        self.topics.extend(pieces(text));
        self.tidy();
        self.stopped = None;
    }

    fn worked(&mut self, event: &Event, call: &Call) {
        self.asked |= call.asks;
        let rewrites = |written: &[Vec<u32>]| {
            let gone = || call.edits.iter().flat_map(|edit| &edit.removed_lines);
            written.iter().any(|lines| gone().any(|line| lines.binary_search(line).is_ok()))
        };
        if let Some(turn) = self.pending.as_mut().filter(|turn| turn.edits == 0 && !call.edits.is_empty()) {
            let same = call.edits.iter().any(|edit| self.files.contains(&hash(&edit.path)));
            turn.case.add(if same { Evidence::SameFile } else { Evidence::OtherFile });
            self.files.clear();
        }
        self.files.extend(call.edits.iter().map(|edit| hash(&edit.path)));
        self.tidy();
        if let Some(turn) = &mut self.pending {
            turn.edits += u32::from(!call.edits.is_empty());
            if turn.edits <= ANSWERING_EDITS && rewrites(&self.before) && !turn.case.has(Evidence::EditedAgain) {
                turn.case.add(Evidence::EditedAgain);
                turn.lines.push(event.line);
            }
            if call.executes && super::revert::undoes(&call.gist) && !turn.case.has(Evidence::Undone) {
                turn.case.add(Evidence::Undone);
                turn.lines.push(event.line);
            }
        }
        for edit in call.edits.iter().filter(|edit| !edit.added_lines.is_empty()) {
            if self.written.len() == EDITS {
                self.written.remove(0);
            }
            self.written.push(edit.added_lines.clone());
        }
    }
}

/// What the person said when refusing a call.
fn refusal(moment: &Moment, words: &str) -> Option<Signal> {
    if words.trim().is_empty() || moment.event.copied || REFUSING < moment.thresholds.correction_confidence {
        return None;
    }
    let gist = one_line(words, 160);
    let detail = format!("{gist} (said when refusing {})", moment.tool());
    let signal = Place::of(moment.event).signal(NAME, gist, detail).confident(REFUSING);
    Some(signal.resting_on(moment.call.map(|call| call.line)))
}

/// Whether a command takes back or changes what is there, instead of adding to it or looking at it.
fn amends(command: &str) -> bool {
    const AMENDING: [&str; 9] = ["rm", "mv", "sed", "kill", "pkill", "--amend", "revert", "undo", "uninstall"];
    command.split([' ', '\n', ';', '&', '|']).any(|word| AMENDING.contains(&word)) || super::revert::undoes(command)
}

impl Turn {
    fn act(&mut self, call: &ToolCall) {
        let edits = matches!(call.kind, ToolKind::Edit | ToolKind::Create);
        self.case.add_if(Evidence::EditsAtOnce, edits && !self.acted);
        if let Some(command) = call.command.as_deref().filter(|_| !self.acted) {
            self.case.add_if(Evidence::Amends, amends(command));
        }
        self.acted = true;
    }

    fn signal(&self, thresholds: &Thresholds) -> Option<Signal> {
        let confidence = self.case.confidence();
        if confidence < thresholds.correction_confidence {
            return None;
        }
        let named: Vec<&str> = self.case.strongest().take(NAMED).map(|evidence| evidence.words()).collect();
        let detail = format!("{} ({})", self.gist, named.join("; "));
        let signal = self.place.clone().signal(NAME, self.gist.clone(), detail);
        Some(signal.confident(confidence).resting_on(self.lines.iter().copied()))
    }
}
