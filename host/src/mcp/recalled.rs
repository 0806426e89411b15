//! Which memories answer a question, and in which order.

use std::collections::BTreeSet;

use totalrecall_retrieval::tokens::{Stems, terms};

use crate::memory::{Category, Importance, Memory};

/// What is asked for.
#[derive(Debug, Default)]
pub(super) struct Wanted<'a> {
    /// Words of which any may be there; none: all memories.
    pub(super) words: &'a str,
    pub(super) category: Option<Category>,
    /// So much or more.
    pub(super) importance: Option<Importance>,
    pub(super) tag: Option<&'a str>,
    /// Those that hold no more, too.
    pub(super) outdated: bool,
}

/// Those that are asked for, of all of them: with words those that hold most of them, then those that matter most, then the
/// newest.
pub(super) fn recall(memories: Vec<Memory>, wanted: &Wanted<'_>, now: i64) -> Vec<Memory> {
    let asked = terms_of(wanted.words);
    let mut found: Vec<(usize, Memory)> = memories
        .into_iter()
        .filter(|memory| wanted.category.is_none_or(|category| memory.category == category))
        .filter(|memory| wanted.importance.is_none_or(|importance| memory.importance >= importance))
        .filter(|memory| wanted.tag.is_none_or(|tag| memory.tags.iter().any(|it| it.eq_ignore_ascii_case(tag))))
        .filter(|memory| wanted.outdated || memory.holds(now))
        .filter_map(|memory| {
            let said = terms_of(&format!("{} {} {}", memory.id, memory.content, memory.tags.join(" ")));
            let matched = asked.intersection(&said).count();
            (matched > 0 || asked.is_empty()).then_some((matched, memory))
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| {
        let newer = other.created_at.cmp(&one.created_at).then(other.row.cmp(&one.row));
        b.cmp(a).then(other.importance.cmp(&one.importance)).then(newer)
    });
    found.into_iter().map(|(_, memory)| memory).collect()
}

fn terms_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    terms(text, &mut Stems::default(), |term| {
        found.insert(term.to_owned());
    });
    found
}
