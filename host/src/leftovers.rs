//! What was deleted, and still stands in the files of the indexes. Search leaves it out at once, because it goes by the numbers that
//! the store knows; but words and vectors leave an index's files only when these are written anew. That is done beside the ones that
//! are searched meanwhile, which the new ones then replace: whenever it ends in between, one or the other is there.

use std::sync::atomic::{AtomicBool, Ordering};

use totalrecall_retrieval::embed::Model;

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
/// When a worker last began to.
const LAST: &str = "indexes-made-anew";
/// What had been deleted when the ones that are being made were begun.
const BEGUN: &str = "indexes-begun";

/// Makes the indexes anew if they hold something deleted, and are small. Whoever calls it holds the worker's lock. Gives whether
/// nothing is left; otherwise the next worker sees to it.
///
/// # Errors
/// Those of the system and of the store. What is not removed then is removed by the next worker.
pub fn take_out(home: &Home, store: &mut Store, stop: &AtomicBool) -> Result<bool, IndexError> {
    let Some(held) = store.held_deleted()? else { return Ok(true) };
    let folder = home.index();
    if !folder.exists() {
        remove(home, store)?;
        return Ok(true);
    }
    let stop = || stop.load(Ordering::Relaxed);
    if stop() {
        return Ok(false);
    }
    // A model that cannot be used is told by whoever searches.
    let model = embedding::in_use(home).unwrap_or_default();
    if store.last_passage()?.0 <= FEW {
        make_anew(home, store, &held, model.as_ref(), &stop)?;
    } else {
        // What was deleted is at least taken out of what is ranked.
        Renewal { folder: &folder, model: model.as_ref(), stop: &stop, beside: false }.run(store, &mut |_| {})?;
    }
    Ok(store.held_deleted()?.is_none())
}

/// Makes indexes anew that hold something deleted, for a worker that has brought them up to date.
///
/// # Errors
/// Those of the system and of the store. The indexes stay as they are then.
pub fn renew(
    home: &Home,
    store: &mut Store,
    model: Option<&Model>,
    stop: &dyn Fn() -> bool,
    now: i64,
) -> Result<(), IndexError> {
    if stop() {
        return Ok(());
    }
    let Some(held) = store.held_deleted()? else { return Ok(()) };
    if store.last_passage()?.0 > FEW && !is_begun(home, store, &held)? {
        let last = store.meta(LAST)?.and_then(|at| at.parse::<i64>().ok());
        // A clock that was put back is no reason to wait.
        if last.is_some_and(|last| (0..AGAIN).contains(&(now - last))) {
            return Ok(());
        }
        store.set_meta(LAST, &now.to_string())?;
    }
    make_anew(home, store, &held, model, stop)
}

/// Removes the indexes, and those that are being made, so that the next renewal makes them of what there is.
///
/// # Errors
/// Those of the system and of the store.
pub fn remove(home: &Home, store: &mut Store) -> Result<(), IndexError> {
    index::remove(&index::beside(&home.index()))?;
    index::remove(&home.index())?;
    // What is deleted between these steps is in no span any more, so that nothing of it gets into the new ones.
    Ok(store.indexes_are_clean()?)
}

/// Were new ones begun, and nothing was deleted since that they may hold?
fn is_begun(home: &Home, store: &Store, held: &str) -> Result<bool, IndexError> {
    Ok(index::beside(&home.index()).exists() && store.meta(BEGUN)?.as_deref() == Some(held))
}

/// Makes new ones, or goes on with that, and puts them in the place of the old ones.
fn make_anew(
    home: &Home,
    store: &mut Store,
    held: &str,
    model: Option<&Model>,
    stop: &dyn Fn() -> bool,
) -> Result<(), IndexError> {
    let folder = home.index();
    let new = index::beside(&folder);
    if !is_begun(home, store, held)? {
        index::remove(&new)?;
        store.set_meta(BEGUN, held)?;
    }
    let renewal = Renewal { folder: &new, model, stop, beside: true };
    // A disk that is full has better uses.
    let renewed = renewal.run(store, &mut |_| {}).inspect_err(|_| drop(index::remove(&new)))?;
    if !renewed.stopped {
        index::replace(store, &folder)?;
        store.indexes_are_clean_of(held)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use tempfile::TempDir;
    use totalrecall_retrieval::words::WordIndex;

    use super::*;
    use crate::{
        memory::NewMemory,
        search::{Request, Searcher},
    };

    const GO: &dyn Fn() -> bool = &|| false;
    const STOP: &dyn Fn() -> bool = &|| true;

    /// A home in which three things are remembered and indexed, and their names.
    fn home() -> (TempDir, Home, Store, [String; 3]) {
        let folder = TempDir::new().unwrap();
        let home = Home::choose(Some(folder.path().to_owned())).unwrap();
        let mut store = Store::open(home.path()).unwrap();
        let names = ["amber", "basalt", "cobalt"].map(|word| {
            let content = format!("the {word} is heavy");
            store.add_memory(&NewMemory { content, ..NewMemory::default() }, 1_000).unwrap().0
        });
        Renewal { folder: &home.index(), model: None, stop: GO, beside: false }.run(&mut store, &mut |_| {}).unwrap();
        (folder, home, store, names)
    }

    /// Does a word stand in the files of an index?
    fn holds(folder: &Path, word: &str) -> bool {
        WordIndex::open(&folder.join(index::WORDS)).unwrap().df(word).unwrap() > 0
    }

    /// What a search finds with the indexes as they are, and not by looking through what is newer.
    fn found(home: &Home, store: &Store) -> usize {
        let searcher = Searcher::open(&home.index(), None).unwrap();
        assert!(searcher.troubles(store).unwrap().is_empty());
        searcher
            .search(store, &Request { query: "heavy".to_owned(), limit: 9, ..Request::default() }, 0)
            .unwrap()
            .hits
            .len()
    }

    fn go_on(home: &Home, store: &mut Store, stop: &dyn Fn() -> bool) {
        let held = store.held_deleted().unwrap().unwrap();
        make_anew(home, store, &held, None, stop).unwrap();
    }

    #[test]
    fn they_are_searched_until_the_new_ones_are_there() {
        let (_folder, home, mut store, [amber, basalt, _]) = home();
        store.forget(&amber).unwrap();
        go_on(&home, &mut store, STOP);
        assert!(index::beside(&home.index()).exists() && store.held_deleted().unwrap().is_some());
        assert_eq!(found(&home, &store), 2);
        // The old ones follow meanwhile, and are known all the time.
        Renewal { folder: &home.index(), model: None, stop: GO, beside: false }.run(&mut store, &mut |_| {}).unwrap();
        assert_eq!(found(&home, &store), 2);
        // It goes on with what was begun, unless more was deleted since.
        let mark = index::beside(&home.index()).join("mark");
        fs::write(&mark, "").unwrap();
        go_on(&home, &mut store, STOP);
        assert!(mark.exists());
        store.forget(&basalt).unwrap();
        go_on(&home, &mut store, STOP);
        assert!(!mark.exists());
        go_on(&home, &mut store, GO);
        assert_eq!((store.held_deleted().unwrap(), index::beside(&home.index()).exists()), (None, false));
        assert_eq!(["amber", "basalt", "cobalt"].map(|word| holds(&home.index(), word)), [false, false, true]);
        assert_eq!(found(&home, &store), 1);
    }

    /// The moments around which a process may be killed: what is there is searched, and the next one ends it.
    #[test]
    fn a_kill_leaves_the_old_ones_or_the_new() {
        let (_folder, home, mut store, [amber, ..]) = home();
        let (folder, new) = (home.index(), index::beside(&home.index()));
        let kept = home.path().join("kept");
        copy(&folder, &kept);
        store.forget(&amber).unwrap();
        let held = store.held_deleted().unwrap().unwrap();
        go_on(&home, &mut store, GO);
        // They were exchanged, and what was before was not removed yet.
        for is_whole in [true, false] {
            store.set_meta("indexes-hold-deleted", &held).unwrap();
            copy(&kept, &new);
            if !is_whole {
                fs::remove_dir_all(new.join(index::GROUPS)).unwrap();
            }
            assert_eq!(found(&home, &store), 2);
            go_on(&home, &mut store, GO);
            assert_eq!((holds(&folder, "amber"), found(&home, &store), new.exists()), (false, 2, false));
        }
        // The new ones are known, and were not put there.
        store.set_meta("indexes-hold-deleted", &held).unwrap();
        go_on(&home, &mut store, STOP);
        Renewal { folder: &new, model: None, stop: GO, beside: true }.run(&mut store, &mut |_| {}).unwrap();
        store.admit_seal(index::WORDS, "new words").unwrap();
        assert_eq!(found(&home, &store), 2);
        go_on(&home, &mut store, GO);
        assert_eq!((found(&home, &store), store.held_deleted().unwrap()), (2, None));
        // One of another store is not put there.
        let (_other, other, _store, _) = self::home();
        store.set_meta("indexes-hold-deleted", &held).unwrap();
        copy(&other.index(), &new);
        go_on(&home, &mut store, GO);
        assert_eq!((holds(&folder, "amber"), found(&home, &store)), (false, 2));
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &to.join(entry.file_name()));
            } else {
                fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
}
