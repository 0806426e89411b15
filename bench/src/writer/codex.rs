//! Rollouts of Codex CLI, in four of the shapes that its versions have written.

use anyhow::Result;
use fastrand::Rng;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{Act, Call, End, Lines, Seen, Setting, Writer, json, time};

/// How a version writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// No turn ids; the tool `shell`, whose output is JSON.
    Structured,
    /// `exec_command`, whose output is text.
    Plain,
    /// Paginated files: prompts, commands and patches are items.
    Items,
    /// Paginated, and the model writes scripts: their commands are items only.
    Scripts,
}

/// Versions that are written, with the model.
const VERSIONS: [(&str, Shape, &str); 5] = [
    ("0.118.0", Shape::Plain, "gpt-5.4"),
    ("0.171.0", Shape::Scripts, "gpt-5.6-sol"),
    ("0.50.0", Shape::Structured, "gpt-5-codex"),
    ("0.171.0", Shape::Items, "gpt-5.5"),
    ("0.140.0", Shape::Plain, "gpt-5.4"),
];

/// A pause that no copying makes, in milliseconds.
const PAUSE: i64 = 5_000;

/// What a call does, where its end depends on that.
const PATCH: &str = "patch";
const SEARCH: &str = "search";

/// Writes a rollout of Codex CLI.
pub struct Codex {
    lines: Lines,
    rng: Rng,
    id: String,
    /// The session that started this one, for a sub-agent.
    parent: Option<String>,
    forked_from: Option<String>,
    cwd: String,
    version: &'static str,
    shape: Shape,
    model: &'static str,
    clock: i64,
    ordinal: u64,
    turn: String,
    /// A turn goes on.
    running: bool,
    begun: bool,
    responses: u64,
    /// Tokens of all responses.
    total: u64,
    /// Session of the sub-agent that was started last.
    started: String,
}

impl Codex {
    /// A rollout in the folder of its day.
    pub fn new(setting: &Setting<'_>, rng: &mut Rng) -> Result<Self> {
        let (version, shape, model) = VERSIONS[setting.version % VERSIONS.len()];
        let mut rng = Rng::with_seed(rng.u64(..));
        let id = uuid7(setting.start, &mut rng);
        let now = time(setting.start);
        let (day, hour) = (now[..10].replace('-', "/"), now[..19].replace(':', "-"));
        let path = setting.folder.join("sessions").join(day).join(format!("rollout-{hour}-{id}.jsonl"));
        Ok(Self {
            lines: Lines::create(path)?,
            rng,
            id,
            parent: None,
            forked_from: None,
            cwd: setting.cwd.to_owned(),
            version,
            shape,
            model,
            clock: setting.start,
            ordinal: 0,
            turn: String::new(),
            running: false,
            begun: false,
            responses: 0,
            total: 0,
            started: String::new(),
        })
    }

    fn paginated(&self) -> bool {
        matches!(self.shape, Shape::Items | Shape::Scripts)
    }

    fn wait(&mut self, least: i64, most: i64) {
        self.clock += self.rng.i64(least..most);
    }

    /// Writes a line; `payload` is JSON. Gives its number.
    fn line(&mut self, kind: &str, payload: &str) -> Result<u64> {
        let ordinal = if self.paginated() { format!("\"ordinal\":{},", self.ordinal) } else { String::new() };
        self.ordinal += 1;
        self.lines.line(&format!(
            "{{\"timestamp\":\"{}\",{ordinal}\"type\":\"{kind}\",\"payload\":{payload}}}",
            time(self.clock)
        ))
    }

    /// An event of the client; `fields` are its own, as JSON without braces, after a comma.
    fn event(&mut self, kind: &str, fields: &str) -> Result<u64> {
        self.line("event_msg", &format!("{{\"type\":\"{kind}\"{fields}}}"))
    }

    /// An item of the model's API.
    fn response(&mut self, kind: &str, fields: &str) -> Result<u64> {
        let passed = match self.paginated() && !self.turn.is_empty() {
            true => format!(",\"internal_chat_message_metadata_passthrough\":{{\"turn_id\":\"{}\"}}", self.turn),
            false => String::new(),
        };
        self.line("response_item", &format!("{{\"type\":\"{kind}\"{fields}{passed}}}"))
    }

    /// An item of a paginated file.
    fn item(&mut self, kind: &str, id: &str, fields: &str) -> Result<u64> {
        let (thread, turn, now) = (&self.id, &self.turn, self.clock);
        let event = format!(
            ",\"thread_id\":\"{thread}\",\"turn_id\":\"{turn}\",\"item\":{{\"type\":\"{kind}\",\"id\":\"{id}\"{fields}}},\
             \"started_at_ms\":{now},\"completed_at_ms\":{now}"
        );
        self.event("item_completed", &event)
    }

    fn message(&mut self, role: &str, text: &str) -> Result<u64> {
        let part = if role == "assistant" { "output_text" } else { "input_text" };
        let fields = format!(",\"role\":\"{role}\",\"content\":[{{\"type\":\"{part}\",\"text\":{}}}]", json(text));
        self.response("message", &fields)
    }

    fn meta(&mut self) -> Result<()> {
        self.begun = true;
        let source = match &self.parent {
            Some(parent) => {
                format!("{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\"{parent}\",\"depth\":1}}}}}}")
            }
            None => "\"cli\"".to_owned(),
        };
        let forked = match &self.forked_from {
            Some(parent) => format!(",\"forked_from_id\":\"{parent}\""),
            None => String::new(),
        };
        let mode = if self.paginated() { ",\"history_mode\":\"paginated\"" } else { "" };
        let payload = format!(
            "{{\"id\":\"{}\"{forked},\"timestamp\":\"{}\",\"cwd\":{},\"originator\":\"codex_cli_rs\",\"cli_version\":\"{}\",\"source\":{source},\
             \"model_provider\":\"openai\"{mode},\"git\":{{\"branch\":\"main\"}}}}",
            self.id,
            time(self.clock),
            json(&self.cwd),
            self.version,
        );
        self.line("session_meta", &payload).map(drop)
    }

    fn turn_context(&mut self) -> Result<()> {
        let turn = match self.turn.is_empty() {
            true => String::new(),
            false => format!("\"turn_id\":\"{}\",", self.turn),
        };
        let payload = format!(
            "{{{turn}\"cwd\":{},\"approval_policy\":\"on-request\",\"sandbox_policy\":{{\"mode\":\"workspace-write\"}},\"model\":\"{}\"}}",
            json(&self.cwd),
            self.model
        );
        self.line("turn_context", &payload).map(drop)
    }

    /// What the person typed, told twice; gives the line that counts.
    fn typed(&mut self, words: &str) -> Result<u64> {
        self.message("user", words)?;
        if self.paginated() {
            let id = uuid7(self.clock, &mut self.rng);
            let content = format!(",\"content\":[{{\"type\":\"text\",\"text\":{},\"text_elements\":[]}}]", json(words));
            return self.item("UserMessage", &id, &content);
        }
        self.event("user_message", &format!(",\"message\":{},\"images\":[]", json(words)))
    }

    /// The turn was given up by the person; gives the line of the mark.
    fn abort(&mut self) -> Result<u64> {
        self.wait(5, 60);
        let mut turn = String::new();
        if self.shape != Shape::Structured {
            self.message(
                "user",
                "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still be running \
                 in the background.\n</turn_aborted>",
            )?;
            turn = format!(",\"turn_id\":\"{}\"", self.turn);
        }
        self.running = false;
        self.event("turn_aborted", &format!("{turn},\"reason\":\"interrupted\""))
    }

    /// What a response took.
    fn usage(&mut self) -> Result<()> {
        let (input, output) = (5_000 + self.responses * 40, 60);
        self.total += input + output;
        let figures = |input: u64, output: u64| {
            format!(
                "{{\"input_tokens\":{input},\"cached_input_tokens\":{},\"output_tokens\":{output},\"reasoning_output_tokens\":0,\"total_tokens\":{}}}",
                input / 5 * 4,
                input + output
            )
        };
        let total = figures(self.total - 60 * self.responses, 60 * self.responses);
        let info = format!(
            ",\"info\":{{\"total_token_usage\":{total},\"last_token_usage\":{},\"model_context_window\":258400}},\"rate_limits\":null",
            figures(input, output)
        );
        self.event("token_count", &info).map(drop)
    }

    fn speaks(&mut self, text: &str) -> Result<()> {
        self.wait(20, 400);
        if self.paginated() {
            let id = format!("msg_{:024x}", self.rng.u128(..) >> 32);
            self.item("AgentMessage", &id, &format!(",\"content\":[{{\"type\":\"Text\",\"text\":{}}}]", json(text)))?;
        } else {
            self.event("agent_message", &format!(",\"message\":{}", json(text)))?;
        }
        self.message("assistant", text).map(drop)
    }

    /// The output of a call.
    fn output(&mut self, call: &Call, output: &str) -> Result<u64> {
        let kind = if is_custom(&call.name) { "custom_tool_call_output" } else { "function_call_output" };
        self.response(kind, &format!(",\"call_id\":\"{}\",\"output\":{}", call.id, json(output)))
    }

    /// The output of a script.
    fn printed(&mut self, call: &Call, head: &str, text: &str) -> Result<u64> {
        let parts = format!(
            "[{{\"type\":\"input_text\",\"text\":{}}},{{\"type\":\"input_text\",\"text\":{}}}]",
            json(format!("{head}\nWall time 0.3 seconds\nOutput:\n")),
            json(text)
        );
        self.response("custom_tool_call_output", &format!(",\"call_id\":\"{}\",\"output\":{parts}", call.id))
    }

    /// A command ended.
    fn ran(&mut self, call: &Call, code: i32, text: &str) -> Result<Seen> {
        let status = if code == 0 { "completed" } else { "failed" };
        let execution = format!(
            ",\"command\":[\"/bin/bash\",\"-lc\",{}],\"cwd\":{},\"source\":\"unified_exec_startup\",\"status\":\"{status}\",\
             \"aggregated_output\":{},\"exit_code\":{code}",
            json(&call.detail[0]),
            json(format!("file://{}", self.cwd)),
            json(text)
        );
        let packed = format!(
            "Chunk ID: {:06x}\nWall time: 0.1000 seconds\nProcess exited with code {code}\nOriginal token count: {}\nOutput:\n{text}",
            self.rng.u32(..1 << 24),
            text.len() / 4
        );
        let end = match self.shape {
            Shape::Structured => {
                let output = format!(
                    "{{\"output\":{},\"metadata\":{{\"exit_code\":{code},\"duration_seconds\":0.1}}}}",
                    json(text)
                );
                self.output(call, &output)?
            }
            Shape::Plain => self.output(call, &packed)?,
            Shape::Items => {
                self.item("CommandExecution", &call.id, &execution)?;
                self.output(call, &packed)?
            }
            Shape::Scripts => {
                let id = format!("exec-{}", uuid7(self.clock, &mut self.rng));
                let line = self.item("CommandExecution", &id, &execution)?;
                let result = format!("{{\"chunk_id\":\"963bdd\",\"exit_code\":{code},\"output\":{}}}", json(text));
                self.printed(call, "Script completed", &result)?;
                return Ok(Seen { call: line, end: line, words: line });
            }
        };
        Ok(Seen { call: call.line, end, words: end })
    }

    /// A patch was applied.
    fn patched(&mut self, call: &Call) -> Result<Seen> {
        let said = format!("Success. Updated the following files:\nM {}\n", call.file);
        let end = match self.shape {
            Shape::Structured => {
                let output =
                    format!("{{\"output\":{},\"metadata\":{{\"exit_code\":0,\"duration_seconds\":0.0}}}}", json(&said));
                self.output(call, &output)?
            }
            Shape::Plain | Shape::Items => {
                self.output(call, &format!("Exit code: 0\nWall time: 0 seconds\nOutput:\n{said}"))?
            }
            Shape::Scripts => {
                let [old, new] = &call.detail;
                let change = match old.is_empty() {
                    true => format!("{{\"type\":\"add\",\"content\":{}}}", json(new)),
                    false => {
                        let diff = format!("@@ -1,2 +1,2 @@\n{}{}", marked('-', old), marked('+', new));
                        format!("{{\"type\":\"update\",\"unified_diff\":{},\"move_path\":null}}", json(diff))
                    }
                };
                let fields = format!(
                    ",\"changes\":{{{}:{change}}},\"status\":\"completed\",\"stdout\":{},\"stderr\":\"\"",
                    json(&call.file),
                    json(said)
                );
                let id = format!("exec-{}", uuid7(self.clock, &mut self.rng));
                let line = self.item("FileChange", &id, &fields)?;
                self.printed(call, "Script completed", "{}")?;
                return Ok(Seen { call: line, end: line, words: line });
            }
        };
        Ok(Seen { call: call.line, end, words: end })
    }

    /// A call that failed before anything ran; the client says why.
    fn failed(&mut self, call: &Call, text: &str) -> Result<Seen> {
        let end = match call.name.as_str() {
            "exec" => self.printed(call, "Script failed", &format!("Script error:\n{text}"))?,
            _ => self.output(call, text)?,
        };
        Ok(Seen { call: call.line, end, words: end })
    }
}

impl Writer for Codex {
    fn begin(&mut self) -> Result<()> {
        if self.begun { Ok(()) } else { self.meta() }
    }

    fn prompt(&mut self, words: &str) -> Result<u64> {
        self.begin()?;
        if self.running {
            self.rest(0)?;
        }
        self.wait(20_000, 120_000);
        let first = self.turn.is_empty() && self.total == 0;
        if self.shape != Shape::Structured {
            self.turn = uuid7(self.clock, &mut self.rng);
            let fields = format!(",\"turn_id\":\"{}\",\"model_context_window\":258400", self.turn);
            self.event("task_started", &fields)?;
        }
        self.running = true;
        if first {
            let cwd = &self.cwd;
            let context =
                format!("<environment_context>\n  <cwd>{cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>");
            self.message("user", &context)?;
        }
        self.turn_context()?;
        self.typed(words)
    }

    fn steer(&mut self, words: &str) -> Result<u64> {
        self.wait(200, 900);
        self.typed(words)
    }

    fn respond(&mut self) -> Result<()> {
        if self.responses > 0 {
            self.usage()?;
        }
        self.responses += 1;
        self.wait(900, 6_000);
        Ok(())
    }

    fn think(&mut self, text: &str, signature: usize) -> Result<()> {
        let encrypted: String = std::iter::repeat_with(|| self.rng.alphanumeric()).take(signature).collect();
        if self.paginated() {
            let fields = format!(",\"summary_text\":[{}],\"raw_content\":[]", json(text));
            self.item("Reasoning", "rs_1", &fields)?;
        } else {
            self.event("agent_reasoning", &format!(",\"text\":{}", json(text)))?;
        }
        let fields = format!(
            ",\"summary\":[{{\"type\":\"summary_text\",\"text\":{}}}],\"content\":null,\"encrypted_content\":\"{encrypted}\"",
            json(text)
        );
        self.response("reasoning", &fields).map(drop)
    }

    fn remark(&mut self, text: &str) -> Result<()> {
        self.speaks(text)
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.respond()?;
        self.speaks(text)
    }

    fn call(&mut self, act: Act<'_>) -> Result<Call> {
        self.wait(20, 400);
        let (mut file, mut asks) = (String::new(), false);
        let mut detail = [String::new(), String::new()];
        let mut patch = None;
        let (name, input) = match act {
            Act::Run { .. } | Act::Read { .. } | Act::Search { .. } => {
                let command = match act {
                    Act::Run { command, .. } => command.to_owned(),
                    Act::Read { file } => format!("sed -n '1,240p' {file}"),
                    Act::Search { pattern } => format!("rg -n {} src", json(pattern)),
                    _ => String::new(),
                };
                asks = matches!(act, Act::Run { asks: true, .. });
                let (name, key) = match self.shape {
                    Shape::Structured => ("shell", json(["bash", "-lc", command.as_str()])),
                    _ => ("exec_command", json(&command)),
                };
                let mut input = match self.shape {
                    Shape::Structured => format!("{{\"command\":{key}"),
                    _ => format!("{{\"cmd\":{key}"),
                };
                if asks {
                    input.push_str(match self.shape {
                        Shape::Structured => ",\"with_escalated_permissions\":true,\"justification\":\"as asked\"",
                        _ => ",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"as asked\"",
                    });
                }
                input.push('}');
                detail[0] = command;
                (name, input)
            }
            Act::Create { file: path, content } => {
                path.clone_into(&mut file);
                content.clone_into(&mut detail[1]);
                patch = Some(format!("*** Begin Patch\n*** Add File: {path}\n{}*** End Patch\n", marked('+', content)));
                ("apply_patch", String::new())
            }
            Act::Edit { file: path, old, new } => {
                path.clone_into(&mut file);
                detail = [old.to_owned(), new.to_owned()];
                patch = Some(format!(
                    "*** Begin Patch\n*** Update File: {path}\n@@\n{}{}*** End Patch\n",
                    marked('-', old),
                    marked('+', new)
                ));
                ("apply_patch", String::new())
            }
            Act::Plan { steps } => {
                let step = |step: &String| format!("{{\"step\":{},\"status\":\"pending\"}}", json(step));
                let steps: Vec<String> = steps.iter().map(step).collect();
                ("update_plan", format!("{{\"plan\":[{}]}}", steps.join(",")))
            }
            Act::Delegate { prompt } => ("spawn_agent", format!("{{\"message\":{}}}", json(prompt))),
            Act::Other { name, input } => (name, input.to_owned()),
        };
        let id = format!("call_{:024x}", self.rng.u128(..) >> 32);
        let scripted = self.shape == Shape::Scripts && matches!(name, "exec_command" | "apply_patch");
        let (name, line) = match &patch {
            _ if scripted => {
                let argument = patch.as_ref().map_or_else(|| input.clone(), json);
                let script = format!(
                    "const r = await tools.{name}({argument});\ntext(typeof r === 'string' ? r : JSON.stringify(r));"
                );
                let fields = format!(
                    ",\"status\":\"completed\",\"call_id\":\"{id}\",\"name\":\"exec\",\"input\":{}",
                    json(script)
                );
                ("exec", self.response("custom_tool_call", &fields)?)
            }
            Some(patch) => {
                let fields = format!(
                    ",\"status\":\"completed\",\"call_id\":\"{id}\",\"name\":\"{name}\",\"input\":{}",
                    json(patch)
                );
                (name, self.response("custom_tool_call", &fields)?)
            }
            None => {
                let fields = format!(",\"name\":\"{name}\",\"arguments\":{},\"call_id\":\"{id}\"", json(&input));
                (name, self.response("function_call", &fields)?)
            }
        };
        let record = match act {
            _ if patch.is_some() => PATCH,
            Act::Search { .. } => SEARCH,
            _ => "",
        };
        let record = record.to_owned();
        Ok(Call { id, line, at: self.clock, record, name: name.to_owned(), input, asks, file, detail })
    }

    fn end(&mut self, call: Call, end: End<'_>) -> Result<Seen> {
        self.wait(60, 4_000);
        let (patches, runs) = (call.record == PATCH, !call.detail[0].is_empty() && call.record != PATCH);
        let refused = match (self.shape, patches) {
            (Shape::Structured, true) => "patch rejected by user",
            (Shape::Structured, false) if runs => "exec command rejected by user",
            _ if patches || call.asks => "Wall time: 0.1 seconds\naborted by user",
            _ => "user rejected MCP tool call",
        };
        match end {
            End::Done { .. } if patches => self.patched(&call),
            // A search in vain, which is no failure.
            End::Done { output: "", .. } if call.record == SEARCH => self.ran(&call, 1, ""),
            End::Done { output, .. } if runs => self.ran(&call, 0, output),
            End::Done { output, .. } => {
                let said = match call.name.as_str() {
                    "update_plan" => "Plan updated".to_owned(),
                    "spawn_agent" => format!("{{\"agent_id\":\"{}\"}}", self.started),
                    _ => output.to_owned(),
                };
                let end = self.output(&call, &said)?;
                Ok(Seen { call: call.line, end, words: end })
            }
            End::Failed { .. } if patches => {
                let text = format!(
                    "apply_patch verification failed: Failed to find expected lines in {}:\n{}",
                    call.file, call.detail[0]
                );
                self.failed(&call, &text)
            }
            End::Failed { code, text } if runs => self.ran(&call, code.unwrap_or(1), text),
            End::Failed { text, .. } => self.failed(&call, &format!("tool call error: {text}")),
            End::Refused { words } => {
                let end = self.output(&call, refused)?;
                self.abort()?;
                let words = words.map(|words| self.prompt(words)).transpose()?;
                Ok(Seen { call: call.line, end, words: words.unwrap_or(end) })
            }
            End::Stopped => {
                self.output(&call, "Wall time: 3.5 seconds\naborted by user")?;
                let end = self.abort()?;
                Ok(Seen { call: call.line, end, words: end })
            }
        }
    }

    fn stop(&mut self) -> Result<u64> {
        self.abort()
    }

    /// The client does not keep that it asked again.
    fn retry(&mut self, _: u32) -> Result<Option<u64>> {
        self.clock += 900;
        Ok(None)
    }

    fn give_up(&mut self, _: &mut Rng) -> Result<u64> {
        let line = self.event(
            "error",
            ",\"message\":\"exceeded retry limit, last status: 503 Service Unavailable\",\
             \"codex_error_info\":{\"response_too_many_failed_attempts\":{\"http_status_code\":503}}",
        )?;
        self.rest(0)?;
        Ok(line)
    }

    fn compact(&mut self, _: bool, _: u64, summary: &str) -> Result<u64> {
        let line = self.line("compacted", &format!("{{\"message\":{}}}", json(summary)))?;
        if self.paginated() {
            let id = uuid7(self.clock, &mut self.rng);
            self.item("ContextCompaction", &id, "")?;
        } else {
            self.event("context_compacted", "")?;
        }
        Ok(line)
    }

    fn rest(&mut self, millis: u32) -> Result<()> {
        if self.running && self.shape != Shape::Structured {
            let fields = format!(",\"turn_id\":\"{}\",\"last_agent_message\":null,\"duration_ms\":{millis}", self.turn);
            self.event("task_complete", &fields)?;
        }
        self.running = false;
        Ok(())
    }

    /// A rollout of its own.
    fn subagent(&mut self, _: &Call, prompt: &str) -> Result<(Box<dyn Writer>, String)> {
        let id = uuid7(self.clock, &mut self.rng);
        let now = time(self.clock);
        let name = format!("rollout-{}-{id}.jsonl", now[..19].replace(':', "-"));
        let path = self.lines.path.with_file_name(name);
        let rng = Rng::with_seed(self.rng.u64(..));
        let mut agent = Self {
            lines: Lines::create(path)?,
            rng,
            id: id.clone(),
            parent: Some(self.id.clone()),
            forked_from: None,
            cwd: self.cwd.clone(),
            turn: String::new(),
            started: String::new(),
            ordinal: 0,
            running: false,
            begun: false,
            responses: 0,
            total: 0,
            version: self.version,
            shape: self.shape,
            model: self.model,
            clock: self.clock,
        };
        agent.prompt(prompt)?;
        self.started.clone_from(&id);
        Ok((Box::new(agent), id))
    }

    /// All lines of another rollout under the time of the copying, as a fork has them; a paginated one only names the other.
    fn copy(&mut self, from: &Path) -> Result<String> {
        let mut lines = BufReader::new(File::open(from)?).lines();
        let Some(meta) = lines.next().transpose()? else { return Ok(String::new()) };
        let after = |key: &str| meta.split(key).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let parent = after("\"payload\":{\"id\":\"").to_owned();
        let paginated = meta.contains("\"history_mode\"");
        let like = VERSIONS.iter().find(|(version, shape, _)| {
            *version == after("\"cli_version\":\"") && (*shape == Shape::Scripts || !paginated)
        });
        (self.version, self.shape, self.model) = *like.unwrap_or(&VERSIONS[0]);
        self.forked_from = Some(parent.clone());
        self.meta()?;
        if !paginated {
            let now = time(self.clock);
            for line in std::iter::once(Ok(meta)).chain(lines) {
                let line = line?;
                let start = "{\"timestamp\":\"".len();
                let rest = line.get(start + now.len()..).unwrap_or_default();
                self.lines.line(&format!("{{\"timestamp\":\"{now}{rest}"))?;
            }
        }
        self.clock += PAUSE;
        Ok(parent)
    }

    fn title(&mut self, title: &str) -> Result<()> {
        if self.shape == Shape::Structured {
            return Ok(());
        }
        let fields = format!(",\"thread_id\":\"{}\",\"thread_name\":{}", self.id, json(title));
        self.event("thread_name_updated", &fields).map(drop)
    }

    fn finish(self: Box<Self>) -> Result<PathBuf> {
        self.lines.finish()
    }

    fn session(&self) -> &str {
        &self.id
    }

    fn clock(&self) -> i64 {
        self.clock
    }

    fn wait_until(&mut self, clock: i64) {
        self.clock = clock;
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes
    }

    fn records(&self) -> u64 {
        self.lines.count
    }
}

fn is_custom(name: &str) -> bool {
    matches!(name, "apply_patch" | "exec")
}

/// Lines of a patch.
fn marked(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

/// A UUID that begins with a time.
fn uuid7(millis: i64, rng: &mut Rng) -> String {
    let (a, b) = (rng.u64(..), rng.u64(..));
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        millis >> 16 & 0xffff_ffff,
        millis & 0xffff,
        a & 0xfff,
        0x8000 | b >> 48 & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}
