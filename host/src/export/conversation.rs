//! One session as it was held.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Digest, day, digest, lines, markdown::quote};
use crate::{
    event::{Author, Body, Channel, Event},
    insights::markdown::{code, text},
    passage::{short_call, short_result},
    store::{SessionRow, Store, StoreError},
};

/// Events read at once.
const PAGE: usize = 1_000;
/// Characters of a heading.
const TITLE: usize = 200;

/// A session with its events.
#[derive(Debug, Serialize)]
pub struct Conversation {
    /// What it is.
    #[serde(flatten)]
    pub session: Digest,
    /// Its transcripts, the main one first.
    pub transcripts: Vec<Transcript>,
}

/// One of its transcripts.
#[derive(Debug, Serialize)]
pub struct Transcript {
    /// The file, or the database.
    pub path: String,
    /// The session's key in a database, '' for a file.
    pub key: String,
    /// Its events, copies left out.
    pub events: Vec<Event>,
}

/// Reads a session.
///
/// # Errors
/// Those of the store.
pub fn conversation(store: &Store, row: &SessionRow) -> Result<Conversation, StoreError> {
    let mut rows = store.transcripts(row.id)?;
    rows.sort_by_key(|it| (Some(&it.path) != row.path.as_ref(), it.id));
    let mut transcripts = Vec::new();
    for transcript in rows {
        let (mut events, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next {
            let (page, following) = store.events(transcript.id, from, PAGE)?;
            events.extend(page.into_iter().filter(|event| !event.copied));
            next = following;
        }
        transcripts.push(Transcript { path: transcript.path, key: transcript.key, events });
    }
    Ok(Conversation { session: digest(store, row, true)?, transcripts })
}

impl Conversation {
    /// As a document. What was said is quoted; of what tools answered there is the beginning and the end.
    pub fn markdown(&self) -> String {
        let session = &self.session;
        let title = session.title.as_deref().or(session.asked.as_deref()).unwrap_or(&session.native_id);
        let mut out = format!("# {}\n\n", text(title, TITLE));
        let _ = writeln!(out, "{} session {} ({})", session.tool, code(&session.native_id, TITLE), session.id);
        for (what, value) in [("project", &session.project), ("branch", &session.branch)] {
            if let Some(value) = value {
                let _ = writeln!(out, "\n{what}: {}", code(value, TITLE));
            }
        }
        if session.state == "purged" {
            let _ = writeln!(out, "\nWhat was said in it was purged.");
        }
        let mut today = None;
        for (index, transcript) in self.transcripts.iter().enumerate() {
            if index > 0 {
                let _ = writeln!(out, "\n---\n\nsub-agent: {}", code(&transcript.path, TITLE));
            }
            for event in &transcript.events {
                if let Some(at) = event.at
                    && today != Some(day(at))
                {
                    let _ = writeln!(out, "\n## {}", day(at));
                    today = Some(day(at));
                }
                one(&mut out, event);
            }
        }
        out
    }
}

fn one(out: &mut String, event: &Event) {
    match &event.body {
        Body::Message(message) => {
            let who = match (message.author, message.channel) {
                (Author::Human, _) => "You",
                (Author::Agent, Channel::Reasoning) => "Agent, thinking",
                (Author::Agent, _) => "Agent",
                (Author::Harness, Channel::Summary) => "Summary",
                (Author::Harness, _) => return,
            };
            let _ = writeln!(out, "\n### {who}{}\n", time(event.at));
            quote(out, &message.text);
        }
        Body::ToolCall(call) => {
            let call = short_call(&call.name, &call.paths, call.command.as_deref(), &call.input);
            let _ = writeln!(out, "\n* {}", code(&call, 600));
        }
        Body::ToolResult(result) => {
            out.push('\n');
            lines(&short_result(&result.text)).for_each(|line| {
                let _ = writeln!(out, "      {line}");
            });
        }
        Body::Interrupt(_) => out.push_str("\n*interrupted*\n"),
        Body::Compaction(_) => out.push_str("\n*compacted*\n"),
        _ => {}
    }
}

fn time(at: Option<i64>) -> String {
    let Some(at) = at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok()) else { return String::new() };
    at.strftime(" %H:%M").to_string()
}
