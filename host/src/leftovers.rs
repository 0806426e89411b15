//! What was deleted, and still stands in the files of the indexes. Search leaves it out at once, because it goes by the numbers that
//! the store knows; but words and vectors leave an index's files only when these are written anew.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    embedding,
    index::{self, IndexError, Renewal},
    paths::Home,
    store::Store,
};

/// Numbers of passages up to which indexes are made anew while somebody waits: a second or two of work.
const FEW: i64 = 20_000;
/// How soon a worker makes the indexes of a larger home anew once more because of this: an agent that forgets something in each
/// session is not to cost minutes in each.
const AGAIN: i64 = 60 * 60 * 1000;
/// When a worker last did.
const LAST: &str = "indexes-made-anew";

/// Makes the indexes anew if they hold something deleted, and are small. Whoever calls it holds the worker's lock. Gives whether
/// nothing is left; otherwise the next worker sees to it.
///
/// # Errors
/// Those of the system and of the store. What is not removed then is removed by the next worker.
pub fn take_out(home: &Home, store: &mut Store, stop: &AtomicBool) -> Result<bool, IndexError> {
    if !store.indexes_hold_deleted()? {
        return Ok(true);
    }
    let folder = home.index();
    if !folder.exists() {
        store.indexes_are_clean()?;
        return Ok(true);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(false);
    }
    let is_small = store.last_passage()?.0 <= FEW;
    if is_small {
        remove(home, store)?;
    }
    // Of a large home what was deleted is at least taken out of what is ranked. A model that cannot be used is told by whoever searches.
    let model = embedding::in_use(home).unwrap_or_default();
    Renewal { folder: &folder, model: model.as_ref(), stop }.run(store, &mut |_| {})?;
    Ok(is_small)
}

/// Removes indexes that hold something deleted, for a worker that is about to bring them up to date.
///
/// # Errors
/// Those of the system and of the store.
pub fn remove_stale(home: &Home, store: &mut Store, stop: &AtomicBool, now: i64) -> Result<(), IndexError> {
    // Nobody would make them anew then.
    if stop.load(Ordering::Relaxed) || !store.indexes_hold_deleted()? {
        return Ok(());
    }
    if store.last_passage()?.0 > FEW {
        let last = store.meta(LAST)?.and_then(|at| at.parse::<i64>().ok());
        // A clock that was put back is no reason to wait.
        if last.is_some_and(|last| (0..AGAIN).contains(&(now - last))) {
            return Ok(());
        }
        store.set_meta(LAST, &now.to_string())?;
    }
    remove(home, store)
}

/// What is deleted between the two steps is in no span any more, so that nothing of it gets into the new indexes.
fn remove(home: &Home, store: &mut Store) -> Result<(), IndexError> {
    index::remove(&home.index())?;
    Ok(store.indexes_are_clean()?)
}
