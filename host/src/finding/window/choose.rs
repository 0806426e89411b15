//! Takes windows into the budget, heaviest first. What is in one already costs nothing in the next, so windows that lie near
//! each other grow together.

use std::collections::{BTreeSet, HashMap};

use super::{
    line_tokens,
    record::{Candidate, GENEROUS},
    weigh::Window,
};

/// What is shown.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chosen {
    /// Indices, ascending.
    pub(super) records: Vec<usize>,
    /// How much longer texts are than where room is scarce.
    pub(super) generosity: u32,
    /// Windows whose middle did not fit.
    pub(super) left_out: usize,
}

/// Numbers that are as long as any that will stand there.
const LONG: usize = 99_999;

pub(super) fn choose(windows: &[Window], candidates: &HashMap<usize, Candidate>, budget: u32) -> Chosen {
    let mut best = fill(windows, candidates, budget, 1).0;
    // Where everything fits, texts may be longer.
    for generosity in [2, 4, GENEROUS] {
        match fill(windows, candidates, budget, generosity) {
            (chosen, true) => best = chosen,
            (_, false) => break,
        }
    }
    best
}

/// The records that fit, and whether all did.
fn fill(windows: &[Window], candidates: &HashMap<usize, Candidate>, budget: u32, generosity: u32) -> (Chosen, bool) {
    let mut left = budget;
    let (mut chosen, mut left_out, mut all) = (BTreeSet::new(), 0, true);
    let cost = |index: usize| {
        let candidate: &Candidate = candidates.get(&index)?;
        Some(line_tokens(&candidate.line(LONG, LONG, candidate.call.map(|_| LONG), generosity).0))
    };
    for window in windows {
        for (nth, (index, _)) in window.records.iter().enumerate() {
            if chosen.contains(index) {
                continue;
            }
            let Some(cost) = cost(*index) else { continue };
            if let Some(rest) = left.checked_sub(cost) {
                left = rest;
                chosen.insert(*index);
            } else {
                all = false;
                if nth == 0 {
                    left_out += 1;
                    break;
                }
            }
        }
    }
    (Chosen { records: chosen.into_iter().collect(), generosity, left_out }, all)
}
