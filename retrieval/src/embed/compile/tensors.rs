//! `model.safetensors`: the rows, what to multiply them by (`weights`), and which piece has which row (`mapping`). The last two may be
//! missing.

use std::path::Path;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::CompileError;

/// The rows as floats.
pub(super) struct Rows {
    pub(super) dims: usize,
    /// One after the other, and a row for each piece.
    numbers: Vec<f32>,
}

impl Rows {
    /// None: the piece has none.
    pub(super) fn row(&self, piece: usize) -> Option<&[f32]> {
        self.numbers.chunks_exact(self.dims).nth(piece)
    }
}

pub(super) fn read(file: &Path) -> Result<Rows, CompileError> {
    let malformed = |why: &dyn ToString| CompileError::Malformed(file.to_owned(), why.to_string());
    let bytes = std::fs::read(file).map_err(|error| CompileError::Io(file.to_owned(), error))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| malformed(&error))?;
    let table = tensors.tensor("embeddings").map_err(|error| malformed(&error))?;
    let [_, dims] = *table.shape() else { return Err(malformed(&"`embeddings` is not a table")) };
    if dims == 0 {
        return Err(malformed(&"`embeddings` has no columns"));
    }
    let unsupported = |dtype| CompileError::Unsupported(file.to_owned(), format!("the type {dtype:?} of numbers"));
    let floats = |tensor: &TensorView<'_>| floats(tensor).ok_or_else(|| unsupported(tensor.dtype()));
    let table = floats(&table)?;
    if table.iter().any(|x| !x.is_finite()) {
        return Err(malformed(&"`embeddings` has values that are not numbers"));
    }
    let mapping = match tensors.tensor("mapping") {
        Ok(mapping) => integers(&mapping).ok_or_else(|| unsupported(mapping.dtype()))?,
        Err(_) => (0..table.len() / dims).collect(),
    };
    let weights = match tensors.tensor("weights") {
        Ok(weights) => floats(&weights)?,
        Err(_) => vec![1.0; mapping.len()],
    };
    if weights.len() != mapping.len() {
        return Err(malformed(&"there is not a weight for each piece"));
    }
    let mut numbers = Vec::with_capacity(mapping.len() * dims);
    for (row, weight) in mapping.into_iter().zip(weights) {
        let row =
            table.chunks_exact(dims).nth(row).ok_or_else(|| malformed(&"`mapping` names a row that is not there"))?;
        numbers.extend(row.iter().map(|x| x * weight));
    }
    Ok(Rows { dims, numbers })
}

/// None: not a type of numbers that models have.
fn floats(tensor: &TensorView<'_>) -> Option<Vec<f32>> {
    let bytes = tensor.data();
    Some(match tensor.dtype() {
        Dtype::F64 => bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x) as f32).collect(),
        Dtype::F32 => bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect(),
        Dtype::F16 => bytes.as_chunks().0.iter().map(|x| half(u16::from_le_bytes(*x))).collect(),
        Dtype::BF16 => {
            bytes.as_chunks().0.iter().map(|x| f32::from_bits(u32::from(u16::from_le_bytes(*x)) << 16)).collect()
        }
        Dtype::I8 => bytes.iter().map(|x| f32::from(x.cast_signed())).collect(),
        _ => return None,
    })
}

fn integers(tensor: &TensorView<'_>) -> Option<Vec<usize>> {
    let bytes = tensor.data();
    Some(match tensor.dtype() {
        // A negative one becomes a row that is not there.
        Dtype::I64 => bytes.as_chunks().0.iter().map(|x| i64::from_le_bytes(*x) as usize).collect(),
        Dtype::I32 => bytes.as_chunks().0.iter().map(|x| i32::from_le_bytes(*x) as usize).collect(),
        _ => return None,
    })
}

/// The number of half precision (IEEE 754, binary16) with these bits.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, f32::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2.0_f32.powi(-14),
        31 if bits & 1023 != 0 => f32::NAN,
        31 => f32::INFINITY,
        exponent => (1.0 + fraction) * 2.0_f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_the_standard_says() {
        for (bits, x) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (0x0001, 5.960_464_5e-8), (0x7bff, 65_504.0)]
        {
            assert_eq!(half(bits), x);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
