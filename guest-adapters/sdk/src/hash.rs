//! Stable 64-bit hashes, and a compact set of them.
//!
//! Keys and duplicate checks outlive a run (they end up in checkpoints and in the host's store), so the hash must never
//! depend on a process: XXH3 with its default secret, on every platform.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// XXH3-64 of the bytes.
pub fn hash64(bytes: impl AsRef<[u8]>) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes.as_ref())
}

/// A set of [`hash64`] values that serialises to eight bytes each: 100,000 ids make a checkpoint of 800 kB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hashes(HashSet<u64, BuildHasherDefault<Unhashed>>);

impl Hashes {
    /// Adds a hash; false when it was there already.
    pub fn insert(&mut self, hash: u64) -> bool {
        self.0.insert(hash)
    }

    /// Is the hash in the set?
    pub fn contains(&self, hash: u64) -> bool {
        self.0.contains(&hash)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The members are hashes already.
#[derive(Debug, Clone, Default)]
struct Unhashed(u64);

impl Hasher for Unhashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash64(bytes);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl Serialize for Hashes {
    /// Sorted, so that equal sets give equal checkpoints.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        let bytes: Vec<u8> = sorted.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Hashes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Hashes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("eight bytes for each hash")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Hashes, E> {
                let (whole, rest) = bytes.as_chunks::<8>();
                if !rest.is_empty() {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                Ok(Hashes(whole.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Hashes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                self.visit_bytes(&bytes)
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_survive_a_checkpoint() {
        let mut hashes = Hashes::default();
        assert!(hashes.insert(hash64("a")) && hashes.insert(hash64("b")) && !hashes.insert(hash64("a")));
        let bytes = postcard::to_allocvec(&hashes).unwrap();
        assert_eq!(bytes.len(), 1 + 16);
        assert_eq!(postcard::from_bytes::<Hashes>(&bytes).unwrap(), hashes);
    }
}
