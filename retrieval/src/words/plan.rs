//! A query with what an index knows of its words.

use super::query::{Asked, Phrase, Query};
use super::{
    bm25,
    folder::Error,
    index::WordIndex,
    matcher::{Match, Matcher},
};
use crate::tokens::{self, Form, Stems};
use std::collections::HashMap;

/// What a word counts that is only near the one that was typed.
const NEAR: f32 = 0.7;

/// What a part of an identifier counts where there are texts with all of it: who asks for `EventEmitter` does not mean events.
const PART: f32 = 0.1;

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
    pub(super) words: Vec<(String, f32)>,
}

/// A beginning of words.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub(super) text: String,
    /// Number of the word of the query that it is.
    pub(super) word: usize,
    /// More words begin so than are searched for.
    is_cut: bool,
}

/// A term that is searched for.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) term: String,
    /// Number of documents that hold it.
    pub(super) df: u64,
    role: Role,
    /// Whether a phrase needs it.
    pub(super) is_required: bool,
    /// Number of the word of the query it stands for.
    pub(super) word: usize,
}

/// Why a term is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It was asked for.
    Asked,
    /// It is a part of an identifier that was asked for, and that the index has as a whole.
    Part,
    /// It only comes near a word that was asked for, and that nothing holds.
    Near,
    /// It begins as was asked for.
    Begun,
}

impl Planned {
    /// What its BM25 is multiplied by.
    pub(super) fn weight(&self) -> f32 {
        match self.role {
            Role::Asked | Role::Begun => 1.0,
            Role::Part => PART,
            Role::Near => NEAR,
        }
    }

    /// What share of its word is in a text that holds it.
    pub(super) fn share(&self) -> f32 {
        if self.role == Role::Near { NEAR } else { 1.0 }
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
                plan.add_alternatives(index.nearest(&asked.term)?, Role::Near);
            }
        }
        for prefix in &query.prefixes {
            plan.add(prefix, index.term_df(&prefix.term)?, false);
            let (completions, is_cut) = index.completions(&prefix.word)?;
            plan.add_alternatives(completions, Role::Begun);
            plan.prefixes.push(Beginning { text: prefix.word.clone(), word: plan.words.len() - 1, is_cut });
        }
        plan.prefer_names(index, query)?;
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
        let near = self.terms.iter().filter(|planned| planned.role == Role::Near);
        near.map(|planned| (self.words[planned.word].0.as_str(), planned.term.as_str()))
    }

    /// Takes back what was taken for a word that no index holds, if one of these texts, which are in none yet, has the word.
    pub fn settle<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        let mut unheard: HashMap<String, usize> = HashMap::new();
        for near in self.terms.iter().filter(|planned| planned.role == Role::Near) {
            let asked = self.terms.iter().find(|planned| planned.word == near.word && planned.role != Role::Near);
            unheard.extend(asked.map(|asked| (asked.term.clone(), asked.word)));
        }
        let mut stems = Stems::default();
        for text in texts {
            if unheard.is_empty() {
                return;
            }
            let mut heard = Vec::new();
            tokens::terms(text, &mut stems, |term| heard.extend(unheard.remove(term)));
            self.terms.retain(|planned| planned.role != Role::Near || !heard.contains(&planned.word));
        }
    }

    /// Beginnings of words that so many words have that only the most frequent of these are searched for.
    pub fn cut_prefixes(&self) -> impl Iterator<Item = &str> {
        self.prefixes.iter().filter(|prefix| prefix.is_cut).map(|prefix| prefix.text.as_str())
    }

    /// Of what part of what the query says a model of meanings knows nothing: identifiers that there are, and words that nothing holds
    /// and that were taken for others. 0 to 1.
    pub fn meaningless(&self) -> f32 {
        let is_meaningless = |word| {
            let mut terms = self.terms.iter().filter(|planned| planned.word == word);
            terms.any(|planned| matches!(planned.role, Role::Part | Role::Near))
        };
        let mass = |word: usize| self.words[word].1;
        let all: f32 = (0..self.words.len()).map(mass).sum();
        let meaningless: f32 = (0..self.words.len()).filter(|word| is_meaningless(*word)).map(mass).sum();
        if all > 0.0 { meaningless / all } else { 0.0 }
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
        Matcher::new(self)
    }

    /// One more word of the query.
    fn add(&mut self, asked: &Asked, df: u64, is_required: bool) {
        if !self.terms.iter().any(|planned| planned.term == asked.term) {
            let term = asked.term.clone();
            self.terms.push(Planned { term, df, role: Role::Asked, is_required, word: self.words.len() });
        }
        self.words.push((asked.word.clone(), 0.0));
    }

    /// Terms that stand for the last word as well.
    fn add_alternatives(&mut self, terms: Vec<(String, u64)>, role: Role) {
        let word = self.words.len().saturating_sub(1);
        for (term, df) in terms {
            if !self.terms.iter().any(|planned| planned.term == term) {
                self.terms.push(Planned { term, df, role, is_required: false, word });
            }
        }
    }

    /// Has parts of identifiers count little if the index has these as wholes.
    fn prefer_names(&mut self, index: &WordIndex, query: &Query) -> Result<(), Error> {
        for asked in query.phrases.iter().flat_map(|phrase| &phrase.terms).chain(&query.words) {
            for whole in &asked.wholes {
                if index.term_df(whole)? > 0 {
                    let part = self.terms.iter_mut().filter(|planned| planned.term == asked.term);
                    part.for_each(|part| part.role = Role::Part);
                }
            }
        }
        Ok(())
    }

    /// Unknown terms stay: they cost nothing, and have to be known to be missing.
    fn drop_commonest(&mut self) {
        let counts = |planned: &Planned| !planned.is_required && planned.role != Role::Begun && planned.df > 0;
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
