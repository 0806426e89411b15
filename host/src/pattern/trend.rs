//! How often a pattern came up lately, and whether that is more or less than before.

use serde::{Deserialize, Serialize};

use super::DAY;

/// Weeks that a trend looks back on: the later half is compared with the earlier one.
pub const WEEKS: usize = 8;

/// A change is only claimed if chance alone brings one like it at most this often.
const CHANCE: f64 = 0.05;

/// Sessions per week and what they say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trend {
    /// Sessions with the pattern in each of the last 8 weeks, oldest first. A week is 7 days; the last one ends now.
    pub weeks: [u32; WEEKS],
    /// Sessions with the pattern in the last 4 weeks, and all sessions in which it could have come up.
    pub recent: Share,
    /// Likewise for the 4 weeks before.
    pub before: Share,
    /// What the numbers carry.
    pub direction: Direction,
}

/// So many of so many sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Sessions with the pattern.
    pub with: u32,
    /// All sessions.
    pub of: u32,
}

/// Which way a pattern goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More often per session than before.
    Rising,
    /// Less often per session than before.
    Falling,
    /// The numbers show no change, or are too few to show one.
    #[default]
    Steady,
}

impl Trend {
    /// `with` counts the sessions with the pattern per week, `all` those in which it could have come up.
    pub(super) fn new(with: [u32; WEEKS], all: [u32; WEEKS]) -> Self {
        let half = WEEKS / 2;
        let share = |range: std::ops::Range<usize>| Share {
            with: with[range.clone()].iter().sum(),
            of: all[range].iter().sum(),
        };
        let (before, recent) = (share(0..half), share(half..WEEKS));
        Self { weeks: with, recent, before, direction: direction(recent, before) }
    }
}

/// The week that `at` falls in, counted back from `now`; none if it is longer ago. What claims to come from the future
/// (a clock that was wrong) is of this week.
pub fn week(at: i64, now: i64) -> Option<usize> {
    let back = usize::try_from(now.saturating_sub(at).max(0) / (7 * DAY)).ok()?;
    (WEEKS - 1).checked_sub(back)
}

/// When each of the weeks ends, oldest first.
pub fn week_ends(now: i64) -> [i64; WEEKS] {
    let mut ends = [now; WEEKS];
    for (end, back) in ends.iter_mut().rev().zip(0..) {
        *end -= back * 7 * DAY;
    }
    ends
}

/// If nothing had changed, each of the sessions with the pattern would fall into the recent period with the same chance as
/// any other session: a binomial test with the sessions themselves as the measure.
fn direction(recent: Share, before: Share) -> Direction {
    if recent.of == 0 || before.of == 0 {
        return Direction::Steady;
    }
    let share = f64::from(recent.of) / (f64::from(recent.of) + f64::from(before.of));
    let trials = recent.with + before.with;
    if at_least(recent.with, trials, share) <= CHANCE {
        Direction::Rising
    } else if at_least(before.with, trials, 1.0 - share) <= CHANCE {
        Direction::Falling
    } else {
        Direction::Steady
    }
}

/// Chance of at least `hits` in `trials` that each hit with chance `share`.
fn at_least(hits: u32, trials: u32, share: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    let odds = (share / (1.0 - share)).ln();
    let mut ln_chance = f64::from(trials) * (1.0 - share).ln();
    let mut sum = 0.0;
    for hit in 0..=trials {
        if hit >= hits {
            sum += ln_chance.exp();
        }
        ln_chance += odds + f64::from(trials - hit).ln() - f64::from(hit + 1).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(with: u32, of: u32) -> Share {
        Share { with, of }
    }

    #[test]
    fn only_what_the_numbers_carry_is_claimed() {
        assert_eq!(direction(share(4, 20), share(0, 20)), Direction::Steady);
        assert_eq!(direction(share(5, 20), share(0, 20)), Direction::Rising);
        assert_eq!(direction(share(0, 20), share(5, 20)), Direction::Falling);
        assert_eq!(direction(share(20, 200), share(2, 20)), Direction::Steady, "more sessions, same rate");
        assert_eq!(direction(share(9, 9), share(0, 0)), Direction::Steady, "nothing to compare with");
    }

    #[test]
    fn the_tail_is_the_binomial_one() {
        assert!((at_least(2, 2, 0.5) - 0.25).abs() < 1e-12);
        assert!((at_least(1, 3, 0.5) - 0.875).abs() < 1e-12);
        assert!((at_least(3000, 3000, 0.999) - 0.999_f64.powi(3000)).abs() < 1e-9);
    }

    #[test]
    fn weeks_are_counted_back_from_now() {
        let now = 1_000 * DAY;
        assert_eq!(week(now, now), Some(7));
        assert_eq!(week(now + DAY, now), Some(7));
        assert_eq!(week(now - 7 * DAY, now), Some(6));
        assert_eq!(week(now - 55 * DAY, now), Some(0));
        assert_eq!(week(now - 56 * DAY, now), None);
    }
}
