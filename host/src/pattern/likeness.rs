//! How alike two texts of a model are: subject and description of a finding, or of an anchor.
//!
//! What is compared are content tokens, as of people's words: they tell what is wanted from what is rejected, so that
//! opposites, which have all their words in common, are not alike. Measures of characters find as little where they may not
//! put together what is only near (`docs/patterns.md`).

use std::collections::HashMap;

use super::words::Words;

/// Likeness from which two findings of a model are taken for the same friction without being asked.
pub const ALIKE: f64 = 0.61;

/// What two clusters must be alike on average to become one.
pub(super) const ALIKE_ON_AVERAGE: f64 = 0.5;

/// Tokens of the parties that every description names, and of what they always do, as [`Words`] gives them; ascending.
const PARTIES: &[&str] = &[
    "agent",
    "although",
    "ask",
    "assistant",
    "demand",
    "demande",
    "point",
    "said",
    "told",
    "user",
    "utilisateur",
    "want",
    "アシスタント",
    "エージェント",
    "ユーザー",
    "代理",
    "助手",
    "用户",
    "要求",
];

/// Features as numbers.
#[derive(Debug, Default)]
pub(super) struct Vocabulary(HashMap<String, u32>);

/// What is compared of a text: ascending numbers, without duplicates.
#[derive(Debug, Clone, Default)]
pub(super) struct Features(Vec<u32>);

impl Features {
    pub(super) fn all(&self) -> &[u32] {
        &self.0
    }
}

impl Vocabulary {
    /// Numbers given so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn features(&mut self, subject: &str, detail: &str) -> Features {
        let words = Words::of(&format!("{subject}. {detail}"));
        let mut all: Vec<u32> = Vec::with_capacity(words.tokens().len());
        for token in words.tokens() {
            if PARTIES.binary_search(&token.trim_start_matches(super::words::REJECTED)).is_err() {
                let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
                all.push(*self.0.entry(token.clone()).or_insert(next));
            }
        }
        all.sort_unstable();
        Features(all)
    }
}

/// Dice's measure: 0 (nothing in common, or nothing at all) to 1 (the same).
pub(super) fn likeness(a: &Features, b: &Features) -> f64 {
    let (a, b) = (&a.0, &b.0);
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
    if common == 0 { 0.0 } else { 2.0 * common as f64 / (a.len() + b.len()) as f64 }
}

/// How alike two pairs of subject and description are, 0 to 1.
pub fn alikeness(a: (&str, &str), b: (&str, &str)) -> f64 {
    let mut vocabulary = Vocabulary::default();
    likeness(&vocabulary.features(a.0, a.1), &vocabulary.features(b.0, b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        assert!(PARTIES.is_sorted());
    }

    #[test]
    fn opposites_are_not_alike() {
        let tabs = ("Used tabs instead of spaces", "The agent indented with tabs instead of spaces.");
        let spaces = ("Used spaces instead of tabs", "The agent indented with spaces instead of tabs.");
        assert!(alikeness(tabs, spaces) < ALIKE);
        assert_eq!(alikeness(tabs, tabs), 1.0);
        assert_eq!(alikeness(("", ""), ("", "")), 0.0);
    }

    /// What `docs/patterns.md` says of the pairs that nobody looked at while choosing.
    #[test]
    fn labelled_pairs_that_are_put_together_are_the_same() {
        let (mut right, mut wrong, mut chinese) = (0, 0, 0);
        for line in include_str!("pairs.tsv").lines().filter(|line| line.starts_with("held\t")) {
            let [_, language, label, subject, detail, other, also] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            match (label == "same", alikeness((subject, detail), (other, also)) >= ALIKE) {
                (true, true) => right += 1,
                (false, true) => wrong += 1,
                _ => {}
            }
            chinese += usize::from(language == "zh");
        }
        assert!(wrong == 0 && right >= 2 && chinese >= 50, "right {right}, wrong {wrong}, Chinese {chinese}");
    }
}
