//! Dialogues that were made up for measuring (`bench/signals/dialogues`): what is said and done, with planted labels.

mod story;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

pub use story::{Told, tell};

/// One dialogue.
#[derive(Debug, Deserialize)]
pub struct Dialogue {
    /// Its name.
    pub id: String,
    /// The language it is in.
    pub lang: String,
    /// What is said and done, in order.
    pub turns: Vec<Turn>,
}

/// What someone says or does.
#[derive(Debug, Deserialize)]
#[serde(tag = "who", rename_all = "kebab-case")]
pub enum Turn {
    /// The person speaks.
    User(Words),
    /// Sent while the agent works.
    Steer(Words),
    /// The agent speaks.
    Agent {
        /// What it says.
        text: String,
    },
    /// The agent calls a tool.
    Call {
        /// By which its result knows it.
        id: String,
        /// The tool.
        name: String,
        /// As the tool takes it.
        input: Value,
    },
    /// What came of a call.
    Result {
        /// The call's.
        id: String,
        /// `ok`, `error`, `denied` or `interrupted`.
        status: String,
        /// What the tool printed.
        #[serde(default)]
        text: String,
        /// What the person said when refusing.
        words: Option<String>,
        /// Of these words: `none`, `clear` or `soft`.
        label: Option<String>,
        /// Said along with an approval.
        comment: Option<Words>,
    },
    /// The person stops the agent.
    Interrupt,
    /// The person types a command.
    Command {
        /// Which.
        name: String,
        /// What for.
        #[serde(default)]
        args: String,
    },
}

/// Human words with their label.
#[derive(Debug, Deserialize)]
pub struct Words {
    /// What is said.
    pub text: String,
    /// `none`, `clear` or `soft`.
    label: String,
    /// Of soft ones: the words themselves show it.
    #[serde(default)]
    words: bool,
}

impl Words {
    /// What kind of correction they are, if one.
    pub fn grade(&self) -> Option<&'static str> {
        match (self.label.as_str(), self.words) {
            ("clear", _) => Some("clear"),
            ("soft", true) => Some("soft, words"),
            ("soft", false) => Some("soft, context"),
            _ => None,
        }
    }
}

/// What is true of one record.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The signal that should be found there.
    pub kind: String,
    /// Records it may be seen in: some happenings have two.
    pub lines: Vec<u64>,
    /// Of corrections: `clear`, `soft, words`, `soft, context`.
    pub grade: Option<String>,
    /// Reasonable people disagree: neither finding nor missing it counts.
    pub debatable: bool,
}

/// Reads every dialogue of a folder, in the order of their names.
///
/// # Errors
/// When one cannot be read, or is none.
pub fn load(folder: &Path) -> Result<Vec<Dialogue>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<_> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    };
    paths.iter().map(read).collect()
}
