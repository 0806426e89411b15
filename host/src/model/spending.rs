//! What calls have cost: the ledger, summed up for a person.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Agreement, not_agreed};
use crate::{
    config,
    store::{Backoff, Call, CallOutcome, Store, StoreError},
};

/// Milliseconds of a day. Days are those of UTC, as the budget's are.
const DAY: i64 = 86_400_000;

/// What the ledger says of some days.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spending {
    /// What the person agreed to.
    pub agreement: Option<Agreement>,
    /// Why nothing may be asked with the settings as they are; none: it may.
    pub not_agreed: Option<String>,
    /// The day it is now.
    pub today: Today,
    /// No call is made before this, if calls have failed lately.
    pub waits: Option<Backoff>,
    /// By day and purpose, oldest first.
    pub sums: Vec<Sum>,
    /// Calls that failed, newest first.
    pub failures: Vec<Call>,
}

/// The day it is now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Today {
    /// Calls, also those that are being made.
    pub calls: u64,
    /// Of these, how many failed.
    pub failed: u64,
    /// Spent, in USD.
    pub spent_usd: f64,
    /// What may be spent, in USD.
    pub limit_usd: f64,
    /// What is left of it.
    pub left_usd: f64,
}

/// Calls of one day and purpose.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sum {
    /// The day, in UTC: `2026-12-01`.
    pub day: String,
    /// What for: `findings`, `draft`, `synth`.
    pub purpose: String,
    /// All of them.
    pub calls: u64,
    /// Being made; or their process was killed.
    pub running: u64,
    /// Answered.
    pub ok: u64,
    /// Answered, and the answer held nothing.
    pub empty: u64,
    /// Not answered.
    pub failed: u64,
    /// Tokens of the input, as far as programs say.
    pub input_tokens: i64,
    /// Tokens of the answers, as far as programs say.
    pub output_tokens: i64,
    /// What they cost.
    pub usd: f64,
    /// Some of it is estimated, or reserved and not known to be spent.
    pub is_estimated: bool,
}

impl Spending {
    /// Sums up so many days, today included.
    ///
    /// # Errors
    /// Those of the store.
    pub fn new(store: &Store, settings: &config::Model, now: i64, days: u32) -> Result<Self, StoreError> {
        let today = now.div_euclid(DAY);
        let calls = store.calls((today + 1 - i64::from(days.max(1))) * DAY)?;
        let of_today = || calls.iter().filter(|call| call.at.div_euclid(DAY) == today);
        let has_failed = |call: &&Call| call.outcome == CallOutcome::Failed;
        let (spent_usd, limit_usd) = (store.spent(now)?, settings.usd_per_day);
        let today = Today {
            calls: of_today().count() as u64,
            failed: of_today().filter(has_failed).count() as u64,
            spent_usd,
            limit_usd,
            left_usd: (limit_usd - spent_usd).max(0.0),
        };
        let mut sums: BTreeMap<(i64, &str), Sum> = BTreeMap::new();
        for call in &calls {
            sums.entry((call.at.div_euclid(DAY), &call.purpose)).or_default().add(call);
        }
        Ok(Self {
            agreement: store.agreement()?,
            not_agreed: not_agreed(store, settings)?,
            today,
            waits: store.backoff()?.filter(|waits| waits.until > now),
            sums: sums.into_values().collect(),
            failures: calls.iter().rev().filter(has_failed).cloned().collect(),
        })
    }
}

impl Sum {
    fn add(&mut self, call: &Call) {
        if self.calls == 0 {
            self.day = day(call.at);
            self.purpose.clone_from(&call.purpose);
        }
        self.calls += 1;
        *match call.outcome {
            CallOutcome::Running => &mut self.running,
            CallOutcome::Ok => &mut self.ok,
            CallOutcome::OkEmpty => &mut self.empty,
            CallOutcome::Failed => &mut self.failed,
        } += 1;
        self.input_tokens = self.input_tokens.saturating_add(call.input_tokens.unwrap_or(0));
        self.output_tokens = self.output_tokens.saturating_add(call.output_tokens.unwrap_or(0));
        self.usd += call.usd();
        self.is_estimated |= call.is_estimated() && call.usd() > 0.0;
    }
}

fn day(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(|_| "?".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}
