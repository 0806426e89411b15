//! The formula, for texts that are not in an index.
//!
//! S. Robertson, H. Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), eq. 3.15, with the idf
//! that stays above 0 (`ln(1 + …)`); tantivy computes the same.

/// How fast more of the same word stops to count. The usual value, and tantivy's.
const K1: f32 = 1.2;

/// How much a long text has to say a word more often. The usual value, and tantivy's.
const B: f32 = 0.75;

/// What a word says that `df` of `documents` texts hold.
pub(super) fn idf(df: u64, documents: u64) -> f32 {
    let df = df.min(documents) as f32;
    (1.0 + (documents as f32 - df + 0.5) / (df + 0.5)).ln()
}

/// How much of its weight a word is given that a text of `length` terms holds `count` times: 0 to 2.2.
pub(super) fn saturation(count: u32, length: u32, mean_length: f32) -> f32 {
    let count = count as f32;
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length as f32 / mean_length.max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_in_short_texts_count_most() {
        assert!(idf(1, 100) > idf(50, 100) && idf(100, 100) > 0.0 && idf(7, 0) > 0.0);
        assert!(saturation(1, 10, 20.0) > saturation(1, 40, 20.0));
        assert!(saturation(2, 20, 20.0) > saturation(1, 20, 20.0) && saturation(1000, 20, 20.0) < 2.2);
        assert!((saturation(1, 20, 20.0) - 1.0).abs() < 1e-6);
    }
}
