//! The fixture's events, compared with the golden file beside its transcripts.

use serde_json::json;
use totalrecall_cursor::Cursor;
use totalrecall_sdk::adapter::Adapter as _;
use totalrecall_trail::{case, drift, golden};

use crate::store::{DATABASE, database, read, rows, sessions};

/// Short texts keep the golden files readable, and show how long ones are cut.
const TEXT_LIMIT: u32 = 400;

#[test]
fn events_are_as_they_were() {
    let connection = database();
    let mut now = String::new();
    for (key, ..) in sessions(&connection) {
        for event in read(&key, &rows(&connection, &key), TEXT_LIMIT).0 {
            now.push_str(&json!({"transcript": format!("{DATABASE}#{key}"), "event": event}).to_string());
            now.push('\n');
        }
    }
    golden(&case::<Cursor>("agent").folder.join("events.jsonl"), &now);
}

#[test]
fn every_row_is_known() {
    let connection = database();
    for (key, ..) in sessions(&connection) {
        let (_, tally) = read(&key, &rows(&connection, &key), TEXT_LIMIT);
        assert!(drift(&tally).is_empty(), "{key}: {:?}", drift(&tally));
    }
}

#[test]
fn rows_are_recognised() {
    let connection = database();
    for (key, ..) in sessions(&connection) {
        assert!(Cursor::recognise(&rows(&connection, &key)), "{key}");
    }
    for other in ["", "{", r#"{"role":"user","message":{"content":[]}}"#, r#"{"id":"1","bubble":{}}"#] {
        assert!(!Cursor::recognise(other.as_bytes()), "{other}");
    }
}
