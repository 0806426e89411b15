//! The two loops in which a search spends its time. They are written plainly; the compiler makes vector code of them where it is
//! told that the processor has it.

use std::sync::LazyLock;

/// Whether the functions below that want more than the least processor may be called.
static FAST: LazyLock<bool> = LazyLock::new(fast);

#[cfg(target_arch = "x86_64")]
fn fast() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
}

#[cfg(not(target_arch = "x86_64"))]
fn fast() -> bool {
    false
}

/// Calls `visit` with each row and in how many bits its sketch differs from the query's. `sketches` are rows of as many
/// little-endian words as the query has.
pub(super) fn scan(sketches: &[u8], query: &[u64], visit: impl FnMut(usize, u32)) {
    match query {
        // Loops of a known length for the sizes that models have.
        [a, b, c, d] => scan_words(sketches, &[*a, *b, *c, *d], visit),
        [a, b, c, d, e, f, g, h] => scan_words(sketches, &[*a, *b, *c, *d, *e, *f, *g, *h], visit),
        _ => scan_some(sketches, query, |_| true, visit),
    }
}

/// The same for the rows of which `admits` is true.
pub(super) fn scan_some(
    sketches: &[u8],
    query: &[u64],
    mut admits: impl FnMut(usize) -> bool,
    mut visit: impl FnMut(usize, u32),
) {
    for (row, sketch) in sketches.chunks_exact(query.len() * 8).enumerate() {
        if admits(row) {
            let words = sketch.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            visit(row, words.zip(query).map(|(word, query)| (word ^ query).count_ones()).sum());
        }
    }
}

fn scan_words<const WORDS: usize>(sketches: &[u8], query: &[u64; WORDS], visit: impl FnMut(usize, u32)) {
    #[cfg(target_arch = "x86_64")]
    if *FAST {
        // SAFETY: the processor has what the function wants.
        return unsafe { scan_words_x86(sketches, query, visit) };
    }
    scan_words_plain(sketches, query, visit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn scan_words_x86<const WORDS: usize>(sketches: &[u8], query: &[u64; WORDS], visit: impl FnMut(usize, u32)) {
    scan_words_plain(sketches, query, visit);
}

#[inline(always)]
fn scan_words_plain<const WORDS: usize>(sketches: &[u8], query: &[u64; WORDS], mut visit: impl FnMut(usize, u32)) {
    for (row, sketch) in sketches.as_chunks::<8>().0.as_chunks::<WORDS>().0.iter().enumerate() {
        let mut distance = 0;
        for word in 0..WORDS {
            distance += (u64::from_le_bytes(sketch[word]) ^ query[word]).count_ones();
        }
        visit(row, distance);
    }
}

/// The product of two vectors of signed bytes. It does not overflow below 130,000 dimensions.
pub(super) fn dot(a: &[u8], b: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if *FAST {
        // SAFETY: the processor has what the function wants.
        return unsafe { dot_x86(a, b) };
    }
    dot_plain(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn dot_x86(a: &[u8], b: &[u8]) -> i32 {
    dot_plain(a, b)
}

#[inline(always)]
fn dot_plain(a: &[u8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_and_the_plain_ones_agree() {
        let mut random = fastrand::Rng::with_seed(1);
        for words in [1, 3, 4, 8] {
            let sketches: Vec<u8> = (0..words * 8 * 50).map(|_| random.u8(..)).collect();
            let query: Vec<u64> = (0..words).map(|_| random.u64(..)).collect();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            scan(&sketches, &query, |row, distance| one.push((row, distance)));
            scan_some(&sketches, &query, |_| true, |row, distance| other.push((row, distance)));
            assert_eq!(one, other);
            assert_eq!(one.len(), 50);
            assert_eq!(dot(&sketches, &sketches), dot_plain(&sketches, &sketches));
        }
        assert_eq!(dot(&[127, 129], &[129, 129]), -127 * 127 + 127 * 127);
    }
}
