//! What the adapters here are tested with: the fixtures of a tool, and the golden events beside them.
//!
//! `fixtures/<tool>/<case>/` holds `transcripts/`, laid out as the tool lays them out, and `events.jsonl`, one event a line.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read is a failed test")]

use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde_json::json;
use totalrecall_sdk::Parser;
use totalrecall_sdk::adapter::{Adapter, Origin, Outcome, TallyEntry};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Status};

/// Short texts keep the golden files readable, and show how long ones are cut.
const TEXT_LIMIT: u32 = 400;

/// A case of an adapter.
pub struct Case<A> {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    adapter: PhantomData<A>,
}

/// All cases of a tool, by name.
pub fn cases<A: Adapter>() -> Vec<Case<A>> {
    let mut names: Vec<_> = fs::read_dir(fixtures::<A>()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names.iter().map(|name| case(name.to_str().unwrap())).collect()
}

/// The case of this name.
pub fn case<A: Adapter>(name: &str) -> Case<A> {
    Case { name: name.to_owned(), folder: fixtures::<A>().join(name), adapter: PhantomData }
}

fn fixtures<A: Adapter>() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(A::describe().tool)
}

impl<A: Adapter> Case<A> {
    /// The transcripts, relative to `transcripts/`, by path.
    pub fn transcripts(&self) -> Vec<String> {
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

    /// The bytes of one.
    pub fn bytes(&self, transcript: &str) -> Vec<u8> {
        fs::read(self.folder.join("transcripts").join(transcript)).unwrap()
    }

    /// Events of one.
    pub fn events(&self, transcript: &str, text_limit: u32) -> Vec<Event> {
        let mut parser = parser::<A>(transcript, text_limit, None);
        let mut events = parser.feed(&self.bytes(transcript)).unwrap();
        events.extend(parser.finish().unwrap());
        events
    }

    /// Events of the one transcript whose path begins so.
    pub fn read(&self, start: &str) -> Vec<Event> {
        let transcripts = self.transcripts();
        let found: Vec<_> = transcripts.iter().filter(|path| path.starts_with(start)).collect();
        let [transcript] = found[..] else { panic!("{start} of {} is {found:?}", self.name) };
        self.events(transcript, 16384)
    }
}

/// A parser for a transcript at this path.
pub fn parser<A: Adapter>(path: &str, text_limit: u32, resume: Option<&[u8]>) -> Parser<A> {
    Parser::new(Origin { path: path.to_owned(), key: None, text_limit }, resume)
}

/// Records of types that the adapter does not know, or could not read.
pub fn drift(tally: &[TallyEntry]) -> Vec<&TallyEntry> {
    tally.iter().filter(|entry| matches!(entry.outcome, Outcome::Unknown | Outcome::Broken)).collect()
}

/// Compares the events of every case with its golden file; with `BLESS=1` in the environment it writes them anew: read the
/// difference before committing it.
pub fn events_are_as_they_were<A: Adapter>(at_least: usize) {
    let cases = cases::<A>();
    assert!(cases.len() >= at_least, "fixtures are missing");
    for case in cases {
        let mut now = String::new();
        for transcript in case.transcripts() {
            for event in case.events(&transcript, TEXT_LIMIT) {
                now.push_str(&json!({"transcript": transcript, "event": event}).to_string());
                now.push('\n');
            }
        }
        golden(&case.folder.join("events.jsonl"), &now);
    }
}

/// Compares with a golden file line by line, or writes it if `BLESS=1` is in the environment.
pub fn golden(path: &Path, now: &str) {
    if bless() {
        fs::write(path, now).unwrap();
    }
    let before = fs::read_to_string(path).unwrap_or_default();
    for (number, (now, before)) in now.lines().zip(before.lines()).enumerate() {
        assert_eq!(now, before, "line {} of {}", number + 1, path.display());
    }
    assert_eq!(now.lines().count(), before.lines().count(), "{}", path.display());
}

#[expect(clippy::disallowed_methods, reason = "no settings of the product: a switch of the tests")]
fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// No record of the fixtures is unknown or broken, but those whose types are named.
pub fn every_record_is_known<A: Adapter>(except: &[&str]) {
    for case in cases::<A>() {
        for transcript in case.transcripts() {
            let mut parser = parser::<A>(&transcript, TEXT_LIMIT, None);
            parser.feed(&case.bytes(&transcript)).unwrap();
            parser.finish().unwrap();
            let tally = parser.tally();
            let drift: Vec<_> =
                drift(&tally).into_iter().filter(|entry| !except.contains(&entry.what.as_str())).collect();
            assert!(drift.is_empty(), "{} {transcript}: {drift:?}", case.name);
        }
    }
}

/// The adapter recognises every transcript that is not empty, and none of `others`.
pub fn transcripts_are_recognised<A: Adapter>(others: &[&str]) {
    for case in cases::<A>() {
        for transcript in case.transcripts() {
            let bytes = case.bytes(&transcript);
            let head = &bytes[..bytes.len().min(64 << 10)];
            assert_eq!(A::recognise(head), !bytes.is_empty(), "{} {transcript}", case.name);
        }
    }
    for other in others {
        assert!(!A::recognise(other.as_bytes()), "{other}");
    }
}

/// Feeds the bytes in chunks, with a checkpoint and a resume after each `true`.
pub fn read_in_pieces<A: Adapter>(path: &str, bytes: &[u8], chunks: &[(usize, bool)]) -> Vec<Event> {
    let mut parser_now = parser::<A>(path, 300, None);
    let (mut events, mut from) = (Vec::new(), 0usize);
    for (length, resume) in chunks.iter().copied().chain([(usize::MAX, false)]) {
        let to = from.saturating_add(length).min(bytes.len());
        events.extend(parser_now.feed(&bytes[from..to]).unwrap());
        from = to;
        if resume {
            let checkpoint = parser_now.checkpoint();
            parser_now = parser::<A>(path, 300, Some(&checkpoint.state));
            from = usize::try_from(checkpoint.offset).unwrap();
        }
    }
    events.extend(parser_now.finish().unwrap());
    events
}

/// A JSON text in which about every third value has become one of another type.
pub fn other_types(text: &str, seed: u64) -> String {
    let values = ["null", "7", "\"x\"", "[]", "{}", "[{\"type\":3}]", "true", "\"\\ud83d\""];
    let mut swapped = String::new();
    for (number, part) in text.split_inclusive(':').enumerate() {
        swapped.push_str(part);
        let pick = totalrecall_sdk::hash::hash64(format!("{seed}{number}"));
        if pick.is_multiple_of(3) {
            swapped.push_str(values[(pick >> 8) as usize % values.len()]);
            swapped.push(',');
        }
    }
    swapped
}

/// One line per event that says who did what: what a person would check by hand.
pub fn told(event: &Event) -> Option<String> {
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
