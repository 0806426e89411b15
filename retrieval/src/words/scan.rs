//! Searching texts that no index covers yet.

use super::{Document, Filter, Plan, Scored, bm25, query::hold, search::Best};

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
    let mut matcher = plan.matcher();
    // Texts that hold each term; beginnings of words are numbered after the terms.
    let mut df = vec![0_u64; plan.terms.len() + plan.prefixes.len()];
    let (mut read, mut terms) = (0, 0);
    let mut found = Vec::new();
    for document in documents {
        let counts = matcher.counts(document.text);
        counts.of_terms.iter().for_each(|(number, _)| df[*number] += 1);
        read += 1;
        terms += u64::from(counts.length);
        if !counts.of_terms.is_empty()
            && filter.admits(document.session, document.kind, document.at)
            && hold(&plan.phrases, document.text)
        {
            found.push((document.id, document.session, counts));
        }
    }
    let documents = plan.documents + read;
    let mean_length = (plan.mean_length * plan.documents as f32 + terms as f32) / documents.max(1) as f32;
    let mut best = Best::new(limit);
    for (id, session, counts) in found {
        let score = counts.of_terms.iter().map(|&(term, count)| {
            let (known, weight) = plan.terms.get(term).map_or((0, 1.0), |planned| (planned.df, planned.weight()));
            let idf = bm25::idf(known + df[term], documents);
            weight * idf * bm25::saturation(count, counts.length, mean_length)
        });
        best.push(Scored { id, session, score: score.sum() });
    }
    best.into_sorted()
}
