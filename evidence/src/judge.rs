//! The verdict itself.

use crate::{
    Case, Exposure, Interval, Judgement, Outcome, Visit,
    clustering::{clustering, day},
    drift::{Drift, drift},
    looks::{Look, last_look, looks, next_look},
    luck::staying,
    predict::Expected,
};

/// Least opportunities of the earlier period, if there were so many, and how many times those since.
const BEFORE: (u32, u32) = (100, 2);

/// Days after which waiting for sessions is no excuse any more.
const EARLY_DAYS: i64 = 28;

/// A ratio that is worth a rule's tokens: half as frequent.
const USEFUL: f64 = 0.5;

/// Rates that go their own ways go by factors, so further up than down; by so much more in variance, as simulated.
const STRAYS_UP: f64 = 2.0;

/// Chance that is left out on each side of the interval that is shown.
const SHOWN: f64 = 0.05;

/// What the counts say of a rule.
pub fn judge(case: &Case<'_>) -> Judgement {
    let begin = case.visits.partition_point(|visit| visit.at < case.applied_at);
    let (past, since) = case.visits.split_at(begin);
    let look = last_look(total(since).1);
    let after = &since[..reaching(since.iter(), look.map_or(u32::MAX, |look| look.at))];
    let before = earlier(case, past, look);
    let windows = Windows::new(case, past, &before, begin, after);
    let earlier: Vec<Visit> = before.iter().map(|&index| past[index]).collect();
    let mut judgement = Judgement {
        outcome: Outcome::NotEnoughData,
        before: exposure(&earlier, earlier.first().map_or(case.applied_at, |visit| visit.at), case.applied_at),
        after: exposure(after, case.applied_at, after.last().map_or(case.applied_at, |visit| visit.at + 1)),
        since: exposure(since, case.applied_at, case.now.max(case.applied_at)),
        expected: 0.0,
        ratio: None,
        luck: 1.0,
        drift: None,
        clustering: 1.0,
        next_look: next_look(total(since).1),
        enough_at: None,
    };
    let is_early = case.now - case.applied_at < EARLY_DAYS * 24 * 60 * 60 * 1000;
    if judgement.before.occurrences == 0 {
        return judgement;
    }
    let expectation = Expectation::new(&earlier, after, &windows);
    judgement.luck = expectation.luck;
    judgement.drift = expectation.drift.factor;
    judgement.clustering = expectation.clustering;
    judgement.enough_at = looks()
        .take_while(|look| look.at <= 10_000)
        .find(|look| expectation.least().at_most(1.0, 0, look.at) <= look.risk)
        .map(|look| look.at);
    if is_early && judgement.enough_at.is_some_and(|enough| judgement.after.opportunities < enough) {
        judgement.outcome = Outcome::TooEarly;
    }
    let Some(look) = look else { return judgement };
    let (k, n) = (judgement.after.occurrences, judgement.after.opportunities);
    let (least, most, best) = (expectation.least(), expectation.most(), expectation.best());
    judgement.expected = best.rate.min(1.0) * f64::from(n);
    judgement.ratio = Some(Interval {
        low: most.lowest(SHOWN, k, n),
        middle: judgement.after.rate() / best.rate,
        high: least.highest(SHOWN, k, n),
    });
    if least.at_most(1.0, k, n) <= look.risk {
        judgement.outcome = Outcome::Working;
    } else if most.at_least(1.0, k, n) <= look.risk {
        judgement.outcome = Outcome::Worse;
    } else if most.at_least(USEFUL, k, n) <= look.risk {
        judgement.outcome = Outcome::NotWorking;
    }
    judgement
}

/// Occurrences and opportunities.
fn total<'a>(visits: impl IntoIterator<Item = &'a Visit>) -> (u32, u32) {
    visits.into_iter().fold((0, 0), |(occurrences, opportunities): (u32, u32), visit| {
        (occurrences.saturating_add(visit.occurrences), opportunities.saturating_add(visit.opportunities))
    })
}

/// How many visits it takes to have so many opportunities; all if there are fewer.
fn reaching<'a>(visits: impl Iterator<Item = &'a Visit>, opportunities: u32) -> usize {
    let (mut sum, mut count) = (0_u32, 0);
    for visit in visits {
        if sum >= opportunities {
            break;
        }
        sum = sum.saturating_add(visit.opportunities);
        count += 1;
    }
    count
}

fn exposure(visits: &[Visit], from: i64, to: i64) -> Exposure {
    let (occurrences, opportunities) = total(visits);
    Exposure { occurrences: occurrences.min(opportunities), opportunities, from, to }
}

/// The earlier period: the last sessions before the rule, without the day that led to the draft. That day was not chosen by chance:
/// whoever stops counting when it comes up once more has counted one too many.
fn earlier(case: &Case<'_>, past: &[Visit], look: Option<Look>) -> Vec<usize> {
    let trigger = past.iter().rev().find(|visit| visit.at <= case.drafted_at && visit.occurrences > 0);
    let trigger = trigger.map(|visit| day(visit.at));
    let kept: Vec<usize> = (0..past.len())
        .filter(|&index| Some(day(past[index].at)) != trigger || past[index].at > case.drafted_at)
        .collect();
    let wanted = look.map_or(0, |look| look.at).saturating_mul(BEFORE.1).max(BEFORE.0);
    let count = reaching(kept.iter().rev().map(|&index| &past[index]), wanted);
    kept[kept.len() - count..].to_vec()
}

/// Where the other patterns came up, in both periods.
struct Windows {
    /// Of those that had no rule before this one: indices into the earlier period.
    all_before: Vec<u32>,
    /// Of those without any rule: indices into the periods.
    free: [Vec<Vec<usize>>; 2],
}

impl Windows {
    fn new(case: &Case<'_>, past: &[Visit], before: &[usize], begin: usize, after: &[Visit]) -> Self {
        let mut place = vec![None; past.len()];
        for (index, &visit) in before.iter().enumerate() {
            place[visit] = Some(index);
        }
        let mut windows = Self { all_before: Vec::new(), free: [Vec::new(), Vec::new()] };
        for other in case.others {
            let seen: Vec<usize> =
                other.seen_in.iter().filter_map(|&index| place.get(index).copied().flatten()).collect();
            if other.ruled_at.is_none_or(|at| at >= case.applied_at) {
                windows.all_before.push(u32::try_from(seen.len()).unwrap_or(u32::MAX));
            }
            if other.ruled_at.is_none() {
                windows.free[0].push(seen);
                let since = other.seen_in.iter().filter_map(|&index| index.checked_sub(begin));
                windows.free[1].push(since.filter(|&index| index < after.len()).collect());
            }
        }
        windows
    }
}

/// What is to be expected without the rule, and how well it is known.
struct Expectation {
    rate: f64,
    occurrences: f64,
    luck: f64,
    drift: Drift,
    clustering: f64,
}

impl Expectation {
    fn new(before: &[Visit], after: &[Visit], windows: &Windows) -> Self {
        let (occurrences, opportunities) = total(before);
        let by_calls = before.iter().chain(after).any(|visit| visit.opportunities > 1);
        let (by_day, clustering) = clustering([before, after], &windows.free, by_calls);
        let sessions = |visits: &[Visit]| u32::try_from(visits.len()).unwrap_or(u32::MAX);
        let with = u32::try_from(before.iter().filter(|visit| visit.occurrences > 0).count()).unwrap_or(u32::MAX);
        let splits: Vec<(u32, u32)> = windows.free[0]
            .iter()
            .zip(&windows.free[1])
            .map(|(before, since)| (before.len() as u32, since.len() as u32))
            .collect();
        // Patterns are picked, and compared with each other, by sessions, also where calls are counted.
        let alike = if by_calls { (1.0, 1.0) } else { (by_day, clustering) };
        let drift = drift(&splits, (sessions(before), sessions(after)), alike.0);
        // Whoever goes its own way is picked when it is up.
        let luck = staying(with, &windows.all_before, sessions(before), alike.1 + drift.wander * f64::from(with));
        let rate = (f64::from(occurrences) / f64::from(opportunities)).min(1.0);
        Self { rate, occurrences: f64::from(occurrences), luck, drift, clustering }
    }

    /// `strays`: how much of the others' going ways of their own is counted.
    fn expected(&self, luck: f64, factor: f64, strays: f64) -> Expected {
        let rate = (self.rate * luck * factor).clamp(1e-9, 1.0 - 1e-9);
        let counted = self.clustering * (1.0 - self.rate * luck) / (self.occurrences * luck);
        let spread = counted + self.drift.wander * strays + self.drift.spread;
        Expected { rate, spread, clustering: self.clustering }
    }

    /// The best guess.
    fn best(&self) -> Expected {
        self.expected(self.luck, self.drift.factor.unwrap_or(1.0), 1.0)
    }

    /// What a rule has to fall short of to be working: as before or as the others, whichever is less.
    fn least(&self) -> Expected {
        self.expected(self.luck, self.drift.factor.unwrap_or(1.0).min(1.0), 1.0)
    }

    /// What a rule has to exceed to be worse: as before, as if none of it was luck, or as the others, whichever is more.
    fn most(&self) -> Expected {
        match self.drift.factor {
            Some(factor) => self.expected(1.0, factor.max(1.0), STRAYS_UP),
            // How far frictions stray is only supposed then, and that is wide enough.
            None => self.expected(1.0, 1.0, 1.0),
        }
    }
}
