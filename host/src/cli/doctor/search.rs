//! What search needs: indexes that can be read and follow the store, and a model.

use super::{Checks, Health};
use crate::{
    cli::{Context, ui},
    embedding,
    search::{SearchError, Searcher},
    store::Store,
};

/// Passages that search looks through without an index all the same (`search/run.rs`).
const FEW: u64 = 4_000;

impl Checks {
    /// Can everything be found that is stored? What is amiss costs no more than hits, so nothing here is bad.
    pub(super) fn search(&mut self, context: &Context) {
        // What is wrong with the store its own check says.
        let Ok(store) = Store::open_read_only(context.home.path()) else { return };
        let model = embedding::in_use(&context.home).unwrap_or_else(|error| {
            let advice = "totalrecall models use built-in; until then search goes by words alone";
            self.add("search", Health::Notice, error, Some(advice));
            None
        });
        let has_model = model.is_some();
        let looked = Searcher::open(&context.home.index(), model).and_then(|searcher| {
            let (behind, meaning) = (searcher.behind(&store)?, searcher.coverage(&store)?);
            Ok::<_, SearchError>((searcher.troubles(&store)?, behind, meaning))
        });
        match looked {
            Ok((troubles, ..)) if !troubles.is_empty() => {
                self.add("search", Health::Notice, ui::line(&troubles.join("; ")), Some("totalrecall reindex"));
            }
            Ok((_, behind, _)) if behind > FEW => {
                let text = format!("{behind} passages are in no index yet");
                self.add("search", Health::Notice, text, Some("totalrecall worker, or totalrecall reindex"));
            }
            Ok((_, _, meaning)) if has_model && meaning < 0.99 => {
                let text = format!("{:.0}% can be found by their meaning, all by their words", meaning * 100.0);
                self.add("search", Health::Notice, text, Some("totalrecall worker makes the rest"));
            }
            Ok(_) => self.add("search", Health::Good, "by words and by meaning", None),
            Err(error) => self.add("search", Health::Notice, &error, error.hint()),
        }
    }
}
