//! Finding a pattern by what a person or a rule calls it.

use super::Pattern;

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
