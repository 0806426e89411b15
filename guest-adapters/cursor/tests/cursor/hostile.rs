//! No rows make the guest panic, and no cutting changes what it says.

use std::collections::HashSet;

use proptest::prelude::*;
use totalrecall_cursor::Cursor;
use totalrecall_sdk::types::{Body, Event};
use totalrecall_trail::{other_types, read_in_pieces};

use crate::store::{database, rows, sessions};

fn all_rows() -> Vec<Vec<u8>> {
    let connection = database();
    sessions(&connection).iter().map(|(key, ..)| rows(&connection, key)).collect()
}

fn pieces(rows: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    read_in_pieces::<Cursor>("state.vscdb", rows, chunks)
}

#[test]
fn keys_are_unique_and_survive_another_reading() {
    for rows in all_rows() {
        let events = pieces(&rows, &[]);
        let mut seen = HashSet::new();
        assert!(events.iter().filter_map(|event| event.key.as_deref()).all(|key| seen.insert(key)));
        let counted = |event: &&Event| !matches!(event.body, Body::Session(_));
        assert!(events.iter().filter(counted).all(|event| event.key.is_some()));
        // A list that names everything twice.
        let twice = [rows.as_slice(), &rows].concat();
        let again = pieces(&twice, &[]);
        assert_eq!(again.iter().filter(counted).count(), events.iter().filter(counted).count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        pieces(&bytes, &[]);
    }

    #[test]
    fn damaged_rows(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut bytes = all_rows().concat();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        pieces(&bytes, &[]);
    }

    #[test]
    fn values_of_other_types(seed in any::<u64>()) {
        let text = String::from_utf8(all_rows().concat()).unwrap();
        pieces(other_types(&text, seed).as_bytes(), &[]);
    }

    #[test]
    fn cutting_and_resuming_change_nothing(chunks in prop::collection::vec((0usize..4000, any::<bool>()), 0..20)) {
        for rows in all_rows() {
            prop_assert_eq!(pieces(&rows, &chunks), pieces(&rows, &[]));
        }
    }
}
