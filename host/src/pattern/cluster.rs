//! Which texts say the same thing.
//!
//! The pairs that are alike enough are taken from the most alike down; a pair joins its two clusters if their members
//! are alike on average too, so that a chain of small steps does not lead from one meaning to another. The texts are
//! put into an order of their own first: the clusters depend on the set of texts, not on who came first.

use std::collections::HashMap;

use super::words::{REJECTED, Words};

/// Share of common tokens (of all tokens of both texts) from which two texts are alike. Below it lie texts that only
/// share their topic ("run the tests" and "fix the failing tests").
const ALIKE: f64 = 0.6;

/// The same where one text says all that the other says, and more: "don't touch the migrations" is said in "please don't
/// touch the old migrations". A text of fewer tokens than [`TELLING`] is contained in too many others.
const ALIKE_WITHIN: f64 = 0.5;
const TELLING: usize = 3;

/// What the members of two clusters must share on average for the clusters to be one.
const ALIKE_ON_AVERAGE: f64 = 0.5;

/// Members of a cluster that stand for all of it when averages are taken: the cost of a big cluster stays bounded.
const SAMPLE: usize = 12;

/// For each text the number of its cluster. Clusters are numbered in the order of `texts`. Texts without content are one
/// cluster: all they say is that something is wrong.
pub fn cluster(texts: &[&Words]) -> Vec<usize> {
    let mut distinct: Vec<&Words> = texts.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let sets: Vec<Vec<u32>> = intern(&distinct);
    let mut parents = Parents::new(sets.len());
    for (_, a, b) in alike_pairs(&sets) {
        let (a, b) = (parents.root(a), parents.root(b));
        if a != b && average(&sets, &parents.members[a], &parents.members[b]) >= ALIKE_ON_AVERAGE {
            parents.join(a, b);
        }
    }

    let mut numbers: HashMap<usize, usize> = HashMap::new();
    texts
        .iter()
        .map(|words| {
            // Every text is among the distinct ones.
            let root = distinct.binary_search(words).map_or(usize::MAX, |index| parents.root(index));
            let next = numbers.len();
            *numbers.entry(root).or_insert(next)
        })
        .collect()
}

/// Tokens as numbers. A token and its rejection differ in the lowest bit.
fn intern(distinct: &[&Words]) -> Vec<Vec<u32>> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    distinct
        .iter()
        .map(|words| {
            let mut set: Vec<u32> = words
                .tokens()
                .iter()
                .map(|token| {
                    let (bare, rejected) = token.strip_prefix(REJECTED).map_or((token.as_str(), 0), |bare| (bare, 1));
                    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX / 2);
                    (*numbers.entry(bare).or_insert(next) << 1) | rejected
                })
                .collect();
            set.sort_unstable();
            set
        })
        .collect()
}

/// Pairs that are alike, most alike first.
fn alike_pairs(sets: &[Vec<u32>]) -> Vec<(u64, usize, usize)> {
    let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut frequency: HashMap<u32, usize> = HashMap::new();
    for token in sets.iter().flatten() {
        *frequency.entry(*token).or_default() += 1;
    }
    let mut pairs = Vec::new();
    let mut seen: Vec<usize> = vec![usize::MAX; sets.len()];
    for (index, set) in sets.iter().enumerate() {
        // Of two alike sets, the rarest tokens of one must hold one of the other's: the frequent ones need no look.
        let mut rarest = set.clone();
        rarest.sort_unstable_by_key(|token| (frequency[token], *token));
        let must = ((set.len() as f64) * ALIKE_WITHIN).ceil() as usize;
        rarest.truncate(set.len() + 1 - must.clamp(1, set.len().max(1)));
        for token in &rarest {
            for &other in holders.get(token).map_or(&[][..], Vec::as_slice) {
                if seen[other] == index {
                    continue;
                }
                seen[other] = index;
                let likeness = likeness(&sets[other], set);
                if likeness >= least(&sets[other], set) {
                    pairs.push((u64::MAX - (likeness * 1e9) as u64, other, index));
                }
            }
        }
        for token in rarest {
            holders.entry(token).or_default().push(index);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Jaccard's measure; 0 where one rejects what the other wants.
fn likeness(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
            _ if a[i] ^ 1 == b[j] => {
                let both_ways = a.binary_search(&b[j]).is_ok() || b.binary_search(&a[i]).is_ok();
                if !both_ways {
                    return 0.0;
                }
                if a[i] < b[j] { i += 1 } else { j += 1 }
            }
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// Likeness from which two texts are alike.
fn least(a: &[u32], b: &[u32]) -> f64 {
    let (small, large) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let within = small.len() >= TELLING && small.iter().all(|token| large.binary_search(token).is_ok());
    if within { ALIKE_WITHIN } else { ALIKE }
}

fn average(sets: &[Vec<u32>], a: &[usize], b: &[usize]) -> f64 {
    let (a, b) = (&a[..a.len().min(SAMPLE)], &b[..b.len().min(SAMPLE)]);
    let sum: f64 = a.iter().flat_map(|&x| b.iter().map(move |&y| likeness(&sets[x], &sets[y]))).sum();
    sum / (a.len() * b.len()).max(1) as f64
}

/// Which cluster each set is in, and each cluster's members in ascending order.
struct Parents {
    parent: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Parents {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect(), members: (0..count).map(|index| vec![index]).collect() }
    }

    fn root(&self, mut index: usize) -> usize {
        while self.parent[index] != index {
            index = self.parent[index];
        }
        index
    }

    fn join(&mut self, a: usize, b: usize) {
        let (kept, gone) = (a.min(b), a.max(b));
        self.parent[gone] = kept;
        let moved = std::mem::take(&mut self.members[gone]);
        self.members[kept].extend(moved);
        self.members[kept].sort_unstable();
    }
}
