//! Items of the model's API: what it said, what it called, and what came back.

use std::borrow::Cow;

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::json::{Entries, List, Text, object};
use totalrecall_sdk::types::{Author, Body, Channel, Status, ToolCall, ToolKind, ToolResult};

use crate::output::Reading;
use crate::record::Payload;
use crate::script::{End, Script};
use crate::{Codex, Place, call, message, output, script, shell, skipped};

impl Codex {
    /// A response item.
    pub(crate) fn response(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) -> Verdict {
        self.turn(item.passed.turn.as_str());
        self.settle(out);
        let kind = item.kind.as_str();
        match kind {
            "message" => self.message(item, place, out),
            "reasoning" => self.reasoning(item, place, out),
            "function_call" => self.function_call(item, place, out),
            "custom_tool_call" => self.custom_call(item, place, out),
            "local_shell_call" => {
                let command = shell::command(&item.action.command);
                let id = item.call.get().unwrap_or(item.id.as_str());
                self.calls(call::executing(id, "local_shell", &command, "", out), place, out);
            }
            "tool_search_call" => {
                self.calls(call::with_arguments(item.call.as_str(), kind, item.arguments.as_str(), out), place, out);
            }
            "web_search_call" => self.web_search(item, place, out),
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "tool_search_output" => {
                self.output(item, place, out);
            }
            // Between agents.
            "agent_message" => self.between_agents(item, place, out),
            "image_generation_call" => return Verdict::Skipped("response_item/image_generation_call".into()),
            _ => {
                return match skipped("response_item", kind) {
                    Some(known) => Verdict::Skipped(known.into()),
                    None => Verdict::Unknown(format!("response_item/{kind}").into()),
                };
            }
        }
        Verdict::Understood(format!("response_item/{kind}").into())
    }

    fn message(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let text = item.content.text();
        match item.role.as_str() {
            "assistant" => {
                self.compacted = false;
                self.says('a', Channel::Reply, &text, place, out);
            }
            "user" => self.as_user(&text, place, out),
            // developer, system
            _ => self.notice(&text, place, out),
        }
    }

    /// Its summary; the thoughts themselves are mostly encrypted.
    fn reasoning(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let summary = item.summary.text();
        let content = item.content.text();
        let text = if content.trim().is_empty() { summary } else { content };
        self.says('r', Channel::Reasoning, &text, place, out);
    }

    fn says(&mut self, kind: char, channel: Channel, text: &str, place: Place, out: &mut Output) {
        let text = text.trim();
        if !text.is_empty() {
            let key = self.keys.text(kind, text);
            let body = message(Author::Agent, channel, text, out);
            self.tell(place, Some(key), body, out);
        }
    }

    /// What another agent said: to a sub-agent, its prompt; the task itself may be encrypted.
    pub(crate) fn between_agents(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let text = item.content.text();
        let text = text.trim();
        let kind = text.strip_prefix("Message Type: ").and_then(|rest| rest.split_whitespace().next());
        let asks = kind.is_none_or(|kind| kind == "NEW_TASK");
        if self.facts.thread.is_none() || self.facts.copying || !asks {
            self.notice(text, place, out);
        } else if !text.is_empty() {
            let key = self.keys.text('p', text);
            let body = message(Author::Agent, Channel::Prompt, text, out);
            self.tell(place, Some(key), body, out);
        }
    }

    fn function_call(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let (id, arguments) = (item.call.as_str(), item.arguments.as_str());
        let name = full_name(item.namespace.as_str(), item.name.as_str());
        if name == "wait"
            && let Some(cell) = call::number(arguments, "cell_id")
        {
            // Of a script that another file began, nothing is known.
            if !self.scripts.waits(id, cell) {
                let key = self.keys.named(id);
                self.scripts.open(Script::new(id, key, place.line, place.at, ""));
            }
            return;
        }
        let mut call = call::with_arguments(id, &name, arguments, out);
        // Looking after a command in the background is one more go at it.
        if name == "write_stdin"
            && !call::says(arguments, "chars")
            && let Some(command) = call::number(arguments, "session_id").and_then(|number| self.calls.running(number))
        {
            call.command = Some(out.cap(command).0);
        }
        self.calls(call, place, out);
    }

    fn custom_call(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let (id, name, input) = (item.call.as_str(), item.name.as_str(), item.input.as_str());
        if name == script::NAME {
            let key = self.keys.named(id);
            self.called.insert(hash64(id));
            self.scripts.open(Script::new(id, key, place.line, place.at, input));
            return;
        }
        let call = match name {
            "apply_patch" => call::patching(id, name, input, out),
            _ => call::bare(id, name, call::kind(name), input, out),
        };
        self.calls(call, place, out);
    }

    /// The service searched: there is no output, and what came back is not kept.
    fn web_search(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let action = &item.action;
        let parts = [&action.query, &action.pattern, &action.url];
        let shown: Vec<&str> = parts.iter().filter_map(|part| part.get()).collect();
        if shown.is_empty() {
            return;
        }
        let key = self.keys.text('w', &shown.join("\n"));
        let id = item.id.get().unwrap_or(&key).to_owned();
        let call = call::bare(&id, "web_search", ToolKind::Search, &shown.join("\n"), out);
        let result = Some(format!("{key}/result"));
        self.tell(place, Some(key), Body::ToolCall(call), out);
        let status = if item.status.as_str() == "failed" { Status::Error } else { Status::Ok };
        let reading = Reading { status, exit_code: None, text: Cow::Borrowed(""), running: None };
        self.result(&id, result, reading, place, out);
    }

    /// Tells a call.
    pub(crate) fn calls(&mut self, call: ToolCall, place: Place, out: &mut Output) {
        self.compacted = false;
        let key = (!call.id.is_empty()).then(|| self.keys.named(&call.id));
        if let Some(key) = &key {
            self.called.insert(hash64(&call.id));
            self.calls.open(&call.id, key, &call);
        }
        self.tell(place, key, Body::ToolCall(call), out);
    }

    fn output(&mut self, item: &Payload<'_>, place: Place, out: &mut Output) {
        let id = item.call.as_str();
        if let Some(script) = self.scripts.close(id) {
            return self.script_ended(script, &item.output.text(), place, out);
        }
        let open = self.calls.close(id);
        let kind = open.as_ref().map_or(ToolKind::Other, |open| open.kind);
        let mut reading = output::read(&item.output, kind);
        if let Some(number) = reading.running
            && let Some(open) = &open
        {
            self.calls.runs_on(number, open.command.clone());
        }
        if reading.status == Status::Interrupted {
            reading.status = self.stopped_or_denied(open.as_ref().is_some_and(|open| open.asks));
        }
        if kind == ToolKind::Mcp
            && let Some(text) = output::of_parts(&reading.text)
        {
            reading.text = Cow::Owned(text);
        }
        let failed = self.failed.iter().position(|failed| *failed == hash64(id));
        if failed.is_some_and(|at| self.failed.swap_remove(at) != 0) && reading.status == Status::Ok {
            reading.status = Status::Error;
        }
        let answers = if kind == ToolKind::Ask { answers(&reading.text) } else { String::new() };
        let key = open.map(|open| format!("{}/result", open.key));
        let key = key.or_else(|| (!id.is_empty()).then(|| self.keys.named(&format!("{id}/result"))));
        self.result(id, key, reading, place, out);
        if !answers.is_empty() && self.facts.thread.is_none() {
            let key = self.keys.text('q', &answers);
            let body = message(Author::Human, Channel::Answer, &answers, out);
            self.tell(place, Some(key), body, out);
        }
    }

    /// A call was stopped. If it had to be approved, the person was asked and said no; but only once, however many waited.
    fn stopped_or_denied(&mut self, asks: bool) -> Status {
        match std::mem::replace(&mut self.stopped, true) {
            false if asks => Status::Denied,
            _ => Status::Interrupted,
        }
    }

    /// Tells how a call ended.
    pub(crate) fn result(
        &mut self,
        id: &str,
        key: Option<String>,
        reading: Reading<'_>,
        place: Place,
        out: &mut Output,
    ) {
        // Of a sub-agent that was given up: it never ended, and nobody stopped it.
        if reading.status == Status::Interrupted && self.facts.thread.is_some() && !self.facts.copying {
            return;
        }
        let (text, omitted) = out.cap(&reading.text);
        let result = ToolResult {
            call: id.to_owned(),
            status: reading.status,
            exit_code: reading.exit_code,
            text,
            omitted,
            words: None,
            amended: false,
        };
        self.tell(place, key, Body::ToolResult(result), out);
    }

    /// A script ended, or goes on.
    fn script_ended(&mut self, script: Script, output: &str, place: Place, out: &mut Output) {
        let (end, printed) = script::end(output);
        let (status, stopped) = match end {
            End::GoesOn(cell) => return self.scripts.goes_on(script, cell),
            // Its items told everything.
            End::Completed if script.items > 0 => return,
            End::Failed if script.failed => return,
            End::Completed => match script::exit_code(printed) {
                Some(code) if code != 0 => (Status::Error, false),
                _ => (Status::Ok, false),
            },
            End::Failed => (Status::Error, true),
            End::Stopped => (Status::Interrupted, true),
        };
        let (call, asks) = script.call(stopped, out);
        let kind = call.kind;
        if let Some(command) = &call.command {
            self.scripts.tell(command);
        }
        let called = Place { line: script.line, at: script.at };
        self.tell(called, Some(script.key.clone()), Body::ToolCall(call), out);
        let mut reading = Reading { status, exit_code: None, text: Cow::Borrowed(printed), running: None };
        match end {
            End::Completed => reading.exit_code = script::exit_code(printed),
            End::Stopped => reading.status = self.stopped_or_denied(asks),
            // Refusals are thrown as errors, too.
            _ if status == Status::Error => {
                let said = output::read_text(printed, kind);
                if said.status != Status::Ok {
                    reading.status = said.status;
                }
            }
            _ => {}
        }
        self.result(&script.id, Some(format!("{}/result", script.key)), reading, place, out);
    }
}

/// `mcp__server__tool`, where the server stands apart.
fn full_name<'n>(namespace: &str, name: &'n str) -> Cow<'n, str> {
    match namespace.starts_with("mcp__") && !name.starts_with("mcp__") {
        true if namespace.ends_with("__") => Cow::Owned(format!("{namespace}{name}")),
        true => Cow::Owned(format!("{namespace}__{name}")),
        false => Cow::Borrowed(name),
    }
}

object! {
    /// Output of `request_user_input`.
    struct Asked<'a> {
        "answers" => answers: Entries<'a>,
    }
}

object! {
    struct Answer<'a> {
        "answers" => answers: List<Text<'a>>,
    }
}

/// What the person answered.
fn answers(output: &str) -> String {
    let asked: Asked<'_> = serde_json::from_str(output).unwrap_or_default();
    let answers = asked.answers.0.iter().flat_map(|(_, answer)| {
        let answer: Answer<'_> = serde_json::from_str(answer.get()).unwrap_or_default();
        answer.answers.0
    });
    let answers: Vec<String> = answers.filter_map(|answer| answer.get().map(str::to_owned)).collect();
    answers.join("\n")
}
