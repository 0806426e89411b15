//! Passages as a search reads them: each once, whoever asks for it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use totalrecall_retrieval::{
    Scored,
    fuse::Evidence,
    words::{Plan, Query, Scorer},
};

use super::run::READ;
use crate::{
    passage::Passage,
    store::{PassageId, Store, StoreError},
};

/// Passages that are asked how much of the query they have.
const ASKED: usize = 10;

/// Reads passages of a store.
pub(super) struct Reader<'s> {
    pub(super) store: &'s Store,
    known: RefCell<HashMap<u64, Option<Rc<Passage>>>>,
}

impl<'s> Reader<'s> {
    pub(super) fn of(store: &'s Store) -> Self {
        Self { store, known: RefCell::default() }
    }

    /// A passage; none: it is gone.
    pub(super) fn passage(&self, id: u64) -> Result<Option<Rc<Passage>>, StoreError> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(known.clone());
        }
        let read = self.store.passage(PassageId(id.cast_signed()))?.map(Rc::new);
        self.known.borrow_mut().insert(id, read.clone());
        Ok(read)
    }

    /// Of these the first ones that hold all phrases of the query, at most so many.
    pub(super) fn those_that_hold(
        &self,
        found: Vec<Scored>,
        query: &Query,
        most: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        let mut held = Vec::new();
        for found in found {
            if held.len() == most {
                break;
            }
            if self.passage(found.id)?.is_some_and(|passage| query.holds(&passage.text)) {
                held.push(found);
            }
        }
        Ok(held)
    }

    /// Reads the best passages with what stands before and after them. Gives their scores so, and what speaks for there being an
    /// answer.
    pub(super) fn in_context(&self, plan: &Plan, passages: &[Scored]) -> Result<(Vec<Scored>, Evidence), StoreError> {
        let (mut scorer, mut matcher) = (Scorer::new(plan), plan.matcher());
        let mut evidence = Evidence { share: 0.0, unspaced: plan.unspaced() };
        let mut contexts = Vec::new();
        for found in passages {
            if contexts.len() == READ {
                break;
            }
            let Some(passage) = self.passage(found.id)? else { continue };
            let (before, after) = self.store.neighbours(&passage)?;
            let around = [before.as_ref(), Some(&*passage), after.as_ref()];
            let texts: Vec<&str> = around.into_iter().flatten().map(|passage| passage.text.as_str()).collect();
            if contexts.len() < ASKED {
                evidence.share = evidence.share.max(matcher.matched(&texts.join("\n")).share);
            }
            contexts.push(Scored { score: scorer.score(&texts), ..*found });
        }
        contexts.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok((contexts, evidence))
    }
}
