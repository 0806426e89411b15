//! No input makes the guest panic, and no cutting changes what it says.

use proptest::prelude::*;
use totalrecall_codex::Codex;
use totalrecall_sdk::types::Event;

use crate::trail::{case, path};

fn read(bytes: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    totalrecall_trail::read_in_pieces::<Codex>("rollout-1.jsonl", bytes, chunks)
}

const SAMPLES: [(&str, &str); 8] = [
    ("0.20-bare", "9f47"),
    ("0.47-heredoc-patches", "5ede"),
    ("0.140-tui-fork", "2026/"),
    ("0.171-code-mode-fork", "archived"),
    ("0.118-turn-ids", "c6bb"),
    ("0.171-refusals", "c801"),
    ("0.171-sub-agents", "c6d3"),
    ("0.171-migrated", "3eea"),
];

fn sample(index: usize) -> Vec<u8> {
    let (name, part) = SAMPLES[index];
    let case = case(name);
    let path = path(&case, part);
    case.bytes(&path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes, &[]);
        // A document that cannot be read is a fault, no panic.
        let mut parser = totalrecall_trail::parser::<Codex>("rollout-1.json", 300, None);
        let _ = parser.feed(&bytes);
        let _ = parser.finish();
    }

    #[test]
    fn damaged_transcripts(
        index in 0..SAMPLES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = sample(index);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // A torn record: its end is gone, newline included.
        let at = cut.index(bytes.len() - 500);
        bytes.drain(at..at + 400);
        read(&bytes, &[]);
    }

    #[test]
    fn values_of_other_types(index in 0..SAMPLES.len(), seed in any::<u64>()) {
        let text = String::from_utf8(sample(index)).unwrap();
        read(totalrecall_trail::other_types(&text, seed).as_bytes(), &[]);
    }

    #[test]
    fn cutting_and_resuming_change_nothing(
        index in 0..SAMPLES.len(),
        chunks in prop::collection::vec((0usize..9000, any::<bool>()), 0..20),
    ) {
        let bytes = sample(index);
        prop_assert_eq!(read(&bytes, &chunks), read(&bytes, &[]));
    }
}
