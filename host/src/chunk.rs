//! Chunks: parts of conversations that are saved on purpose.

mod entity;

pub(crate) use entity::{entities, files};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    memory::{MemoryError, tags, word},
    redact::{Counts, Redactor},
    store::{Store, StoreError},
};

/// What sort of text it is. The predecessor's list (RLM 0.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// What a session did.
    #[default]
    Session,
    /// A conversation as it was at some point, saved before it was compacted.
    Snapshot,
    /// How something was tracked down.
    Debug,
}

impl Sort {
    /// As it is written in JSON, in the database and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Snapshot => "snapshot",
            Self::Debug => "debug",
        }
    }

    /// The sort of a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Session, Self::Snapshot, Self::Debug].into_iter().find(|sort| sort.name() == name)
    }
}

/// A text to be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewChunk {
    /// The text.
    pub content: String,
    /// One line about it.
    pub summary: String,
    /// What sort of text it is.
    pub sort: Sort,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Folder or name of the project.
    pub project: Option<String>,
    /// Native id of the session.
    pub session: Option<String>,
    /// Field of the project it is about.
    pub domain: Option<String>,
    /// Issue it belongs to.
    pub ticket: Option<String>,
    /// When it was saved, where that is not now: an import.
    pub created_at: Option<i64>,
    /// The program it is imported from, and its name there.
    pub origin: Option<String>,
}

/// A chunk without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// Its row.
    #[serde(skip)]
    pub row: i64,
    /// What it is called: date, project, number, and ticket and domain where there are any.
    pub id: String,
    /// What sort of text it is.
    pub kind: Sort,
    /// One line about it.
    pub summary: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Estimate: a token for every four characters.
    pub tokens: u64,
    /// Folder or name of the project.
    pub project: Option<String>,
    /// Native id of the session.
    pub session: Option<String>,
    /// Field of the project it is about.
    pub domain: Option<String>,
    /// Issue it belongs to.
    pub ticket: Option<String>,
    /// When it was saved, in milliseconds since the Unix epoch.
    pub created_at: i64,
    /// It was put away: its text is compressed, and in no index.
    pub archived: bool,
}

/// Longest text of a chunk, in bytes.
pub const CONTENT_LIMIT: usize = 2 << 20;
/// Longest summary, in bytes; what is longer is cut.
pub const SUMMARY_LIMIT: usize = 400;

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// The chunk, or the one that has the same text.
    pub chunk: Chunk,
    /// It was saved before.
    pub known: bool,
    /// Secrets that were taken out before it was stored.
    pub redacted: u64,
}

/// Why a text cannot be saved.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// There is nothing to save.
    #[error("there is nothing to save: the content is empty")]
    Empty,
    /// It is too long.
    #[error("a chunk has at most {CONTENT_LIMIT} bytes, and this one has {0}: save it in parts")]
    Long(usize),
    /// A tag, domain or ticket is none.
    #[error(transparent)]
    Word(#[from] MemoryError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a chunk is stored with besides what was given.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// As given; redacted, its words checked.
    pub new: NewChunk,
    /// Of the text in lower case with single blanks: tells duplicates.
    pub hash: String,
    /// Estimate.
    pub tokens: u64,
    /// Files, versions, modules, tickets and functions that it names.
    pub entities: Vec<String>,
}

/// Saves a text.
///
/// # Errors
/// See [`ChunkError`]; nothing is stored then.
pub fn save(store: &mut Store, redactor: &Redactor, new: NewChunk, now: i64) -> Result<Saved, ChunkError> {
    let (prepared, redacted) = prepare(redactor, new)?;
    let (chunk, known) = store.add_chunk(&prepared, now)?;
    Ok(Saved { chunk, known, redacted })
}

/// Makes a text fit to be stored, and tells how many secrets were taken out of it.
///
/// # Errors
/// `Empty`, `Long`, `Word`.
pub fn prepare(redactor: &Redactor, new: NewChunk) -> Result<(Prepared, u64), ChunkError> {
    let mut new = new;
    if new.content.len() > CONTENT_LIMIT {
        return Err(ChunkError::Long(new.content.len()));
    }
    let mut counts = Counts::default();
    new.content = redactor.kept(&new.content, &mut counts);
    if new.content.trim().is_empty() {
        return Err(ChunkError::Empty);
    }
    let summary = if new.summary.trim().is_empty() { first_line(&new.content) } else { new.summary.trim() };
    let summary = redactor.kept(summary, &mut counts).replace(char::is_control, " ");
    new.summary = summary[..summary.floor_char_boundary(SUMMARY_LIMIT)].to_owned();
    new.tags = tags(&redactor.kept(&new.tags.join(","), &mut counts))?;
    for (what, given) in [("domain", &mut new.domain), ("ticket", &mut new.ticket)] {
        *given = word(&redactor.kept(given.as_deref().unwrap_or_default(), &mut counts), what)?;
    }
    let (hash, tokens) = (hash(&new.content), tokens(&new.content));
    let entities = entities(&new.content);
    Ok((Prepared { new, hash, tokens, entities }, counts.total()))
}

/// Tokens of a text, roughly: one for every four characters, which is what English has; Chinese has more.
pub fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

fn first_line(text: &str) -> &str {
    text.lines()
        .map(|line| line.trim_start_matches(['#', ' ', '-', '*']).trim())
        .find(|line| !line.is_empty())
        .unwrap_or("")
}

pub(crate) fn hash(text: &str) -> String {
    let plain = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    Sha256::digest(plain).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The part of a chunk's name that tells the project: letters, digits and `-` only, so that the name is safe wherever it is
/// written.
pub fn slug(text: &str) -> String {
    let name = text.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("");
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.trim_end_matches('-').chars().take(40).collect();
    if slug.is_empty() { "none".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_safe_wherever_it_is_written() {
        for (text, expected) in [
            ("/home/dev/Ledger", "ledger"),
            ("../../../etc/passwd", "passwd"),
            ("my project\n---", "my-project"),
            ("..", "none"),
            ("", "none"),
            ("价格表", "价格表"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn the_same_words_have_the_same_hash() {
        assert_eq!(hash("Fix  the\nTest "), hash("fix the test"));
        assert_ne!(hash("fix the test"), hash("fix the tests"));
    }
}
