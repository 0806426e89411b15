//! Why something was found, for whoever reads the results.

use super::Ranked;
use crate::words::Matcher;
use serde::Serialize;

/// Why a result is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Why {
    /// The terms of the query that are in the text, words stemmed.
    pub terms: Vec<String>,
    /// Those that stand for a word nothing holds: what was typed, and what is there.
    pub corrected: Vec<(String, String)>,
    /// Share of the score that comes from other passages: the session's words. 0 to 1.
    pub by_surroundings: f32,
    /// Share of the score that is meaning.
    pub by_meaning: f32,
    /// Share of the score that is being new.
    pub by_recency: f32,
}

impl Ranked {
    /// Why it was found by this plan; `text` is the passage's.
    pub fn why(&self, matcher: &mut Matcher<'_>, text: &str) -> Why {
        let terms = matcher.matched(text).terms;
        let corrected = matcher.plan().corrections().filter(|(_, taken)| terms.iter().any(|term| term == taken));
        let corrected = corrected.map(|(asked, taken)| (asked.to_owned(), taken.to_owned())).collect();
        let share = |part: f32| if self.score > 0.0 { part / self.score } else { 0.0 };
        Why {
            terms,
            corrected,
            by_surroundings: share(self.parts.session),
            by_meaning: share(self.parts.dense),
            by_recency: share(self.parts.recency),
        }
    }
}
