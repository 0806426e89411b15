//! Passages as a search reads them: each once, whoever asks for it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use totalrecall_retrieval::{
    ASKED, Scored,
    fuse::Evidence,
    words::{Counts, Matcher, Query},
};

use crate::{
    passage::Passage,
    store::{PassageId, Store, StoreError},
};

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

    /// What speaks for there being an answer: how much of the query the best passages have, each with those before and after it.
    pub(super) fn evidence(&self, matcher: &mut Matcher<'_>, passages: &[Scored]) -> Result<Evidence, StoreError> {
        let mut evidence =
            Evidence { share: 0.0, unspaced: matcher.plan().unspaced(), meaningless: matcher.plan().meaningless() };
        let mut asked = 0;
        for found in passages {
            if asked == ASKED {
                break;
            }
            let Some(read) = self.store.passage_in_context(PassageId(found.id.cast_signed()))? else { continue };
            let around = [read.before.as_ref(), Some(&read.passage), read.after.as_ref()];
            let counts: Vec<Counts> = around.into_iter().flatten().map(|it| matcher.counts(&it.text)).collect();
            evidence.share = evidence.share.max(matcher.share(&counts));
            self.known.borrow_mut().insert(found.id, Some(Rc::new(read.passage)));
            asked += 1;
        }
        Ok(evidence)
    }
}
