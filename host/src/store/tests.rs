use tempfile::TempDir;

use super::{Begin, Done, Edges, Finality, Found, Stamp, Store, StoreError};
use crate::{
    event::{Author, Body, Channel, Event, Message},
    sandbox::parse::Checkpoint,
};

fn found(path: &str) -> Found {
    Found {
        adapter: "a".into(),
        tool: "t".into(),
        path: path.into(),
        key: String::new(),
        stamp: Stamp::default(),
        named: false,
    }
}

fn store_one(store: &mut Store, text: &str) -> Result<String, StoreError> {
    let job = store.claim_next(0)?.unwrap();
    let path = job.path.clone();
    let mut ingest = store.ingest(job, Begin::Anew)?;
    let message = Message { author: Author::Human, channel: Channel::Prompt, text: text.into(), omitted: 0 };
    let event =
        Event { line: 1, at: None, thread: Some(path.clone()), key: None, copied: false, body: Body::Message(message) };
    ingest.add_events(&[event], Finality::Settled)?;
    let done = Done {
        stamp: Stamp::default(),
        parsed_by: String::new(),
        analyzed_by: String::new(),
        checkpoint: Checkpoint { offset: 0, state: vec![] },
        edges: Edges::default(),
        analysis: vec![],
        tally: vec![],
        sieve: String::new(),
        dropped: 0,
    };
    ingest.done(&done, 0)?;
    Ok(path)
}

/// A full disk, played by a limit on the database's pages. What was done in the same transaction is queued again, and
/// no label that went with it is remembered.
#[test]
fn a_full_disk_is_said_so_and_loses_nothing() {
    let home = TempDir::new().unwrap();
    let mut store = Store::open(home.path()).unwrap();
    store.enqueue(&[found("/kept"), found("/with-it"), found("/too-large")], 0).unwrap();
    store_one(&mut store, "kept").unwrap();
    store.commit().unwrap();
    let pages: i64 = store.db.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    store.db.pragma_update(None, "max_page_count", pages + 20).unwrap();
    store_one(&mut store, "fits").unwrap();
    let error = store_one(&mut store, &"text ".repeat(200_000)).unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error}");
    assert!(error.hint().unwrap().contains("Free some space"));

    store.db.pragma_update(None, "max_page_count", 1_000_000).unwrap();
    store.finish().unwrap();
    let mut again = Vec::new();
    while store.status().unwrap().queued > 0 {
        again.push(store_one(&mut store, "now it fits").unwrap());
    }
    assert!(again.contains(&"/too-large".to_owned()), "{again:?}");
    store.finish().unwrap();
    let all = store.survey("a", &[], &[]).unwrap().absent;
    assert_eq!((all.len(), store.status().unwrap().done), (3, 3));
    for row in all {
        let (events, _) = store.events(row.id, 0, 10).unwrap();
        assert_eq!(events[0].thread.as_deref(), Some(row.path.as_str()));
    }
}
