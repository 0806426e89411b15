//! What was learned, for commands that look at it.

use super::{Context, ui};
use crate::{
    library::Library,
    store::{Store, StoreError},
};

/// The store, for reading, or none (and it was said) if nothing was ever read.
pub(super) fn store(context: &Context) -> anyhow::Result<Option<Store>> {
    match Store::open_read_only(context.home.path()) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing { .. }) => {
            ui::say("Nothing was read yet. Run: totalrecall reconcile && totalrecall worker");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The library, likewise.
pub(super) fn load(context: &Context) -> anyhow::Result<Option<Library>> {
    store(context)?.map(|store| Library::load(&store)).transpose().map_err(Into::into)
}
