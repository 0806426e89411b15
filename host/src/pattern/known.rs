//! What is known of patterns besides findings: their anchors, and what was decided about them.

use serde::{Deserialize, Serialize};

use super::decision::Decision;
use crate::finding::Category;

/// What is known besides findings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// The oldest first.
    pub anchors: Vec<Anchor>,
    /// Those in force, in the order in which they were taken.
    pub decisions: Vec<Decision>,
}

/// By what a pattern that something refers to (a rule, a decision, a model's answer) is found again: the group of findings
/// that has this key, or for words the cluster that they fall into.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Anchor {
    /// The pattern's id when it was first referred to, and from then on.
    pub id: String,
    /// The kind of its findings; `correction` for the words of people, `split` for what a decision took out of a pattern.
    pub kind: String,
    /// The project it is bound to.
    pub project: Option<String>,
    /// The subject in its normal form; for words, the tokens of the oldest finding.
    pub key: String,
    /// What it is about, for a person.
    pub subject: String,
    /// The sort of friction.
    pub category: Category,
}
