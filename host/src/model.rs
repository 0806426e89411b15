//! The model: an optional helper outside of this process, asked through a program (`claude -p`, or what the settings name),
//! under a budget, and never without a row in the ledger of calls.
//!
//! An answer is data. Whoever asks validates what is in it.

mod agreement;
mod answer;
mod error;
mod kind;
mod own;
mod program;
mod spending;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::Value;

pub use agreement::{Agreement, agree, not_agreed, program, withdraw};
pub use error::{ModelError, Refusal};
pub use kind::Kind;
pub use own::{MARKER, Own, OwnFolder, folder, is_own_prompt};
pub use program::{Found, look, version_of};
pub use spending::{Spending, Sum, Today};

use crate::{
    clock,
    config::{self, Config},
    files, insights,
    paths::Home,
    redact::Redactor,
    store::{Begun, CallEnd, NewCall, Store},
};

/// The program that is asked where the settings name none.
pub const CLAUDE: &str = "claude";

/// How many times as much input may cost as we think: tokens are counted by characters, and differ by a third; writing the
/// provider's cache costs a quarter more.
const DOUBT: f64 = 1.5;

/// Longest sentence of a failure in the ledger.
const SENTENCE: usize = 600;

/// What the model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Findings of one session.
    Findings,
    /// A rule for a pattern.
    Draft,
    /// Which patterns are the same.
    Synth,
}

impl Purpose {
    /// As it stands in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Draft => "draft",
            Self::Synth => "synth",
        }
    }
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What for.
    pub purpose: Purpose,
    /// What it is about, for a person who reads the ledger: a session, a pattern.
    pub subject: &'a str,
    /// What the model shall do: a prompt of ours, without anything from a transcript.
    pub instructions: &'a str,
    /// What it shall do it with: text of others, quoted as data. Redacted once more before it leaves.
    pub input: &'a str,
    /// JSON Schema of the answer, an object.
    pub schema: &'a Value,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The object that was asked for. It satisfies the schema only as far as the program saw to it.
    pub value: Value,
    /// Row of the ledger.
    pub call: i64,
    /// The model, as it names itself; as it was asked for where it does not.
    pub model: String,
    /// What the call cost in USD; estimated where the program does not say.
    pub cost_usd: f64,
    /// Hash of the instructions and the schema: [`prompt_hash`].
    pub prompt: String,
}

/// Tells prompts apart: 16 hexadecimal digits of instructions and schema.
pub fn prompt_hash(instructions: &str, schema: &Value) -> String {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    hasher.update(instructions.as_bytes());
    hasher.update(&[0]);
    hasher.update(schema.to_string().as_bytes());
    format!("{:016x}", hasher.digest())
}

/// Tokens of a text, about: four characters of scripts that separate words, one of others. Tokenizers differ by a third.
pub fn tokens(text: &str) -> u32 {
    let (mut narrow, mut wide) = (0_u32, 0_u32);
    for c in text.chars() {
        if c < '\u{2e80}' { narrow += 1 } else { wide += 1 }
    }
    narrow.div_ceil(4) + wide
}

/// What a call may cost at most, in USD, by the prices in the settings: what is reserved for it.
pub fn reservation(settings: &config::Model, input_tokens: u32) -> f64 {
    price(settings, f64::from(input_tokens) * DOUBT, f64::from(settings.output_tokens))
}

fn price(settings: &config::Model, input_tokens: f64, output_tokens: f64) -> f64 {
    (input_tokens * settings.usd_per_million_input + output_tokens * settings.usd_per_million_output) / 1e6
}

/// One run's way to the model. A run has one of these, because it counts the run's calls.
pub struct Model<'a> {
    settings: config::Model,
    home: Home,
    since: i64,
    stop: &'a AtomicBool,
    redactor: Redactor,
    calls: u32,
    /// Why nothing more is asked in this run.
    ended: Option<String>,
    /// Held as long as this process may be asking.
    present: Option<File>,
}

impl std::fmt::Debug for Model<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("settings", &self.settings).field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl<'a> Model<'a> {
    /// Starts nothing and touches nothing. `stop` set: what is running is killed, and nothing more is asked.
    pub fn new(config: &Config, home: &Home, now: i64, stop: &'a AtomicBool) -> Self {
        let redactor = config.redactor();
        let settings = config.model.clone();
        Self { settings, home: home.clone(), since: now, stop, redactor, calls: 0, ended: None, present: None }
    }

    /// Calls that this run has made.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Asks, and waits for the answer as long as the settings say.
    ///
    /// # Errors
    /// [`ModelError::Refused`] where nothing was asked, [`ModelError::Failed`] where it was in vain. Either way there is
    /// nothing to conclude about what was asked.
    pub fn ask(&mut self, store: &mut Store, request: &Request<'_>) -> Result<Answer, ModelError> {
        self.may_ask(store)?;
        let question = program::Question {
            purpose: request.purpose,
            instructions: request.instructions,
            input: &self.redactor.redact(request.input),
            schema: &request.schema.to_string(),
        };
        let tokens = question.tokens();
        if tokens > self.settings.input_tokens {
            return Err(Refusal::TooLong { tokens, limit: self.settings.input_tokens }.into());
        }
        self.show_presence(store)?;

        let (prompt, command) = (prompt_hash(request.instructions, request.schema), self.command());
        let reserved_usd = reservation(&self.settings, tokens);
        let call = NewCall {
            at: self.now(),
            purpose: request.purpose,
            subject: request.subject,
            command: &command,
            model: &self.settings.name,
            prompt: &prompt,
            reserved_usd,
        };
        let limit = self.settings.usd_per_day;
        let call = match store.begin_call(&call, limit)? {
            Begun::Call(call) => call,
            Begun::OverBudget { spent } => {
                return Err(Refusal::DayBudget { spent, reserved: reserved_usd, limit }.into());
            }
            Begun::BackingOff { until } => return Err(Refusal::BackingOff { until }.into()),
        };
        self.calls += 1;

        let began = Instant::now();
        let said = program::ask(&self.settings, &self.home, &question, reserved_usd, self.stop);
        let mut end = self.end(&said, tokens);
        end.duration_ms = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        let (kind, words) = match said.answer {
            Some(Ok(value)) => {
                store.end_call(call, &end)?;
                let cost_usd = end.cost_usd.or(end.estimated_usd).unwrap_or(reserved_usd);
                let model = end.model.unwrap_or_else(|| self.settings.name.clone());
                return Ok(Answer { value, call, model, cost_usd, prompt });
            }
            Some(Err(failure)) => failure,
            None => (Kind::Garbage, String::new()),
        };
        let why = self.sentence(kind, &words);
        end.failure = Some((kind.name(), why.clone()));
        end.backs_off = kind.backs_off();
        if kind.ends_run() {
            self.ended = Some(why.clone());
        }
        store.end_call(call, &end)?;
        Err(ModelError::Failed { kind, why, call })
    }

    /// What can be told without looking at the question.
    fn may_ask(&self, store: &Store) -> Result<(), ModelError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Refusal::Stopped.into());
        }
        if let Some(why) = &self.ended {
            return Err(Refusal::RunEnded { why: why.clone() }.into());
        }
        if let Some(why) = not_agreed(store, &self.settings)? {
            return Err(Refusal::NotAgreed(why).into());
        }
        if self.calls >= self.settings.calls_per_run {
            return Err(Refusal::RunCalls { limit: self.settings.calls_per_run }.into());
        }
        Ok(())
    }

    /// The time. A clock that is put back during a run must not give it another day's budget.
    fn now(&self) -> i64 {
        clock::now().max(self.since)
    }

    /// The program's name, without its arguments: they may hold what is nobody's business.
    fn command(&self) -> String {
        program(&self.settings).swap_remove(0)
    }

    /// Shows other processes that this one may be asking. The first one to come, while no other is there, knows that
    /// calls that are still running in the ledger are those of processes that were killed.
    fn show_presence(&mut self, store: &mut Store) -> Result<(), ModelError> {
        if self.present.is_some() {
            return Ok(());
        }
        let failed = |error: io::Error| crate::store::StoreError::Io(format!("{}: {error}", own::LOCK));
        let path = self.home.path().join(own::LOCK);
        // Never deleted, as the worker's is not.
        let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(failed)?;
        if file.try_lock().is_ok() {
            store.settle_calls()?;
            file.unlock().map_err(failed)?;
        }
        // Waits for no longer than another process settles.
        file.lock_shared().map_err(failed)?;
        self.present = Some(file);
        files::make_private_folder(&folder(&self.home)).map_err(failed)?;
        Ok(())
    }

    /// What the ledger says of a call that has ended, but for its failure.
    fn end(&self, said: &answer::Said, tokens: u32) -> CallEnd {
        let by_usage = said.input_tokens.zip(said.output_tokens).map(|(input, output)| (input as f64, output as f64));
        let estimated = match &said.answer {
            // Nothing was sent.
            Some(Err((Kind::NotInstalled | Kind::Outdated, _))) => Some(0.0),
            Some(Ok(value)) => {
                let counted = (f64::from(tokens), f64::from(self::tokens(&value.to_string())));
                let (input, output) = by_usage.unwrap_or(counted);
                Some(price(&self.settings, input, output))
            }
            // Without a word about tokens it may have cost all that was reserved.
            _ => by_usage.map(|(input, output)| price(&self.settings, input, output)),
        };
        CallEnd {
            at: self.now(),
            model: said.model.clone(),
            input_tokens: said.input_tokens,
            output_tokens: said.output_tokens,
            cost_usd: said.cost_usd,
            estimated_usd: if said.cost_usd.is_some() { None } else { estimated },
            ..CallEnd::default()
        }
    }

    /// A failure for a person: what happened, in the program's words as far as they may be kept, and what to do.
    fn sentence(&self, kind: Kind, words: &str) -> String {
        let words = insights::clean(&self.redactor.redact(words), SENTENCE);
        format!("{}: {}; {}", self.command(), words.trim_end_matches(['.', ' ']), kind.advice())
    }
}

/// A time, for a sentence.
fn when(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds)
        .map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// How long a call may take.
fn timeout(settings: &config::Model) -> Duration {
    Duration::from_secs(settings.timeout_seconds)
}
