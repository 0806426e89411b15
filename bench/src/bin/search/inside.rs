//! The same questions, asked in this process: what a search takes without starting, protocol and printing.

use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;
use totalrecall::search::{Request, Searcher};
use totalrecall::store::Store;
use totalrecall::{clock, embedding};
use totalrecall_bench::measure::{Cost, cpu};

/// A home that is open.
pub(crate) struct Inside {
    store: Store,
    searcher: Searcher,
}

impl Inside {
    pub(crate) fn open(home: &Path) -> Result<Self> {
        let model = embedding::built_in().context("the built-in model cannot be used")?;
        let searcher = Searcher::open(&home.join("index"), Some(model))?;
        Ok(Self { store: Store::open_read_only(home)?, searcher })
    }

    /// Numbers that were given out: of all that was ever found here.
    pub(crate) fn passages(&self) -> Result<i64> {
        Ok(self.store.last_passage()?.0)
    }

    pub(crate) fn search(&self, question: &str) -> Result<Cost> {
        let request = Request { query: question.to_owned(), limit: 10, ..Request::default() };
        let (begun, used) = (Instant::now(), cpu());
        self.searcher.search(&self.store, &request, clock::now())?;
        Ok(Cost { wall: begun.elapsed(), cpu: cpu() - used, ..Cost::default() })
    }
}
