//! The ledger of calls: a row is committed before a model is asked, with what the call may cost at most, and says afterwards
//! what became of it. What a day may cost is held here, so that processes that ask at the same time keep to it together.

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};
use crate::model::{Agreement, Purpose};

/// Milliseconds of a day. Days are those of UTC.
const DAY: i64 = 86_400_000;
/// Wait after the first failure that asking again at once would only repeat.
const FIRST_WAIT: i64 = 60_000;
/// Longest wait: an account's limit is lifted after some hours.
const LONGEST_WAIT: i64 = 6 * 3_600_000;

const BACKOFF: &str = "model-backoff";
const AGREEMENT: &str = "model-agreement";

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// It is being made; or its process was killed, which the next run notes.
    Running,
    /// There was an answer.
    Ok,
    /// There was an answer that holds nothing.
    OkEmpty,
    /// There was none.
    Failed,
}

/// A row of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// Its number.
    pub id: i64,
    /// When it began, in milliseconds since the Unix epoch.
    pub at: i64,
    /// What for: `findings`, `draft`, `synth`.
    pub purpose: String,
    /// What it is about: a session, a pattern.
    pub subject: String,
    /// The program that was started.
    pub command: String,
    /// The model as it was asked for; once it has answered, as it says.
    pub model: String,
    /// Hash of the instructions and the schema.
    pub prompt: String,
    /// What it might have cost at most, in USD.
    pub reserved_usd: f64,
    /// What became of it.
    pub outcome: CallOutcome,
    /// Kind of the failure.
    pub kind: Option<String>,
    /// The failure, and what to do about it.
    pub why: Option<String>,
    /// How long it took.
    pub duration_ms: Option<i64>,
    /// Tokens of the input, as the program says.
    pub input_tokens: Option<i64>,
    /// Tokens of the answer, as the program says.
    pub output_tokens: Option<i64>,
    /// What it cost in USD, as the program says.
    pub cost_usd: Option<f64>,
    /// What it cost by the prices in the settings, where the program does not say.
    pub estimated_usd: Option<f64>,
}

impl Call {
    /// What counts against the day's budget: as the program said, else estimated, else all that was reserved.
    pub fn usd(&self) -> f64 {
        self.cost_usd.or(self.estimated_usd).unwrap_or(self.reserved_usd)
    }

    /// Is [`Self::usd`] not what the program said?
    pub fn is_estimated(&self) -> bool {
        self.cost_usd.is_none()
    }
}

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewCall<'a> {
    /// Now, in milliseconds since the Unix epoch.
    pub at: i64,
    /// See [`Call`].
    pub purpose: Purpose,
    /// See [`Call`].
    pub subject: &'a str,
    /// See [`Call`].
    pub command: &'a str,
    /// See [`Call`].
    pub model: &'a str,
    /// See [`Call`].
    pub prompt: &'a str,
    /// See [`Call`].
    pub reserved_usd: f64,
}

/// Whether a call may be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Begun {
    /// It may, under this number.
    Call(i64),
    /// It may not: with it, the day could cost more than it may.
    OverBudget {
        /// What the day has cost so far, in USD.
        spent: f64,
    },
    /// It may not before this time, because calls failed in a way that passes.
    BackingOff {
        /// Milliseconds since the Unix epoch.
        until: i64,
    },
}

/// What became of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallEnd {
    /// When, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Kind and sentence of the failure; none: it was answered.
    pub failure: Option<(&'static str, String)>,
    /// The failure is one that passes with time.
    pub backs_off: bool,
    /// The model, as it names itself.
    pub model: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// See [`Call`].
    pub input_tokens: Option<u64>,
    /// See [`Call`].
    pub output_tokens: Option<u64>,
    /// See [`Call`].
    pub cost_usd: Option<f64>,
    /// See [`Call`].
    pub estimated_usd: Option<f64>,
}

/// Calls have failed in a way that passes, and none is made for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    /// Such failures in a row.
    pub failures: u32,
    /// When the next call may be made, in milliseconds since the Unix epoch.
    pub until: i64,
}

impl Backoff {
    fn after(before: Option<Self>, now: i64) -> Self {
        let failures = before.map_or(0, |before| before.failures).saturating_add(1);
        // Ten doublings are more than the longest wait.
        let wait = (FIRST_WAIT << (failures - 1).min(10)).min(LONGEST_WAIT);
        Self { failures, until: now.saturating_add(wait) }
    }
}

impl Store {
    /// Begins a call if the day's budget and the last failures allow it: the row is on the disk when this returns.
    ///
    /// # Errors
    /// As for any write; nothing may be asked then.
    pub fn begin_call(&mut self, call: &NewCall<'_>, usd_per_day: f64) -> Result<Begun, StoreError> {
        self.in_ledger(|db| {
            if let Some(Backoff { until, .. }) = read_meta::<Backoff>(db, BACKOFF)?.filter(|it| it.until > call.at) {
                return Ok(Begun::BackingOff { until });
            }
            let spent = spent(db, call.at)?;
            // Written so that a budget that is no number allows nothing.
            let fits = spent + call.reserved_usd <= usd_per_day;
            if !fits {
                return Ok(Begun::OverBudget { spent });
            }
            db.prepare_cached(
                "INSERT INTO call (at, purpose, subject, command, model, prompt, reserved_usd, outcome)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running')",
            )?
            .insert(params![
                call.at,
                call.purpose.name(),
                call.subject,
                call.command,
                call.model,
                call.prompt,
                call.reserved_usd
            ])
            .map(Begun::Call)
            .map_err(Into::into)
        })
    }

    /// Notes what became of a call, and what that means for the next ones.
    ///
    /// # Errors
    /// As for any write; the call then counts what was reserved for it.
    pub fn end_call(&mut self, id: i64, end: &CallEnd) -> Result<(), StoreError> {
        self.in_ledger(|db| {
            let (kind, why) = end.failure.as_ref().map(|(kind, why)| (*kind, why)).unzip();
            let outcome = if kind.is_some() { "failed" } else { "ok" };
            db.prepare_cached(
                "UPDATE call SET outcome = ?2, kind = ?3, why = ?4, duration_ms = ?5, input_tokens = ?6,
                    output_tokens = ?7, cost_usd = ?8, estimated_usd = ?9, model = ifnull(?10, model)
                 WHERE id = ?1",
            )?
            .execute(params![
                id,
                outcome,
                kind,
                why,
                end.duration_ms,
                end.input_tokens.map(u64::cast_signed),
                end.output_tokens.map(u64::cast_signed),
                end.cost_usd,
                end.estimated_usd,
                end.model
            ])?;
            if end.backs_off {
                let backoff = Backoff::after(read_meta(db, BACKOFF)?, end.at);
                write_meta(db, BACKOFF, Some(&backoff))?;
            } else if kind.is_none() {
                write_meta::<Backoff>(db, BACKOFF, None)?;
            }
            Ok(())
        })
    }

    /// Notes that an answer held nothing.
    ///
    /// # Errors
    /// As for any write.
    pub fn mark_call_empty(&mut self, id: i64) -> Result<(), StoreError> {
        let mut mark =
            self.db.prepare_cached("UPDATE call SET outcome = 'ok-empty' WHERE id = ?1 AND outcome = 'ok'")?;
        mark.execute([id])?;
        Ok(())
    }

    /// Notes that what was answered is nothing that can be used: the call has failed, and has cost what it cost.
    ///
    /// # Errors
    /// As for any write.
    pub fn mark_call_unusable(&mut self, id: i64, why: &str) -> Result<(), StoreError> {
        let mut mark = self.db.prepare_cached(
            "UPDATE call SET outcome = 'failed', kind = 'unusable-answer', why = ?2 WHERE id = ?1 AND outcome = 'ok'",
        )?;
        mark.execute(params![id, why])?;
        Ok(())
    }

    /// Calls whose process is gone have failed; what was reserved for them stays spent. Only for whoever knows that nobody
    /// else is asking.
    ///
    /// # Errors
    /// As for any write.
    pub fn settle_calls(&mut self) -> Result<usize, StoreError> {
        self.in_ledger(|db| {
            let mut settle = db.prepare_cached(
                "UPDATE call SET outcome = 'failed', kind = 'killed',
                    why = 'TotalRecall was killed while it waited for the answer: what was reserved counts as spent'
                 WHERE outcome = 'running'",
            )?;
            Ok(settle.execute([])?)
        })
    }

    /// Calls since a time, oldest first.
    ///
    /// # Errors
    /// As for any read.
    pub fn calls(&self, since: i64) -> Result<Vec<Call>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT id, at, purpose, subject, command, model, prompt, reserved_usd, outcome, kind, why, duration_ms,
                input_tokens, output_tokens, cost_usd, estimated_usd
             FROM call WHERE at >= ?1 ORDER BY at, id",
        )?;
        let mut rows = find.query([since])?;
        let mut calls = Vec::new();
        while let Some(row) = rows.next()? {
            calls.push(call(row)?);
        }
        Ok(calls)
    }

    /// What the day of this time has cost, in USD, running calls with what is reserved for them.
    ///
    /// # Errors
    /// As for any read.
    pub fn spent(&self, at: i64) -> Result<f64, StoreError> {
        spent(&self.db, at)
    }

    /// Until when no call is made, if calls have failed lately. The time may have passed.
    ///
    /// # Errors
    /// As for any read.
    pub fn backoff(&self) -> Result<Option<Backoff>, StoreError> {
        read_meta(&self.db, BACKOFF)
    }

    /// What the person agreed to; none: nothing may be asked.
    ///
    /// # Errors
    /// As for any read.
    pub fn agreement(&self) -> Result<Option<Agreement>, StoreError> {
        read_meta(&self.db, AGREEMENT)
    }

    /// Notes what the person agreed to; none: the agreement is withdrawn. Failures of before are forgotten, as they may
    /// have been another program's.
    ///
    /// # Errors
    /// As for any write.
    pub fn set_agreement(&mut self, agreement: Option<&Agreement>) -> Result<(), StoreError> {
        self.in_ledger(|db| {
            write_meta::<Backoff>(db, BACKOFF, None)?;
            write_meta(db, AGREEMENT, agreement)
        })
    }

    /// A transaction that no other process comes in between of and that is on the disk when it has ended, even if the power
    /// fails then. Transcripts that wait for their commit are committed first: a call must not be undone with them.
    fn in_ledger<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.commit()?;
        self.db.pragma_update(None, "synchronous", "full")?;
        let done = (|| {
            let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        })();
        self.db.pragma_update(None, "synchronous", "normal")?;
        done
    }
}

fn spent(db: &Connection, at: i64) -> Result<f64, StoreError> {
    let day = at.div_euclid(DAY) * DAY;
    let mut sum = db.prepare_cached(
        "SELECT total(coalesce(cost_usd, estimated_usd, reserved_usd)) FROM call WHERE at >= ?1 AND at < ?2",
    )?;
    Ok(sum.query_row([day, day + DAY], |row| row.get(0))?)
}

/// What cannot be read is as good as not there: no agreement, no wait.
fn read_meta<T: serde::de::DeserializeOwned>(db: &Connection, key: &str) -> Result<Option<T>, StoreError> {
    let mut find = db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    let text: Option<String> = find.query_row([key], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn write_meta<T: Serialize>(db: &Connection, key: &str, value: Option<&T>) -> Result<(), StoreError> {
    let Some(value) = value else {
        db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
        return Ok(());
    };
    let text =
        serde_json::to_string(value).map_err(|error| StoreError::Row { table: "meta", why: error.to_string() })?;
    db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?.execute([key, &text])?;
    Ok(())
}

fn call(row: &Row<'_>) -> Result<Call, StoreError> {
    let outcome = match row.get_ref(8)?.as_str().unwrap_or_default() {
        "running" => CallOutcome::Running,
        "ok" => CallOutcome::Ok,
        "ok-empty" => CallOutcome::OkEmpty,
        "failed" => CallOutcome::Failed,
        other => return Err(StoreError::Row { table: "call", why: format!("the outcome {other:?}") }),
    };
    Ok(Call {
        id: row.get(0)?,
        at: row.get(1)?,
        purpose: row.get(2)?,
        subject: row.get(3)?,
        command: row.get(4)?,
        model: row.get(5)?,
        prompt: row.get(6)?,
        reserved_usd: row.get(7)?,
        outcome,
        kind: row.get(9)?,
        why: row.get(10)?,
        duration_ms: row.get(11)?,
        input_tokens: row.get(12)?,
        output_tokens: row.get(13)?,
        cost_usd: row.get(14)?,
        estimated_usd: row.get(15)?,
    })
}
