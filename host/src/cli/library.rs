//! The library, for commands that look at it.

use super::{Context, ui};
use crate::{
    library::Library,
    store::{Store, StoreError},
};

/// The library, or none (and it was said) if nothing was ever read.
pub(super) fn load(context: &Context) -> anyhow::Result<Option<Library>> {
    match Store::open_read_only(context.home.path()) {
        Ok(store) => Ok(Some(Library::load(&store)?)),
        Err(StoreError::Missing { .. }) => {
            ui::say("Nothing was read yet. Run: totalrecall reconcile && totalrecall worker");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
