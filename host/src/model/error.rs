use super::{Kind, when};
use crate::store::StoreError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Nothing was asked.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It was asked, and there is no answer.
    #[error("{why}")]
    Failed {
        /// In a word.
        kind: Kind,
        /// What happened and what to do, as sentences.
        why: String,
        /// Row of the ledger.
        call: i64,
    },
    /// The ledger could not be read or written. If it was asked already, the answer is lost.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ModelError {
    /// Would everything else in this run fail, too?
    pub fn ends_run(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.ends_run(),
            Self::Failed { kind, .. } => kind.ends_run(),
            Self::Store(_) => true,
        }
    }
}

/// Why nothing was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The person has not agreed to it.
    #[error("{0}: `totalrecall learn` shows what would be sent and asks")]
    NotAgreed(String),
    /// With this call, the day could cost more than it may.
    #[error(
        "the day's budget is used up: USD {spent:.2} spent, up to {reserved:.2} for this call, {limit:.2} allowed. \
         It goes on tomorrow (UTC); `usd-per-day` in `[model]` is the limit"
    )]
    DayBudget {
        /// What was spent, in USD.
        spent: f64,
        /// What the call could have cost, in USD.
        reserved: f64,
        /// What the day may cost, in USD.
        limit: f64,
    },
    /// The run has made as many calls as it may.
    #[error("this run has made its {limit} calls: the next run goes on; `calls-per-run` in `[model]` is the limit")]
    RunCalls {
        /// How many that are.
        limit: u32,
    },
    /// The question is too long.
    #[error("the question has about {tokens} tokens, {limit} are allowed: `input-tokens` in `[model]` is the limit")]
    TooLong {
        /// Tokens of instructions, schema and input, about.
        tokens: u32,
        /// How many may be.
        limit: u32,
    },
    /// Calls have failed in a way that passes.
    #[error("calls have failed lately, so none is made before {} (`totalrecall spend` says why)", when(*.until))]
    BackingOff {
        /// Milliseconds since the Unix epoch.
        until: i64,
    },
    /// A call of this run has failed in a way that all others would, too.
    #[error("this run asks nothing more: {why}")]
    RunEnded {
        /// What that call said.
        why: String,
    },
    /// The person pressed Ctrl-C.
    #[error("interrupted")]
    Stopped,
}

impl Refusal {
    /// Would everything else in this run be refused, too?
    pub fn ends_run(&self) -> bool {
        !matches!(self, Self::TooLong { .. })
    }
}
