//! No input makes the guest panic, and no cutting changes what it says.

use proptest::prelude::*;
use totalrecall_sdk::types::Event;

use crate::trail::{case, parser};

/// Feeds the bytes in chunks, with a checkpoint and a resume after each `true`.
fn read(bytes: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    let mut parser_now = parser("1.jsonl", 300, None);
    let (mut events, mut from) = (Vec::new(), 0usize);
    for (length, resume) in chunks.iter().copied().chain([(usize::MAX, false)]) {
        let to = from.saturating_add(length).min(bytes.len());
        events.extend(parser_now.feed(&bytes[from..to]).unwrap());
        from = to;
        if resume {
            let checkpoint = parser_now.checkpoint();
            parser_now = parser("1.jsonl", 300, Some(&checkpoint.state));
            from = usize::try_from(checkpoint.offset).unwrap();
        }
    }
    events.extend(parser_now.finish().unwrap());
    events
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
        // Every second or third value becomes one of another type.
        let text = String::from_utf8(sample(index)).unwrap();
        let values = ["null", "7", "\"x\"", "[]", "{}", "[{\"type\":3}]", "true", "\"\\ud83d\""];
        let mut swapped = String::new();
        for (number, part) in text.split_inclusive(':').enumerate() {
            swapped.push_str(part);
            let pick = totalrecall_sdk::hash::hash64(format!("{seed}{number}"));
            if pick.is_multiple_of(3) {
                swapped.push_str(values[(pick >> 8) as usize % values.len()]);
                swapped.push(',');
            }
        }
        read(swapped.as_bytes(), &[]);
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
