//! What a session does, and for each tool a writer that tells it as the tool would.
//!
//! One story, several transcripts: what is planted in a story is the same for all tools; where it is seen is not, so the
//! writers give the lines.

mod claude_code;
mod codex;
mod opencode;

use anyhow::{Context, Result};
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub use claude_code::ClaudeCode;
pub use codex::Codex;
pub use opencode::{OpenCode, database};

/// A coding agent whose transcripts can be written and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// Claude Code: a file of JSON lines.
    #[default]
    ClaudeCode,
    /// Codex CLI: rollouts, files of JSON lines.
    Codex,
    /// OpenCode: rows of a database, here one file of JSON lines per session.
    #[serde(rename = "opencode")]
    OpenCode,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::OpenCode];

    /// As the adapters are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
        }
    }
}

impl FromStr for Tool {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|tool| tool.name() == name)
            .ok_or_else(|| format!("`{name}` is no tool; there are {}", known()))
    }
}

/// What the agent does with a tool.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// Runs a command.
    Run {
        /// For the shell.
        command: &'a str,
        /// What it is for.
        what: &'a str,
        /// The person has to approve it.
        asks: bool,
    },
    /// Reads a file.
    Read {
        /// Its path.
        file: &'a str,
    },
    /// Looks for a pattern.
    Search {
        /// A regular expression.
        pattern: &'a str,
    },
    /// Writes a new file, or all of one.
    Create {
        /// Its path.
        file: &'a str,
        /// What is in it then.
        content: &'a str,
    },
    /// Puts one text in the place of another.
    Edit {
        /// Path of the file.
        file: &'a str,
        /// What goes.
        old: &'a str,
        /// What comes.
        new: &'a str,
    },
    /// Plans.
    Plan {
        /// What is to be done, in order.
        steps: &'a [String],
    },
    /// Has a sub-agent do something.
    Delegate {
        /// What it is told.
        prompt: &'a str,
    },
    /// Something else.
    Other {
        /// The tool.
        name: &'a str,
        /// JSON.
        input: &'a str,
    },
}

/// How that ended.
#[derive(Clone, Copy, Debug)]
pub enum End<'a> {
    /// Well.
    Done {
        /// What came of it.
        output: &'a str,
        /// Of an edit: the file as it was.
        before: &'a str,
    },
    /// The tool failed.
    Failed {
        /// The exit code, of a command.
        code: Option<i32>,
        /// What it said.
        text: &'a str,
    },
    /// The person said no.
    Refused {
        /// And what to do instead.
        words: Option<&'a str>,
    },
    /// The person stopped it.
    Stopped,
}

impl<'a> End<'a> {
    /// It went well.
    pub fn done(output: &'a str) -> Self {
        Self::Done { output, before: "" }
    }
}

/// A call that waits for its end.
#[derive(Debug)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// Record of the call.
    pub line: u64,
    /// When it began.
    at: i64,
    /// Id of the record, or what a writer has to know of it.
    record: String,
    /// The tool's name, its input as JSON.
    name: String,
    input: String,
    /// What is done, as the writer needs it once more.
    asks: bool,
    file: String,
    detail: [String; 2],
}

/// The records that show how a call went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// The call's.
    pub call: u64,
    /// Where a signal about the end is seen: the result, or the mark of an interrupt.
    pub end: u64,
    /// Where the words of a refusal are seen.
    pub words: u64,
}

/// What newer clients send along with a prompt.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// What a hook says.
    pub context: &'a str,
    /// Some id.
    pub id: &'a str,
    /// A file that is named, and what is in it.
    pub file: &'a str,
    /// See `file`.
    pub content: &'a str,
}

/// Where a session is, for whoever writes it.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// The tool's data folder.
    pub folder: &'a Path,
    /// The project's.
    pub cwd: &'a str,
    /// Which of the tool's versions writes: an index, any number.
    pub version: usize,
    /// Milliseconds since 1970.
    pub start: i64,
}

/// Writes one transcript. Lines count from 1.
pub trait Writer {
    /// The session begins.
    fn begin(&mut self) -> Result<()>;
    /// Words typed at the prompt (to a sub-agent, what it was told); gives the line of the words.
    fn prompt(&mut self, words: &str) -> Result<u64>;
    /// Words typed while the agent is at work.
    fn steer(&mut self, words: &str) -> Result<u64>;
    /// Does this client write what surrounds a prompt?
    fn has_surroundings(&self) -> bool {
        false
    }
    /// What surrounds a prompt.
    fn surroundings(&mut self, _: Surroundings<'_>) -> Result<()> {
        Ok(())
    }
    /// A response of the model begins.
    fn respond(&mut self) -> Result<()>;
    /// Thoughts. `signature` is how long the signature is, for tools that keep one.
    fn think(&mut self, text: &str, signature: usize) -> Result<()>;
    /// A sentence before calls.
    fn remark(&mut self, text: &str) -> Result<()>;
    /// A response of its own that says something.
    fn say(&mut self, text: &str) -> Result<()>;
    /// A call, in the response that was begun.
    fn call(&mut self, act: Act<'_>) -> Result<Call>;
    /// What the client writes while the call runs.
    fn progress(&mut self, _: &Call, _output: &str, _: &mut Rng) -> Result<()> {
        Ok(())
    }
    /// The call ends.
    fn end(&mut self, call: Call, end: End<'_>) -> Result<Seen>;
    /// The person stops the agent while it writes; gives the line of the mark.
    fn stop(&mut self) -> Result<u64>;
    /// The service failed and is asked again; gives the line, where the client keeps that.
    fn retry(&mut self, attempt: u32) -> Result<Option<u64>>;
    /// The service failed for good.
    fn give_up(&mut self, rng: &mut Rng) -> Result<u64>;
    /// The conversation is summed up.
    fn compact(&mut self, manual: bool, tokens: u64, summary: &str) -> Result<u64>;
    /// The turn ends.
    fn rest(&mut self, millis: u32) -> Result<()>;
    /// A sub-agent begins, that a call asked for: its transcript, and its id.
    fn subagent(&mut self, call: &Call, prompt: &str) -> Result<(Box<dyn Writer>, String)>;
    /// Begins as a copy of another session; gives that session's id.
    fn copy(&mut self, from: &Path) -> Result<String>;
    /// The session is given a title.
    fn title(&mut self, title: &str) -> Result<()>;
    /// The transcript is complete.
    fn finish(self: Box<Self>) -> Result<PathBuf>;
    /// Its id.
    fn session(&self) -> &str;
    /// The time.
    fn clock(&self) -> i64;
    /// Time passes until then.
    fn wait_until(&mut self, clock: i64);
    /// Bytes written so far.
    fn bytes(&self) -> u64;
    /// Lines written so far.
    fn records(&self) -> u64;
}

/// Begins a transcript of a tool.
///
/// # Errors
/// When the file cannot be created.
pub fn create(tool: Tool, setting: &Setting<'_>, rng: &mut Rng) -> Result<Box<dyn Writer>> {
    Ok(match tool {
        Tool::ClaudeCode => Box::new(ClaudeCode::new(setting, rng)?),
        Tool::Codex => Box::new(Codex::new(setting, rng)?),
        Tool::OpenCode => Box::new(OpenCode::new(setting, rng)?),
    })
}

/// `value` as JSON.
pub(crate) fn json(value: impl Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

/// A random UUID.
pub(crate) fn uuid(rng: &mut Rng) -> String {
    let (a, b) = (rng.u64(..), rng.u64(..));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        0x8000 | b >> 48 & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}

/// A time as the clients write it.
fn time(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    format!("{time:.3}")
}

/// A file of lines.
struct Lines {
    file: BufWriter<File>,
    path: PathBuf,
    bytes: u64,
    count: u64,
}

impl Lines {
    fn create(path: PathBuf) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), path, bytes: 0, count: 0 })
    }

    /// Writes a line; gives its number.
    fn line(&mut self, line: &str) -> Result<u64> {
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        self.bytes += line.len() as u64 + 1;
        self.count += 1;
        Ok(self.count)
    }

    fn finish(mut self) -> Result<PathBuf> {
        self.file.flush().with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.path)
    }
}
