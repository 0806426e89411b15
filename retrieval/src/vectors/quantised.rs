//! A vector as it is stored.

/// A direction, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantised {
    /// The numbers, scaled so that the largest is ±127.
    pub(super) bytes: Vec<u8>,
    /// What makes the bytes a vector of length 1. It is the length of what was rounded, not of what was given: so the product of
    /// two is a true cosine.
    pub(super) scale: f32,
    /// The signs: number `i` is bit `i % 64` of word `i / 64`, set if it is not negative.
    pub(super) sketch: Vec<u64>,
}

impl Quantised {
    /// None: it points nowhere, as it is all zeros, empty, or not all numbers.
    pub(super) fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        // `max` passes over NaN.
        if !(largest.is_normal() && vector.iter().all(|x| x.is_finite())) {
            return None;
        }
        let bytes: Vec<i8> = vector.iter().map(|x| (x / largest * 127.0).round() as i8).collect();
        let square: i64 = bytes.iter().map(|x| i64::from(*x).pow(2)).sum();
        let mut sketch = vec![0_u64; vector.len().div_ceil(64)];
        for (i, x) in vector.iter().enumerate() {
            sketch[i / 64] |= u64::from(*x >= 0.0) << (i % 64);
        }
        let bytes = bytes.into_iter().map(i8::cast_unsigned).collect();
        Some(Self { bytes, scale: 1.0 / (square as f32).sqrt(), sketch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_points_where_the_vector_did() {
        let stored = Quantised::of(&[3.0, -4.0, 0.0]).unwrap();
        let back: Vec<f32> = stored.bytes.iter().map(|x| f32::from(x.cast_signed()) * stored.scale).collect();
        assert!((back[0] - 0.6).abs() < 0.005 && (back[1] + 0.8).abs() < 0.005 && back[2] == 0.0, "{back:?}");
        assert_eq!(stored.sketch, [0b101]);
    }

    #[test]
    fn nowhere_is_no_direction() {
        assert_eq!(Quantised::of(&[]), None);
        assert_eq!(Quantised::of(&[0.0, -0.0]), None);
        assert_eq!(Quantised::of(&[1.0, f32::NAN]), None);
        assert_eq!(Quantised::of(&[1.0, f32::INFINITY]), None);
    }
}
