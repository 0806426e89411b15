//! Components as bytes: those that TotalRecall comes with, and those that a person adds.

use std::{borrow::Cow, fmt};

use sha2::{Digest as _, Sha256};

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// SHA-256 of a component: what grants and produced rows are tied to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ComponentHash([u8; 32]);

impl fmt::Display for ComponentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ComponentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A component that has not been looked into yet.
#[derive(Clone)]
pub struct Guest {
    name: String,
    hash: ComponentHash,
    bytes: Cow<'static, [u8]>,
}

impl Guest {
    /// A component from elsewhere. `name` is what messages call it: its file name, say.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let hash = ComponentHash(Sha256::digest(&bytes).into());
        Self { name: name.into(), hash, bytes: bytes.into() }
    }

    /// The adapters that TotalRecall comes with.
    pub fn builtin_adapters() -> impl Iterator<Item = Self> {
        ADAPTERS.iter().map(Self::builtin)
    }

    /// The analyzer that TotalRecall comes with.
    pub fn builtin_analyzer() -> Self {
        Self::builtin(&ANALYZER)
    }

    fn builtin(builtin: &Builtin) -> Self {
        Self { name: builtin.name.to_owned(), hash: ComponentHash(builtin.hash), bytes: builtin.bytes.into() }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the bytes.
    pub fn hash(&self) -> ComponentHash {
        self.hash
    }

    /// The component itself.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// An entry of the table that `build.rs` writes; the hash is computed there once.
struct Builtin {
    name: &'static str,
    hash: [u8; 32],
    bytes: &'static [u8],
}
