//! Aider's `.aider.chat.history.md` to events.
//!
//! Aider appends everything it shows to one Markdown file in each repository:
//!
//! | line | is |
//! | --- | --- |
//! | `# aider chat started at …` | the beginning of a run |
//! | `#### …` | what was typed, each of its lines |
//! | `> …` | what Aider said: its version, files added, tokens, edits applied, errors, questions with their answers |
//! | any other | what the model said |
//!
//! The file is one transcript, and one session: runs go on where others ended, over years. Its id is made of the name of its
//! folder and the time the first run began at, so that it stays while the file grows. (So three edits of a file in three runs
//! are three edits in one session; `churn-window-minutes` tells them apart.) [`block`] reads what Aider said,
//! [`edit`] finds the edits that the model proposed, [`wording`] knows how Aider puts things.
//!
//! Aider ends every line of its own with two spaces, which tells them from a model's Markdown that has headings and
//! quotations of its own. Where they were stripped (by an editor, or a formatter in a repository that has the file checked
//! in) what the model says goes on until Aider counts its tokens.
//!
//! What the format cannot tell: the time of anything but a run's beginning, which is local and without a zone (it is taken
//! for UTC, and every event of the run has it); what commands printed and how they ended (only that a test or linter
//! failed); whether a path was given with `--chat-history-file`, so that the folder is the file's own; the branch; edits
//! made in formats other than whole files, search/replace blocks and unified diffs (their files are told, not their
//! texts); and sub-agents, of which there are none: in architect mode the second model is told what the first one said.
//!
//! There is no place where all histories lie, so nothing is read unasked: add folders in the configuration (`aider` under
//! `[roots]`), or name files.

mod block;
mod edit;
mod wording;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Origin, Output, Record, Source, Trouble, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{Author, Body, Channel, Event, Message, Session};

use crate::block::Entry;
use crate::edit::Proposed;

/// How a run begins.
const RUN: &str = "# aider chat started at ";

/// Longest text of one message that is kept while it is read: longer ones lose their end.
const TEXT: usize = 256 << 10;

/// Most lines that Aider says in one go; longer ones (a repository's map) lose their end.
const ENTRIES: usize = 4096;

/// Reads one history.
#[derive(Default, Serialize, Deserialize)]
pub struct Aider {
    #[serde(skip)]
    path: String,
    /// The session was told.
    begun: bool,
    /// The run: when it began, as written and in milliseconds.
    start: String,
    at: Option<i64>,
    /// Events of the run so far.
    count: u64,
    /// `--yes-always`: no one is asked.
    unasked: bool,
    model: String,
    version: String,
    /// The last line that was not blank.
    last: u64,
    /// Aider's lines end with two spaces.
    spaced: bool,
    open: Open,
    /// What the model says ends with a count of its tokens.
    reports: bool,
    /// The person stopped the model.
    cut: bool,
    /// The model was asked and has not answered.
    working: bool,
    /// Hash of the model's last text: in architect mode it is the next prompt.
    said: u64,
    proposed: Vec<Proposed>,
    /// Files of the last edits, which `/undo` takes back.
    edited: Vec<String>,
}

totalrecall_sdk::export_adapter!(Aider);

/// What is being read.
#[derive(Default, Serialize, Deserialize)]
enum Open {
    #[default]
    Nothing,
    Human(Text),
    Reply(Text),
    /// What Aider says. A message of several lines has the mark at the first one only.
    Tool {
        entries: Vec<Entry>,
        goes_on: bool,
    },
}

/// A text of several lines.
#[derive(Default, Serialize, Deserialize)]
struct Text {
    line: u64,
    text: String,
    omitted: u64,
    /// The mark that closes the code fence it is in.
    fence: Option<String>,
}

impl Text {
    fn new(line: u64) -> Self {
        Self { line, ..Self::default() }
    }

    /// Adds a line, and the blank ones before it.
    fn add(&mut self, blank: u64, line: &str) {
        let blank = if self.text.is_empty() { 0 } else { usize::try_from(blank).unwrap_or(usize::MAX).min(8) };
        let breaks = if self.text.is_empty() { 0 } else { blank + 1 };
        if self.text.len() + breaks + line.len() > TEXT {
            self.omitted = self.omitted.saturating_add((breaks + line.len()) as u64);
            return;
        }
        self.text.extend(std::iter::repeat_n('\n', breaks));
        self.text.push_str(line);
    }
}

/// What a line is.
enum Line<'l> {
    Run(&'l str),
    Human(&'l str),
    Tool(&'l str),
    Other(&'l str),
}

impl Adapter for Aider {
    fn describe() -> Descriptor {
        Descriptor {
            name: "aider".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool: "aider".into(),
            // In no place that is known: folders are added in the configuration.
            sources: vec![Source::Files(Files { roots: Vec::new(), globs: vec!["**/.aider.chat.history.md".into()] })],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        head.split(|byte| *byte == b'\n').any(|line| line.starts_with(RUN.as_bytes()))
    }

    fn begin(&mut self, origin: &Origin) {
        self.path.clone_from(&origin.path);
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let bytes = String::from_utf8_lossy(record.bytes);
        let line = bytes.trim_end_matches(['\r', '\0']);
        if line.trim().is_empty() {
            return Ok(Verdict::Skipped("blank".into()));
        }
        let blank = record.line.saturating_sub(self.last + 1);
        self.last = record.line;
        let spaced = line.ends_with("  ");
        let what = match self.what(line, spaced, blank) {
            Line::Run(start) => {
                self.close(out);
                self.run(start, record.line, out);
                "run"
            }
            _ if !self.begun => return Ok(Verdict::Skipped("before the first run".into())),
            Line::Human(text) => {
                self.spaced |= spaced;
                // Each message begins with an empty line.
                match &mut self.open {
                    Open::Human(open) if blank == 0 => open.add(0, text),
                    _ => {
                        self.close(out);
                        let mut open = Text::new(record.line);
                        open.add(0, text);
                        self.open = Open::Human(open);
                    }
                }
                "human"
            }
            Line::Tool(text) => {
                self.spaced |= spaced;
                if !matches!(self.open, Open::Tool { .. }) {
                    self.close(out);
                    self.open = Open::Tool { entries: Vec::new(), goes_on: false };
                }
                if let Open::Tool { entries, goes_on } = &mut self.open {
                    *goes_on = !spaced;
                    if entries.len() < ENTRIES {
                        entries.push(Entry { line: record.line, text: text.trim_end().to_owned() });
                    }
                }
                "aider"
            }
            Line::Other(text) => self.other(text, spaced, blank, record.line, out),
        };
        Ok(Verdict::Understood(what.into()))
    }

    fn finish(&mut self, out: &mut Output) {
        self.close(out);
    }
}

impl Aider {
    /// Tells what a line is, from its beginning, its end and what it stands in.
    fn what<'l>(&self, line: &'l str, spaced: bool, blank: u64) -> Line<'l> {
        if let Some(start) = line.strip_prefix(RUN) {
            return Line::Run(start.trim());
        }
        let reply = match &self.open {
            Open::Reply(text) => Some(text),
            _ => None,
        };
        if let Some(text) = line.strip_prefix("####") {
            let theirs = match reply {
                _ if self.spaced => spaced,
                // A heading of the model's: what it says ends with Aider's count of tokens.
                Some(text) => text.fence.is_none() && (self.cut || !self.reports),
                None => true,
            };
            if theirs {
                return Line::Human(text.strip_prefix(' ').unwrap_or(text).trim_end());
            }
        } else if let Some(text) = line.strip_prefix('>') {
            let text = text.strip_prefix(' ').unwrap_or(text);
            let theirs = match reply {
                _ if self.spaced && spaced => true,
                // The first line of a longer message has no spaces at its end. The model's words never follow at once.
                None => !self.spaced || blank == 0 || matches!(self.open, Open::Nothing),
                Some(reply) => !self.spaced && reply.fence.is_none() && wording::begins(text),
            };
            if theirs {
                return Line::Tool(text);
            }
        }
        Line::Other(line)
    }

    /// A line without a mark: the model's, or one more of a message of Aider's.
    fn other(&mut self, line: &str, spaced: bool, blank: u64, number: u64, out: &mut Output) -> &'static str {
        if let Open::Tool { entries, goes_on } = &mut self.open
            && (blank == 0 || (*goes_on && (self.spaced || entries.len() == 1)))
            && let Some(last) = entries.last_mut()
        {
            *goes_on = !spaced;
            if last.text.len() < TEXT {
                last.text.extend(std::iter::repeat_n('\n', usize::try_from(blank).unwrap_or(8).min(8) + 1));
                last.text.push_str(line.trim_end());
            }
            return "aider";
        }
        if !matches!(self.open, Open::Reply(_)) {
            self.close(out);
            self.open = Open::Reply(Text::new(number));
        }
        if let Open::Reply(open) = &mut self.open {
            open.add(blank, line);
            edit::fence(line, &mut open.fence);
        }
        "model"
    }

    /// A run begins.
    fn run(&mut self, start: &str, line: u64, out: &mut Output) {
        // Runs begun within one second are one, so that their keys differ.
        if start != self.start {
            start.clone_into(&mut self.start);
            self.count = 0;
        }
        self.at = parse_rfc3339(&format!("{start}Z"));
        self.unasked = false;
        self.working = false;
        self.proposed.clear();
        if !std::mem::replace(&mut self.begun, true) {
            let folder = self.path.rfind(['/', '\\']).map(|at| self.path[..at].to_owned());
            // The folder's name and no more of the path: a repository that moves is the same one.
            let name = folder.as_deref().and_then(|folder| folder.rsplit(['/', '\\']).next()).unwrap_or_default();
            let id = Some(format!("{:016x}", hash64(format!("{name}\n{start}"))));
            let cwd = folder.filter(|folder| folder.starts_with('/') || folder.get(1..2) == Some(":"));
            let session = Session { id, cwd, ..nothing() };
            self.push(line, None, Body::Session(session), out);
        }
    }

    /// What was being read ends here.
    fn close(&mut self, out: &mut Output) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Human(text) => self.human(&text, out),
            Open::Reply(text) => self.reply(&text, out),
            Open::Tool { entries, .. } => self.block(&entries, out),
        }
    }

    fn human(&mut self, text: &Text, out: &mut Output) {
        let said = text.text.trim();
        self.cut = false;
        if said.is_empty() || said == "<blank>" {
            return;
        }
        if wording::is_question(said) {
            // An answer given once for all: Aider types it.
            return self.message(text, said, Author::Harness, Channel::Notice, out);
        }
        self.proposed.clear();
        if said.starts_with("I've written your instructions in comments in the code") {
            // What Aider says when it was told to watch the files.
            self.working = true;
            return self.message(text, said, Author::Harness, Channel::Notice, out);
        }
        if self.said != 0 && squeezed(said) == self.said {
            self.working = true;
            return self.message(text, said, Author::Agent, Channel::Prompt, out);
        }
        if let Some(command) = wording::shell(said) {
            return self.message(text, command, Author::Human, Channel::Shell, out);
        }
        if wording::is_command(said) {
            return self.message(text, said, Author::Human, Channel::Command, out);
        }
        self.working = true;
        self.message(text, said, Author::Human, Channel::Prompt, out);
    }

    fn reply(&mut self, text: &Text, out: &mut Output) {
        let said = text.text.trim();
        if said.is_empty() {
            return;
        }
        self.working = false;
        self.said = squeezed(said);
        self.proposed = edit::proposed(said);
        self.message(text, said, Author::Agent, Channel::Reply, out);
    }

    fn message(&mut self, from: &Text, text: &str, author: Author, channel: Channel, out: &mut Output) {
        let key = self.key(text);
        let (text, omitted) = out.cap(text);
        let omitted = omitted.saturating_add(from.omitted);
        self.push(from.line, Some(key), Body::Message(Message { author, channel, text, omitted }), out);
    }

    /// The key of the run's next event, which its copy in another clone of the repository has, too.
    fn key(&mut self, text: &str) -> String {
        self.count += 1;
        format!("{}#{}/{:016x}", self.start, self.count, hash64(text))
    }

    fn push(&self, line: u64, key: Option<String>, body: Body, out: &mut Output) {
        out.push(Event { line, at: self.at, thread: None, key, copied: false, body });
    }
}

/// Hash of a text without its white space.
fn squeezed(text: &str) -> u64 {
    hash64(text.split_whitespace().collect::<String>())
}

fn nothing() -> Session {
    Session { id: None, cwd: None, branch: None, title: None, version: None, parent: None }
}
