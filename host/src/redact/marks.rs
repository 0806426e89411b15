//! Looks for all marks at once, at a good part of memory's speed.
//!
//! Each mark is known by one piece of three bytes, the least common one it has. A table tells for each three bytes of a
//! text, by their hash, whether they may be such a piece; nearly always they are not, and as no step waits for the one
//! before, that costs about a cycle a byte. An automaton (Aho–Corasick) must finish a byte to begin the next, and took
//! four times as long on transcripts.

/// Bits of a hash; at 14 the table fits the first-level cache, and one place in fifty is taken.
const BITS: u32 = 14;

/// A place in the table that no piece has.
const NONE: u16 = 0;

/// The marks of the rules.
pub(super) struct Marks {
    /// For each hash the bucket of its pieces.
    table: Box<[u16; 1 << BITS]>,
    buckets: Vec<Vec<Piece>>,
}

/// Three bytes of a mark.
struct Piece {
    bytes: u32,
    /// Where in the mark they are.
    offset: usize,
    mark: &'static [u8],
    /// The mark's number.
    id: usize,
}

impl Marks {
    /// Marks are numbered in their order. None may be shorter than three bytes.
    pub(super) fn new(marks: &[&'static str]) -> Self {
        let mut this = Self { table: Box::new([NONE; 1 << BITS]), buckets: vec![Vec::new()] };
        for (id, mark) in marks.iter().map(|mark| mark.as_bytes()).enumerate() {
            let rarest =
                mark.windows(3).enumerate().min_by_key(|(_, piece)| piece.iter().map(|b| commonness(*b)).sum::<u32>());
            let Some((offset, piece)) = rarest else { continue };
            let bytes = u32::from_le_bytes([piece[0], piece[1], piece[2], 0]);
            let place = &mut this.table[hash(bytes)];
            if *place == NONE {
                // There are a few hundred marks.
                *place = this.buckets.len() as u16;
                this.buckets.push(Vec::new());
            }
            this.buckets[usize::from(*place)].push(Piece { bytes, offset, mark, id });
        }
        this
    }

    /// Calls `seen` with the number and the place of every mark in `text`, overlapping ones included, roughly in order.
    pub(super) fn each(&self, text: &[u8], mut seen: impl FnMut(usize, usize)) {
        // Eight bytes hold six pieces.
        const STEP: usize = 6;
        let mut at = 0;
        while let Some(window) = text.get(at..at + 8) {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(window);
            let word = u64::from_le_bytes(bytes);
            let piece = |i: usize| (word >> (8 * i)) as u32 & 0xff_ffff;
            let places: [u16; STEP] = std::array::from_fn(|i| self.table[hash(piece(i))]);
            if places.iter().fold(0, |all, place| all | place) != NONE {
                for (i, place) in places.into_iter().enumerate() {
                    self.check(text, at + i, piece(i), place, &mut seen);
                }
            }
            at += STEP;
        }
        for at in at..text.len().saturating_sub(2) {
            let piece = u32::from_le_bytes([text[at], text[at + 1], text[at + 2], 0]);
            self.check(text, at, piece, self.table[hash(piece)], &mut seen);
        }
    }

    /// The marks whose piece is at `at`.
    fn check(&self, text: &[u8], at: usize, bytes: u32, place: u16, seen: &mut impl FnMut(usize, usize)) {
        if place == NONE {
            return;
        }
        for piece in &self.buckets[usize::from(place)] {
            if piece.bytes == bytes && at >= piece.offset && text[at - piece.offset..].starts_with(piece.mark) {
                seen(piece.id, at - piece.offset);
            }
        }
    }
}

fn hash(piece: u32) -> usize {
    (piece.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize
}

/// How common a byte is in what people, programs and models write, on a coarse scale.
fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' | b'e' | b't' | b'a' | b'o' | b'n' | b'i' | b's' | b'r' => 6,
        b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'h' => 5,
        b'f' | b'g' | b'y' | b'w' | b'b' | b'v' | b'-' => 4,
        b'k' | b'x' | b'_' | b'/' | b'.' | b'"' | b'0' | b'1' => 3,
        b'j' | b'q' | b'z' | b':' | b'=' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_seen_wherever_they_are() {
        let marks = Marks::new(&["sk-", "sk-ant-", "password", "assw"]);
        for lead in 0..20 {
            let text = format!("{}sk-ant-password", ".".repeat(lead));
            let mut seen = Vec::new();
            marks.each(text.as_bytes(), |id, at| seen.push((id, at - lead)));
            seen.sort_unstable();
            assert_eq!(seen, [(0, 0), (1, 0), (2, 7), (3, 8)]);
        }
    }
}
