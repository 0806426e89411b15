//! How much sessions of one day, and of one week, are alike. A bad day is one event, not ten.

use crate::Visit;

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// How far opportunities of a day are supposed to be alike before anything is known: of sessions a tenth, of calls, which mostly are of
/// one session, a third.
const ALIKE: (f64, f64) = (0.1, 0.3);

/// As many expected occurrences as this supposition weighs.
const WEIGHT: f64 = 10.0;

/// How many expected occurrences of the other patterns weigh at most, against those of the one that is judged.
const OTHERS: f64 = 30.0;

/// The day of a time.
pub(crate) fn day(at: i64) -> i64 {
    at.div_euclid(DAY)
}

/// Squared deviations of days from a common rate, and what they would be if nothing clustered.
#[derive(Debug, Clone, Copy, Default)]
struct Deviation {
    seen: f64,
    expected: f64,
}

/// Of how many (occurrences, opportunities) of days.
fn deviation(days: &[(f64, f64)]) -> Deviation {
    let (occurrences, opportunities) = days.iter().fold((0.0, 0.0), |sum, day| (sum.0 + day.0, sum.1 + day.1));
    let rate = occurrences / opportunities;
    if days.len() < 2 || !(rate > 0.0 && rate < 1.0) {
        return Deviation::default();
    }
    let count = days.len() as f64;
    let squares: f64 = days.iter().map(|(x, n)| (x - n * rate).powi(2)).sum();
    Deviation { seen: squares * count / (count - 1.0), expected: opportunities * rate * (1.0 - rate) }
}

/// Stretches of so many days of a period, as (occurrences, opportunities).
fn days(period: &[Visit], stretch: i64, counts: impl Fn(usize, &Visit) -> (f64, f64)) -> Vec<(f64, f64)> {
    let mut days: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for (index, visit) in period.iter().enumerate() {
        let (x, n) = counts(index, visit);
        let day = day(visit.at).div_euclid(stretch);
        if last == Some(day)
            && let Some(day) = days.last_mut()
        {
            (day.0, day.1) = (day.0 + x, day.1 + n);
        } else {
            days.push((x, n));
        }
        last = Some(day);
    }
    days.retain(|day| day.1 > 0.0);
    days
}

/// How much more occurrences vary than if opportunities had nothing to do with each other; at least 1. Of a day, and of whichever of
/// day and week shows more: bad days may follow each other. `periods` are looked at one by
/// one, so that a change between them is no clustering; `others` are for each period what of it (by index) other patterns came up in.
pub(crate) fn clustering(periods: [&[Visit]; 2], others: &[Vec<Vec<usize>>; 2], by_calls: bool) -> (f64, f64) {
    let [by_day, by_week] = [1, 7].map(|stretch| of_stretches(stretch, periods, others, by_calls));
    (by_day, by_day.max(by_week))
}

fn of_stretches(stretch: i64, periods: [&[Visit]; 2], others: &[Vec<Vec<usize>>; 2], by_calls: bool) -> f64 {
    let (mut own, mut all) = (Deviation::default(), Deviation::default());
    let (mut size, mut squares) = (0.0, 0.0);
    for (period, others) in periods.into_iter().zip(others) {
        let own_days = days(period, stretch, |_, visit| (f64::from(visit.occurrences), f64::from(visit.opportunities)));
        add(&mut own, deviation(&own_days));
        for (_, n) in &own_days {
            (size, squares) = (size + n, squares + n * n);
        }
        for seen in others {
            let mut seen_in = vec![0.0; period.len()];
            for &index in seen {
                seen_in[index] = 1.0;
            }
            add(&mut all, deviation(&days(period, stretch, |index, _| (seen_in[index], 1.0))));
        }
    }
    let together = if size > 0.0 { squares / size } else { 1.0 };
    let supposed = 1.0 + (together - 1.0) * if by_calls { ALIKE.1 } else { ALIKE.0 };
    let mut weighed = (WEIGHT * supposed + own.seen, WEIGHT + own.expected);
    // How sessions of a day are alike says nothing of how calls of a session are.
    if !by_calls && all.expected > 0.0 {
        let weight = all.expected.min(OTHERS);
        weighed = (weighed.0 + weight * all.seen / all.expected, weighed.1 + weight);
    }
    (weighed.0 / weighed.1).max(1.0)
}

fn add(sum: &mut Deviation, more: Deviation) {
    sum.seen += more.seen;
    sum.expected += more.expected;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(days: i64, sessions: i64, occurs: impl Fn(i64, i64) -> bool) -> Vec<Visit> {
        (0..days)
            .flat_map(|day| (0..sessions).map(move |session| (day, session)))
            .map(|(day, session)| Visit {
                at: day * DAY + session,
                opportunities: 1,
                occurrences: u32::from(occurs(day, session)),
            })
            .collect()
    }

    #[test]
    fn whole_days_count_as_little_as_days_do() {
        let spread = period(60, 5, |day, session| (day * 5 + session) % 4 == 0);
        let bursts = period(60, 5, |day, _| day % 4 == 0);
        let none = [Vec::new(), Vec::new()];
        assert!(clustering([&spread, &spread], &none, false).1 < 1.3);
        assert!(clustering([&bursts, &bursts], &none, false).0 > 3.0);
    }

    #[test]
    fn a_change_between_the_periods_is_no_clustering() {
        let (often, seldom) = (period(60, 5, |d, s| (d + s) % 2 == 0), period(60, 5, |d, s| (d * 5 + s) % 10 == 0));
        assert!(clustering([&often, &seldom], &[Vec::new(), Vec::new()], false).1 < 1.3);
    }

    #[test]
    fn without_data_something_is_supposed() {
        let calls = [Visit { at: 0, opportunities: 21, occurrences: 0 }];
        assert!((clustering([&calls, &[]], &[Vec::new(), Vec::new()], true).0 - 7.0).abs() < 1e-9);
    }
}
