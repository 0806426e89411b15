//! Histories of months, with many patterns of friction and rules that are drafted as the program drafts them, of which it is known
//! whether they do anything.

use totalrecall_evidence::{Case, FIRST_LOOK, Judgement, Other, Outcome, Visit, judge};

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// How often patterns come up, in sessions of the whole.
#[derive(Clone, Copy, Debug)]
pub enum Rates {
    /// Evenly between these on a logarithmic scale: few frequent ones and many rare ones, as libraries are.
    Spread(f64, f64),
    /// All the same: whatever is picked is picked by luck.
    Equal(f64),
}

/// When a rule is drafted, and for which patterns.
#[derive(Clone, Copy, Debug)]
pub enum Drafting {
    /// On one day, for so many of the strongest that came up three times.
    Strongest(usize),
    /// For each pattern on the day it has come up three times in a week; at most so many.
    Peak(usize),
    /// For each pattern on the day it comes up for the third time; at most so many.
    ThirdTime(usize),
}

/// How sessions and patterns behave. Whatever is not said is steady.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// What it is called.
    pub name: &'static str,
    /// Patterns.
    pub patterns: usize,
    /// How often they come up.
    pub rates: Rates,
    /// Sessions a day, before and since.
    pub sessions: (f64, f64),
    /// Correlation of the sessions of a day.
    pub alike: f64,
    /// Patterns come in bursts of so many days, with pauses four times as long; 0: no.
    pub burst_days: f64,
    /// All rates since ÷ before.
    pub drift: f64,
    /// The change comes little by little, over the whole time since, and not on the day of the rules.
    pub gradual: bool,
    /// Standard deviation of the logarithm of a pattern's own slow ups and downs.
    pub wander: f64,
    /// Rules are drafted so.
    pub drafting: Drafting,
    /// Rate with a rule ÷ without; 1: rules do nothing.
    pub effect: f64,
    /// Days before and since.
    pub days: (i64, i64),
}

impl Default for World {
    fn default() -> Self {
        Self {
            name: "nothing happens",
            patterns: 60,
            rates: Rates::Spread(0.005, 0.5),
            sessions: (3.0, 3.0),
            alike: 0.0,
            burst_days: 0.0,
            drift: 1.0,
            gradual: false,
            wander: 0.0,
            drafting: Drafting::Strongest(10),
            effect: 1.0,
            days: (60, 150),
        }
    }
}

/// Worlds in which no rule does anything: every claimed effect is false.
pub fn nulls() -> Vec<World> {
    let world = World::default();
    vec![
        world,
        World { name: "all alike frequent: picked by luck (5 %)", rates: Rates::Equal(0.05), ..world },
        World { name: "all alike frequent: picked by luck (20 %)", rates: Rates::Equal(0.2), ..world },
        World { name: "few patterns", patterns: 8, drafting: Drafting::Strongest(3), ..world },
        World { name: "drafted at the third time", drafting: Drafting::ThirdTime(10), days: (90, 150), ..world },
        World { name: "drafted at the peak", drafting: Drafting::Peak(10), days: (90, 150), ..world },
        World { name: "sessions of a day are alike", alike: 0.3, ..world },
        World { name: "… and picked by luck (20 %)", alike: 0.3, rates: Rates::Equal(0.2), ..world },
        World { name: "bursts of three days", burst_days: 3.0, ..world },
        World {
            name: "bursts of three days, drafted at the peak",
            burst_days: 3.0,
            drafting: Drafting::Peak(10),
            ..world
        },
        World { name: "everything halves", drift: 0.5, ..world },
        World { name: "everything halves, little by little", drift: 0.5, gradual: true, ..world },
        World { name: "everything doubles", drift: 2.0, rates: Rates::Spread(0.005, 0.4), ..world },
        World {
            name: "everything halves, few patterns",
            drift: 0.5,
            patterns: 12,
            drafting: Drafting::Strongest(4),
            ..world
        },
        World { name: "each goes its own way", wander: 0.5, ..world },
        World { name: "three times as many sessions", sessions: (2.0, 6.0), ..world },
        World { name: "a third of the sessions", sessions: (6.0, 2.0), ..world },
        World {
            name: "all of it at once",
            alike: 0.15,
            burst_days: 6.0,
            drift: 0.7,
            wander: 0.3,
            sessions: (2.0, 4.0),
            ..world
        },
    ]
}

/// Worlds in which rules do something.
pub fn effects() -> Vec<World> {
    let world = World::default();
    vec![
        World { name: "rules halve", effect: 0.5, ..world },
        World { name: "rules remove", effect: 0.0, ..world },
        World { name: "rules halve, sessions of a day are alike", effect: 0.5, alike: 0.3, ..world },
        World { name: "rules remove, sessions of a day are alike", effect: 0.0, alike: 0.3, ..world },
        World { name: "rules remove, everything halves", effect: 0.0, drift: 0.5, ..world },
        World { name: "rules double", effect: 2.0, rates: Rates::Spread(0.005, 0.4), ..world },
    ]
}

/// A rule and everything that is known of its pattern.
pub struct Rule {
    visits: Vec<Visit>,
    others: Vec<Other>,
    drafted_at: i64,
    applied_at: i64,
    last_day: i64,
}

impl World {
    /// One history, and the rules in it.
    pub fn rules(&self, random: &mut fastrand::Rng) -> Vec<Rule> {
        let rates: Vec<f64> = (0..self.patterns)
            .map(|_| match self.rates {
                Rates::Equal(rate) => rate,
                Rates::Spread(low, high) => low * (high / low).powf(random.f64()),
            })
            .collect();
        let mut moods: Vec<Mood> = rates.iter().map(|_| Mood::new(self, random)).collect();
        let mut ruled = vec![None; self.patterns];
        let (mut times, mut seen_in) = (Vec::new(), vec![Vec::new(); self.patterns]);
        for day in 0..self.days.0 + self.days.1 {
            let since = day - self.days.0;
            if since <= 0 {
                self.draft(day, &times, &seen_in, &mut ruled);
            }
            let share = if self.gradual { since as f64 / self.days.1 as f64 } else { 1.0 };
            let drift = if since < 0 { 1.0 } else { self.drift.powf(share) };
            let sessions = poisson(if since < 0 { self.sessions.0 } else { self.sessions.1 }, random);
            times.extend((0..sessions).map(|_| day * DAY + 1 + random.i64(0..DAY - 1)));
            let first = times.len() - sessions;
            times[first..].sort_unstable();
            for (pattern, mood) in moods.iter_mut().enumerate() {
                let effect = if ruled[pattern].is_some() { self.effect } else { 1.0 };
                let rate = (rates[pattern] * drift * effect * mood.next(self, random)).min(0.95);
                let together = random.f64() < rate;
                for session in first..times.len() {
                    let alike = self.alike > 0.0 && random.f64() < self.alike.sqrt();
                    if if alike { together } else { random.f64() < rate } {
                        seen_in[pattern].push(session);
                    }
                }
            }
        }
        let last_day = self.days.0 + self.days.1;
        (0..self.patterns)
            .filter_map(|pattern| Some((pattern, ruled[pattern]?)))
            .map(|(pattern, at): (usize, i64)| Rule {
                visits: visits(&times, &seen_in[pattern]),
                others: (0..self.patterns)
                    .filter(|other| *other != pattern && !seen_in[*other].is_empty())
                    .map(|other| Other { seen_in: seen_in[other].clone(), ruled_at: ruled[other] })
                    .collect(),
                drafted_at: at,
                applied_at: at,
                last_day,
            })
            .collect()
    }

    /// Drafts and applies rules on the morning of a day.
    fn draft(&self, day: i64, times: &[i64], seen_in: &[Vec<usize>], ruled: &mut [Option<i64>]) {
        let now = day * DAY;
        let drafted = ruled.iter().flatten().count();
        let mut free: Vec<usize> =
            (0..seen_in.len()).filter(|&pattern| seen_in[pattern].len() >= 3 && ruled[pattern].is_none()).collect();
        let most = match self.drafting {
            Drafting::Strongest(most) if day == self.days.0 => {
                // As the library orders patterns; all are equally severe here.
                let strength = |pattern: &usize| {
                    let idle = seen_in[*pattern].last().map_or(0, |&session| now - times[session]) as f64 / DAY as f64;
                    seen_in[*pattern].len() as f64 * 0.5_f64.powf(idle / 14.0)
                };
                free.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
                most
            }
            Drafting::Strongest(_) => 0,
            // From the third week on, so that there is something before.
            Drafting::Peak(most) | Drafting::ThirdTime(most) if day >= 21 => {
                free.retain(|&pattern| match self.drafting {
                    Drafting::Peak(_) => {
                        seen_in[pattern].iter().filter(|&&session| times[session] >= now - 7 * DAY).count() >= 3
                    }
                    _ => seen_in[pattern].last().is_some_and(|&session| times[session] >= now - DAY),
                });
                most
            }
            Drafting::Peak(_) | Drafting::ThirdTime(_) => 0,
        };
        for pattern in free.into_iter().take(most.saturating_sub(drafted)) {
            ruled[pattern] = Some(now);
        }
    }
}

fn visits(times: &[i64], seen_in: &[usize]) -> Vec<Visit> {
    let mut visits: Vec<Visit> = times.iter().map(|&at| Visit { at, opportunities: 1, occurrences: 0 }).collect();
    for &session in seen_in {
        visits[session].occurrences = 1;
    }
    visits
}

/// Ups and downs of one pattern.
struct Mood {
    on: bool,
    level: f64,
}

/// Days in which half of an up or down is gone, roughly.
const INERTIA: f64 = 30.0;

/// Pauses are so many times as long as bursts.
const PAUSES: f64 = 4.0;

impl Mood {
    fn new(world: &World, random: &mut fastrand::Rng) -> Self {
        Self { on: random.f64() < 1.0 / (PAUSES + 1.0), level: world.wander * normal(random) }
    }

    /// The factor of the next day; 1 in the long run.
    fn next(&mut self, world: &World, random: &mut fastrand::Rng) -> f64 {
        let mut factor = 1.0;
        if world.wander > 0.0 {
            let keep = 1.0 - 1.0 / INERTIA;
            self.level = keep * self.level + world.wander * (1.0 - keep * keep).sqrt() * normal(random);
            factor *= (self.level - world.wander * world.wander / 2.0).exp();
        }
        if world.burst_days > 0.0 {
            let leave = if self.on { 1.0 / world.burst_days } else { 1.0 / (world.burst_days * PAUSES) };
            self.on ^= random.f64() < leave;
            factor *= if self.on { PAUSES + 1.0 } else { 0.0 };
        }
        factor
    }
}

fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

fn poisson(mean: f64, random: &mut fastrand::Rng) -> usize {
    let (limit, mut product, mut count) = ((-mean).exp(), random.f64(), 0);
    while product > limit {
        product *= random.f64();
        count += 1;
    }
    count
}

/// What is said of a rule by somebody who looks every day.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Said {
    /// Was it ever said to be working, worse, not working?
    pub working: bool,
    /// See above.
    pub worse: bool,
    /// See above.
    pub not_working: bool,
    /// Is nothing said in the end?
    pub nothing: bool,
}

impl Rule {
    /// Judged with what is known at a time.
    pub fn judged(&self, now: i64) -> Judgement {
        let visits = &self.visits[..self.visits.partition_point(|visit| visit.at < now)];
        let others: Vec<Other> = self
            .others
            .iter()
            .map(|other| Other {
                seen_in: other.seen_in[..other.seen_in.partition_point(|&session| session < visits.len())].to_vec(),
                ruled_at: other.ruled_at.filter(|at| *at <= now),
            })
            .collect();
        judge(&Case { visits, others: &others, drafted_at: self.drafted_at, applied_at: self.applied_at, now })
    }

    /// The days from the one it was applied on; the ends of them.
    fn days(&self) -> impl Iterator<Item = i64> {
        (self.applied_at / DAY + 1..=self.last_day).map(|day| day * DAY)
    }

    /// Occurrences and opportunities before, and since the rule until a time.
    fn counts(&self, until: i64) -> [(f64, f64); 2] {
        let begin = self.visits.partition_point(|visit| visit.at < self.applied_at);
        let end = self.visits.partition_point(|visit| visit.at < until);
        [&self.visits[..begin], &self.visits[begin..end]]
            .map(|visits| (visits.iter().map(|visit| f64::from(visit.occurrences)).sum(), visits.len() as f64))
    }

    /// What the verdict says. `daily`: asked every day, and otherwise only on days on which a new look is due, which must be the same.
    pub fn verdict(&self, daily: bool) -> Said {
        let (mut said, mut look) = (Said::default(), 0);
        for now in self.days() {
            let [_, (_, since)] = self.counts(now);
            let due = totalrecall_evidence::next_look(since as u32);
            if since < f64::from(FIRST_LOOK) || (!daily && due == look) {
                continue;
            }
            look = due;
            let outcome = self.judged(now).outcome;
            said.working |= outcome == Outcome::Working;
            said.worse |= outcome == Outcome::Worse;
            said.not_working |= outcome == Outcome::NotWorking;
        }
        let last = self.judged(self.last_day * DAY).outcome;
        said.nothing = matches!(last, Outcome::TooEarly | Outcome::NotEnoughData);
        said
    }

    /// What comparing all before with all since says: a test of two proportions, 5 % both sides, from 10 sessions on.
    pub fn two_proportions(&self) -> Said {
        let mut said = Said { nothing: true, ..Said::default() };
        for now in self.days() {
            let [before, since] = self.counts(now);
            if since.1 < 10.0 || before.1 < 1.0 {
                continue;
            }
            let pooled = (before.0 + since.0) / (before.1 + since.1);
            let error = (pooled * (1.0 - pooled) * (1.0 / before.1 + 1.0 / since.1)).sqrt();
            let z = if error > 0.0 { (since.0 / since.1 - before.0 / before.1) / error } else { 0.0 };
            said.working |= z < -1.96;
            said.worse |= z > 1.96;
            said.nothing = z.abs() <= 1.96;
        }
        said
    }

    /// What the predecessor says: resolved when nothing came up in the first 14 days; ineffective when anything ever did.
    pub fn simple(&self) -> Said {
        let [_, (occurrences, _)] = self.counts(self.applied_at + 14 * DAY);
        Said { working: occurrences == 0.0, not_working: occurrences > 0.0, ..Said::default() }
    }
}

/// Shares of rules, with what is uncertain about the first: rules of one history share its sessions, so histories are what is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// Rules.
    pub rules: usize,
    /// Said to be working or worse.
    pub claimed: f64,
    /// 95 % interval of it.
    pub interval: (f64, f64),
    /// Said to be working.
    pub working: f64,
    /// Said to be worse.
    pub worse: f64,
    /// Said not to be working.
    pub not_working: f64,
    /// Of which nothing is said in the end.
    pub nothing: f64,
}

impl Shares {
    /// Of what was said in each history.
    pub fn of(histories: &[Vec<Said>]) -> Self {
        let rules: usize = histories.iter().map(Vec::len).sum();
        let share = |is: fn(&Said) -> bool| {
            histories.iter().flatten().filter(|said| is(said)).count() as f64 / rules.max(1) as f64
        };
        let claims = |said: &Said| said.working || said.worse;
        let claimed = share(|said| said.working || said.worse);
        let squares: f64 = histories
            .iter()
            .map(|said| said.iter().map(|said| f64::from(u8::from(claims(said))) - claimed).sum::<f64>().powi(2))
            .sum();
        // Where none is claimed, three in all is what may be (the rule of three).
        let error = (1.96 * squares.sqrt() / rules.max(1) as f64).max(if claimed == 0.0 {
            3.0 / rules.max(1) as f64
        } else {
            0.0
        });
        Self {
            rules,
            claimed,
            interval: ((claimed - error).max(0.0), claimed + error),
            working: share(|said| said.working),
            worse: share(|said| said.worse),
            not_working: share(|said| said.not_working),
            nothing: share(|said| said.nothing),
        }
    }
}

/// A rule on one pattern of a known rate with so many sessions before and since, among others.
pub fn exposed(rate: f64, effect: f64, sessions: usize, alike: f64, random: &mut fastrand::Rng) -> Said {
    let world = World { alike, ..World::default() };
    let Rates::Spread(low, high) = world.rates else { return Said::default() };
    let rates: Vec<f64> = (1..world.patterns).map(|_| low * (high / low).powf(random.f64())).collect();
    let mut visits = Vec::new();
    let mut seen_in = vec![Vec::new(); rates.len()];
    let mut day = 0;
    while visits.len() < 2 * sessions {
        for _ in 0..poisson(world.sessions.0, random).min(2 * sessions - visits.len()) {
            visits.push(Visit { at: day * DAY, opportunities: 1, occurrences: 0 });
        }
        day += 1;
    }
    let draw = |rate: f64, first: usize, last: usize, random: &mut fastrand::Rng| -> Vec<usize> {
        let together = random.f64() < rate;
        (first..last).filter(|_| if random.f64() < alike.sqrt() { together } else { random.f64() < rate }).collect()
    };
    let mut first = 0;
    while first < visits.len() {
        let last = visits.partition_point(|visit| visit.at <= visits[first].at);
        for (rate, seen) in rates.iter().zip(&mut seen_in) {
            seen.extend(draw(*rate, first, last, random));
        }
        let own = if first >= sessions { rate * effect } else { rate };
        for session in draw(own, first, last, random) {
            visits[session].occurrences = 1;
        }
        first = last;
    }
    // Times within a day, in the order of the sessions; the rule comes in between.
    for (index, visit) in visits.iter_mut().enumerate() {
        visit.at += index as i64;
    }
    let applied_at = visits[sessions].at;
    let others = seen_in.into_iter().filter(|seen| !seen.is_empty()).map(|seen_in| Other { seen_in, ruled_at: None });
    let last_day = day + 1;
    Rule { visits, others: others.collect(), drafted_at: applied_at, applied_at, last_day }.verdict(false)
}
