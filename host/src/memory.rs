//! Memories: statements that are kept on purpose. What one says holds in a project or everywhere, for some time or for good,
//! until another takes its place.

pub mod recall;
pub mod stale;
pub mod terms;

use serde::{Deserialize, Serialize};

use crate::{
    event::is_plausible,
    redact::{Counts, Redactor},
    store::{Store, StoreError},
};

/// What sort of statement it is. The predecessor's list (RLM 0.11), which it did not enforce.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// None of the others.
    #[default]
    General,
    /// Something was decided.
    Decision,
    /// Something is so.
    Fact,
    /// Somebody wants it so.
    Preference,
    /// Something was found out.
    Finding,
    /// Something is to be done.
    Todo,
}

/// How much it matters. Higher ones come first, before what is newer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Importance {
    /// 1.
    Low = 1,
    /// 2.
    #[default]
    Medium = 2,
    /// 3.
    High = 3,
    /// 4.
    Critical = 4,
}

/// Whose word it is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// A tool printed it: anybody may have written that.
    Tool = 0,
    /// The agent concluded it.
    #[default]
    Agent = 1,
    /// The person said it.
    Person = 2,
}

macro_rules! numbered {
    ($type:ident: $($value:ident),+) => {
        impl $type {
            /// The value of a number in the database.
            pub(crate) fn of(number: i64) -> Option<Self> {
                [$(Self::$value),+].into_iter().find(|it| *it as i64 == number)
            }
        }
    };
}
numbered!(Importance: Low, Medium, High, Critical);
numbered!(Trust: Tool, Agent, Person);

/// The words for a value, as they are written in JSON, in the database and on the command line.
macro_rules! named {
    ($type:ident: $($value:ident = $name:literal),+) => {
        impl $type {
            /// As it is written in JSON and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name),+ }
            }
            /// The value of a name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$value),)+ _ => None }
            }
        }
    };
}
named!(Category: General = "general", Decision = "decision", Fact = "fact", Preference = "preference",
    Finding = "finding", Todo = "todo");
named!(Importance: Low = "low", Medium = "medium", High = "high", Critical = "critical");
named!(Trust: Tool = "tool", Agent = "agent", Person = "person");

/// A statement to be remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewMemory {
    /// What is to be remembered.
    pub content: String,
    /// What sort of statement it is.
    pub category: Category,
    /// How much it matters.
    pub importance: Importance,
    /// Whose word it is.
    pub trust: Trust,
    /// How sure it is, 0 to 1; none: sure.
    pub confidence: Option<f64>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Folder of the project it holds in; none: everywhere.
    pub project: Option<String>,
    /// Native id of the session it was said in.
    pub session: Option<String>,
    /// Field of the project it is about.
    pub domain: Option<String>,
    /// Issue it belongs to.
    pub ticket: Option<String>,
    /// When it ends to hold, in milliseconds since the Unix epoch.
    pub expires_at: Option<i64>,
    /// Names of memories that it takes the place of.
    pub supersedes: Vec<String>,
    /// When it was said, where that is not now: an import.
    pub created_at: Option<i64>,
    /// The program it is imported from, and its name there.
    pub origin: Option<String>,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Its row.
    #[serde(skip)]
    pub row: i64,
    /// What it is called: eight hexadecimal digits.
    pub id: String,
    /// What is remembered.
    pub content: String,
    /// What sort of statement it is.
    pub category: Category,
    /// How much it matters.
    pub importance: Importance,
    /// Whose word it is.
    pub trust: Trust,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// Words to find it by, in their order.
    pub tags: Vec<String>,
    /// Folder of the project it holds in; none: everywhere.
    pub project: Option<String>,
    /// Native id of the session it was said in.
    pub session: Option<String>,
    /// Field of the project it is about.
    pub domain: Option<String>,
    /// Issue it belongs to.
    pub ticket: Option<String>,
    /// When it was said, in milliseconds since the Unix epoch.
    pub created_at: i64,
    /// When it ends to hold.
    pub expires_at: Option<i64>,
    /// A todo: when it was done.
    pub done_at: Option<i64>,
    /// The one that took its place. None, though superseded: that one was forgotten.
    pub superseded_by: Option<String>,
    /// When another took its place.
    pub superseded_at: Option<i64>,
}

impl Memory {
    /// Does it hold at a time? What was superseded, has expired or is done does not.
    pub fn holds(&self, now: i64) -> bool {
        self.superseded_at.is_none() && self.done_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }
}

/// Longest statement, in bytes; what is longer is a chunk.
pub const CONTENT_LIMIT: usize = 16 * 1024;
/// Most tags, and the longest, in bytes.
pub const TAGS: usize = 32;
/// See above.
pub const TAG_LIMIT: usize = 64;

/// Why something cannot be remembered.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// There is nothing to remember.
    #[error("there is nothing to remember: the content is empty")]
    Empty,
    /// It is too long.
    #[error("a memory has at most {CONTENT_LIMIT} bytes, and this one has {0}: save it as a chunk")]
    Long(usize),
    /// It cannot take the place of what is not there.
    #[error("there is no memory `{0}` to take the place of")]
    Unknown(String),
    /// A value is none.
    #[error("{0}")]
    Value(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remembered {
    /// Its name, or that of the one that says the same.
    pub id: String,
    /// It was known: one that holds says the same in the same project.
    pub known: bool,
    /// Secrets that were taken out before it was stored.
    pub redacted: u64,
    /// Memories there are now.
    pub total: u64,
}

/// Remembers a statement.
///
/// # Errors
/// See [`MemoryError`]; nothing is stored then.
pub fn remember(store: &mut Store, redactor: &Redactor, new: NewMemory, now: i64) -> Result<Remembered, MemoryError> {
    let (new, redacted) = prepare(redactor, new)?;
    let (id, known) = store.add_memory(&new, now)?;
    Ok(Remembered { id, known, redacted, total: store.count_memories()? })
}

/// Forgets memories and chunks, by their names, for good: what they said is overwritten in the file, too. Gives those that were
/// there.
///
/// # Errors
/// As for any write.
pub fn forget<'n>(store: &mut Store, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<&'n str>, StoreError> {
    store.overwrite_deleted()?;
    let mut forgotten = Vec::new();
    for name in names {
        if store.forget(name)? || store.forget_chunk(name)? {
            forgotten.push(name);
        }
    }
    // The log holds what was there before until it is emptied.
    store.finish()?;
    Ok(forgotten)
}

/// Makes a statement fit to be stored, and tells how many secrets were taken out of it.
///
/// # Errors
/// `Empty`, `Long`, `Value`.
pub fn prepare(redactor: &Redactor, new: NewMemory) -> Result<(NewMemory, u64), MemoryError> {
    let mut new = new;
    if new.content.len() > CONTENT_LIMIT {
        return Err(MemoryError::Long(new.content.len()));
    }
    let mut counts = Counts::default();
    new.content = redactor.kept(new.content.trim(), &mut counts);
    if new.content.trim().is_empty() {
        return Err(MemoryError::Empty);
    }
    if let Some(confidence) = new.confidence
        && !(0.0..=1.0).contains(&confidence)
    {
        return Err(MemoryError::Value(format!("a confidence lies between 0 and 1, {confidence} does not")));
    }
    if new.expires_at.is_some_and(|end| !is_plausible(end)) {
        return Err(MemoryError::Value("the time at which it ends to hold is none".to_owned()));
    }
    new.tags = tags(&redactor.kept(&new.tags.join(","), &mut counts))?;
    for (what, given) in [("domain", &mut new.domain), ("ticket", &mut new.ticket)] {
        *given = word(&redactor.kept(given.as_deref().unwrap_or_default(), &mut counts), what)?;
    }
    Ok((new, counts.total()))
}

/// The one word of a mark that may be given once: of a domain, a ticket. None: there is none.
///
/// # Errors
/// There are several, or it is too long or has control characters.
pub(crate) fn word(text: &str, what: &str) -> Result<Option<String>, MemoryError> {
    match tags(text)?.as_mut_slice() {
        [] => Ok(None),
        [word] => Ok(Some(std::mem::take(word))),
        words => Err(MemoryError::Value(format!(
            "there can be one {what}, and these are {}: {}",
            words.len(),
            words.join(", ")
        ))),
    }
}

/// Tags of a comma-separated list: trimmed, without repetition, in their order.
///
/// # Errors
/// There are too many, or one is too long or has control characters.
pub fn tags(list: &str) -> Result<Vec<String>, MemoryError> {
    let mut tags: Vec<String> = Vec::new();
    for tag in list.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
        if tag.len() > TAG_LIMIT || tag.contains(char::is_control) {
            return Err(MemoryError::Value(format!(
                "a tag has at most {TAG_LIMIT} bytes and no control characters: {}",
                crate::clean::clean(&tag[..tag.floor_char_boundary(TAG_LIMIT)])
            )));
        }
        if !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    if tags.len() > TAGS {
        return Err(MemoryError::Value(format!("there are at most {TAGS} tags, and these are {}", tags.len())));
    }
    Ok(tags)
}
