//! Parts: texts, thoughts, tool calls, and marks of what happened.

use std::borrow::Cow;

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::types::{ApiError, Author, Body, Channel, Message, Status, ToolCall, ToolKind, ToolResult};

use crate::message::{Ending, Role, status, text};
use crate::record::{Row, State};
use crate::result::{self, Reading};
use crate::{OpenCode, tool};

/// Stands before a command of the person, `!ls`, as if the person had said it.
const SHELL: &str = "The following tool was executed by the user";

/// Parts of no use here: files and folders that a prompt names, snapshots of the project.
const SKIPPED: [&str; 5] = ["file", "agent", "snapshot", "patch", "step-start"];

impl OpenCode {
    /// A part's row.
    pub(crate) fn part(&mut self, row: &Row<'_>, line: u64, out: &mut Output) -> Verdict {
        if self.message.id != row.message.as_str() {
            // The message's own row is damaged or not there.
            self.close(out);
            self.message.id = row.message.as_str().to_owned();
            self.message.line = line;
            self.keys.next(row.message.as_str(), None, 'x');
        }
        self.undoing |= self.home.is_undone(row.message.as_str(), row.id.get());
        let kind = row.kind.as_str();
        if kind != "tool" {
            self.hold.release(out);
        }
        let what = match kind {
            "text" => return self.text(row, line, out),
            "reasoning" => {
                let thought = row.text.as_str().trim();
                if !thought.is_empty() {
                    self.say(line, self.at(row), (Author::Agent, Channel::Reasoning), thought, out);
                }
                "reasoning"
            }
            "tool" => {
                self.tool(row, line, out);
                "tool"
            }
            "step-finish" => {
                for (sum, figure) in self.message.steps.iter_mut().zip(row.tokens.figures()) {
                    *sum = sum.saturating_add(figure);
                }
                "step-finish"
            }
            "retry" => {
                let body =
                    Body::ApiError(ApiError { status: status(&row.error), text: text(&row.error, out), retried: true });
                let at = self.at(row);
                let key = self.keys.key(&format!("retry/{}", at.unwrap_or_default()));
                self.tell(line, at, Some(key), body, out);
                "retry"
            }
            "compaction" => {
                self.compaction(line, Some(!row.auto.0), out);
                self.compacted = true;
                self.put_again = row.overflow.0.then_some(self.last_prompt);
                "compaction"
            }
            "subtask" => {
                // A command of the person's that a sub-agent carries out.
                let typed = match row.command.get() {
                    Some(command) => Cow::Owned(format!("/{command}")),
                    None => Cow::Borrowed(row.prompt.as_str().trim()),
                };
                let author = if self.home.sub_agent { Author::Agent } else { Author::Human };
                self.say(line, self.message.created, (author, Channel::Command), &typed, out);
                "subtask"
            }
            _ => {
                return match SKIPPED.iter().find(|known| **known == kind) {
                    Some(known) => Verdict::Skipped(part_named(known)),
                    None => Verdict::Unknown(part_named(kind)),
                };
            }
        };
        Verdict::Understood(part_named(what))
    }

    /// When a part happened; a part of a prompt when it was sent.
    fn at(&self, row: &Row<'_>) -> Option<i64> {
        row.time.start().filter(|_| self.message.role != Role::User).or(self.message.created)
    }

    /// A `text`.
    fn text(&mut self, row: &Row<'_>, line: u64, out: &mut Output) -> Verdict {
        let text = row.text.as_str().trim();
        let harness = row.synthetic.0 || row.ignored.0;
        if text.is_empty() {
            return Verdict::Understood("part/text".into());
        }
        let (who, text) = match self.message.role {
            Role::Unknown => return Verdict::Skipped("part/text of an unknown message".into()),
            Role::Assistant if self.message.summary => ((Author::Harness, Channel::Summary), Cow::Borrowed(text)),
            Role::Assistant if harness => ((Author::Harness, Channel::Notice), Cow::Borrowed(text)),
            Role::Assistant => ((Author::Agent, Channel::Reply), Cow::Borrowed(text)),
            Role::User if harness => {
                self.shell |= text == SHELL;
                ((Author::Harness, Channel::Notice), Cow::Borrowed(text))
            }
            Role::User if self.home.sub_agent => ((Author::Agent, Channel::Prompt), Cow::Borrowed(text)),
            Role::User => {
                let typed = unquoted(text);
                let hash = hash64(typed.as_ref());
                if self.put_again.take_if(|prompt| *prompt == hash).is_some() {
                    ((Author::Harness, Channel::Notice), typed)
                } else {
                    self.last_prompt = hash;
                    let channel = if self.message.steering { Channel::Steering } else { Channel::Prompt };
                    ((Author::Human, channel), typed)
                }
            }
        };
        self.say(line, self.at(row), who, &text, out);
        Verdict::Understood("part/text".into())
    }

    /// Tells a text.
    fn say(&mut self, line: u64, at: Option<i64>, who: (Author, Channel), text: &str, out: &mut Output) {
        let key = self.keys.text(text);
        self.tell(line, at, Some(key), message(who, text, out), out);
    }

    /// A `tool`: a call and, once it has ended, its result.
    fn tool(&mut self, row: &Row<'_>, line: u64, out: &mut Output) {
        let state = &row.state;
        let mut call = tool::call(row.tool.as_str(), state.input, out);
        let key = match row.call.get() {
            Some(id) => self.keys.key(id),
            None => self.keys.text(&format!("{}\n{}", call.name, call.input)),
        };
        let start = state.time.start().or(self.message.created);
        let end = state.time.end().or(start);
        if self.message.shell && call.kind == ToolKind::Execute {
            return self.shell(&key, call, state, (line, start, end), out);
        }
        // The tool's ids are the model's, and some models begin to count anew in each response.
        call.id.clone_from(&key);
        let kind = call.kind;
        self.tell(line, start, Some(key.clone()), Body::ToolCall(call), out);
        let Some(reading) = self.read(row.tool.as_str(), kind, state) else {
            self.message.in_tool = true;
            return;
        };
        self.message.in_tool |= reading.status == Status::Interrupted;
        let (text, omitted) = out.cap(&reading.text);
        let result = ToolResult {
            call: key.clone(),
            status: reading.status,
            exit_code: reading.exit_code,
            text,
            omitted,
            words: reading.words.map(|words| out.cap(words).0),
            amended: false,
        };
        let result = self.event(line, end, Some(format!("{key}/result")), Body::ToolResult(result));
        self.hold.push(result, out);
        if kind == ToolKind::Ask && !self.home.sub_agent {
            self.answers(&key, state, (line, end), out);
        }
    }

    /// How a call ended; none while it runs.
    fn read<'s>(&self, name: &str, kind: ToolKind, state: &'s State<'_>) -> Option<Reading<'s>> {
        let output = state.output.as_str();
        let plain = |status| Reading { status, exit_code: None, text: Cow::Borrowed(output), words: None };
        Some(match state.status.as_str() {
            "completed" if name == tool::INVALID => plain(Status::Error),
            "completed" if kind == ToolKind::Execute => result::command(output, state.metadata.exit()),
            "completed" => plain(Status::Ok),
            "error" => {
                let stopped = !matches!(self.message.ending, Some(Ending::Failed { .. }));
                result::failed(state.error.as_str(), self.home.headless, stopped)
            }
            _ => return None,
        })
    }

    /// A command of the person, and its output.
    fn shell(
        &mut self,
        key: &str,
        call: ToolCall,
        state: &State<'_>,
        (line, start, end): (u64, Option<i64>, Option<i64>),
        out: &mut Output,
    ) {
        let command = call.command.unwrap_or(call.input);
        let body = message((Author::Human, Channel::Shell), &command, out);
        self.tell(line, start, Some(key.to_owned()), body, out);
        let printed = result::command(state.output.as_str(), state.metadata.exit()).text;
        if !printed.trim().is_empty() {
            let body = message((Author::Harness, Channel::Shell), &printed, out);
            self.tell(line, end, Some(format!("{key}/output")), body, out);
        }
    }

    /// What the person answered to the questions of a call.
    fn answers(&mut self, key: &str, state: &State<'_>, (line, at): (u64, Option<i64>), out: &mut Output) {
        let answers: Vec<_> =
            state.metadata.answers.0.iter().flat_map(|answer| &answer.0).map(|it| it.as_str()).collect();
        let text = answers.join("\n");
        if !text.trim().is_empty() {
            let body = message((Author::Human, Channel::Answer), text.trim(), out);
            let answer = self.event(line, at, Some(format!("{key}/answer")), body);
            self.hold.push(answer, out);
        }
    }
}

/// A message within the host's limit.
fn message((author, channel): (Author, Channel), text: &str, out: &Output) -> Body {
    let (text, omitted) = out.cap(text);
    Body::Message(Message { author, channel, text, omitted })
}

fn part_named(kind: &str) -> Cow<'static, str> {
    if kind.is_empty() { "part without a type".into() } else { format!("part/{kind}").into() }
}

/// The prompt without the quotes that `opencode run` puts around it when it has spaces.
fn unquoted(text: &str) -> Cow<'_, str> {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return text.into() };
    // Several arguments, each in quotes, or quotes that the person typed.
    let mut escaped = false;
    for byte in inner.bytes() {
        match byte {
            b'\\' => escaped = !escaped,
            b'"' if !escaped => return text.into(),
            _ => escaped = false,
        }
    }
    inner.trim().replace("\\\"", "\"").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_quotes_are_taken_off() {
        assert_eq!(unquoted("\"fix it\""), "fix it");
        assert_eq!(unquoted(r#""say \"hi\" twice""#), r#"say "hi" twice"#);
        assert_eq!(unquoted("\"a b\" \"c d\""), "\"a b\" \"c d\"");
        assert_eq!(unquoted("\""), "\"");
        assert_eq!(unquoted("\"a\" is not \"b"), "\"a\" is not \"b");
        assert_eq!(unquoted("go on"), "go on");
    }
}
