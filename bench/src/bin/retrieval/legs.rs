//! A haystack in its indexes, and what they find.

use crate::data::Haystack;
use anyhow::Result;
use std::collections::HashSet;
use tempfile::TempDir;
use totalrecall_retrieval::embed::Model;
use totalrecall_retrieval::fuse::{Evidence, Legs};
use totalrecall_retrieval::words::{Counts, Document, Query, WordIndex, WordWriter};
use totalrecall_retrieval::{ASKED, CANDIDATES, Covered, Scored, filter::Filter};

/// A haystack that can be searched. Sessions are numbered from 1, passages by session and message.
pub(crate) struct Indexed<'h> {
    haystack: &'h Haystack,
    sessions: WordIndex,
    passages: WordIndex,
    vectors: Vec<(Scored, Vec<f32>)>,
    _folders: [TempDir; 2],
}

/// What was found for one question.
pub(crate) struct Found {
    sessions: Vec<Scored>,
    passages: Vec<Scored>,
    /// By their meaning, however far.
    nearest: Vec<Scored>,
    /// Of these what is near, or has words of the question.
    dense: Vec<Scored>,
    pub(crate) evidence: Evidence,
}

impl Found {
    pub(crate) fn legs(&self) -> Legs<'_> {
        let Self { sessions, passages, dense, .. } = self;
        Legs { sessions, passages, dense }
    }

    /// The same with what is found by meaning alone, however far.
    pub(crate) fn far(&self) -> Legs<'_> {
        Legs { dense: &self.nearest, ..self.legs() }
    }

    /// What is found by meaning alone.
    pub(crate) fn meaning(&self) -> Legs<'_> {
        Legs { dense: &self.nearest, ..Legs::default() }
    }
}

/// Number of a passage.
fn number(session: usize, message: usize) -> u64 {
    (session as u64 + 1) << 20 | message as u64
}

/// Session and message of a passage.
pub(crate) fn place(passage: u64) -> (usize, usize) {
    ((passage >> 20) as usize - 1, (passage & 0xf_ffff) as usize)
}

impl<'h> Indexed<'h> {
    pub(crate) fn new(haystack: &'h Haystack, model: &Model) -> Result<Self> {
        let folders = [TempDir::new()?, TempDir::new()?];
        let mut sessions = WordWriter::open(folders[0].path())?;
        let mut passages = WordWriter::open(folders[1].path())?;
        let mut vectors = Vec::new();
        for (i, content) in haystack.sessions.iter().enumerate() {
            let session = i as u64 + 1;
            let whole = format!("{}\n{}", content.title, content.messages.join("\n"));
            sessions.add(&Document { id: session, session, kind: 0, at: None, text: &whole })?;
            for (message, text) in content.messages.iter().enumerate() {
                let id = number(i, message);
                passages.add(&Document { id, session, kind: 0, at: None, text })?;
                vectors.extend(model.embed(text).map(|vector| (Scored { id, session, score: 0.0 }, vector)));
            }
        }
        for writer in [&mut sessions, &mut passages] {
            writer.commit(&Covered::default())?;
        }
        Ok(Self {
            haystack,
            sessions: WordIndex::open(folders[0].path())?,
            passages: WordIndex::open(folders[1].path())?,
            vectors,
            _folders: folders,
        })
    }

    pub(crate) fn find(&self, question: &str, filter: &Filter, model: &Model) -> Result<Found> {
        let query = Query::parse(question);
        let plan = self.passages.plan(&query)?;
        let sessions = self.sessions.search(&self.sessions.plan(&query)?, filter, CANDIDATES)?;
        let passages = self.passages.search(&plan, filter, CANDIDATES)?;
        let nearest = model.embed(question).map_or_else(Vec::new, |query| self.nearest(&query, filter));
        let mut matcher = plan.matcher();
        let mut evidence = Evidence { share: 0.0, unspaced: plan.unspaced(), meaningless: plan.meaningless() };
        for found in passages.iter().take(ASKED) {
            let (session, message) = place(found.id);
            let messages = &self.haystack.sessions[session].messages;
            let around = message.saturating_sub(1)..(message + 2).min(messages.len());
            let counts: Vec<Counts> = messages[around].iter().map(|text| matcher.counts(text)).collect();
            evidence.share = evidence.share.max(matcher.share(&counts));
        }
        let by_words: HashSet<u64> = passages.iter().map(|found| found.id).collect();
        let mut dense = nearest.clone();
        dense.retain(|found| found.score >= evidence.near() || by_words.contains(&found.id));
        Ok(Found { sessions, passages, nearest, dense, evidence })
    }

    /// Passages by cosine; exact, so that what an index of vectors misses is not the matter here.
    fn nearest(&self, query: &[f32], filter: &Filter) -> Vec<Scored> {
        let admitted = self.vectors.iter().filter(|(found, _)| filter.admits(found.session, 0, None));
        let mut near: Vec<Scored> =
            admitted.map(|(found, vector)| Scored { score: dot(query, vector), ..*found }).collect();
        near.sort_by(|a, b| b.score.total_cmp(&a.score));
        near.truncate(CANDIDATES);
        near
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
