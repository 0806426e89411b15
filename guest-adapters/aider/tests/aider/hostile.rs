//! No input makes the guest panic, and no cutting changes what it says.

use std::collections::HashSet;

use proptest::prelude::*;
use totalrecall_aider::Aider;
use totalrecall_sdk::types::Event;
use totalrecall_trail::{case, read_in_pieces};

fn read(bytes: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    read_in_pieces::<Aider>("/w/.aider.chat.history.md", bytes, chunks)
}

fn sample(index: usize) -> Vec<u8> {
    let case = case::<Aider>(["everything", "0.86-mock", "stripped"][index]);
    case.bytes(&case.transcripts()[0])
}

/// Keys differ within a history, whatever is in it.
fn keys_differ(events: &[Event]) -> bool {
    let mut seen = HashSet::new();
    events.iter().filter_map(|event| event.key.as_deref()).all(|key| seen.insert(key))
}

#[test]
fn counted_events_have_keys() {
    for index in 0..3 {
        let events = read(&sample(index), &[]);
        assert!(keys_differ(&events));
        let session = |event: &&Event| matches!(event.body, totalrecall_sdk::types::Body::Session(_));
        assert!(events.iter().filter(|event| !session(event)).all(|event| event.key.is_some()));
    }
}

/// Runs that began within a second are told apart.
#[test]
fn runs_of_one_second() {
    let run = "# aider chat started at 2026-04-01 09:00:00\n\n#### go on  \n\nYes.\n\n";
    let events = read(run.repeat(3).as_bytes(), &[]);
    assert_eq!(events.len(), 7);
    assert!(keys_differ(&events));
}

/// A clone of the repository has a copy of its history: another session, the same happenings.
#[test]
fn clones_have_the_same_keys() {
    let bytes = sample(0);
    let here = read(&bytes, &[]);
    let there = read_in_pieces::<Aider>("/clone/.aider.chat.history.md", &bytes, &[]);
    assert_ne!(here[0].body, there[0].body);
    assert_eq!(here[1..], there[1..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes, &[]);
    }

    #[test]
    fn random_lines(lines in prop::collection::vec(
        prop::sample::select(vec![
            "# aider chat started at 2026-04-01 09:00:00", "#### go on  ", "#### more", "> Tokens: 5k sent, 6 received.  ",
            "> Applied edit to a.py  ", "> # a longer message", "a.py", "```", "<<<<<<< SEARCH", "=======",
            ">>>>>>> REPLACE", "", ">", "> Run shell command? (Y)es/(N)o [Yes]: n  ", "> litellm.APIError: x  ",
            "> Retrying in 0.2 seconds...  ", "> ^C again to exit  ", "> The LLM did not conform to the edit format.  ",
            "> Removed: 1 x  ", "  ", "<source>py", "</source>", "--- a", "+++ a", "> # Fix any errors below  ",
        ]), 0..60),
        chunks in prop::collection::vec((0usize..300, any::<bool>()), 0..8),
    ) {
        let text = lines.join("\n");
        let events = read(text.as_bytes(), &[]);
        prop_assert!(keys_differ(&events));
        prop_assert_eq!(read(text.as_bytes(), &chunks), events);
    }

    #[test]
    fn damaged_transcripts(
        index in 0usize..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let mut bytes = sample(index);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read(&bytes, &[]);
    }

    #[test]
    fn cutting_and_resuming_change_nothing(
        index in 0usize..3,
        chunks in prop::collection::vec((0usize..2000, any::<bool>()), 0..20),
    ) {
        let bytes = sample(index);
        prop_assert_eq!(read(&bytes, &chunks), read(&bytes, &[]));
    }
}
