//! What migrations and forks copy has the same keys everywhere, and nothing else has.

use std::collections::{HashMap, HashSet};

use totalrecall_sdk::types::{Body, Event};

use crate::queries::SCHEMA;
use crate::store::{loaded, of_database};
use crate::trail::{cases, events, session, sessions};

fn keys(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| event.key.as_deref()).collect()
}

#[test]
fn nothing_has_the_key_of_something_else_in_its_session() {
    for (name, sessions) in cases() {
        for session in sessions {
            let events = events(&session);
            let mut seen = HashSet::new();
            for key in keys(&events) {
                assert!(seen.insert(key), "{name} {}: {key}", session.key);
            }
            // All but what is said of the session has one.
            let without = events.iter().filter(|event| event.key.is_none());
            assert!(without.into_iter().all(|event| matches!(event.body, Body::Session(_) | Body::Rewind(_))));
        }
    }
}

/// The migration leaves the tree where it is: the same sessions, to the last event, whichever is read first.
#[test]
fn a_migrated_tree_is_the_database() {
    let (database, tree): (Vec<_>, Vec<_>) =
        sessions("1.1-tree-migrated-by-1.3").into_iter().partition(|session| session.place == "opencode.db");
    assert_eq!((database.len(), tree.len()), (2, 2));
    for (row, file) in database.iter().zip(&tree) {
        assert_eq!(row.key, file.key);
        assert_eq!(events(row), events(file), "{}", row.key);
    }
}

/// So does the one from a project's own tree.
#[test]
fn an_older_tree_has_the_same_keys() {
    let key = "ses_dd726100dffe";
    let old = events(&session("0.5-tree", "project", key));
    let new = events(&session("1.1-tree-migrated-by-1.3", "storage", key));
    assert_eq!(keys(&old), keys(&new));
}

/// A fork has all messages and parts under new ids.
#[test]
fn a_fork_shares_the_keys_of_what_it_copied() {
    let case = sessions("1.18-fork-and-subagent");
    let find = |start: &str| events(case.iter().find(|session| session.key.starts_with(start)).unwrap());
    let (original, fork) = (find("ses_dd717b7e4ffe"), find("ses_dd717844cffe"));
    let known: HashMap<&str, &Event> =
        original.iter().filter_map(|event| Some((event.key.as_deref()?, event))).collect();
    let shared: Vec<_> = fork.iter().filter_map(|event| Some((known.get(event.key.as_deref()?)?, event))).collect();
    // The prompt and the error.
    assert_eq!((shared.len(), known.len()), (2, 2));
    for (original, copy) in shared {
        assert_eq!((&original.body, original.at), (&copy.body, copy.at));
    }
    // Nothing else of this database is a copy.
    let all: Vec<_> = case.iter().flat_map(events_of).collect();
    assert_eq!(all.len() - all.iter().collect::<HashSet<_>>().len(), 2);
}

fn events_of(session: &crate::store::Session) -> Vec<String> {
    events(session).into_iter().filter_map(|event| event.key).collect()
}

/// Two messages of one role in one millisecond, equal texts in one message: all different, in a copy as well.
#[test]
fn equal_things_are_not_merged() {
    let database = |session: &str, start: u32| {
        let message = |id: u32, role: &str| {
            let data = format!(r#"{{"role":"{role}","time":{{"created":7}},"tokens":{{"input":1}}}}"#);
            let part = r#"{"type":"text","text":"go on"}"#;
            let id = start + id;
            format!(
                "INSERT INTO message VALUES('msg_{id}','{session}',7,7,'{data}');\
                 INSERT INTO part VALUES('prt_{id}1','msg_{id}','{session}',9,9,'{part}');\
                 INSERT INTO part VALUES('prt_{id}2','msg_{id}','{session}',9,9,'{part}');"
            )
        };
        let rows: String =
            [message(1, "user"), message(2, "user"), message(3, "assistant"), message(4, "assistant")].concat();
        format!("{SCHEMA}INSERT INTO session VALUES('{session}',NULL,'/w','t','1.18.33',NULL,NULL,1,1);{rows}")
    };
    let read = |session: &str, start: u32| events(&of_database(&loaded(&database(session, start)), "x")[0]);
    let original = read("ses_1", 10);
    assert_eq!(keys(&original).iter().collect::<HashSet<_>>().len(), 4 * 2 + 2);
    assert_eq!(keys(&read("ses_2", 50)), keys(&original));
}
