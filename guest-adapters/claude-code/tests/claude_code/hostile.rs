//! No input makes the guest panic, and no cutting changes what it says.

use proptest::prelude::*;
use totalrecall_claude_code::ClaudeCode;
use totalrecall_sdk::types::Event;

use crate::trail::case;

fn read(bytes: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    totalrecall_trail::read_in_pieces::<ClaudeCode>("1.jsonl", bytes, chunks)
}

fn sample(index: usize) -> Vec<u8> {
    let (name, start) = [
        ("2.0-tui-rejections", "853a"),
        ("2.1.120-comment", "34a2"),
        ("2.1.332-steering-and-refusal", "075b"),
        ("1.0-resume-chain", "36da"),
    ][index];
    let case = case(name);
    let path = case.transcripts().into_iter().find(|path| path.starts_with(start)).unwrap();
    case.bytes(&path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes, &[]);
    }

    #[test]
    fn damaged_transcripts(
        index in 0usize..4,
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
    fn values_of_other_types(index in 0usize..4, seed in any::<u64>()) {
        let text = String::from_utf8(sample(index)).unwrap();
        read(totalrecall_trail::other_types(&text, seed).as_bytes(), &[]);
    }

    #[test]
    fn cutting_and_resuming_change_nothing(
        index in 0usize..4,
        chunks in prop::collection::vec((0usize..6000, any::<bool>()), 0..20),
    ) {
        let bytes = sample(index);
        prop_assert_eq!(read(&bytes, &chunks), read(&bytes, &[]));
    }
}
