//! Reviews: a model is shown excerpts of sessions, and what it finds joins what signals gave.
//!
//! Which sessions are due, and in which order, is decided here, and what becomes of each is remembered: an answer, a reason to
//! leave it out, or a failure that is tried again. A failure is never taken for an answer. Whether anything may be asked at all
//! (agreement, budget) is the model's matter: what it refuses stays due.

mod plan;
mod run;

use globset::GlobSet;

use crate::{
    config::Config,
    finding::{
        prompt::{self, About, Catalogue},
        window::{self, Excerpt, Subject},
    },
    library::Library,
    model::{OwnFolder, tokens},
    paths::Home,
    pattern::Pattern,
    proposal::{self, Proposal},
    redact::Redactor,
    sandbox::analyze::SignalKind,
    store::{SessionId, Store, StoreError},
    transcript,
};

pub use plan::{Due, Plan, Reason};
pub use run::{Ask, Learned, NoAnswer};

/// Sessions whose windows are built for an estimate; of more, so many are taken evenly.
const SAMPLE: usize = 40;

/// Reviews sessions.
pub struct Reviewer<'a> {
    config: &'a Config,
    kinds: &'a [SignalKind],
    /// Milliseconds since the Unix epoch.
    now: i64,
    redactor: Redactor,
    ignore: GlobSet,
    own: OwnFolder,
}

/// What would be sent of one session.
#[derive(Debug, Clone)]
pub struct Question {
    /// The document.
    pub input: String,
    /// What of the session is in it.
    pub excerpt: Excerpt,
}

impl Question {
    /// Tokens of the call, instructions and schema included.
    pub fn tokens(&self) -> u32 {
        tokens(prompt::INSTRUCTIONS) + tokens(&prompt::schema().to_string()) + tokens(&self.input)
    }
}

/// What reviewing what is due would take.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Calls: a session is one.
    pub calls: u64,
    /// Sessions whose windows were built for this; fewer than `calls`: the rest is taken to be like them.
    pub built: u64,
    /// Tokens of all inputs.
    pub input_tokens: u64,
    /// What it costs at most, by the prices in the settings, in USD: answers are mostly shorter than they may be.
    pub usd: f64,
    /// Days in which the day's budget allows it.
    pub days: u64,
}

impl<'a> Reviewer<'a> {
    /// Prepares a run.
    ///
    /// # Errors
    /// When a pattern in `transcripts.ignore` is none.
    pub fn new(home: &Home, config: &'a Config, kinds: &'a [SignalKind], now: i64) -> Result<Self, globset::Error> {
        let redactor = config.redactor();
        let ignore = transcript::globs(&config.transcripts.ignore)?;
        Ok(Self { config, kinds, now, redactor, ignore, own: OwnFolder::new(home) })
    }

    /// The patterns that the model is told of.
    ///
    /// # Errors
    /// Those of the store.
    pub fn catalogue(&self, store: &Store) -> Result<Catalogue, StoreError> {
        let in_force: Vec<Proposal> =
            store.proposals()?.into_iter().filter(|proposal| proposal.status == proposal::Status::Applied).collect();
        let patterns = Library::load(store)?.patterns(&self.config.patterns, self.now);
        let settings = &self.config.model;
        let has_rule = |pattern: &Pattern| in_force.iter().any(|proposal| proposal.is_for(pattern));
        // What the person does not want to see is not to be found again.
        let patterns = patterns.iter().filter(|pattern| !pattern.muted);
        Ok(Catalogue::new(patterns, has_rule, settings.catalogue, settings.input_tokens, &self.redactor))
    }

    /// What would be sent of a session; none: nothing in it can be shown.
    ///
    /// # Errors
    /// Those of the store.
    pub fn question(
        &self,
        store: &Store,
        catalogue: &Catalogue,
        session: SessionId,
    ) -> Result<Option<Question>, StoreError> {
        let Some(row) = store.session(session)? else { return Ok(None) };
        let mut transcripts = store.transcripts(session)?;
        transcripts.sort_by_key(|transcript| (Some(&transcript.path) != row.path.as_ref(), transcript.id));
        let numbers: Vec<i64> = transcripts.iter().map(|transcript| transcript.id.0).collect();
        let signals = store.signals(session)?;
        let subject = Subject { transcripts: &numbers, signals: &signals, kinds: self.kinds };
        let most = self.config.model.input_tokens;
        let mut excerpt = window::excerpt(store, &subject, &self.redactor, prompt::budget(most, catalogue))?;
        if excerpt.is_empty() {
            return Ok(None);
        }
        let project = row.project.unwrap_or_default();
        let about = About {
            tool: row.tool,
            project: project.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_owned(),
            day: row.ended_at.map(day).unwrap_or_default(),
            events: row.events,
        };
        loop {
            let input = prompt::input(&about, catalogue, &excerpt, &self.redactor);
            let question = Question { input, excerpt };
            // What redacting the whole made longer. Never seen, and no call may be refused for it.
            if question.tokens() <= most || question.excerpt.records.len() < 2 {
                return Ok(Some(question));
            }
            excerpt = question.excerpt;
            excerpt.records.pop();
            excerpt.places.pop();
            excerpt.texts.pop();
        }
    }

    /// What reviewing `due` would take. Of many sessions, windows are built of some.
    ///
    /// # Errors
    /// Those of the store.
    pub fn estimate(&self, store: &Store, due: &[Due]) -> Result<Estimate, StoreError> {
        let catalogue = self.catalogue(store)?;
        let step = due.len().div_ceil(SAMPLE).max(1);
        let (mut built, mut shown, mut input_tokens) = (0_u64, 0_u64, 0_u64);
        for due in due.iter().step_by(step) {
            built += 1;
            if let Some(question) = self.question(store, &catalogue, due.session)? {
                shown += 1;
                input_tokens += u64::from(question.tokens());
            }
        }
        let (calls, input_tokens) = match built {
            0 => (0, 0),
            built => (due.len() as u64 * shown / built, input_tokens * due.len() as u64 / built),
        };
        let settings = &self.config.model;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let million = |tokens: u64| tokens as f64 / 1e6;
        let usd = million(input_tokens) * settings.usd_per_million_input
            + million(calls * u64::from(settings.output_tokens)) * settings.usd_per_million_output;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let days = if settings.usd_per_day > 0.0 { (usd / settings.usd_per_day).ceil() as u64 } else { 0 };
        Ok(Estimate { calls, built, input_tokens, usd, days })
    }
}

fn day(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| String::new(), |at| jiff::tz::TimeZone::UTC.to_datetime(at).date().to_string())
}

#[cfg(test)]
mod tests;
