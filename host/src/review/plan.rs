//! Which sessions a model is to be asked about, and which first.
//!
//! Newest first would spend the day's budget on whatever was last; the most severe first would begin with what is long past. So
//! what a session's signals weigh is multiplied by how lately it was, with the half-life by which patterns age.

use std::collections::BTreeMap;

use super::Reviewer;
use crate::{
    finding::{Category, prompt, window::signal_weight},
    store::{Review, ReviewState, Reviewable, SessionId, Store, StoreError},
};

/// Milliseconds of a day.
const DAY: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

/// A session without signals in which the person stepped in.
const PUSHBACK: f32 = 3.0;

/// Why sessions are left out; kept as the reason of their review.
pub(super) const QUIET: &str = "no signals and no pushback";
pub(super) const OWN: &str = "a session of TotalRecall itself";
pub(super) const IGNORED: &str = "ignored by the settings";
pub(super) const EMPTY: &str = "nothing to show";

/// Sessions by what is to be done about them.
#[derive(Debug, Default, serde::Serialize)]
pub struct Plan {
    /// To be asked about, the most valuable first.
    pub due: Vec<Due>,
    /// Left out, by why.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Still going on, or not read to their end.
    pub waiting: u64,
    /// Failed, and not to be tried again yet.
    pub later: u64,
    /// Failed so often that they are not tried again by themselves.
    pub given_up: u64,
    /// Answered.
    pub done: u64,
    /// Those that were found to be left out now and are not known as such yet.
    #[serde(skip)]
    pub(super) new_skips: Vec<(SessionId, String, &'static str)>,
}

/// A session to be asked about.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Due {
    /// Its row.
    pub session: SessionId,
    /// Tool.
    pub tool: String,
    /// The tool's id of it.
    pub native_id: String,
    /// Why.
    pub reason: Reason,
    /// What asking is worth, as compared with others.
    pub value: f64,
    #[serde(skip)]
    pub(super) covers: String,
    #[serde(skip)]
    pub(super) review: Option<Review>,
}

/// Why a session is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It was never asked about.
    New,
    /// It went on since.
    Grown,
    /// It failed before.
    Retry,
    /// With another prompt or model, and the person wants it asked again.
    Again,
}

enum Standing {
    Due(Reason),
    Skipped(&'static str),
    Waiting,
    Later,
    GivenUp,
    Done,
}

impl Reviewer<'_> {
    /// What is to be done. `again`: sessions that were asked about with another prompt or model are due, too.
    ///
    /// # Errors
    /// Those of the store.
    pub fn plan(&self, store: &Store, again: bool) -> Result<Plan, StoreError> {
        let prompt = prompt::hash();
        let mut plan = Plan::default();
        for session in store.reviewable()? {
            match self.standing(store, &session, &prompt, again)? {
                Standing::Due(reason) => plan.due.push(self.due(session, reason)),
                Standing::Skipped(why) => {
                    *plan.skipped.entry(why).or_default() += 1;
                    let known = |review: &Review| {
                        review.state == ReviewState::Skipped
                            && review.covers == session.covers
                            && review.why.as_deref() == Some(why)
                    };
                    // An answer is not forgotten because of a setting.
                    if !session.review.as_ref().is_some_and(|it| known(it) || it.state == ReviewState::Done) {
                        plan.new_skips.push((session.session, session.covers, why));
                    }
                }
                Standing::Waiting => plan.waiting += 1,
                Standing::Later => plan.later += 1,
                Standing::GivenUp => plan.given_up += 1,
                Standing::Done => plan.done += 1,
            }
        }
        plan.due.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| b.session.cmp(&a.session)));
        Ok(plan)
    }

    /// The sessions whose id begins so, whether or not they are due. An id that is written whole is one session, or those that
    /// share it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn find(&self, store: &Store, id: &str) -> Result<Vec<Due>, StoreError> {
        let sessions = store.reviewable()?;
        let whole = sessions.iter().any(|session| session.native_id == id);
        let is_it = |session: &Reviewable| {
            if whole { session.native_id == id } else { !id.is_empty() && session.native_id.starts_with(id) }
        };
        Ok(sessions.into_iter().filter(is_it).map(|session| self.due(session, Reason::Again)).collect())
    }

    fn due(&self, session: Reviewable, reason: Reason) -> Due {
        Due {
            value: self.value(&session),
            session: session.session,
            tool: session.tool,
            native_id: session.native_id,
            reason,
            covers: session.covers,
            review: session.review,
        }
    }

    fn standing(&self, store: &Store, session: &Reviewable, prompt: &str, again: bool) -> Result<Standing, StoreError> {
        // Such a session is not even read. Should one be in the store all the same, it is not asked about.
        if [&session.cwd, &session.project].into_iter().flatten().any(|folder| self.own.holds(folder)) {
            return Ok(Standing::Skipped(OWN));
        }
        if session.path.as_deref().is_some_and(|path| self.ignore.is_match(path)) {
            return Ok(Standing::Skipped(IGNORED));
        }
        let settle = i64::try_from(self.config.transcripts.settle_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        let age = self.now.saturating_sub(session.ended_at.unwrap_or_default());
        if session.unread || (0..settle).contains(&age) {
            return Ok(Standing::Waiting);
        }
        let known = session.review.as_ref();
        let went_on = known.is_some_and(|review| review.covers != session.covers);
        let left_out = |why: &'static str| {
            known.is_some_and(|it| it.state == ReviewState::Skipped && it.why.as_deref() == Some(why)) && !went_on
        };
        let is_quiet = !self.config.model.quiet_sessions && !has_friction(session);
        if is_quiet && (left_out(QUIET) || !store.has_pushback(session.session)?) {
            return Ok(Standing::Skipped(QUIET));
        }
        for why in [EMPTY, OWN] {
            if left_out(why) {
                return Ok(Standing::Skipped(why));
            }
        }
        let Some(review) = known else { return Ok(Standing::Due(Reason::New)) };
        let is_other = review.prompt.as_deref() != Some(prompt)
            || review.model.as_deref() != Some(self.config.model.name.as_str());
        Ok(match review.state {
            ReviewState::Done | ReviewState::Failed if went_on => Standing::Due(Reason::Grown),
            ReviewState::Done if again && is_other => Standing::Due(Reason::Again),
            ReviewState::Done => Standing::Done,
            // What it was left out for holds no more.
            ReviewState::Skipped => Standing::Due(Reason::New),
            ReviewState::Failed => match review.next_try {
                None => Standing::GivenUp,
                Some(at) if at <= self.now => Standing::Due(Reason::Retry),
                Some(_) => Standing::Later,
            },
        })
    }

    fn value(&self, session: &Reviewable) -> f64 {
        let signals = session.signals.iter().map(|(kind, count, confidence)| {
            #[expect(clippy::cast_precision_loss, reason = "a weight")]
            let count = (*count).max(1) as f64;
            f64::from(signal_weight(kind, confidence / count, self.kinds)) * (1.0 + count).log2()
        });
        let weight = signals.sum::<f64>().max(f64::from(PUSHBACK));
        #[expect(clippy::cast_precision_loss, reason = "days")]
        let days = self.now.saturating_sub(session.ended_at.unwrap_or_default()).max(0) as f64 / DAY;
        weight * 0.5_f64.powf(days / self.config.patterns.half_life_days.max(0.1))
    }
}

/// Signals of the service and the context window are no friction that a model could explain.
fn has_friction(session: &Reviewable) -> bool {
    session.signals.iter().any(|(kind, ..)| Category::of(kind, false) != Category::Service)
}
