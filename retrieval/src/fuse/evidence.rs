//! When to say that there is nothing.
//!
//! A ranking always has a first. Whether that answers the question can be told from what share of the query's words it has,
//! weighted by how rare they are ([`Match::share`](crate::words::Match::share)). Measured with sets of questions that are
//! asked twice, once without the conversation or article that answers them:
//!
//! | set | answer missed | seen in nothing | answer not likely | likely in nothing |
//! | --- | --: | --: | --: | --: |
//! | LoCoMo, pooled | .06 | .57 | .31 | .13 |
//! | XQuAD en | .02 | .23 | .24 | .02 |
//! | XQuAD zh | .05 | .17 | .27 | .00 |
//! | JSQuAD ja | .01 | .44 | .04 | .10 |
//! | CMRC zh | .01 | .53 | .10 | .10 |
//!
//! Cosines are not asked. Those of static models are about as high where there is no answer (area under the curve .53 to .87,
//! that of the share .84 to .98), and which are high depends on the model and the language.

use super::{Parts, WEIGHTS};

/// From which share on there may be an answer.
const MAYBE: f32 = 0.35;

/// From which share on there probably is one.
const LIKELY: f32 = 0.60;

/// Share below which meaning counts more than usually: the query is in other words, or another language, than what there is.
const FOREIGN: f32 = 0.20;

/// Cosine from which on a passage is found by its meaning alone: something is always nearest, though it is not near. Of the built-in
/// model texts about different things have .15 at most, the same said in other words .3 to .7.
const NEAR: f32 = 0.3;

/// The same where the query is in another script than what there is: texts in two languages have no words in common, which half of
/// a static model's likeness comes from.
const NEAR_IN_OTHER_LANGUAGE: f32 = 0.1;

/// What meaning counts if no word is found: as much as all else together.
const MEANING_ALONE: f32 = 1.0;

/// What speaks for the best results, in terms that do not depend on what else was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The largest [`Match::share`](crate::words::Match::share) among the first results, each read with its neighbours.
    pub share: f32,
    /// What part of the query is in a script without blanks between words: [`Plan::unspaced`](crate::words::Plan::unspaced).
    pub unspaced: f32,
    /// Of what part of it a model knows nothing: [`Plan::meaningless`](crate::words::Plan::meaningless).
    pub meaningless: f32,
}

/// Whether there is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Nothing relevant was found. What was found may be shown to somebody who asks for it.
    Nothing,
    /// There may be an answer: for somebody who asked.
    Maybe,
    /// There probably is: good enough to be told without being asked.
    Likely,
}

impl Evidence {
    /// Whether there is an answer.
    pub fn confidence(&self) -> Confidence {
        let share = self.comparable_share();
        if share >= LIKELY {
            Confidence::Likely
        } else if share >= MAYBE {
            Confidence::Maybe
        } else {
            Confidence::Nothing
        }
    }

    /// [`WEIGHTS`], with more for meaning the fewer of the words are found. The less a model knows of them, the more counts instead
    /// where they are.
    pub fn weights(&self) -> Parts {
        let lack = (1.0 - self.comparable_share() / FOREIGN).max(0.0);
        let meaningless = WEIGHTS.dense * self.meaningless;
        let dense = WEIGHTS.dense - meaningless;
        Parts { passage: WEIGHTS.passage + meaningless, dense: dense + lack * (MEANING_ALONE - dense), ..WEIGHTS }
    }

    /// Cosine from which on a passage is found by its meaning alone.
    pub fn near(&self) -> f32 {
        let is_foreign = self.unspaced > 0.5 && self.comparable_share() < FOREIGN;
        if is_foreign { NEAR_IN_OTHER_LANGUAGE } else { NEAR }
    }

    /// Every other pair of characters lies across two words or is grammar, and is not found even in an answer.
    fn comparable_share(&self) -> f32 {
        self.share * (1.0 + self.unspaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_are_no_answer() {
        let confidence = |share, unspaced| Evidence { share, unspaced, meaningless: 0.0 }.confidence();
        assert_eq!(confidence(0.2, 0.0), Confidence::Nothing);
        assert_eq!(confidence(0.2, 1.0), Confidence::Maybe);
        assert_eq!(confidence(0.7, 0.0), Confidence::Likely);
        assert!(Confidence::Likely > Confidence::Maybe);
    }

    #[test]
    fn what_is_in_another_language_is_near_from_farther_on() {
        let near = |share, unspaced| Evidence { share, unspaced, meaningless: 0.0 }.near();
        assert_eq!((near(0.0, 0.0), near(0.3, 1.0)), (NEAR, NEAR));
        assert_eq!(near(0.05, 1.0), NEAR_IN_OTHER_LANGUAGE);
    }

    #[test]
    fn meaning_counts_more_where_words_are_not_found() {
        let dense = |share| Evidence { share, ..Evidence::default() }.weights().dense;
        assert_eq!((dense(0.0), dense(0.9)), (MEANING_ALONE, WEIGHTS.dense));
        assert!(dense(0.1) > dense(0.2));
        let of_names = Evidence { share: 1.0, unspaced: 0.0, meaningless: 1.0 }.weights();
        assert_eq!((of_names.dense, of_names.sum()), (0.0, WEIGHTS.sum()));
    }
}
