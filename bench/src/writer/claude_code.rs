//! Transcripts of Claude Code: records with the envelope and the order of keys that the client writes.

use anyhow::Result;
use fastrand::Rng;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{Act, Call, End, Lines, Seen, Setting, Surroundings, Writer, json, time, uuid};

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was \
                       NOT written to the file).";

const INTERRUPTED: &str = "[Request interrupted by user]";

const INTERRUPTED_TOOL: &str = "[Request interrupted by user for tool use]";

/// Versions that are written.
const VERSIONS: [&str; 6] = ["2.1.37", "2.1.120", "2.1.12", "2.1.120", "2.1.197", "2.1.80"];

/// Writes a transcript of Claude Code.
pub struct ClaudeCode {
    lines: Lines,
    rng: Rng,
    session_id: String,
    /// The sub-agent that writes here.
    agent: Option<String>,
    cwd: String,
    version: &'static str,
    parent: Option<String>,
    /// The prompt that is being worked on.
    prompt: String,
    /// Milliseconds since 1970, moving on with each record.
    clock: i64,
    message: u64,
    /// The sub-agent that was started last.
    started: String,
}

impl ClaudeCode {
    /// A transcript in the folder of its project.
    pub fn new(setting: &Setting<'_>, rng: &mut Rng) -> Result<Self> {
        let id = uuid(rng);
        let seed = rng.u64(..);
        let folder = setting.folder.join("projects").join(slug(setting.cwd));
        let version = VERSIONS[setting.version % VERSIONS.len()];
        let path = folder.join(format!("{id}.jsonl"));
        Self::create(path, Rng::with_seed(seed), id, setting.cwd, version, setting.start)
    }

    fn create(
        path: PathBuf,
        mut rng: Rng,
        session_id: String,
        cwd: &str,
        version: &'static str,
        clock: i64,
    ) -> Result<Self> {
        let prompt = uuid(&mut rng);
        Ok(Self {
            lines: Lines::create(path)?,
            rng,
            session_id,
            agent: None,
            cwd: cwd.to_owned(),
            version,
            parent: None,
            prompt,
            clock,
            message: 0,
            started: String::new(),
        })
    }

    /// Does the client of this version write progress lines (up to 2.1.81), or attachments?
    fn has_progress(&self) -> bool {
        matches!(self.version, "2.1.12" | "2.1.37" | "2.1.80")
    }

    /// Writes a record with the envelope of the conversation; `fields` are its own, as JSON without braces.
    fn record(&mut self, kind: &str, fields: &str, trailing: &str) -> Result<String> {
        let id = uuid(&mut self.rng);
        let parent = self.parent.as_ref().map_or("null".to_owned(), |id| format!("\"{id}\""));
        let (side, agent) = match &self.agent {
            Some(agent) => ("true", format!("\"agentId\":\"{agent}\",")),
            None => ("false", String::new()),
        };
        let tail = if trailing.is_empty() { String::new() } else { format!("{trailing},") };
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":{side},{agent}{fields},\"type\":\"{kind}\",\"uuid\":\"{id}\",\"timestamp\":\"{}\",{tail}\
             \"userType\":\"external\",\"entrypoint\":\"cli\",\"cwd\":{},\"sessionId\":\"{}\",\"version\":\"{}\",\"gitBranch\":\"main\"}}",
            time(self.clock),
            json(&self.cwd),
            self.session_id,
            self.version,
        );
        self.parent = Some(id.clone());
        self.lines.line(&line)?;
        Ok(id)
    }

    /// A user record of one text block: markers of the client. Gives its line.
    fn marker(&mut self, text: &str) -> Result<u64> {
        self.clock += 3;
        let fields = format!(
            "\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            self.prompt,
            json(text)
        );
        self.record("user", &fields, "")?;
        Ok(self.lines.count)
    }

    /// One block of the current response.
    fn block(&mut self, content: &str, stop: &str) -> Result<String> {
        self.wait(20, 400);
        let (id, request) = (format!("msg_01{:016x}", self.salted()), format!("req_011{:014x}", self.salted() >> 8));
        let cached = 9_000 + self.lines.count * 130;
        let fields = format!(
            "\"message\":{{\"id\":\"{id}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{content}],\
             \"stop_reason\":\"{stop}\",\"stop_sequence\":null,\"usage\":{{\"input_tokens\":{},\"cache_creation_input_tokens\":{},\
             \"cache_read_input_tokens\":{cached},\"output_tokens\":{},\"server_tool_use\":{{\"web_search_requests\":0,\"web_fetch_requests\":0}},\
             \"service_tier\":\"standard\",\"cache_creation\":{{\"ephemeral_1h_input_tokens\":0,\"ephemeral_5m_input_tokens\":{}}}}}}},\
             \"requestId\":\"{request}\"",
            4 + self.message % 9,
            content.len() / 3,
            content.len() / 4 + 7,
            content.len() / 3,
        );
        self.record("assistant", &fields, "")
    }

    /// A tool's result; `returned` is what the client keeps of it beside the message, as JSON.
    fn result(&mut self, call: &Call, text: &str, error: bool, returned: &str) -> Result<()> {
        self.wait(60, 4_000);
        let flag = if error { ",\"is_error\":true" } else { "" };
        let fields = format!(
            "\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{}\",\"type\":\"tool_result\",\"content\":{}{flag}}}]}}",
            self.prompt,
            call.id,
            json(text)
        );
        let trailing = format!("\"toolUseResult\":{returned},\"sourceToolAssistantUUID\":\"{}\"", call.record);
        self.record("user", &fields, &trailing).map(drop)
    }

    /// A result that is an error.
    fn fail(&mut self, call: &Call, text: &str) -> Result<()> {
        self.result(call, text, true, &json(format!("Error: {text}")))
    }

    /// A `system` record.
    fn system(&mut self, subtype: &str, fields: &str) -> Result<()> {
        self.clock += 2;
        self.record("system", &format!("\"subtype\":\"{subtype}\",{fields}"), "").map(drop)
    }

    /// Lets time pass, in milliseconds.
    fn wait(&mut self, least: i64, most: i64) {
        self.clock += self.rng.i64(least..most);
    }

    /// Different in each response, equal in its blocks.
    fn salted(&self) -> u64 {
        let salt =
            self.session_id.bytes().fold(self.message, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// What the client keeps of a result beside the message.
    fn returned(&self, call: &Call, output: &str, before: &str) -> String {
        let file = json(&call.file);
        let [old, new] = [0, 1].map(|at| json(&call.detail[at]));
        let lines = output.lines().count();
        match call.name.as_str() {
            "Bash" => format!(
                "{{\"stdout\":{},\"stderr\":\"\",\"interrupted\":false,\"isImage\":false,\"noOutputExpected\":false}}",
                json(output)
            ),
            "Read" => format!(
                "{{\"type\":\"text\",\"file\":{{\"filePath\":{file},\"content\":{},\"numLines\":{lines},\"startLine\":1,\"totalLines\":{lines}}}}}",
                json(output)
            ),
            "Grep" => format!(
                "{{\"mode\":\"content\",\"numFiles\":0,\"filenames\":[],\"content\":{},\"numLines\":{lines}}}",
                json(output)
            ),
            "Write" => format!(
                "{{\"type\":\"create\",\"filePath\":{file},\"content\":{new},\"structuredPatch\":[],\"originalFile\":null,\"userModified\":false}}"
            ),
            "Edit" => format!(
                "{{\"filePath\":{file},\"oldString\":{old},\"newString\":{new},\"originalFile\":{},\"structuredPatch\":[{{\"oldStart\":1,\
                 \"oldLines\":2,\"newStart\":1,\"newLines\":2,\"lines\":[{old},{new}]}}],\"userModified\":false,\"replaceAll\":false}}",
                json(before)
            ),
            "TodoWrite" => {
                let todos = &call.detail[0];
                format!("{{\"oldTodos\":[{todos}],\"newTodos\":[{todos}]}}")
            }
            "Agent" => format!(
                "{{\"status\":\"completed\",\"prompt\":{old},\"agentId\":\"{}\",\"agentType\":\"general-purpose\",\"content\":[{{\"type\":\"text\",\"text\":{}}}],\
                 \"totalDurationMs\":136,\"totalTokens\":12142,\"totalToolUseCount\":3}}",
                self.started,
                json(output)
            ),
            _ => json(output),
        }
    }

    /// What the model is told of a call that went well.
    fn told(&self, call: &Call, output: &str) -> String {
        match call.name.as_str() {
            "Read" => output.lines().enumerate().map(|(i, line)| format!("{}\t{line}\n", i + 1)).collect(),
            "Write" => format!("File created successfully at: {}", call.file),
            "Edit" => format!("The file {} has been updated successfully.", call.file),
            "TodoWrite" => {
                "Todos have been modified successfully. Ensure that you continue to use the todo list.".to_owned()
            }
            "Agent" => format!("{output}\nagentId: {}", self.started),
            _ => output.to_owned(),
        }
    }
}

impl Writer for ClaudeCode {
    fn begin(&mut self) -> Result<()> {
        let line = format!(
            "{{\"type\":\"permission-mode\",\"permissionMode\":\"default\",\"sessionId\":\"{}\"}}",
            self.session_id
        );
        self.lines.line(&line).map(drop)
    }

    fn prompt(&mut self, words: &str) -> Result<u64> {
        self.wait(20_000, 120_000);
        self.prompt = uuid(&mut self.rng);
        let mode = if self.agent.is_none() { "\"permissionMode\":\"default\"" } else { "" };
        let fields =
            format!("\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":{}}}", self.prompt, json(words));
        let id = self.record("user", &fields, mode)?;
        let said = self.lines.count;
        if self.agent.is_none() {
            let line = format!(
                "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{id}\",\"snapshot\":{{\"messageId\":\"{id}\",\"trackedFileBackups\":{{}},\
                 \"timestamp\":\"{}\"}},\"isSnapshotUpdate\":false}}",
                time(self.clock)
            );
            self.lines.line(&line)?;
        }
        Ok(said)
    }

    fn steer(&mut self, words: &str) -> Result<u64> {
        let fields = format!(
            "\"attachment\":{{\"type\":\"queued_command\",\"prompt\":{},\"commandMode\":\"prompt\"}}",
            json(words)
        );
        self.record("attachment", &fields, "")?;
        Ok(self.lines.count)
    }

    fn has_surroundings(&self) -> bool {
        !self.has_progress()
    }

    fn surroundings(&mut self, what: Surroundings<'_>) -> Result<()> {
        let (context, file, content) = (json(what.context), json(what.file), json(what.content));
        let hook = format!(
            "\"attachment\":{{\"type\":\"hook_success\",\"hookName\":\"UserPromptSubmit\",\"toolUseID\":\"{}\",\"hookEvent\":\"UserPromptSubmit\",\
             \"content\":{context},\"stdout\":{context},\"stderr\":\"\",\"exitCode\":0,\"command\":\"scripts/context.sh\",\"durationMs\":86}}",
            what.id
        );
        self.record("attachment", &hook, "")?;
        let attached = format!(
            "\"attachment\":{{\"type\":\"file\",\"filename\":{file},\"content\":{{\"type\":\"text\",\"file\":{{\"filePath\":{file},\
             \"content\":{content},\"numLines\":7,\"startLine\":1,\"totalLines\":7}}}},\"displayPath\":{file}}}"
        );
        self.record("attachment", &attached, "").map(drop)
    }

    fn respond(&mut self) -> Result<()> {
        self.message += 1;
        self.wait(900, 6_000);
        Ok(())
    }

    fn think(&mut self, text: &str, signature: usize) -> Result<()> {
        let signature: String = std::iter::repeat_with(|| self.rng.alphanumeric()).take(signature).collect();
        let block = format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"{signature}\"}}", json(text));
        self.block(&block, "tool_use").map(drop)
    }

    fn remark(&mut self, text: &str) -> Result<()> {
        self.block(&format!("{{\"type\":\"text\",\"text\":{}}}", json(text)), "tool_use").map(drop)
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.respond()?;
        self.block(&format!("{{\"type\":\"text\",\"text\":{}}}", json(text)), "end_turn").map(drop)
    }

    fn call(&mut self, act: Act<'_>) -> Result<Call> {
        let mut file = String::new();
        let mut detail = [String::new(), String::new()];
        let (name, input) = match act {
            Act::Run { command, what, .. } => {
                ("Bash", format!("{{\"command\":{},\"description\":{}}}", json(command), json(what)))
            }
            Act::Read { file: path } => {
                path.clone_into(&mut file);
                ("Read", format!("{{\"file_path\":{}}}", json(path)))
            }
            Act::Search { pattern } => {
                ("Grep", format!("{{\"pattern\":{},\"output_mode\":\"content\"}}", json(pattern)))
            }
            Act::Create { file: path, content } => {
                path.clone_into(&mut file);
                content.clone_into(&mut detail[1]);
                ("Write", format!("{{\"file_path\":{},\"content\":{}}}", json(path), json(content)))
            }
            Act::Edit { file: path, old, new } => {
                path.clone_into(&mut file);
                detail = [old.to_owned(), new.to_owned()];
                let input = format!(
                    "{{\"file_path\":{},\"old_string\":{},\"new_string\":{},\"replace_all\":false}}",
                    json(path),
                    json(old),
                    json(new)
                );
                ("Edit", input)
            }
            Act::Plan { steps } => {
                let todo = |(i, step): (usize, &String)| {
                    let (words, status) = (json(step), ["completed", "in_progress", "pending"][usize::min(i, 2)]);
                    format!("{{\"content\":{words},\"status\":\"{status}\",\"activeForm\":{words}}}")
                };
                detail[0] = steps.iter().enumerate().map(todo).collect::<Vec<_>>().join(",");
                ("TodoWrite", format!("{{\"todos\":[{}]}}", detail[0]))
            }
            Act::Delegate { prompt } => {
                prompt.clone_into(&mut detail[0]);
                let input = format!(
                    "{{\"description\":\"look into it\",\"prompt\":{},\"subagent_type\":\"general-purpose\"}}",
                    json(prompt)
                );
                ("Agent", input)
            }
            Act::Other { name, input } => (name, input.to_owned()),
        };
        let id = format!("toolu_01{:020x}", u128::from(self.rng.u64(..)) | 1 << 70);
        let block = format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input}}}");
        let record = self.block(&block, "tool_use")?;
        let (name, line) = (name.to_owned(), self.lines.count);
        Ok(Call { id, line, at: self.clock, record, name, input, asks: true, file, detail })
    }

    /// Lines that say that a command is still running, with its output so far.
    fn progress(&mut self, call: &Call, output: &str, rng: &mut Rng) -> Result<()> {
        if !self.has_progress() || rng.u8(..5) >= 3 {
            return Ok(());
        }
        let seconds = rng.u64(2..20);
        let output = &output[..output.floor_char_boundary(output.len().min(300))];
        for second in 1..=seconds {
            self.clock += 1_000;
            let fields = format!(
                "\"data\":{{\"type\":\"bash_progress\",\"output\":{},\"fullOutput\":{},\"elapsedTimeSeconds\":{second},\"totalLines\":{},\"timeoutMs\":120000}},\
                 \"toolUseID\":\"bash-progress-{}\",\"parentToolUseID\":\"{}\"",
                json(output),
                json(output),
                output.lines().count(),
                second - 1,
                call.id,
            );
            self.record("progress", &fields, "")?;
        }
        Ok(())
    }

    fn end(&mut self, call: Call, end: End<'_>) -> Result<Seen> {
        match end {
            End::Done { output, before } => {
                let (told, returned) = (self.told(&call, output), self.returned(&call, output, before));
                self.result(&call, &told, false, &returned)?;
            }
            End::Failed { code: Some(code), text } => self.fail(&call, &format!("Exit code {code}\n{text}"))?,
            End::Failed { code: None, text } => {
                self.fail(&call, &format!("<tool_use_error>{text}</tool_use_error>"))?;
            }
            End::Refused { words: Some(words) } => {
                self.fail(&call, &format!("{REFUSED} To tell you how to proceed, the user said:\n{words}"))?;
            }
            End::Refused { words: None } => {
                let told = "STOP what you are doing and wait for the user to tell you how to proceed.";
                self.fail(&call, &format!("{REFUSED} {told}"))?;
                let line = self.lines.count;
                self.marker(INTERRUPTED_TOOL)?;
                return Ok(Seen { call: call.line, end: line, words: line });
            }
            End::Stopped => {
                self.fail(&call, &format!("Exit code 137\n{INTERRUPTED_TOOL}"))?;
                self.marker(INTERRUPTED_TOOL)?;
            }
        }
        Ok(Seen { call: call.line, end: self.lines.count, words: self.lines.count })
    }

    fn stop(&mut self) -> Result<u64> {
        self.marker(INTERRUPTED)
    }

    fn retry(&mut self, attempt: u32) -> Result<Option<u64>> {
        self.clock += 900;
        self.system(
            "api_error",
            &format!(
                "\"level\":\"error\",\"error\":{{\"status\":529,\"error\":{{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\
                 \"message\":\"Overloaded\"}}}}}},\"retryInMs\":{},\"retryAttempt\":{attempt},\"maxRetries\":10",
                attempt * 600
            ),
        )?;
        Ok(Some(self.lines.count))
    }

    fn give_up(&mut self, rng: &mut Rng) -> Result<u64> {
        let fields = format!(
            "\"message\":{{\"id\":\"{}\",\"model\":\"<synthetic>\",\"role\":\"assistant\",\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"\",\
             \"type\":\"message\",\"usage\":{{\"input_tokens\":0,\"output_tokens\":0,\"cache_creation_input_tokens\":0,\
             \"cache_read_input_tokens\":0}},\"content\":[{{\"type\":\"text\",\"text\":\"API Error: 529 {{\\\"type\\\":\\\"error\\\",\
             \\\"error\\\":{{\\\"type\\\":\\\"overloaded_error\\\",\\\"message\\\":\\\"Overloaded\\\"}}}}\"}}]}}",
            uuid(rng)
        );
        self.record("assistant", &fields, "\"isApiErrorMessage\":true")?;
        Ok(self.lines.count)
    }

    fn compact(&mut self, manual: bool, tokens: u64, summary: &str) -> Result<u64> {
        let logical = self.parent.take().unwrap_or_default();
        let trigger = if manual { "manual" } else { "auto" };
        let fields = format!(
            "\"logicalParentUuid\":\"{logical}\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\
             \"compactMetadata\":{{\"trigger\":\"{trigger}\",\"preTokens\":{tokens}}}"
        );
        self.system("compact_boundary", &fields)?;
        let line = self.lines.count;
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion \
             of the conversation.\n\nSummary:\n{summary}"
        );
        let fields =
            format!("\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":{}}}", self.prompt, json(text));
        self.record("user", &fields, "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true")?;
        Ok(line)
    }

    fn rest(&mut self, millis: u32) -> Result<()> {
        self.system(
            "stop_hook_summary",
            "\"hookCount\":1,\"hookInfos\":[{\"command\":\"scripts/after.sh\",\"durationMs\":151}],\"hookErrors\":[],\"preventedContinuation\":false,\
             \"stopReason\":\"\",\"hasOutput\":false,\"level\":\"suggestion\"",
        )?;
        self.system("turn_duration", &format!("\"durationMs\":{millis},\"isMeta\":false"))
    }

    /// A transcript beside this one.
    fn subagent(&mut self, _: &Call, prompt: &str) -> Result<(Box<dyn Writer>, String)> {
        let id = format!("a{:016x}", self.rng.u64(..));
        let path = self.lines.path.with_extension("").join("subagents").join(format!("agent-{id}.jsonl"));
        let rng = Rng::with_seed(self.rng.u64(..));
        let mut agent = Self::create(path.clone(), rng, self.session_id.clone(), &self.cwd, self.version, self.clock)?;
        std::fs::write(
            path.with_extension("meta.json"),
            "{\"agentType\":\"general-purpose\",\"description\":\"look into it\"}",
        )?;
        agent.agent = Some(id.clone());
        agent.prompt(prompt)?;
        self.started.clone_from(&id);
        Ok((Box::new(agent), id))
    }

    /// Records of another transcript, as a fork copies them.
    fn copy(&mut self, from: &Path) -> Result<String> {
        let parent = from.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for line in BufReader::new(File::open(from)?).lines() {
            let line = line?;
            if line.starts_with("{\"parentUuid\"") {
                self.parent = line.split("\"uuid\":\"").nth(1).and_then(|rest| rest.get(..36)).map(str::to_owned);
                self.lines.line(&line.replace(&parent, &self.session_id))?;
            }
        }
        Ok(parent)
    }

    fn title(&mut self, title: &str) -> Result<()> {
        let line = format!(
            "{{\"type\":\"custom-title\",\"customTitle\":{},\"sessionId\":\"{}\"}}",
            json(title),
            self.session_id
        );
        self.lines.line(&line).map(drop)
    }

    fn finish(self: Box<Self>) -> Result<PathBuf> {
        self.lines.finish()
    }

    fn session(&self) -> &str {
        &self.session_id
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

/// The folder's name as the client makes it: every UTF-16 unit but letters and digits becomes a dash.
fn slug(cwd: &str) -> String {
    let one = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    cwd.encode_utf16().map(one).collect()
}
