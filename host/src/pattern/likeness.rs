//! How alike two texts of a model are: subject and description of a finding, or of an anchor.

use std::collections::HashMap;

/// Likeness from which two findings of a model are taken for the same friction (`docs/patterns.md` tells how it was chosen).
pub const ALIKE: f64 = 0.5;

/// What two clusters must be alike on average to become one.
pub const ALIKE_ON_AVERAGE: f64 = 0.45;

/// Features as numbers.
#[derive(Debug, Default)]
pub struct Vocabulary(HashMap<String, u32>);

/// What is compared of a text: ascending numbers of features.
#[derive(Debug, Clone, Default)]
pub struct Features {
    all: Vec<u32>,
}

impl Features {
    /// Ascending, without duplicates.
    pub fn all(&self) -> &[u32] {
        &self.all
    }
}

impl Vocabulary {
    /// Numbers given so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The features of a text, given its subject and description in their normal forms.
    pub fn features(&mut self, subject: &str, detail: &str) -> Features {
        let text = format!("{subject} {detail}");
        let chars: Vec<char> = text.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
        let mut all: Vec<u32> = chars
            .windows(2)
            .map(|pair| {
                let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
                *self.0.entry(pair.iter().collect()).or_insert(next)
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        Features { all }
    }
}

/// 0 (nothing in common) to 1 (the same).
pub fn likeness(a: &Features, b: &Features) -> f64 {
    let (a, b) = (&a.all, &b.all);
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    if a.is_empty() || b.is_empty() { 0.0 } else { 2.0 * common as f64 / (a.len() + b.len()) as f64 }
}
