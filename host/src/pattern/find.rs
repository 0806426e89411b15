//! Finding a pattern by what a person or a rule calls it.

use super::{Pattern, fold};

/// Ids that are listed where several fit.
const LISTED: usize = 5;

/// No pattern, or more than one, has this id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FindError {
    /// Nothing was found that has it.
    #[error("no pattern has the id {0:?}; `totalrecall patterns` lists them")]
    Unknown(String),
    /// It begins several ids.
    #[error("{id:?} begins the ids of {count} patterns, such as {}; give more of it", some.join(", "))]
    Ambiguous {
        /// What was looked for.
        id: String,
        /// Patterns that fit.
        count: usize,
        /// Ids of the first of them.
        some: Vec<String>,
    },
}

/// The pattern with this id, or that had it before (an alias), or whose id or alias alone begins with it.
///
/// # Errors
/// See [`FindError`].
pub fn find<'a>(patterns: &'a [Pattern], id: &str) -> Result<&'a Pattern, FindError> {
    let is = |pattern: &&Pattern| pattern.id == id || pattern.aliases.iter().any(|alias| alias == id);
    // An id goes before an alias: it is what is shown.
    if let Some(pattern) = patterns.iter().find(|pattern| pattern.id == id).or_else(|| patterns.iter().find(is)) {
        return Ok(pattern);
    }
    let begins = |pattern: &&Pattern| {
        !id.is_empty() && (pattern.id.starts_with(id) || pattern.aliases.iter().any(|alias| alias.starts_with(id)))
    };
    let fitting: Vec<&Pattern> = patterns.iter().filter(begins).collect();
    match fitting[..] {
        [] => Err(FindError::Unknown(id.to_owned())),
        [pattern] => Ok(pattern),
        _ => Err(FindError::Ambiguous {
            id: id.to_owned(),
            count: fitting.len(),
            some: fitting.iter().take(LISTED).map(|pattern| pattern.id.clone()).collect(),
        }),
    }
}

/// The patterns in which all words occur, in whatever case and with or without accents; strongest first.
pub fn about<'a>(patterns: &'a [Pattern], topic: &[String]) -> Vec<&'a Pattern> {
    let words: Vec<String> = topic.iter().flat_map(|it| it.split_whitespace()).map(fold).collect();
    let holds_all = |pattern: &&Pattern| {
        let texts = [pattern.name(), &pattern.subject, &pattern.description, &pattern.kind, &pattern.id];
        let hint = pattern.hint.as_deref().unwrap_or_default();
        let text = fold(
            &[&texts[..], &[hint], &pattern.aliases.iter().map(String::as_str).collect::<Vec<_>>()].concat().join("\n"),
        );
        words.iter().all(|word| text.contains(word.as_str()))
    };
    patterns.iter().filter(holds_all).collect()
}
