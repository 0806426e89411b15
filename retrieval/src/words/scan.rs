//! Searching texts that no index covers yet.

use super::{Document, Filter, Plan, Scored, bm25, plan::Beginning, query::hold, search::Best};
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
    let mut scorer = Scorer::new(plan);
    let mut found = Vec::new();
    for document in documents {
        let counted = scorer.count(&[document.text]);
        if !counted.counts.is_empty()
            && filter.admits(document.session, document.kind, document.at)
            && hold(&plan.phrases, document.text)
        {
            found.push((document.id, document.session, counted));
        }
    }
    let documents = plan.documents + scorer.documents;
    let mean_length = (plan.mean_length * plan.documents as f32 + scorer.terms as f32) / documents.max(1) as f32;
    let mut best = Best::new(limit);
    for (id, session, counted) in found {
        let score = counted.counts.iter().map(|&(term, count)| {
            let (df, weight) = plan.terms.get(term).map_or((0, 1.0), |planned| (planned.df, planned.weight));
            let idf = bm25::idf(df + scorer.df[term], documents);
            weight * idf * bm25::saturation(count, counted.length, mean_length)
        });
        best.push(Scored { id, session, score: score.sum() });
    }
    best.into_sorted()
}

/// Reads texts for the terms of a plan.
pub struct Scorer<'p> {
    plan: &'p Plan,
    numbers: HashMap<&'p str, usize>,
    stems: Stems,
    /// Texts that hold each term; prefixes are numbered after the terms.
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

impl<'p> Scorer<'p> {
    /// Nothing has been read yet.
    pub fn new(plan: &'p Plan) -> Self {
        let df = vec![0; plan.terms.len() + plan.prefixes.len()];
        Self { plan, numbers: plan.by_term(), stems: Stems::default(), df, documents: 0, terms: 0 }
    }

    /// BM25 of texts that are read as one, such as a passage between its neighbours. It is compared with that of as many average
    /// texts, so a passage at the end of a session, which has fewer, is not better for it.
    pub fn score(&mut self, texts: &[&str]) -> f32 {
        let counted = self.count(texts);
        let mean_length = self.plan.mean_length * texts.len() as f32;
        let known = counted.counts.iter().filter_map(|&(term, count)| Some((self.plan.terms.get(term)?, count)));
        let score = known.map(|(planned, count)| {
            let idf = bm25::idf(planned.df, self.plan.documents);
            planned.weight * idf * bm25::saturation(count, counted.length, mean_length)
        });
        score.sum()
    }

    fn count(&mut self, texts: &[&str]) -> Counted {
        let mut counted = Counted { counts: Vec::new(), length: 0 };
        for text in texts {
            tokens::terms(text, &mut self.stems, |term| {
                counted.length = counted.length.saturating_add(1);
                let known = self.numbers.get(term).copied();
                let is_begun = |prefix: &Beginning| term.starts_with(prefix.text.as_str());
                let prefix = || Some(self.plan.terms.len() + self.plan.prefixes.iter().position(is_begun)?);
                let Some(number) = known.or_else(prefix) else { return };
                match counted.counts.iter_mut().find(|(other, _)| *other == number) {
                    Some((_, count)) => *count += 1,
                    None => counted.counts.push((number, 1)),
                }
            });
        }
        counted.counts.iter().for_each(|(number, _)| self.df[*number] += 1);
        self.documents += 1;
        self.terms += u64::from(counted.length);
        counted
    }
}
