//! What speaks for and against a turn being a correction.

use serde::{Deserialize, Serialize};

use crate::cue::Cue;

/// The sum that stands for "nothing is known".
const BIAS: f32 = -3.1;

macro_rules! evidence {
    ($($(#[$doc:meta])* $name:ident = $weight:literal, $words:literal;)*) => {
        /// One thing that speaks for or against. A weight is in log-odds: 0.7 doubles the odds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Evidence {
            $($(#[$doc])* $name,)*
        }

        impl Evidence {
            /// All of it.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Log-odds.
            pub fn weight(self) -> f32 {
                match self {
                    $(Self::$name => $weight,)*
                }
            }

            /// In words, for a person; empty for what says nothing by itself.
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }
    };
}

evidence! {
    /// "No, …", "that's wrong", "not what I asked".
    Rejection = 0.7, "says it is wrong";
    /// "you removed …", "why did you …".
    Blame = 0.8, "names what the agent did";
    /// "I said …", "as I wrote".
    Insistence = 0.4, "insists on what was said";
    /// "should be …", "was supposed to".
    Expectation = 0.1, "says how it should be";
    /// "don't …", "never …".
    Prohibition = 0.9, "forbids";
    /// "stop", "wait".
    Stop = 0.5, "stops the agent";
    /// A question that objects: "wouldn't that …?", "do we really need …?".
    Objection = 0.1, "objects with a question";
    /// "what about …?"
    MildObjection = 0.3, "asks about a gap";
    /// "instead", "could we …", "I'd rather".
    Alternative = 0.9, "proposes another way";
    /// "put it back", "leave it as it was".
    Undo = 0.4, "wants it undone";
    /// "still failing", "same error", "now it never …".
    StillFailing = 0.8, "says it still fails";
    /// "doesn't work", "fails".
    Failure = 0.0, "reports a failure";
    /// "a bit much", "I don't think", "misleading".
    Doubt = 0.7, "doubts";
    /// "hmm", "actually".
    Hedge = 0.5, "hesitates";
    /// "but", "though".
    But = 0.1, "says but";
    /// "we usually", "our style".
    Convention = 0.6, "names how things are done here";
    /// "only X", "not all".
    Limit = 0.0, "narrows the task";
    /// "seriously", "??", 🙄.
    Sarcasm = 1.0, "is annoyed";
    /// "great", "it works": speaks against.
    Praise = -1.1, "praises";
    /// "yes", "go ahead": speaks against.
    Consent = -1.0, "agrees";
    /// "sorry, continue", "let me … first": speaks against.
    Resume = -1.4, "lets it go on";
    /// "just wondering", "what is …?": speaks against.
    Curiosity = -0.9, "is curious";
    /// "now add …": speaks against.
    Task = -0.2, "gives a task";
    /// "I changed my mind", "the client wants": speaks against.
    OwnChange = -1.2, "changes their own mind";
    /// A negation of any kind.
    Negates = -0.2, "";
    /// "why".
    Why = -0.4, "asks why";
    /// "and …", "also …", "next …": goes on to something.
    GoesOn = -0.6, "";
    /// "what …", "where …", "how …" at the head of a clause.
    Inquires = -0.1, "";
    /// "so … will", "then … won't", "which means": draws a consequence.
    Consequence = 0.5, "names a consequence";
    /// "our", "we", "users": tells what holds here.
    Ours = 0.2, "tells what holds here";
    /// The words hold a task, and nothing objects.
    OnlyTask = -0.4, "";
    /// Praise or consent, and nearly nothing else.
    OnlyApproves = -0.4, "";
    /// The first sentence objects.
    OpensObjecting = 0.6, "begins with an objection";
    /// States something: no question, no task, no approval, no answer.
    Statement = 0.8, "";
    /// No construction that objects.
    NoObjection = -0.1, "";
    /// The words are mostly those of what the agent just said or wrote.
    Echoes = 0.4, "speaks of what the agent just did";
    /// None of the words is.
    Unrelated = -0.3, "";
    /// A word in capitals that is meant to be heard.
    Shouted = 0.5, "shouts";
    /// An error or log was pasted.
    PastedError = 0.3, "pastes an error";
    /// Nothing but pasted material.
    OnlyPasted = -0.2, "only pastes";
    /// At most eight words.
    Short = -0.3, "";
    /// Eighty words or more: mostly a task.
    Long = -0.3, "";
    /// Ends in a question mark.
    Asks = -0.1, "";
    /// The first human turn: there is nothing to correct yet.
    First = -2.8, "";
    /// Sent while the agent was at work.
    Steering = 0.2, "said while the agent worked";
    /// Sent along with an approval.
    WithApproval = 0.4, "said with an approval";
    /// The agent had just claimed to be done.
    Claimed = -0.1, "";
    /// A failure reported right after such a claim.
    FailureAfterClaim = 0.3, "reports a failure after the agent said it was done";
    /// The agent had just asked: this is mostly the answer.
    Answering = -0.5, "";
    /// The same, and the words would be a correction elsewhere: "no, the other one" chooses.
    Choosing = -0.1, "";
    /// The agent had just asked through a tool.
    AskedByTool = -0.5, "";
    /// The agent had called tools since the last human turn.
    Worked = 0.9, "";
    /// A refusal or an interrupt just before.
    Stopped = 1.3, "the agent was stopped just before";
    /// The agent says something before it acts: tasks are often simply done.
    RepliesFirst = 1.5, "";
    /// The agent said nothing before the next human turn.
    Unanswered = -0.4, "";
    /// The agent's next text concedes: "you're right", "good catch", "sorry".
    Concedes = 1.6, "the agent concedes";
    /// The agent's next text likes the proposal: "good idea", "makes sense".
    Likes = 0.1, "the agent likes it";
    /// The agent's next text accepts: "understood", "sure".
    Accepts = 0.7, "the agent accepts";
    /// The agent's next text takes something back: "reverting", "instead".
    Reverses = 1.0, "the agent takes it back";
    /// The agent's next text mends something: "correcting", "switching".
    Mends = 0.6, "the agent mends it";
    /// The agent concedes, but the words object to nothing: some agents agree with everything.
    ConcedesUnprompted = 0.2, "";
    /// After acting, the agent reports a change of what was there: "moved", "back", "no longer".
    ReportsChange = 0.2, "the agent reports a change";
    /// After acting, the agent reports something new: "added", "created".
    ReportsNew = -0.3, "";
    /// The agent did nothing but talk until the next human turn.
    OnlyTalks = -0.9, "";
    /// The first edit after the turn is of a file that was edited just before it.
    SameFile = 1.1, "the same file is edited again";
    /// The first edit after the turn is of another file.
    OtherFile = -0.4, "";
    /// The first command after the turn takes something back or changes it.
    Amends = 0.7, "the agent changes what is there";
    /// The first call after the turn edits.
    EditsAtOnce = 0.4, "";
    /// An edit changes lines that the agent had written before the turn.
    EditedAgain = 1.1, "the same lines are edited again";
    /// Git undoes work.
    Undone = 0.7, "work is undone";
}

impl From<Cue> for Evidence {
    fn from(cue: Cue) -> Self {
        match cue {
            Cue::Rejection => Self::Rejection,
            Cue::Blame => Self::Blame,
            Cue::Insistence => Self::Insistence,
            Cue::Expectation => Self::Expectation,
            Cue::Prohibition => Self::Prohibition,
            Cue::Stop => Self::Stop,
            Cue::Objection => Self::Objection,
            Cue::MildObjection => Self::MildObjection,
            Cue::Alternative => Self::Alternative,
            Cue::Undo => Self::Undo,
            Cue::StillFailing => Self::StillFailing,
            Cue::Failure => Self::Failure,
            Cue::Doubt => Self::Doubt,
            Cue::Hedge => Self::Hedge,
            Cue::But => Self::But,
            Cue::Convention => Self::Convention,
            Cue::Limit => Self::Limit,
            Cue::Sarcasm => Self::Sarcasm,
            Cue::Praise => Self::Praise,
            Cue::Consent => Self::Consent,
            Cue::Resume => Self::Resume,
            Cue::Curiosity => Self::Curiosity,
            Cue::Task => Self::Task,
            Cue::OwnChange => Self::OwnChange,
        }
    }
}

/// The evidence of one turn. Each piece counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case(u128);

impl Case {
    /// Adds a piece.
    pub fn add(&mut self, evidence: Evidence) {
        self.0 |= 1 << evidence as u128;
    }

    /// Adds a piece if it is there.
    pub fn add_if(&mut self, evidence: Evidence, there: bool) {
        if there {
            self.add(evidence);
        }
    }

    /// Takes a piece back.
    pub fn remove(&mut self, evidence: Evidence) {
        self.0 &= !(1 << evidence as u128);
    }

    /// Whether it holds a piece.
    pub fn has(self, evidence: Evidence) -> bool {
        self.0 & (1 << evidence as u128) != 0
    }

    /// Whether it holds one of these.
    pub fn any(self, evidence: &[Evidence]) -> bool {
        evidence.iter().any(|evidence| self.has(*evidence))
    }

    /// What it holds.
    pub fn evidence(self) -> impl Iterator<Item = Evidence> {
        Evidence::ALL.iter().copied().filter(move |evidence| self.has(*evidence))
    }

    /// How likely it is a correction, 0 to 1.
    pub fn confidence(self) -> f32 {
        let sum: f32 = BIAS + self.evidence().map(Evidence::weight).sum::<f32>();
        1.0 / (1.0 + exp(-sum))
    }

    /// What speaks for it, strongest first.
    pub fn strongest(self) -> impl Iterator<Item = Evidence> {
        let mut evidence: Vec<Evidence> =
            self.evidence().filter(|evidence| evidence.weight() > 0.0 && !evidence.words().is_empty()).collect();
        evidence.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        evidence.into_iter()
    }
}

/// The exponential function from basic arithmetic only: `f32::exp` may differ in its last bit between a native build and the
/// component, and confidences must not.
fn exp(x: f32) -> f32 {
    let x = f64::from(x.clamp(-30.0, 30.0)) / 1024.0;
    let series = 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0)));
    (0..10).fold(series, |power, _| power * power) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_its_bit() {
        assert!(Evidence::ALL.len() <= 128);
    }

    #[test]
    fn confidence_is_logistic() {
        for x in [-6.0_f32, -1.0, 0.0, 0.5, 3.0] {
            assert!((exp(x) - x.exp()).abs() < 1e-4 * x.exp());
        }
        let mut case = Case::default();
        let before = case.confidence();
        case.add(Evidence::Rejection);
        assert!(case.confidence() > before);
        case.add(Evidence::First);
        assert!(case.confidence() < 0.5);
    }
}
