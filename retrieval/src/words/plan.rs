//! A query with what an index knows of its words.

use super::query::{Asked, Phrase, Query};
use super::{bm25, folder::Error, index::WordIndex};
use crate::tokens::{self, Form, Stems};
use std::collections::HashMap;

/// What a word counts that is only near the one that was typed.
const NEAR: f32 = 0.7;

/// Words of a query that are corrected: each is a search in the dictionary, and a query that is wrong throughout is
/// in a language of which there is nothing here.
const MOST_CORRECTED: usize = 3;

/// Terms that are searched for, unless phrases or beginnings of words need more: what a long text has besides its rarest words says little of it.
const MOST_TERMS: usize = 32;

/// A query as it is searched for in one index.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Each term once.
    pub(super) terms: Vec<Planned>,
    /// Folded beginnings of words.
    pub(super) prefixes: Vec<Beginning>,
    pub(super) phrases: Vec<Phrase>,
    /// Number of documents in the index.
    pub(super) documents: u64,
    /// Terms of a document, on average.
    pub(super) mean_length: f32,
    /// The words as they were typed, and what each says: the idf of its rarest known term; 0 if parts of it say it already.
    words: Vec<(String, f32)>,
}

/// A beginning of words.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub(super) text: String,
    /// Number of the word of the query that it is.
    word: usize,
    /// More words begin so than are searched for.
    is_cut: bool,
}

/// A term that is searched for.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) term: String,
    /// Number of documents that hold it.
    pub(super) df: u64,
    /// What its BM25 is multiplied by.
    pub(super) weight: f32,
    /// Whether a phrase needs it.
    pub(super) is_required: bool,
    /// Whether it was not asked for, and is only a word that begins as one that was.
    is_completion: bool,
    /// Number of the word of the query it stands for.
    word: usize,
}

/// What of a query is in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    /// The terms that are there, words stemmed.
    pub terms: Vec<String>,
    /// What share of all that the query's words say is there: 0 (nothing) to 1 (every word). A rare word says more, one
    /// that no text holds the most.
    pub share: f32,
}

/// A plan, made ready to look into many texts.
pub struct Matcher<'p> {
    plan: &'p Plan,
    known: HashMap<&'p str, usize>,
    stems: Stems,
}

impl<'p> Matcher<'p> {
    /// What of the query is in `text`.
    pub fn matched(&mut self, text: &str) -> Match {
        self.plan.match_with(&self.known, &mut self.stems, text)
    }

    /// What is asked for.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }
}

impl Plan {
    pub(super) fn new(index: &WordIndex, query: &Query) -> Result<Self, Error> {
        let mut plan = Self {
            terms: Vec::new(),
            prefixes: Vec::new(),
            phrases: query.phrases.clone(),
            documents: index.documents(),
            mean_length: index.mean_length()?,
            words: Vec::new(),
        };
        // First, since a term is planned once: these are required. Not so wholes: what stands in the text may go on at either
        // side, as `a/src/main.rs` does for `src/main.rs`, and is another whole then.
        for asked in query.phrases.iter().flat_map(|phrase| &phrase.terms) {
            plan.add(asked, index.term_df(&asked.term)?, asked.form != Form::Whole);
        }
        let mut corrected = 0;
        for asked in &query.words {
            let df = index.term_df(&asked.term)?;
            plan.add(asked, df, false);
            if df == 0 && asked.form == Form::Word && corrected < MOST_CORRECTED {
                corrected += 1;
                plan.add_alternatives(index.nearest(&asked.term)?, NEAR, false);
            }
        }
        for prefix in &query.prefixes {
            plan.add(prefix, index.term_df(&prefix.term)?, false);
            let (completions, is_cut) = index.completions(&prefix.word)?;
            plan.add_alternatives(completions, 1.0, true);
            plan.prefixes.push(Beginning { text: prefix.word.clone(), word: plan.words.len() - 1, is_cut });
        }
        plan.drop_commonest();
        plan.weigh(query);
        Ok(plan)
    }

    /// Whether any text of the index holds any of the words, or what was taken for them.
    pub fn is_known(&self) -> bool {
        self.terms.iter().any(|planned| planned.df > 0)
    }

    /// The words no text holds, each with a term that was searched for besides.
    pub fn corrections(&self) -> impl Iterator<Item = (&str, &str)> {
        let near = self.terms.iter().filter(|planned| planned.weight < 1.0);
        near.map(|planned| (self.words[planned.word].0.as_str(), planned.term.as_str()))
    }

    /// Takes back what was taken for a word that no index holds, if one of these texts, which are in none yet, has the word.
    pub fn settle<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        let mut unheard: HashMap<String, usize> = HashMap::new();
        for near in self.terms.iter().filter(|planned| planned.weight < 1.0) {
            let asked = self.terms.iter().find(|planned| planned.word == near.word && planned.weight >= 1.0);
            unheard.extend(asked.map(|asked| (asked.term.clone(), asked.word)));
        }
        let mut stems = Stems::default();
        for text in texts {
            if unheard.is_empty() {
                return;
            }
            let mut heard = Vec::new();
            tokens::terms(text, &mut stems, |term| heard.extend(unheard.remove(term)));
            self.terms.retain(|planned| planned.weight >= 1.0 || !heard.contains(&planned.word));
        }
    }

    /// Beginnings of words that so many words have that only the most frequent of these are searched for.
    pub fn cut_prefixes(&self) -> impl Iterator<Item = &str> {
        self.prefixes.iter().filter(|prefix| prefix.is_cut).map(|prefix| prefix.text.as_str())
    }

    /// What part of what the query says is in a script without blanks between words: 0 to 1.
    pub fn unspaced(&self) -> f32 {
        let mass = |of: fn(&str) -> bool| -> f32 {
            self.words.iter().filter(|(word, _)| of(word)).map(|(_, mass)| mass).sum()
        };
        let all = mass(|_| true);
        if all > 0.0 { mass(|word| word.contains(tokens::fold::is_unspaced)) / all } else { 0.0 }
    }

    /// What of the query is in `text`. For many texts there is [`Plan::matcher`].
    pub fn matched(&self, text: &str) -> Match {
        self.matcher().matched(text)
    }

    /// Looks into texts for what is asked for.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher { plan: self, known: self.by_term(), stems: Stems::default() }
    }

    fn match_with(&self, known: &HashMap<&str, usize>, stems: &mut Stems, text: &str) -> Match {
        let mut is_there = vec![false; self.terms.len()];
        let mut shares = vec![0.0_f32; self.words.len()];
        let mut terms = Vec::new();
        tokens::terms(text, stems, |term| {
            if let Some(at) = known.get(term) {
                is_there[*at] = true;
            } else if let Some(prefix) = self.prefixes.iter().find(|prefix| term.starts_with(&prefix.text)) {
                shares[prefix.word] = 1.0;
                if !terms.iter().any(|other| other == term) {
                    terms.push(term.to_owned());
                }
            }
        });
        for (planned, _) in self.terms.iter().zip(is_there).filter(|(_, is_there)| *is_there) {
            shares[planned.word] = shares[planned.word].max(planned.weight);
            terms.push(planned.term.clone());
        }
        let all: f32 = self.words.iter().map(|(_, mass)| mass).sum();
        let covered: f32 = self.words.iter().zip(shares).map(|((_, mass), share)| mass * share).sum();
        Match { terms, share: if all > 0.0 { covered / all } else { 0.0 } }
    }

    /// Where in [`Plan::terms`] each term is.
    pub(super) fn by_term(&self) -> HashMap<&str, usize> {
        self.terms.iter().enumerate().map(|(at, planned)| (planned.term.as_str(), at)).collect()
    }

    /// One more word of the query.
    fn add(&mut self, asked: &Asked, df: u64, is_required: bool) {
        if !self.terms.iter().any(|planned| planned.term == asked.term) {
            let term = asked.term.clone();
            self.terms.push(Planned {
                term,
                df,
                weight: 1.0,
                is_required,
                is_completion: false,
                word: self.words.len(),
            });
        }
        self.words.push((asked.word.clone(), 0.0));
    }

    /// Terms that stand for the last word as well.
    fn add_alternatives(&mut self, terms: Vec<(String, u64)>, weight: f32, is_completion: bool) {
        let word = self.words.len().saturating_sub(1);
        for (term, df) in terms {
            if !self.terms.iter().any(|planned| planned.term == term) {
                self.terms.push(Planned { term, df, weight, is_required: false, is_completion, word });
            }
        }
    }

    /// Unknown terms stay: they cost nothing, and have to be known to be missing.
    fn drop_commonest(&mut self) {
        let counts = |planned: &Planned| !planned.is_required && !planned.is_completion && planned.df > 0;
        let mut dfs: Vec<u64> = self.terms.iter().filter(|planned| counts(planned)).map(|planned| planned.df).collect();
        dfs.sort_unstable();
        if dfs.len() > MOST_TERMS {
            let limit = dfs[MOST_TERMS - 1];
            self.terms.retain(|planned| !counts(planned) || planned.df <= limit);
        }
    }

    /// Says what each word says.
    fn weigh(&mut self, query: &Query) {
        let asked = query.phrases.iter().flat_map(|phrase| &phrase.terms).chain(&query.words).chain(&query.prefixes);
        let forms: Vec<Form> = asked.map(|asked| asked.form).collect();
        let has_pairs = forms.contains(&Form::Pair);
        for (at, form) in forms.into_iter().enumerate() {
            if form == Form::Whole || form == Form::Character && has_pairs {
                continue;
            }
            let terms = || self.terms.iter().filter(|planned| planned.word == at);
            let known = terms().filter(|planned| planned.df > 0).map(|planned| planned.df).min();
            if terms().next().is_some() {
                self.words[at].1 = bm25::idf(known.unwrap_or(0), self.documents);
            }
        }
    }
}
