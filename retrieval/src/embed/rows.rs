//! The table: a row of numbers for each piece, as whole numbers and what to multiply them by.

use serde::{Deserialize, Serialize};

/// How exactly the numbers of a row are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bits {
    /// Sixteen steps, two numbers a byte, the first in its lower half: half the size, and hardly less exact where the dimensions
    /// are about equally important.
    #[serde(rename = "4")]
    Four,
    /// -127 to 127, a byte each.
    #[serde(rename = "8")]
    Eight,
}

impl Bits {
    /// The length of a row.
    pub(super) fn bytes(self, dims: usize) -> usize {
        match self {
            Self::Four => dims.div_ceil(2),
            Self::Eight => dims,
        }
    }

    /// The largest number.
    fn most(self) -> f32 {
        match self {
            Self::Four => 7.0,
            Self::Eight => 127.0,
        }
    }
}

/// The rows of a part.
pub(super) struct Table<'a> {
    pub(super) dims: usize,
    pub(super) bits: Bits,
    /// For each row: by what its numbers are multiplied. The weight of the piece is in it.
    pub(super) scales: &'a [[u8; 4]],
    pub(super) rows: &'a [u8],
}

impl Table<'_> {
    /// Adds a piece's row; nothing, if it has none.
    pub(super) fn add(&self, piece: u32, sum: &mut [f32]) {
        let piece = piece as usize;
        let Some(scale) = self.scales.get(piece) else { return };
        let scale = f32::from_le_bytes(*scale);
        let width = self.bits.bytes(self.dims);
        let row = &self.rows[piece * width..][..width];
        match self.bits {
            Bits::Eight => {
                for (sum, number) in sum.iter_mut().zip(row) {
                    *sum += f32::from(number.cast_signed()) * scale;
                }
            }
            Bits::Four => {
                for (pair, numbers) in sum.chunks_mut(2).zip(row) {
                    for (sum, number) in pair.iter_mut().zip([numbers & 15, numbers >> 4]) {
                        *sum += (f32::from(number) - 8.0) * scale;
                    }
                }
            }
        }
    }
}

/// A row as it is kept, and its scale.
pub(super) fn quantise(row: &[f32], bits: Bits) -> (Vec<u8>, f32) {
    let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    // With few steps it is better to cut off the largest numbers than to be rough with all others.
    let tried: &[f32] = if bits == Bits::Four { &[1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6] } else { &[1.0] };
    let whole = |x: f32, scale: f32| (x / scale).round().clamp(-bits.most(), bits.most());
    let error = |scale: f32| row.iter().map(|x| (x - whole(*x, scale) * scale).powi(2)).sum::<f32>();
    let scales = tried.iter().map(|part| largest * part / bits.most());
    let scale = scales.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(largest);
    let numbers = row.iter().map(|x| whole(*x, scale) as i8);
    let bytes = match bits {
        Bits::Eight => numbers.map(i8::cast_unsigned).collect(),
        Bits::Four => {
            let halves: Vec<u8> = numbers.map(|x| (x + 8).cast_unsigned()).collect();
            halves.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(8, |second| *second) << 4).collect()
        }
    };
    (bytes, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(row: &[f32], bits: Bits) -> Vec<f32> {
        let (rows, scale) = quantise(row, bits);
        let mut sum = vec![0.0; row.len()];
        let scales = [scale.to_le_bytes()];
        let table = Table { dims: row.len(), bits, scales: &scales, rows: &rows };
        table.add(0, &mut sum);
        table.add(1, &mut sum);
        sum
    }

    #[test]
    fn rows_come_back_nearly_as_they_were() {
        let row: Vec<f32> = (0..255).map(|i| (i as f32 * 0.7).sin()).collect();
        for (bits, error) in [(Bits::Four, 0.08), (Bits::Eight, 0.005)] {
            let worst = row.iter().zip(back(&row, bits)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < error, "{worst}");
        }
    }

    #[test]
    fn one_large_number_does_not_drown_the_others() {
        let row = [[7.0].as_slice(), &[0.45; 40]].concat();
        assert!(back(&row, Bits::Four)[1..].iter().all(|x| *x > 0.3));
    }
}
