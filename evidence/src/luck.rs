//! What of a rate is luck. Of many patterns the most frequent ones are picked, and of those some are frequent by chance: they become
//! rarer whatever is done about them. How much of that there is, the library itself tells: if all its patterns are about equally
//! frequent, differences are luck; if few are frequent and most are rare, they are not (empirical Bayes).

/// Rates between which patterns are supposed to lie, and points of a grid between them, equally far apart on a logarithmic scale.
const RATES: (f64, f64) = (0.001, 0.95);
const POINTS: usize = 40;

/// Rounds in which the distribution of rates is fitted (EM). Few rounds keep it smooth.
const ROUNDS: usize = 25;

/// As many patterns as the supposition weighs that all rates are alike frequent.
const WEIGHT: f64 = 3.0;

/// The share of `own` occurrences in `opportunities` that is expected to stay. `others` are those of other patterns, before any of them
/// had a rule; `clustering` is how much less an occurrence says than if sessions had nothing to do with each other.
pub(crate) fn staying(own: u32, others: &[u32], opportunities: u32, clustering: f64) -> f64 {
    if own == 0 || opportunities == 0 {
        return 1.0;
    }
    let step = (RATES.1 / RATES.0).ln() / (POINTS - 1) as f64;
    let rates: Vec<f64> = (0..POINTS).map(|point| RATES.0 * (step * point as f64).exp()).collect();
    let trials = f64::from(opportunities);
    // Patterns that never came up are in no library, so each likelihood is one given that there is at least one occurrence.
    let unseen: Vec<f64> = rates.iter().map(|rate| 1.0 - (1.0 - rate).powf(trials / clustering)).collect();
    let likelihood = |occurrences: u32, truncated: bool| -> Vec<f64> {
        let k = f64::from(occurrences.min(opportunities));
        let logs: Vec<f64> = rates
            .iter()
            .zip(&unseen)
            .map(|(rate, seen)| {
                let log = (k * rate.ln() + (trials - k) * (1.0 - rate).ln()) / clustering;
                if truncated { log - seen.ln() } else { log }
            })
            .collect();
        let most = logs.iter().copied().fold(f64::MIN, f64::max);
        logs.iter().map(|log| (log - most).exp()).collect()
    };
    let mut counts = std::collections::BTreeMap::<u32, f64>::new();
    for seen in others.iter().copied().filter(|seen| *seen > 0).chain([own]) {
        *counts.entry(seen).or_default() += 1.0;
    }
    let all: Vec<(f64, Vec<f64>)> = counts.iter().map(|(k, times)| (*times, likelihood(*k, true))).collect();
    let patterns: f64 = counts.values().sum();
    let mut weights = vec![1.0 / POINTS as f64; POINTS];
    for _ in 0..ROUNDS {
        let mut next = vec![WEIGHT / POINTS as f64; POINTS];
        for (times, likely) in &all {
            let total: f64 = weights.iter().zip(likely).map(|(w, l)| w * l).sum();
            for ((sum, weight), likely) in next.iter_mut().zip(&weights).zip(likely) {
                *sum += times * weight * likely / total.max(f64::MIN_POSITIVE);
            }
        }
        weights = next.into_iter().map(|sum| sum / (patterns + WEIGHT)).collect();
    }
    let likely = likelihood(own, true);
    let (total, mean) =
        weights.iter().zip(&likely).zip(&rates).fold((0.0, 0.0), |(total, mean), ((weight, likely), rate)| {
            (total + weight * likely, mean + weight * likely * rate)
        });
    (mean / total.max(f64::MIN_POSITIVE) * trials / f64::from(own)).clamp(0.1, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn among_equals_being_first_is_luck() {
        let equals: Vec<u32> = (0..60).map(|i| 6 + i % 9).collect();
        let stays = staying(18, &equals, 100, 1.0);
        assert!(stays < 0.8, "{stays}");
    }

    #[test]
    fn among_rare_ones_being_frequent_is_not() {
        let rare: Vec<u32> = (0..60).map(|i| 1 + i % 2).collect();
        let stays = staying(40, &rare, 100, 1.0);
        assert!(stays > 0.9, "{stays}");
        assert!(staying(3, &rare, 100, 1.0) < stays);
    }

    #[test]
    fn alone_it_is_taken_nearly_as_it_is() {
        let stays = staying(12, &[], 40, 1.0);
        assert!(stays > 0.8, "{stays}");
    }
}
