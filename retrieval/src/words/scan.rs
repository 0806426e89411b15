//! Searching texts that no index covers yet.

use super::{Document, Filter, Plan, Scored, bm25, query::hold, search::Best};
use crate::tokens::{self, Stems};
use std::collections::HashMap;

/// The `limit` best of `documents` that hold any word of the query and all its phrases and pass the filter, best first.
///
/// Scores can be compared with those of the index the plan was made with. Its counts are used, and those of `documents`
/// added: then a word that came up only since is rare, not unheard of, and an empty index is no special case.
pub fn scan<'d>(
    plan: &Plan,
    documents: impl IntoIterator<Item = Document<'d>>,
    filter: &Filter,
    limit: usize,
) -> Vec<Scored> {
    let mut counter = Counter::new(plan);
    let mut found = Vec::new();
    for document in documents {
        let counted = counter.count(document.text);
        if !counted.counts.is_empty()
            && filter.admits(document.session, document.kind, document.at)
            && hold(&plan.phrases, document.text)
        {
            found.push((document.id, document.session, counted));
        }
    }
    let documents = plan.documents + counter.documents;
    let mean_length = (plan.mean_length * plan.documents as f32 + counter.terms as f32) / documents.max(1) as f32;
    let mut best = Best::new(limit);
    for (id, session, counted) in found {
        let score = counted.counts.iter().map(|&(term, count)| {
            let (df, weight) = plan.terms.get(term).map_or((0, 1.0), |planned| (planned.df, planned.weight));
            let idf = bm25::idf(df + counter.df[term], documents);
            weight * idf * bm25::saturation(count, counted.length, mean_length)
        });
        best.push(Scored { id, session, score: score.sum() });
    }
    best.into_sorted()
}

/// Counts the terms of a plan in texts. Prefixes are numbered after the terms.
struct Counter<'p> {
    plan: &'p Plan,
    numbers: HashMap<&'p str, usize>,
    stems: Stems,
    /// Texts that hold each term.
    df: Vec<u64>,
    documents: u64,
    terms: u64,
}

/// What one text holds.
struct Counted {
    /// Number of a term, and how often it is there.
    counts: Vec<(usize, u32)>,
    /// Terms in all.
    length: u32,
}

impl<'p> Counter<'p> {
    fn new(plan: &'p Plan) -> Self {
        let df = vec![0; plan.terms.len() + plan.prefixes.len()];
        Self { plan, numbers: plan.by_term(), stems: Stems::default(), df, documents: 0, terms: 0 }
    }

    fn count(&mut self, text: &str) -> Counted {
        let mut counted = Counted { counts: Vec::new(), length: 0 };
        tokens::terms(text, &mut self.stems, |term| {
            counted.length = counted.length.saturating_add(1);
            let is_begun = |prefix: &String| term.starts_with(prefix.as_str());
            let number =
                self.numbers.get(term).copied().or_else(|| {
                    self.plan.prefixes.iter().position(is_begun).map(|prefix| self.plan.terms.len() + prefix)
                });
            let Some(number) = number else { return };
            match counted.counts.iter_mut().find(|(other, _)| *other == number) {
                Some((_, count)) => *count += 1,
                None => counted.counts.push((number, 1)),
            }
        });
        counted.counts.iter().for_each(|(number, _)| self.df[*number] += 1);
        self.documents += 1;
        self.terms += u64::from(counted.length);
        counted
    }
}
