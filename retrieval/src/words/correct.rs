//! Words that nothing holds, and those that come near them.

use super::{folder::Error, index::WordIndex};
use std::collections::HashMap;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

/// Corrections of one word. They are alternatives, and each one is paid for.
const MOST: usize = 3;

/// Completions of one prefix, the most frequent. Each is paid for; who means so many words has hardly begun one.
const MOST_COMPLETIONS: usize = 64;

/// Terms that are looked at for one prefix and segment: `a*` would be a tour through the dictionary.
const MOST_VISITED: usize = 20_000;

impl WordIndex {
    /// The known terms nearest to `term`, which is unknown, with the number of documents that hold them.
    ///
    /// One slip (a letter wrong, missing, too many, or two swapped) from four letters on, two from eight: with more
    /// every short word would have dozens of neighbours. Terms with a digit are what they are.
    pub(super) fn nearest(&self, term: &str) -> Result<Vec<(String, u64)>, Error> {
        let length = term.chars().count();
        if length < 4 || !term.chars().all(char::is_alphabetic) {
            return Ok(Vec::new());
        }
        let mut found = self.within(term, 1)?;
        if found.is_empty() && length >= 8 {
            found = self.within(term, 2)?;
        }
        // People get the first letter right.
        let same_start = |other: &str| other.chars().next() == term.chars().next();
        found.sort_by(|(a, df_a), (b, df_b)| {
            same_start(b).cmp(&same_start(a)).then(df_b.cmp(df_a)).then_with(|| a.cmp(b))
        });
        found.truncate(MOST);
        Ok(found)
    }

    /// The known terms that begin with `prefix`, the most frequent first, and whether there are more.
    pub(super) fn completions(&self, prefix: &str) -> Result<(Vec<(String, u64)>, bool), Error> {
        let (mut found, mut is_cut) = (HashMap::new(), false);
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(self.fields.text)?;
            let mut stream = terms.terms().range().ge(prefix).into_stream()?;
            let mut visited = 0;
            while stream.advance() && stream.key().starts_with(prefix.as_bytes()) {
                if visited == MOST_VISITED {
                    is_cut = true;
                    break;
                }
                visited += 1;
                count(&mut found, stream.key(), stream.value().doc_freq);
            }
        }
        let mut found: Vec<(String, u64)> = found.into_iter().collect();
        found.sort_by(|(a, df_a), (b, df_b)| df_b.cmp(df_a).then_with(|| a.cmp(b)));
        is_cut |= found.len() > MOST_COMPLETIONS;
        found.truncate(MOST_COMPLETIONS);
        Ok((found, is_cut))
    }

    fn within(&self, term: &str, slips: u8) -> Result<Vec<(String, u64)>, Error> {
        let query = FuzzyTermQuery::new(Term::from_field_text(self.fields.text, term), slips, true);
        let mut found = HashMap::new();
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(self.fields.text)?;
            let mut stream = terms.terms().search(query.automaton()?).into_stream()?;
            while stream.advance() {
                count(&mut found, stream.key(), stream.value().doc_freq);
            }
        }
        Ok(found.into_iter().collect())
    }
}

fn count(found: &mut HashMap<String, u64>, term: &[u8], df: u32) {
    if let Ok(term) = std::str::from_utf8(term) {
        *found.entry(term.to_owned()).or_default() += u64::from(df);
    }
}
