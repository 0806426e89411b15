//! What else changed. A new version of a model, another habit or another project changes all frictions; patterns without a rule, in
//! the very same sessions, show by how much, and how far single patterns go ways of their own without any rule.

/// Occurrences of patterns without rules, over both periods, below which nothing is made of them.
const ENOUGH: u32 = 20;

/// How many other patterns with at least [`TELLING`] occurrences must be there.
const PATTERNS: usize = 3;

/// Occurrences, over both periods, of a pattern that can tell whether it went its own way.
const TELLING: u32 = 4;

/// How far patterns are supposed to go their own ways before anything is known (relative variance), and what that weighs, in squared
/// occurrences.
const SUPPOSED: (f64, f64) = (0.06, 8.0);

/// How other patterns changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drift {
    /// Their rate since ÷ before; none: too few.
    pub(crate) factor: Option<f64>,
    /// What of it is uncertain, as a variance relative to its square.
    pub(crate) spread: f64,
    /// How far a single one goes its own way, likewise.
    pub(crate) wander: f64,
}

/// `others` are occurrences before and since of patterns without rules, `sessions` all sessions before and since.
pub(crate) fn drift(others: &[(u32, u32)], sessions: (u32, u32), clustering: f64) -> Drift {
    let (before, since) = others.iter().fold((0, 0), |sum, other| (sum.0 + other.0, sum.1 + other.1));
    let telling: Vec<_> = others.iter().filter(|(before, since)| before + since >= TELLING).collect();
    let none = Drift { factor: None, spread: 0.0, wander: SUPPOSED.0 };
    if before + since < ENOUGH || before == 0 || since == 0 || telling.len() < PATTERNS || sessions.0 == 0 {
        return none;
    }
    let (b, s) = (f64::from(before), f64::from(since));
    let factor = (s / f64::from(sessions.1)) / (b / f64::from(sessions.0));
    // Given how often a pattern came up in all, each occurrence falls into the time since with this chance. How much more the splits of
    // the others vary than coins thrown with it is how far they go their own ways. Bad days are a part of that which is counted
    // already; what is not, is not known exactly, so half of it counts here, too.
    let share = s / (b + s);
    let (mut excess, mut information) = (SUPPOSED.0 * SUPPOSED.1, SUPPOSED.1);
    for (before, since) in telling {
        let total = f64::from(before + since);
        let coins = total * share * (1.0 - share);
        excess += (f64::from(*since) - total * share).powi(2) / coins - f64::midpoint(1.0, clustering);
        information += coins;
    }
    let wander = (excess / information).clamp(0.0, 4.0);
    let patterns = others.iter().map(|(before, since)| f64::from(before + since)).collect::<Vec<_>>();
    // As many patterns as count fully: one that makes up most occurrences is not many.
    let many = (b + s).powi(2) / patterns.iter().map(|count| count * count).sum::<f64>();
    Drift { factor: Some(factor), spread: clustering * (1.0 / b + 1.0 / s) + wander / many, wander }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halved_is_a_drift_of_a_half() {
        let drift = drift(&[(20, 10), (16, 8), (12, 6), (8, 4)], (100, 100), 1.0);
        assert!((drift.factor.unwrap() - 0.5).abs() < 1e-9);
        assert!(drift.wander < 0.06);
    }

    #[test]
    fn coming_and_going_is_wandering() {
        let drift = drift(&[(20, 0), (0, 20), (18, 1), (2, 17), (15, 3), (1, 14)], (100, 100), 1.0);
        assert!((drift.factor.unwrap() - 0.98).abs() < 0.05);
        assert!(drift.wander > 1.0, "{}", drift.wander);
    }

    #[test]
    fn few_others_say_nothing() {
        assert_eq!(drift(&[(50, 50)], (100, 100), 1.0).factor, None);
        assert_eq!(drift(&[], (100, 100), 1.0).factor, None);
    }
}
