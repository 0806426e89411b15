//! No input makes the guest panic, and no cutting changes what it says.

use proptest::prelude::*;
use totalrecall_gemini_cli::GeminiCli;
use totalrecall_sdk::types::Event;
use totalrecall_trail::{case, read_in_pieces};

fn read(bytes: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    read_in_pieces::<GeminiCli>("shop/chats/1.jsonl", bytes, chunks)
}

fn sample(index: usize) -> Vec<u8> {
    let name = ["0.61-resume", "log-of-everything"][index];
    let case = case::<GeminiCli>(name);
    let path = case.transcripts().into_iter().find(|path| path.contains("/session-")).unwrap();
    case.bytes(&path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes, &[]);
        let mut parser = totalrecall_trail::parser::<GeminiCli>("1.json", 300, None);
        parser.feed(&bytes).unwrap();
        let _ = parser.finish();
    }

    #[test]
    fn damaged_transcripts(
        index in 0usize..2,
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
    fn values_of_other_types(index in 0usize..2, seed in any::<u64>()) {
        let text = String::from_utf8(sample(index)).unwrap();
        read(totalrecall_trail::other_types(&text, seed).as_bytes(), &[]);
    }

    #[test]
    fn cutting_and_resuming_change_nothing(
        index in 0usize..2,
        chunks in prop::collection::vec((0usize..6000, any::<bool>()), 0..20),
    ) {
        let bytes = sample(index);
        prop_assert_eq!(read(&bytes, &chunks), read(&bytes, &[]));
    }
}
