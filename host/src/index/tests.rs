use std::{fs, path::Path};

use tempfile::TempDir;
use totalrecall_retrieval::words::{Filter, Query, WordIndex};

use super::*;
use crate::memory::NewMemory;

const GO: &dyn Fn() -> bool = &|| false;

fn store(home: &Path) -> Store {
    Store::open(home).unwrap()
}

fn remember(store: &mut Store, content: &str) -> String {
    store.add_memory(&NewMemory { content: content.to_owned(), ..NewMemory::default() }, 1_000).unwrap().0
}

fn renew(store: &mut Store, folder: &Path) -> Renewed {
    Renewal { folder, model: None, stop: GO, beside: false }.run(store, &mut |_| {}).unwrap()
}

/// How many documents the index of words has for a query.
fn found(folder: &Path, query: &str) -> usize {
    let index = WordIndex::open(&folder.join(WORDS)).unwrap();
    index.search(&index.plan(&Query::parse(query)).unwrap(), &Filter::default(), 1_000).unwrap().len()
}

#[test]
fn many_renewals_leave_few_segments() {
    let home = TempDir::new().unwrap();
    let (mut store, folder) = (store(home.path()), home.path().join("index"));
    for number in 0..40 {
        remember(&mut store, &format!("note number {number} on amber"));
        assert_eq!(renew(&mut store, &folder).passages, 1);
    }
    for name in [WORDS, GROUPS] {
        let files = fs::read_dir(folder.join(name)).unwrap().map(|file| file.unwrap().path());
        let segments = files.filter(|file| file.extension().is_some_and(|extension| extension == "idx")).count();
        assert!(segments < 10, "{segments} of {name}");
    }
    assert_eq!(found(&folder, "amber"), 40);
    assert_eq!(renew(&mut store, &folder), Renewed::default(), "there is nothing to do");
}

#[test]
fn what_is_removed_is_taken_out_and_forgotten() {
    let home = TempDir::new().unwrap();
    let (mut store, folder) = (store(home.path()), home.path().join("index"));
    let first = remember(&mut store, "the first on basalt");
    remember(&mut store, "the second on basalt");
    renew(&mut store, &folder);
    store.forget(&first).unwrap();
    assert_eq!(store.removals_after(0).unwrap().len(), 1);
    renew(&mut store, &folder);
    assert_eq!((found(&folder, "basalt"), store.removals_after(0).unwrap().len()), (1, 0));
}

#[test]
fn the_index_of_another_store_is_made_anew() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("index");
    let mut former = store(home.path());
    for number in 0..3 {
        remember(&mut former, &format!("cobalt {number}"));
    }
    renew(&mut former, &folder);
    drop(former);
    for file in fs::read_dir(home.path()).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file()) {
        fs::remove_file(file).unwrap();
    }
    // It has given as many numbers as the former, so nothing but the seal tells them apart.
    let mut store = store(home.path());
    for number in 0..3 {
        remember(&mut store, &format!("dolomite {number}"));
    }
    let index = WordIndex::open(&folder.join(WORDS)).unwrap();
    assert!(!is_sealed(&store, WORDS, index.covered()).unwrap());
    assert_eq!(renew(&mut store, &folder).passages, 3);
    assert_eq!((found(&folder, "cobalt"), found(&folder, "dolomite")), (0, 3));
}

#[test]
fn an_index_that_is_ahead_of_its_store_is_made_anew() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("index");
    let mut before = store(home.path());
    remember(&mut before, "ember, which stays");
    renew(&mut before, &folder);
    before.finish().unwrap();
    drop(before);
    let (file, kept) = (home.path().join(crate::store::FILE), home.path().join("kept"));
    fs::copy(&file, &kept).unwrap();
    let mut later = store(home.path());
    remember(&mut later, "flint, which is lost with the power");
    renew(&mut later, &folder);
    later.finish().unwrap();
    drop(later);
    fs::rename(&kept, &file).unwrap();
    let mut again = store(home.path());
    // The same number as what was lost.
    remember(&mut again, "gneiss, which comes in its place");
    renew(&mut again, &folder);
    assert_eq!([found(&folder, "ember"), found(&folder, "flint"), found(&folder, "gneiss")], [1, 0, 1]);
}

#[test]
fn a_damaged_segment_is_made_good_by_the_next_renewal() {
    let home = TempDir::new().unwrap();
    let (mut store, folder) = (store(home.path()), home.path().join("index"));
    remember(&mut store, "heliodor");
    renew(&mut store, &folder);
    let files = fs::read_dir(folder.join(WORDS)).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "idx")) {
        let whole = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    }
    assert!(WordIndex::open(&folder.join(WORDS)).is_err());
    assert_eq!(renew(&mut store, &folder).passages, 1);
    assert_eq!(found(&folder, "heliodor"), 1);
}

#[test]
fn who_is_told_to_stop_leaves_the_rest_for_the_next_time() {
    let home = TempDir::new().unwrap();
    let (mut store, folder) = (store(home.path()), home.path().join("index"));
    remember(&mut store, "ivory");
    let stop = || true;
    let renewed =
        Renewal { folder: &folder, model: None, stop: &stop, beside: false }.run(&mut store, &mut |_| {}).unwrap();
    assert_eq!(renewed, Renewed { stopped: true, ..Renewed::default() });
    assert_eq!(renew(&mut store, &folder).passages, 1);
    assert_eq!(found(&folder, "ivory"), 1);
}

#[test]
fn it_is_told_to_stop_between_two_batches_and_goes_on_from_there() {
    let home = TempDir::new().unwrap();
    let (mut store, folder) = (store(home.path()), home.path().join("index"));
    for number in 0..SPANS + 10 {
        remember(&mut store, &format!("jasper {number}"));
    }
    // Words are the first.
    let done = std::cell::Cell::new(0);
    let stop = || done.get() > 0;
    let renewal = Renewal { folder: &folder, model: None, stop: &stop, beside: false };
    let renewed = renewal.run(&mut store, &mut |count| done.set(done.get() + count)).unwrap();
    assert_eq!(renewed, Renewed { passages: SPANS as u64, vectors: 0, stopped: true });
    assert_eq!(found(&folder, "jasper"), SPANS);
    assert_eq!(renew(&mut store, &folder).passages, 10);
    assert_eq!(found(&folder, "jasper"), SPANS + 10);
}
