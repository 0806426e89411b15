//! Damage as it happens to transcripts: a disk that failed, a tool that was killed, a version that nobody foresaw.

use super::random::Random;

/// A damaged transcript.
pub(super) struct Damaged {
    /// What was done to it.
    pub(super) what: &'static str,
    /// What is left.
    pub(super) bytes: Vec<u8>,
    /// Bytes at the beginning that are as they were, all of them whole lines.
    pub(super) sound: usize,
}

/// Of a line that no tool writes: what an 8 MB picture looks like.
pub(super) const LONG: usize = 8 << 20;

/// A run of NUL bytes, as a file system leaves it behind after a power cut.
const NULS: usize = 4_096;

/// Some of each kind, for any transcript that is not empty.
pub(super) fn damages(bytes: &[u8], random: &mut Random) -> Vec<Damaged> {
    let mut all = Vec::new();
    for flips in [1, 8, 64] {
        all.push(flipped(bytes, flips, random));
    }
    for _ in 0..2 {
        let end = random.below(bytes.len());
        all.push(Damaged { what: "a cut tail", bytes: bytes[..end].to_vec(), sound: line_start(bytes, end) });
    }
    all.push(doubled(bytes, random));
    for _ in 0..2 {
        all.push(other_types(bytes, random));
    }
    all.push(inserted("invalid UTF-8", bytes, b"\xff\xfe\xc3(\xed\xa0\x80", random));
    all.push(inserted("a run of NUL bytes", bytes, &[0; NULS], random));
    all.push(inserted("a torn record", bytes, &bytes[..bytes.len().min(300)], random));
    all
}

/// A line of 8 MB between two others: a text that has no end, and one that is JSON.
pub(super) fn long_lines(bytes: &[u8], random: &mut Random) -> Vec<Damaged> {
    let at = line_start(bytes, random.below(bytes.len()));
    let json = [br#"{"text":""#, &vec![b'x'; LONG][..], b"\"}"].concat();
    [("a line of 8 MB", vec![b'x'; LONG]), ("a line of 8 MB of JSON", json)]
        .map(|(what, line)| Damaged { what, bytes: [&bytes[..at], &line, b"\n", &bytes[at..]].concat(), sound: at })
        .into()
}

/// Where the line begins that this place is in.
pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

fn flipped(bytes: &[u8], count: usize, random: &mut Random) -> Damaged {
    let mut flipped = bytes.to_vec();
    let mut first = bytes.len();
    for _ in 0..count {
        let at = random.below(bytes.len());
        flipped[at] ^= 1 << random.below(8);
        first = first.min(at);
    }
    Damaged { what: "flipped bits", bytes: flipped, sound: line_start(bytes, first) }
}

fn doubled(bytes: &[u8], random: &mut Random) -> Damaged {
    let from = line_start(bytes, random.below(bytes.len()));
    let to = bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| from + at + 1);
    Damaged { what: "a doubled line", bytes: [&bytes[..to], &bytes[from..]].concat(), sound: from }
}

fn inserted(what: &'static str, bytes: &[u8], insert: &[u8], random: &mut Random) -> Damaged {
    let at = random.below(bytes.len());
    Damaged { what, bytes: [&bytes[..at], insert, &bytes[at..]].concat(), sound: line_start(bytes, at) }
}

/// About every tenth value of JSON has become one of another type: the old one follows it under a name of its own.
fn other_types(bytes: &[u8], random: &mut Random) -> Damaged {
    const VALUES: [&[u8]; 9] =
        [b"null", b"7", b"-1e400", b"\"x\"", b"[]", b"{}", b"[{\"type\":3}]", b"true", b"\"\\ud83d\""];
    let mut other = Vec::with_capacity(bytes.len() * 2);
    let mut first = bytes.len();
    for (at, byte) in bytes.iter().enumerate() {
        other.push(*byte);
        if *byte == b':' && at > 0 && bytes[at - 1] == b'"' && random.below(10) == 0 {
            first = first.min(at);
            other.extend_from_slice(VALUES[random.below(VALUES.len())]);
            other.extend_from_slice(b",\"was\":");
        }
    }
    Damaged { what: "values of other types", bytes: other, sound: line_start(bytes, first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sound_is_as_it_was() {
        let text = "{\"a\":1,\"b\":\"é\"}\n".repeat(50);
        let bytes = text.as_bytes();
        let mut random = Random::of("x");
        let all = damages(bytes, &mut random).into_iter().chain(long_lines(bytes, &mut random));
        let mut changed = 0;
        for damaged in all {
            assert_eq!(damaged.bytes[..damaged.sound], bytes[..damaged.sound], "{}", damaged.what);
            assert!(damaged.sound == 0 || bytes[damaged.sound - 1] == b'\n', "{}", damaged.what);
            changed += usize::from(damaged.bytes != bytes);
        }
        assert_eq!(changed, 13);
        let bytes = b"no newline".as_slice();
        assert!(damages(bytes, &mut random).iter().all(|damaged| damaged.sound == 0));
    }
}
