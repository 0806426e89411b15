//! Dialogues told as a tool would.
//!
//! What a tool does not have is told by what stands for it there: the words of a refusal are the next prompt where a
//! refusal ends the turn, a comment on an approval is said while the agent works. Commands are no records.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use serde_json::Value;

use super::{Truth, Turn, Words};
use crate::writer::{self, Act, Call, End, Setting, Tool, Writer};

/// A dialogue as a transcript.
#[derive(Debug)]
pub struct Told {
    /// The transcript.
    pub path: PathBuf,
    /// The tool's id of the session.
    pub session: String,
    /// What is true of it.
    pub truths: Vec<Truth>,
}

/// Writes a dialogue as a transcript of this tool.
///
/// # Errors
/// When the file cannot be written, or a result has no call.
pub fn tell(tool: Tool, turns: &[Turn], setting: &Setting<'_>, rng: &mut Rng) -> Result<Told> {
    let mut writer = writer::create(tool, setting, rng)?;
    let session = writer.session().to_owned();
    writer.begin()?;
    let mut story = Story { tool, writer, truths: Vec::new(), open: HashMap::new(), later: Vec::new(), over: false };
    for (at, turn) in turns.iter().enumerate() {
        story.tell(turn, &turns[at + 1..])?;
    }
    story.writer.rest(0)?;
    Ok(Told { path: story.writer.finish()?, session, truths: story.truths })
}

struct Story<'d> {
    tool: Tool,
    writer: Box<dyn Writer>,
    truths: Vec<Truth>,
    open: HashMap<&'d str, Call>,
    /// What the person said while calls went on, and how calls ended that end all.
    later: Vec<&'d Turn>,
    /// The last call was refused or stopped, and the mark of that is written.
    over: bool,
}

impl<'d> Story<'d> {
    fn tell(&mut self, turn: &'d Turn, rest: &'d [Turn]) -> Result<()> {
        let over = std::mem::take(&mut self.over);
        match turn {
            Turn::User(words) => {
                let line = self.writer.prompt(&words.text)?;
                self.said(words, line);
            }
            Turn::Steer(_) if !self.open.is_empty() => self.later.push(turn),
            Turn::Steer(words) => {
                let line = self.writer.steer(&words.text)?;
                self.said(words, line);
            }
            Turn::Agent { text } => self.writer.say(text)?,
            Turn::Call { id, name, input } => {
                if self.open.is_empty() {
                    self.writer.respond()?;
                }
                let asks = rest.iter().any(
                    |later| matches!(later, Turn::Result { id: of, status, .. } if of == id && status == "denied"),
                );
                let call = self.call(name, input, asks)?;
                self.open.insert(id, call);
            }
            Turn::Result { status, .. }
                if matches!(status.as_str(), "denied" | "interrupted") && self.open.len() > 1 =>
            {
                self.later.push(turn);
            }
            Turn::Result { id, status, text, words, label, comment } => {
                let call = self.open.remove(id.as_str()).context("a result without a call")?;
                let seen = self.writer.end(call, ended(status, text, words.as_deref()))?;
                match status.as_str() {
                    "denied" => {
                        self.truth("permission-denied", seen.end, Some("refusal"));
                        if words.is_some() && label.as_deref().is_some_and(|label| label != "none") {
                            self.truth("user-correction", seen.words, Some("words of a refusal"));
                        }
                    }
                    "interrupted" => self.truth("interrupt", seen.end, None),
                    "error" => self.truth("tool-error", seen.end, None),
                    _ => {}
                }
                self.over = matches!(status.as_str(), "denied" | "interrupted");
                if let Some(words) = comment {
                    let line = self.writer.steer(&words.text)?;
                    self.said(words, line);
                }
            }
            Turn::Interrupt => {
                if !over {
                    let line = self.writer.stop()?;
                    self.truth("interrupt", line, None);
                }
            }
            Turn::Command { .. } => {}
        }
        if self.open.len() <= 1 && matches!(turn, Turn::Result { .. }) {
            let (ends, words): (Vec<&Turn>, Vec<&Turn>) =
                std::mem::take(&mut self.later).into_iter().partition(|later| matches!(later, Turn::Result { .. }));
            for later in ends.into_iter().chain(words) {
                self.tell(later, &[])?;
            }
        }
        Ok(())
    }

    fn call(&mut self, name: &str, input: &Value, asks: bool) -> Result<Call> {
        let field = |key: &str| input[key].as_str().unwrap_or_default();
        let json = input.to_string();
        let act = match name {
            "Bash" => Act::Run { command: field("command"), what: field("description"), asks },
            "Read" => Act::Read { file: field("file_path") },
            "Grep" => Act::Search { pattern: field("pattern") },
            "Write" => Act::Create { file: field("file_path"), content: field("content") },
            "Edit" => Act::Edit { file: field("file_path"), old: field("old_string"), new: field("new_string") },
            "Task" => Act::Delegate { prompt: field("prompt") },
            "AskUserQuestion" if self.tool == Tool::OpenCode => Act::Other { name: "question", input: &json },
            "AskUserQuestion" => Act::Other { name: "request_user_input", input: &json },
            _ => Act::Other { name, input: &json },
        };
        self.writer.call(act)
    }

    fn said(&mut self, words: &Words, line: u64) {
        if let Some(grade) = words.grade() {
            self.truth("user-correction", line, Some(grade));
        }
    }

    fn truth(&mut self, kind: &str, line: u64, grade: Option<&str>) {
        let (kind, grade) = (kind.to_owned(), grade.map(str::to_owned));
        self.truths.push(Truth { kind, lines: vec![line], grade, debatable: false });
    }
}

fn ended<'d>(status: &str, text: &'d str, words: Option<&'d str>) -> End<'d> {
    match status {
        "denied" => End::Refused { words },
        "interrupted" => End::Stopped,
        "error" => {
            // The dialogues quote Claude Code.
            let code = text.strip_prefix("Exit code ").and_then(|rest| rest.split_once('\n'));
            match code.and_then(|(code, rest)| Some((code.trim().parse().ok()?, rest))) {
                Some((code, text)) => End::Failed { code: Some(code), text },
                None => End::Failed { code: Some(1), text },
            }
        }
        _ => End::done(text),
    }
}
