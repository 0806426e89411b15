//! The fixtures: one folder per case, with `transcripts/` laid out as the tool lays them out.

use std::fs;
use std::path::{Path, PathBuf};

use totalrecall_claude_code::ClaudeCode;
use totalrecall_sdk::Parser;
use totalrecall_sdk::adapter::{Origin, Outcome, TallyEntry};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Status};

/// A folder of `fixtures/claude-code`.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

/// All cases, by name.
pub(crate) fn cases() -> Vec<Case> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code");
    let mut names: Vec<_> = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names.iter().map(|name| case(name.to_str().unwrap())).collect()
}

pub(crate) fn case(name: &str) -> Case {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code").join(name);
    Case { name: name.to_owned(), folder }
}

impl Case {
    /// The transcripts, relative to `transcripts/`, by path.
    pub(crate) fn transcripts(&self) -> Vec<String> {
        let root = self.folder.join("transcripts");
        let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) fn bytes(&self, transcript: &str) -> Vec<u8> {
        fs::read(self.folder.join("transcripts").join(transcript)).unwrap()
    }

    /// Events of the one transcript whose path begins so.
    pub(crate) fn read(&self, start: &str) -> Vec<Event> {
        let transcripts = self.transcripts();
        let found: Vec<_> = transcripts.iter().filter(|path| path.starts_with(start)).collect();
        let [transcript] = found[..] else { panic!("{start} of {} is {found:?}", self.name) };
        events(self, transcript, 16384)
    }
}

pub(crate) fn parser(path: &str, text_limit: u32, resume: Option<&[u8]>) -> Parser<ClaudeCode> {
    Parser::new(Origin { path: path.to_owned(), key: None, text_limit }, resume)
}

pub(crate) fn events(case: &Case, transcript: &str, text_limit: u32) -> Vec<Event> {
    let mut parser = parser(transcript, text_limit, None);
    let mut events = parser.feed(&case.bytes(transcript)).unwrap();
    events.extend(parser.finish().unwrap());
    events
}

pub(crate) fn drift(tally: &[TallyEntry]) -> Vec<&TallyEntry> {
    tally.iter().filter(|entry| matches!(entry.outcome, Outcome::Unknown | Outcome::Broken)).collect()
}

/// One line per event that says who did what: what a person would check by hand.
pub(crate) fn told(event: &Event) -> Option<String> {
    Some(match &event.body {
        Body::Message(message) => {
            let who = match (message.author, message.channel) {
                (Author::Agent, Channel::Reply | Channel::Reasoning) | (Author::Harness, _) => return None,
                (Author::Agent, _) => "agent",
                (Author::Human, Channel::Prompt) => "human",
                (Author::Human, Channel::Steering) => "human, at work",
                (Author::Human, Channel::Comment) => "human, with a result",
                (Author::Human, Channel::Answer) => "human, asked",
                (Author::Human, Channel::Command) => "human, command",
                (Author::Human, _) => "human, shell",
            };
            format!("{who}: {}", message.text)
        }
        Body::ToolResult(result) => match result.status {
            Status::Ok => return None,
            Status::Error => match result.exit_code {
                Some(code) => format!("failed: {code}"),
                None => format!("failed: {}", result.text.lines().next().unwrap_or_default()),
            },
            Status::Denied => format!("denied: {}", result.words.as_deref().unwrap_or("-")),
            Status::Blocked => "blocked".to_owned(),
            Status::Interrupted => "stopped".to_owned(),
        },
        Body::Interrupt(interrupt) => format!("interrupt{}", if interrupt.in_tool { " of a tool" } else { "" }),
        Body::Compaction(compaction) => format!("compaction, manual {:?}", compaction.manual),
        Body::ApiError(error) => format!("api error {:?}, retried {}", error.status, error.retried),
        Body::Rewind(_) => "rewind".to_owned(),
        Body::ToolCall(_) | Body::Usage(_) | Body::Session(_) => return None,
    })
}
