//! Asking, one session after the other, and remembering what came of it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    Due, Plan, Reason, Reviewer,
    plan::{EMPTY, OWN},
};
use crate::{
    finding::{
        prompt::{self, Catalogue},
        semantic,
    },
    model::{Answer, Model, ModelError, Purpose, Refusal, Request, is_own_prompt},
    store::{Review, ReviewState, SessionId, Store, StoreError},
};

/// Failures in a row, of one session, after which it is not tried again by itself.
const MAX_ATTEMPTS: u32 = 5;
/// The first wait after a failure; each later one is four times as long: 15 minutes, 1, 4, 16 hours.
const FIRST_RETRY_MS: i64 = 15 * 60 * 1000;
/// Failures in a row, of whichever sessions, after which a run ends: the fault lies elsewhere then.
const FAILURES: u32 = 3;

/// Whoever answers.
pub trait Ask {
    /// Asks once.
    ///
    /// # Errors
    /// See [`NoAnswer`].
    fn ask(&mut self, store: &mut Store, request: &Request<'_>) -> Result<Answer, NoAnswer>;
}

impl Ask for Model<'_> {
    fn ask(&mut self, store: &mut Store, request: &Request<'_>) -> Result<Answer, NoAnswer> {
        Model::ask(self, store, request).map_err(|error| match error {
            ModelError::Refused(refusal @ Refusal::TooLong { .. }) => NoAnswer::Unfit(refusal.to_string()),
            ModelError::Refused(refusal) => NoAnswer::Refused(refusal.to_string()),
            ModelError::Failed { kind, why, .. } => {
                NoAnswer::Failed { kind: kind.name().to_owned(), why, elsewhere: kind.ends_run() }
            }
            ModelError::Store(error) => NoAnswer::Store(error),
        })
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum NoAnswer {
    /// It was not asked, and will not be in this run: the budget, the agreement, Ctrl-C. The session stays due.
    Refused(String),
    /// It was not asked about this one, which is too much for it, and would not be another time.
    Unfit(String),
    /// It was asked.
    Failed {
        /// Kind of the failure.
        kind: String,
        /// In a sentence.
        why: String,
        /// The fault is the service's or the machine's, not the session's: it is not counted against the session.
        elsewhere: bool,
    },
    /// The store failed.
    Store(StoreError),
}

/// What a run did.
#[derive(Debug, Default, serde::Serialize)]
pub struct Learned {
    /// Sessions that a model answered about.
    pub asked: u64,
    /// Those of them in which it found nothing.
    pub empty: u64,
    /// Findings.
    pub findings: u64,
    /// Sessions that went on without anything new to show: not asked again.
    pub unchanged: u64,
    /// Sessions left out, by why.
    pub skipped: BTreeMap<String, u64>,
    /// What was taken out of answers, by what was wrong with it.
    pub dropped: BTreeMap<&'static str, u32>,
    /// Sessions that failed, as sentences. They are tried again.
    pub failed: Vec<String>,
    /// What was spent on answers, in USD.
    pub spent_usd: f64,
    /// Sessions that stay due.
    pub left: u64,
    /// Why the run ended before all was asked.
    pub stopped: Option<String>,
}

/// How asking about one session ended the run, if it did.
type Next = Option<String>;

impl Reviewer<'_> {
    /// Remembers which sessions are left out, and asks about those that are due, at most `limit`. `progress` is told how many are
    /// done and the session that is next.
    ///
    /// # Errors
    /// Those of the store. A failure of the model is no error of the run.
    pub fn run(
        &self,
        store: &mut Store,
        plan: &Plan,
        limit: usize,
        model: &mut dyn Ask,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(u64, &Due),
    ) -> Result<Learned, StoreError> {
        let mut learned = Learned::default();
        for (why, count) in &plan.skipped {
            learned.skipped.insert((*why).to_owned(), *count);
        }
        self.remember_skips(store, plan)?;
        let catalogue = self.catalogue(store)?;
        let mut failures = 0;
        let mut ended = 0;
        for (due, nth) in plan.due.iter().take(limit).zip(0..) {
            if stop.load(Ordering::Relaxed) {
                learned.stopped = Some("interrupted".to_owned());
                break;
            }
            progress(nth, due);
            let failed_before = learned.failed.len();
            learned.stopped = self.ask_about(store, &catalogue, due, model, &mut learned)?;
            failures = if learned.failed.len() > failed_before { failures + 1 } else { 0 };
            if learned.stopped.is_some() {
                break;
            }
            ended += 1;
            if failures >= FAILURES {
                learned.stopped = Some(format!("{FAILURES} failures in a row"));
                break;
            }
        }
        learned.left = plan.due.len() as u64 - ended;
        Ok(learned)
    }

    /// Remembers sessions that are left out, without asking anything.
    ///
    /// # Errors
    /// As for any write.
    pub fn remember_skips(&self, store: &mut Store, plan: &Plan) -> Result<(), StoreError> {
        for (session, covers, why) in &plan.new_skips {
            self.skip(store, *session, covers, why)?;
        }
        Ok(())
    }

    fn skip(&self, store: &mut Store, session: SessionId, covers: &str, why: &str) -> Result<(), StoreError> {
        let review = Review { why: Some(why.to_owned()), ..self.review(ReviewState::Skipped, covers) };
        store.put_review(session, &review)
    }

    fn review(&self, state: ReviewState, covers: &str) -> Review {
        Review {
            state,
            why: None,
            kind: None,
            at: self.now,
            covers: covers.to_owned(),
            input: None,
            prompt: None,
            model: None,
            findings: 0,
            attempts: 0,
            next_try: None,
        }
    }

    fn ask_about(
        &self,
        store: &mut Store,
        catalogue: &Catalogue,
        due: &Due,
        model: &mut dyn Ask,
        learned: &mut Learned,
    ) -> Result<Next, StoreError> {
        let skip = |store: &mut Store, learned: &mut Learned, why: &str| {
            *learned.skipped.entry(why.to_owned()).or_default() += 1;
            self.skip(store, due.session, &due.covers, why).map(|()| None)
        };
        let Some(question) = self.question(store, catalogue, due.session)? else {
            return skip(store, learned, EMPTY);
        };
        if question.excerpt.texts.iter().any(|text| is_own_prompt(text)) {
            return skip(store, learned, OWN);
        }
        let input = question.excerpt.hash();
        let answered = due.review.as_ref().filter(|review| review.state == ReviewState::Done);
        if let Some(before) = answered.filter(|it| due.reason == Reason::Grown && it.input.as_deref() == Some(&input)) {
            let covers = due.covers.clone();
            store.put_review(due.session, &Review { covers, ..before.clone() })?;
            learned.unchanged += 1;
            return Ok(None);
        }
        let schema = prompt::schema();
        let request = Request {
            purpose: Purpose::Findings,
            subject: &due.native_id,
            instructions: prompt::INSTRUCTIONS,
            input: &question.input,
            schema: &schema,
        };
        let asked = Review {
            input: Some(input),
            prompt: Some(prompt::hash()),
            model: Some(self.config.model.name.clone()),
            ..self.review(ReviewState::Done, &due.covers)
        };
        let answer = match model.ask(store, &request) {
            Ok(answer) => answer,
            Err(NoAnswer::Refused(why)) => return Ok(Some(why)),
            Err(NoAnswer::Unfit(why)) => return skip(store, learned, &why),
            Err(NoAnswer::Store(error)) => return Err(error),
            Err(NoAnswer::Failed { kind, why, elsewhere }) => {
                self.fail(store, due, asked, &kind, &why, elsewhere, learned)?;
                return Ok(None);
            }
        };
        learned.spent_usd += answer.cost_usd;
        let keep = self.config.model.store_snippets;
        match semantic::read(&answer, &question.excerpt, catalogue, &self.redactor, keep) {
            Ok(read) => {
                let count = u32::try_from(read.findings.len()).unwrap_or(u32::MAX);
                let review = Review { findings: count, ..asked };
                store.replace_model_findings(due.session, &read.findings, &read.cited, &review)?;
                learned.asked += 1;
                if count == 0 {
                    store.mark_call_empty(answer.call)?;
                    learned.empty += 1;
                }
                learned.findings += u64::from(count);
                for (what, count) in read.dropped {
                    *learned.dropped.entry(what).or_default() += count;
                }
            }
            Err(unusable) => {
                store.mark_call_unusable(answer.call, &unusable.to_string())?;
                self.fail(store, due, asked, "unusable-answer", &unusable.to_string(), false, learned)?;
            }
        }
        Ok(None)
    }

    #[expect(clippy::too_many_arguments, reason = "one place, two callers")]
    fn fail(
        &self,
        store: &mut Store,
        due: &Due,
        asked: Review,
        kind: &str,
        why: &str,
        elsewhere: bool,
        learned: &mut Learned,
    ) -> Result<(), StoreError> {
        // A session that went on has a new chance.
        let before = match (&due.review, due.reason) {
            (Some(review), Reason::Retry) => review.attempts,
            _ => 0,
        };
        let attempts = if elsewhere { before } else { before + 1 };
        let next_try =
            (attempts < MAX_ATTEMPTS).then(|| self.now + FIRST_RETRY_MS * 4_i64.pow(attempts.saturating_sub(1)));
        let review = Review {
            state: ReviewState::Failed,
            why: Some(crate::insights::clean(why, 300)),
            kind: Some(kind.to_owned()),
            attempts,
            next_try,
            ..asked
        };
        store.put_review(due.session, &review)?;
        let again = if next_try.is_some() { "" } else { "; given up until `totalrecall retry`" };
        learned.failed.push(format!("{} session {}: {why} ({kind}{again})", due.tool, due.native_id));
        Ok(())
    }
}
