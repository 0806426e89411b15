//! Which memories are given to who asks, and in which order: without words those that matter most, then the newest; with words
//! those that have most of them. Nothing is left out without saying so.

use std::cell::LazyCell;

use serde::Serialize;

use super::{
    Category, Importance, Memory,
    terms::{fold, stem, stems, terms},
};
use crate::project::Project;

/// What is asked for. Everything that is asked for must hold.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// In whatever order, case and with or without accents; a memory that has any of them is found. Empty: all are.
    pub words: &'a str,
    /// Only of this sort.
    pub category: Option<Category>,
    /// Only what matters this much or more.
    pub importance: Option<Importance>,
    /// Only what holds in this project or everywhere.
    pub project: Option<&'a Project>,
    /// Only with this tag.
    pub tag: Option<&'a str>,
    /// What does not hold any more, too: superseded, expired, done.
    pub all: bool,
    /// Most that are given.
    pub limit: usize,
}

impl Default for Wanted<'_> {
    /// All that hold, ten of them.
    fn default() -> Self {
        Self { words: "", category: None, importance: None, project: None, tag: None, all: false, limit: 10 }
    }
}

/// Why a memory does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Another one took its place.
    Superseded,
    /// Its time is over.
    Expired,
    /// It is done.
    Done,
}

impl Ended {
    /// Why a memory does not hold; none: it does.
    pub fn of(memory: &Memory, now: i64) -> Option<Self> {
        if memory.superseded_at.is_some() {
            Some(Self::Superseded)
        } else if memory.done_at.is_some() {
            Some(Self::Done)
        } else {
            memory.expires_at.is_some_and(|end| end <= now).then_some(Self::Expired)
        }
    }
}

/// A memory that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// It.
    #[serde(flatten)]
    pub memory: Memory,
    /// Which part of the words it has, 0 to 1; none: no words were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<f64>,
    /// Why it does not hold any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Files it names that are not there any more: it is possibly outdated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recalled {
    /// The first ones, in their order.
    pub memories: Vec<Hit>,
    /// All that were found.
    pub total: usize,
    /// Of these the critical ones that are not among the first.
    pub critical_left_out: usize,
    /// Those that would have been found, had they not ended.
    pub ended: usize,
}

impl Recalled {
    /// Whether there are more than are given, in words, with what to ask for to have all. None: there are not.
    pub fn cut(&self, ask: &str) -> Option<String> {
        let shown = self.memories.len();
        if shown == self.total {
            return None;
        }
        let critical = match self.critical_left_out {
            0 => String::new(),
            count => format!(", of which {count} critical {} not shown", if count == 1 { "is" } else { "are" }),
        };
        Some(format!("showing {shown} of {}{critical}: use {ask} {}", self.total, self.total))
    }
}

/// The memories that are asked for. `missing` gives the files that a memory names and that are gone; it is asked about those
/// that are given only.
pub fn recall(
    memories: impl IntoIterator<Item = Memory>,
    wanted: &Wanted<'_>,
    now: i64,
    missing: impl Fn(&Memory) -> Vec<String>,
) -> Recalled {
    let asked: Vec<(String, String)> = terms(wanted.words).into_iter().map(|word| (stem(&word), word)).collect();
    let name = wanted.words.trim();
    let mut recalled = Recalled::default();
    let mut found = Vec::new();
    for memory in memories {
        if !is_about(&memory, wanted) {
            continue;
        }
        let matched = match asked.len() {
            0 => None,
            count => Some(matched(&memory, &asked, name) / count as f64),
        };
        if matched == Some(0.0) {
            continue;
        }
        let ended = Ended::of(&memory, now);
        if ended.is_some() && !wanted.all {
            recalled.ended += 1;
            continue;
        }
        found.push(Hit { memory, matched, ended, missing: Vec::new() });
    }
    found.sort_by(|a, b| {
        let share = |hit: &Hit| hit.matched.unwrap_or(0.0);
        // What holds comes before what does not.
        (a.ended.is_some().cmp(&b.ended.is_some()))
            .then(share(b).total_cmp(&share(a)))
            .then(b.memory.importance.cmp(&a.memory.importance))
            .then(b.memory.created_at.cmp(&a.memory.created_at))
            .then(b.memory.row.cmp(&a.memory.row))
    });
    recalled.total = found.len();
    let left_out = found.iter().skip(wanted.limit);
    recalled.critical_left_out = left_out.filter(|hit| hit.memory.importance == Importance::Critical).count();
    found.truncate(wanted.limit);
    for hit in &mut found {
        hit.missing = missing(&hit.memory);
    }
    recalled.memories = found;
    recalled
}

fn is_about(memory: &Memory, wanted: &Wanted<'_>) -> bool {
    let holds_in = |project: &Project| match &memory.project {
        None => true,
        Some(folder) => is_of(folder, project),
    };
    wanted.category.is_none_or(|category| memory.category == category)
        && wanted.importance.is_none_or(|least| memory.importance >= least)
        && wanted.project.is_none_or(holds_in)
        && wanted.tag.is_none_or(|tag| memory.tags.iter().any(|it| fold(it) == fold(tag)))
}

/// Is what is filed under a folder, or under a name, of this project?
pub(crate) fn is_of(filed: &str, project: &Project) -> bool {
    filed == project.path || project.folders.contains(filed) || project.name() == Some(filed)
}

/// How many of the terms a memory has, in its text or in what it is marked with: as a part of a word, or with another ending.
/// One that is called by its name has all.
fn matched(memory: &Memory, asked: &[(String, String)], name: &str) -> f64 {
    if memory.id == name {
        return asked.len() as f64;
    }
    let (text, said) = (searched(memory), LazyCell::new(|| stems(&searched(memory))));
    asked.iter().filter(|(stem, word)| text.contains(word.as_str()) || said.contains(stem)).count() as f64
}

/// What words are looked for in, folded.
pub(crate) fn searched(memory: &Memory) -> String {
    let mut text = memory.content.clone();
    for mark in memory.tags.iter().chain(&memory.domain).chain(&memory.ticket) {
        text.push('\n');
        text.push_str(mark);
    }
    fold(&text)
}

#[cfg(test)]
mod tests;
