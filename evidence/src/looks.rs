//! When a verdict is formed. Who looks every day and believes the first claim is told something false far more often than 1 in 20
//! times, so a verdict is formed anew only when the sessions since the rule reach certain numbers, and each of these looks may be
//! wrong with a share of the whole risk only.

/// Opportunities at which looks are taken, and the share of the whole risk that each spends. Further ones follow at twice the last, and
/// spend half the last one's share each. The shares of all, without end, are 1.
pub const LOOKS: [(u32, f64); 8] =
    [(10, 0.04), (30, 0.26), (60, 0.20), (100, 0.20), (200, 0.12), (400, 0.08), (800, 0.06), (1600, 0.02)];

/// The first of [`LOOKS`].
pub const FIRST_LOOK: u32 = LOOKS[0].0;

/// Most that the chance of ever claiming an effect that is not there may be, in one direction: with both, 5 %.
const RISK: f64 = 0.025;

/// A look that was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Look {
    /// Opportunities it takes.
    pub(crate) at: u32,
    /// The chance of a false claim in one direction that it may run.
    pub(crate) risk: f64,
}

/// All looks, without end but for the range of numbers.
pub(crate) fn looks() -> impl Iterator<Item = Look> {
    let (last, share) = LOOKS[LOOKS.len() - 1];
    let further = (1..20).map(move |times| (last << times, share / f64::from(1_u32 << times)));
    LOOKS.into_iter().chain(further).map(|(at, share)| Look { at, risk: RISK * share })
}

/// The last look that so many opportunities allow.
pub(crate) fn last_look(opportunities: u32) -> Option<Look> {
    looks().take_while(|look| look.at <= opportunities).last()
}

/// Opportunities at which the next look is taken, when there were so many.
pub fn next_look(opportunities: u32) -> u32 {
    looks().map(|look| look.at).find(|at| *at > opportunities).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_looks_together_spend_the_risk() {
        let spent: f64 = looks().map(|look| look.risk).sum();
        assert!((RISK * 0.999..=RISK * 1.000_001).contains(&spent), "{spent}");
        assert!(looks().zip(looks().skip(1)).all(|(one, next)| one.at < next.at));
    }

    #[test]
    fn a_look_waits_for_its_number() {
        assert_eq!(last_look(9), None);
        assert_eq!(last_look(59).map(|look| look.at), Some(30));
        assert_eq!((next_look(0), next_look(30), next_look(1_600)), (10, 60, 3_200));
    }
}
