//! Transcripts of {{name}}: `~/.{{name}}/**/*.jsonl`, one record a line.
//!
//! What stands here reads a made-up diary. Change it, record type by record type, into what your tool writes.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Output, Record, Source, Trouble, Verdict};
use totalrecall_sdk::json::{Flag, Number, Text, object};
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{Author, Body, Channel, Event, Message, Session, Status, ToolCall, ToolKind, ToolResult};

/// What later records need to know of earlier ones. This is the checkpoint: keep it small.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct {{type}};

totalrecall_sdk::export_adapter!({{type}});

object! {
    /// A line. A field that is missing, or holds something else than expected, is not there: formats move.
    struct Line<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "time" => time: Text<'a>,
        // start
        "version" => version: Text<'a>,
        "folder" => folder: Text<'a>,
        // entry
        "who" => who: Text<'a>,
        "said" => said: Text<'a>,
        // run
        "tool" => tool: Text<'a>,
        "input" => input: Input<'a>,
        // done
        "run" => run: Text<'a>,
        "ok" => ok: Flag,
        "code" => code: Number,
        "output" => output: Text<'a>,
    }
}

object! {
    /// What a tool is given.
    struct Input<'a> {
        "command" => command: Text<'a>,
    }
}

impl Adapter for {{type}} {
    fn describe() -> Descriptor {
        // What the person agrees to have read. Ask for as little as there is to read.
        let files = Files { roots: vec!["~/.{{name}}".to_owned()], globs: vec!["**/*.jsonl".to_owned()] };
        Descriptor {
            name: "{{name}}".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tool: "{{name}}".to_owned(),
            sources: vec![Source::Files(files)],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        head.starts_with(br#"{"type":"start","#)
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        // First decode, then act: a line that cannot be decoded is repaired and given again.
        let line: Line<'_> = record.decode()?;
        let text = |text: &Text<'_>| text.get().map(str::to_owned);
        let body = match line.kind.as_str() {
            "start" => Body::Session(Session {
                id: text(&line.id),
                cwd: text(&line.folder),
                branch: None,
                title: None,
                version: text(&line.version),
                parent: None,
            }),
            "entry" => {
                // Only what a human typed is the human's.
                let (author, channel) = match line.who.as_str() {
                    "me" => (Author::Human, Channel::Prompt),
                    "helper" => (Author::Agent, Channel::Reply),
                    _ => (Author::Harness, Channel::Notice),
                };
                let (text, omitted) = out.cap(line.said.as_str());
                Body::Message(Message { author, channel, text, omitted })
            }
            "run" => {
                let (input, omitted) = out.cap(line.input.command.as_str());
                let kind = if line.tool.as_str() == "shell" { ToolKind::Execute } else { ToolKind::Other };
                Body::ToolCall(ToolCall {
                    id: line.id.as_str().to_owned(),
                    name: line.tool.as_str().to_owned(),
                    kind,
                    paths: Vec::new(),
                    command: (kind == ToolKind::Execute).then(|| input.clone()),
                    edits: Vec::new(),
                    input,
                    omitted,
                })
            }
            "done" => {
                let (text, omitted) = out.cap(line.output.as_str());
                Body::ToolResult(ToolResult {
                    call: line.run.as_str().to_owned(),
                    status: if line.ok.0 { Status::Ok } else { Status::Error },
                    exit_code: line.code.0.and_then(|code| code.try_into().ok()),
                    text,
                    omitted,
                    words: None,
                    amended: false,
                })
            }
            // Known, and of no use.
            "mood" => return Ok(Verdict::Skipped("mood".into())),
            // Never an error: the person is told that the format has moved on.
            other => return Ok(Verdict::Unknown(other.to_owned().into())),
        };
        out.push(Event {
            line: record.line,
            at: parse_rfc3339(line.time.as_str()),
            thread: None,
            // Equal keys are one happening: a key must survive what the tool does when it copies history.
            key: text(&line.id),
            copied: false,
            body,
        });
        Ok(Verdict::Understood(line.kind.as_str().to_owned().into()))
    }
}
