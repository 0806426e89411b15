//! How many occurrences are to be expected without the rule, as a distribution: a Beta-Binomial, which is a binomial whose rate is known
//! only as well as the past tells it.

use statrs::function::{beta::ln_beta, factorial::ln_binomial};

/// Steps of a bisection: the bound is then known to a ten-thousandth of its range.
const STEPS: usize = 24;

/// Smallest and largest sum of a Beta's parameters. Below, all mass is at 0 and 1, which no real rate is; above, it is a fixed number.
const PRECISION: (f64, f64) = (0.2, 1e7);

/// What is expected of the time since a rule, if it did nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expected {
    /// Rate.
    pub(crate) rate: f64,
    /// Variance of what is known of the rate, relative to its square.
    pub(crate) spread: f64,
    /// How much more occurrences vary than if sessions had nothing to do with each other; at least 1.
    pub(crate) clustering: f64,
}

impl Expected {
    /// The Beta that the rate times `ratio` follows, in `opportunities` that cluster.
    fn beta(&self, ratio: f64, opportunities: u32) -> (f64, f64) {
        let rate = (self.rate * ratio).clamp(1e-9, 1.0 - 1e-9);
        let odds = (1.0 - rate) / rate;
        let spread = self.spread + (self.clustering - 1.0) * odds / f64::from(opportunities.max(1));
        let precision = (odds / spread.max(1e-9) - 1.0).clamp(PRECISION.0, PRECISION.1);
        (rate * precision, (1.0 - rate) * precision)
    }

    /// The chance of fewer, and half the chance of just as many (mid-p): counting the whole of the latter makes tests of small numbers so
    /// careful that they see nothing.
    pub(crate) fn at_most(&self, ratio: f64, occurrences: u32, opportunities: u32) -> f64 {
        let (a, b) = self.beta(ratio, opportunities);
        tail(a, b, occurrences, opportunities)
    }

    /// The chance of more, and half the chance of just as many: the same of how often it does not come up.
    pub(crate) fn at_least(&self, ratio: f64, occurrences: u32, opportunities: u32) -> f64 {
        let (a, b) = self.beta(ratio, opportunities);
        tail(b, a, opportunities - occurrences.min(opportunities), opportunities)
    }

    /// The largest ratio at which so few have at least this chance.
    pub(crate) fn highest(&self, chance: f64, occurrences: u32, opportunities: u32) -> f64 {
        self.bound(|ratio| self.at_most(ratio, occurrences, opportunities) >= chance)
    }

    /// The smallest ratio at which so many have at least this chance.
    pub(crate) fn lowest(&self, chance: f64, occurrences: u32, opportunities: u32) -> f64 {
        if occurrences == 0 {
            return 0.0;
        }
        self.bound(|ratio| self.at_least(ratio, occurrences, opportunities) < chance)
    }

    /// Where `below` turns false, between 0 and the ratio at which every opportunity is an occurrence.
    fn bound(&self, below: impl Fn(f64) -> bool) -> f64 {
        let (mut low, mut high) = (0.0, 1.0 / self.rate.max(1e-9));
        for _ in 0..STEPS {
            let middle = if low == 0.0 { high / 4.0 } else { f64::sqrt(low * high) };
            if below(middle) { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }
}

/// The chance of fewer than `k` of `n`, and half the chance of `k`, under a Beta-Binomial. Summed from `k` down, where the terms are largest or soon will be.
fn tail(a: f64, b: f64, k: u32, n: u32) -> f64 {
    let ln = |k: u32| {
        ln_binomial(u64::from(n), u64::from(k)) + ln_beta(f64::from(k) + a, f64::from(n - k) + b) - ln_beta(a, b)
    };
    let (mut term, mut sum) = (1.0, 0.5);
    for i in (1..=k).rev() {
        let (i, n) = (f64::from(i), f64::from(n));
        term *= i / (n - i + 1.0) * (b + n - i) / (a + i - 1.0);
        sum += term;
    }
    (ln(k) + sum.ln()).exp().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    #[test]
    fn a_rate_that_is_known_gives_a_binomial() {
        let expected = Expected { rate: 0.3, spread: 0.0, clustering: 1.0 };
        let binomial = Binomial::new(0.3, 40).unwrap();
        for k in 1..=40 {
            let ours = expected.at_most(1.0, k, 40);
            let theirs = f64::midpoint(binomial.cdf(u64::from(k)), binomial.cdf(u64::from(k) - 1));
            assert!((ours - theirs).abs() < 1e-4, "{k}: {ours} {theirs}");
        }
    }

    #[test]
    fn a_flat_rate_gives_all_numbers_the_same_chance() {
        for k in 0..=10 {
            assert!((tail(1.0, 1.0, k, 10) - (f64::from(k) + 0.5) / 11.0).abs() < 1e-9);
        }
    }

    #[test]
    fn three_before_and_none_since_is_what_a_coin_does() {
        // Of three occurrences in two equally long periods all fall into the first with a chance of 1/8, of which a half counts.
        let expected = Expected { rate: 3.0 / 1e5, spread: 1.0 / 3.0, clustering: 1.0 };
        assert!((expected.at_most(1.0, 0, 100_000) - 1.0 / 16.0).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn tails_are_chances_and_meet(rate in 0.001..0.99_f64, spread in 0.0..2.0_f64, clustering in 1.0..8.0_f64, k in 0_u32..60) {
            let expected = Expected { rate, spread, clustering };
            let (most, least) = (expected.at_most(1.0, k, 60), expected.at_least(1.0, k, 60));
            prop_assert!((0.0..=1.0).contains(&most) && (0.0..=1.0).contains(&least));
            prop_assert!((most + least - 1.0).abs() < 1e-6, "{most} + {least}");
        }

        #[test]
        fn bounds_are_in_order(rate in 0.01..0.9_f64, spread in 0.0..1.0_f64, clustering in 1.0..4.0_f64, k in 0_u32..=30) {
            let expected = Expected { rate, spread, clustering };
            let (low, high) = (expected.lowest(0.05, k, 30), expected.highest(0.05, k, 30));
            prop_assert!(low <= high && low >= 0.0 && high <= 1.0 / rate + 1e-6, "{low} {high}");
        }
    }
}
