//! Dialogues with planted labels, made into transcripts of the shape that Claude Code 2.1 writes, or another tool.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use fastrand::Rng;
use serde_json::{Value, json};

use totalrecall_bench::dialogue::{Truth, Turn, Words, load, tell};
use totalrecall_bench::writer::{Setting, Tool};

use crate::score::Scores;
use crate::transcript;

/// When they are told, some time.
const START: i64 = 1_767_607_200_000;

/// Measures every dialogue of a folder, as this tool tells it.
pub(crate) fn measure(folder: &Path, tool: Tool, scores: &mut Scores) -> anyhow::Result<()> {
    let told = tempfile::tempdir()?;
    for (at, dialogue) in load(folder)?.iter().enumerate() {
        let (name, records, truths) = if tool == Tool::ClaudeCode {
            let mut expanded = Expanded::default();
            dialogue.turns.iter().for_each(|turn| expanded.add(turn));
            (format!("{}.jsonl", dialogue.id), expanded.records, expanded.truths)
        } else {
            let setting = Setting { folder: told.path(), cwd: "/home/dev/work/demo", version: at, start: START };
            let told = tell(tool, &dialogue.turns, &setting, &mut Rng::with_seed(at as u64))
                .with_context(|| format!("{} as {}", dialogue.id, tool.name()))?;
            let records = fs::read_to_string(&told.path)?.lines().map(str::to_owned).collect();
            (told.path.display().to_string(), records, told.truths)
        };
        let bytes = records.join("\n") + "\n";
        let signals = transcript::signals(tool, &name, bytes.as_bytes())?;
        // Dialogues are labelled for what people say and do; churn and the like come as they come.
        let judged = ["user-correction", "permission-denied", "interrupt", "tool-error"];
        let signals: Vec<_> = signals.into_iter().filter(|signal| judged.contains(&signal.kind.as_str())).collect();
        let text = |line: u64| transcript::words(records[line as usize - 1].as_bytes());
        scores.count(&dialogue.id, &dialogue.lang, &signals, &truths, text);
    }
    Ok(())
}

/// A dialogue as a transcript, and what is true of it.
#[derive(Default)]
struct Expanded {
    records: Vec<String>,
    truths: Vec<Truth>,
    responses: usize,
    /// The last result was refused or interrupted: a marker belongs to it.
    stopped: Stopped,
}

#[derive(Default, PartialEq)]
enum Stopped {
    #[default]
    No,
    Refused,
    Interrupted,
}

impl Expanded {
    fn add(&mut self, turn: &Turn) {
        let stopped = std::mem::take(&mut self.stopped);
        match turn {
            Turn::User(words) => {
                let line = self.user(json!(words.text));
                self.said(words, vec![line]);
            }
            Turn::Steer(words) => {
                let queued =
                    self.record(json!({"type": "queue-operation", "operation": "enqueue", "content": words.text}));
                self.record(json!({"type": "queue-operation", "operation": "remove"}));
                let attachment = json!({"type": "queued_command", "prompt": words.text, "commandMode": "prompt"});
                let line = self.envelope(json!({"type": "attachment", "attachment": attachment}));
                self.said(words, vec![line, queued]);
            }
            Turn::Agent { text } => {
                self.responses += 1;
                self.assistant(json!({"type": "text", "text": text}));
            }
            Turn::Call { id, name, input } => {
                self.responses += 1;
                self.assistant(json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input}));
            }
            Turn::Result { id, status, text, words, label, comment } => {
                let line = self.result(id, status, text, words.as_deref(), comment.as_ref());
                if words.is_some() && label.as_deref().is_some_and(|label| label != "none") {
                    self.truth("user-correction", vec![line], Some("words of a refusal"));
                }
            }
            Turn::Interrupt => {
                let marker = if stopped == Stopped::No {
                    "[Request interrupted by user]"
                } else {
                    "[Request interrupted by user for tool use]"
                };
                let line = self.user(json!([{"type": "text", "text": marker}]));
                if stopped != Stopped::Refused {
                    // The marker, not the result, is where an interrupt is seen.
                    if stopped == Stopped::Interrupted {
                        self.truths.pop();
                    }
                    self.truth("interrupt", vec![line], None);
                }
            }
            Turn::Command { name, args } => {
                let name = if name.starts_with('/') { name.clone() } else { format!("/{name}") };
                let text = format!(
                    "<command-name>{name}</command-name>\n<command-message>{}</command-message>\n<command-args>{args}</command-args>",
                    name.trim_start_matches('/')
                );
                self.user(json!(text));
            }
        }
    }

    fn result(&mut self, id: &str, status: &str, text: &str, words: Option<&str>, comment: Option<&Words>) -> u64 {
        const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";
        let text = match (status, words) {
            ("denied", Some(words)) => format!("{REFUSED} To tell you how to proceed, the user said:\n{words}"),
            ("denied", None) => {
                format!("{REFUSED} STOP what you are doing and wait for the user to tell you how to proceed.")
            }
            ("interrupted", _) => "Exit code 137\n[Request interrupted by user for tool use]".into(),
            _ => text.to_owned(),
        };
        let failed = status != "ok";
        let mut blocks = vec![
            json!({"type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": text, "is_error": failed}),
        ];
        if let Some(comment) = comment {
            blocks.push(json!({"type": "text", "text": comment.text}));
        }
        let line = self.user(json!(blocks));
        match status {
            "denied" => {
                self.stopped = Stopped::Refused;
                self.truth("permission-denied", vec![line], Some("refusal"));
            }
            "interrupted" => {
                self.stopped = Stopped::Interrupted;
                self.truth("interrupt", vec![line], None);
            }
            "error" => self.truth("tool-error", vec![line], None),
            _ => {}
        }
        if let Some(comment) = comment {
            self.said(comment, vec![line]);
        }
        line
    }

    fn said(&mut self, words: &Words, lines: Vec<u64>) {
        let Some(grade) = words.grade() else { return };
        self.truth("user-correction", lines, Some(grade));
    }

    fn truth(&mut self, kind: &str, lines: Vec<u64>, grade: Option<&str>) {
        self.truths.push(Truth { kind: kind.into(), lines, grade: grade.map(str::to_owned), debatable: false });
    }

    fn user(&mut self, content: Value) -> u64 {
        self.envelope(json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    fn assistant(&mut self, block: Value) -> u64 {
        let message = json!({
            "id": format!("msg_{}", self.responses), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [block], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1},
        });
        self.envelope(json!({"type": "assistant", "message": message, "requestId": format!("req_{}", self.responses)}))
    }

    /// A record of the conversation, in the chain of those before it.
    fn envelope(&mut self, mut record: Value) -> u64 {
        let at = self.records.len();
        let uuid = |at: usize| format!("00000000-0000-4000-8000-{at:012}");
        record["parentUuid"] = if at == 0 { Value::Null } else { json!(uuid(at - 1)) };
        record["uuid"] = json!(uuid(at));
        record["isSidechain"] = json!(false);
        record["userType"] = json!("external");
        record["cwd"] = json!("/home/dev/work/demo");
        record["version"] = json!("2.1.120");
        record["gitBranch"] = json!("main");
        self.record(record)
    }

    /// Appends a record; gives its line.
    fn record(&mut self, mut record: Value) -> u64 {
        let at = self.records.len();
        record["sessionId"] = json!("00000000-0000-4000-9000-000000000000");
        record["timestamp"] = json!(format!("2026-01-05T10:{:02}:{:02}.000Z", at / 60 % 60, at % 60));
        self.records.push(record.to_string());
        at as u64 + 1
    }
}
