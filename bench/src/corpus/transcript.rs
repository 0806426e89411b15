//! One transcript file: its records, with the envelope and the order of keys that the client writes.

use anyhow::{Context, Result};
use fastrand::Rng;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// `value` as JSON.
pub(super) fn json(value: impl Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

pub(super) struct Transcript {
    file: BufWriter<File>,
    pub(super) path: PathBuf,
    rng: Rng,
    pub(super) session_id: String,
    /// The sub-agent that writes here.
    agent: Option<String>,
    cwd: String,
    version: &'static str,
    parent: Option<String>,
    /// The prompt that is being worked on.
    prompt: String,
    /// Milliseconds since 1970, moving on with each record.
    pub(super) clock: i64,
    pub(super) bytes: u64,
    pub(super) records: u64,
    message: u64,
}

impl Transcript {
    pub(super) fn create(
        path: PathBuf,
        mut rng: Rng,
        session_id: String,
        cwd: &str,
        version: &'static str,
        clock: i64,
    ) -> Result<Self> {
        let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        let prompt = uuid(&mut rng);
        Ok(Self {
            file: BufWriter::with_capacity(1 << 16, file),
            path,
            rng,
            session_id,
            agent: None,
            cwd: cwd.to_owned(),
            version,
            parent: None,
            prompt,
            clock,
            bytes: 0,
            records: 0,
            message: 0,
        })
    }

    /// A transcript of a sub-agent, beside this one.
    pub(super) fn subagent(&mut self) -> Result<(Self, String)> {
        let id = format!("a{:016x}", self.rng.u64(..));
        let folder = self.path.with_extension("").join("subagents");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join(format!("agent-{id}.jsonl"));
        let rng = Rng::with_seed(self.rng.u64(..));
        let mut agent = Self::create(path, rng, self.session_id.clone(), &self.cwd, self.version, self.clock)?;
        agent.agent = Some(id.clone());
        Ok((agent, id))
    }

    /// Does the client of this version write progress lines (up to 2.1.81), or attachments?
    pub(super) fn has_progress(&self) -> bool {
        matches!(self.version, "2.1.12" | "2.1.37" | "2.1.80")
    }

    /// Writes a line as it is.
    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        self.bytes += line.len() as u64 + 1;
        self.records += 1;
        Ok(())
    }

    /// Writes a record with the envelope of the conversation; `fields` are its own, as JSON without braces.
    pub(super) fn record(&mut self, kind: &str, fields: &str, trailing: &str) -> Result<String> {
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
        self.line(&line)?;
        Ok(id)
    }

    /// Words typed at the prompt (or, in a sub-agent's transcript, what it was told).
    pub(super) fn prompt(&mut self, words: &str) -> Result<()> {
        self.wait(20_000, 120_000);
        self.prompt = uuid(&mut self.rng);
        let mode = if self.agent.is_none() { "\"permissionMode\":\"default\"" } else { "" };
        let fields =
            format!("\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":{}}}", self.prompt, json(words));
        let id = self.record("user", &fields, mode)?;
        if self.agent.is_none() {
            let line = format!(
                "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{id}\",\"snapshot\":{{\"messageId\":\"{id}\",\"trackedFileBackups\":{{}},\
                 \"timestamp\":\"{}\"}},\"isSnapshotUpdate\":false}}",
                time(self.clock)
            );
            self.line(&line)?;
        }
        Ok(())
    }

    /// A user record of one text block: markers of the client.
    pub(super) fn marker(&mut self, text: &str) -> Result<()> {
        self.clock += 3;
        let fields = format!(
            "\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            self.prompt,
            json(text)
        );
        self.record("user", &fields, "").map(drop)
    }

    /// Begins a response: the blocks that follow share its id.
    pub(super) fn respond(&mut self) {
        self.message += 1;
        self.wait(900, 6_000);
    }

    /// One block of the current response.
    pub(super) fn block(&mut self, content: &str, stop: &str) -> Result<String> {
        self.wait(20, 400);
        let (id, request) = (format!("msg_01{:016x}", self.salted()), format!("req_011{:014x}", self.salted() >> 8));
        let cached = 9_000 + self.records * 130;
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

    pub(super) fn say(&mut self, text: &str) -> Result<()> {
        self.respond();
        self.block(&format!("{{\"type\":\"text\",\"text\":{}}}", json(text)), "end_turn").map(drop)
    }

    pub(super) fn think(&mut self, text: &str, signature: usize) -> Result<()> {
        let signature: String = std::iter::repeat_with(|| self.rng.alphanumeric()).take(signature).collect();
        let block = format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"{signature}\"}}", json(text));
        self.block(&block, "tool_use").map(drop)
    }

    /// A tool call, in the response that was begun.
    pub(super) fn call(&mut self, name: &str, input: &str) -> Result<Call> {
        let id = format!("toolu_01{:020x}", u128::from(self.rng.u64(..)) | 1 << 70);
        let block = format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input}}}");
        let record = self.block(&block, "tool_use")?;
        Ok(Call { id, record })
    }

    /// A tool's result; `returned` is what the client keeps of it beside the message, as JSON.
    pub(super) fn result(&mut self, call: &Call, text: &str, error: bool, returned: &str) -> Result<()> {
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
    pub(super) fn fail(&mut self, call: &Call, text: &str) -> Result<()> {
        self.result(call, text, true, &json(format!("Error: {text}")))
    }

    /// Lines that say that a command is still running, with its output so far.
    pub(super) fn progress(&mut self, call: &Call, output: &str, seconds: u64) -> Result<()> {
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

    /// A `system` record.
    pub(super) fn system(&mut self, subtype: &str, fields: &str) -> Result<()> {
        self.clock += 2;
        self.record("system", &format!("\"subtype\":\"{subtype}\",{fields}"), "").map(drop)
    }

    /// The conversation is summed up: what follows has a new root.
    pub(super) fn compact(&mut self, manual: bool, tokens: u64, summary: &str) -> Result<()> {
        let logical = self.parent.take().unwrap_or_default();
        let trigger = if manual { "manual" } else { "auto" };
        let fields = format!(
            "\"logicalParentUuid\":\"{logical}\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\
             \"compactMetadata\":{{\"trigger\":\"{trigger}\",\"preTokens\":{tokens}}}"
        );
        self.system("compact_boundary", &fields)?;
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion \
             of the conversation.\n\nSummary:\n{summary}"
        );
        let fields =
            format!("\"promptId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":{}}}", self.prompt, json(text));
        self.record("user", &fields, "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true").map(drop)
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

    /// Records of another transcript, as a fork copies them; gives that session's id.
    pub(super) fn copy(&mut self, from: &Path) -> Result<String> {
        use std::io::{BufRead, BufReader};
        let parent = from.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for line in BufReader::new(File::open(from)?).lines() {
            let line = line?;
            if line.starts_with("{\"parentUuid\"") {
                self.parent = line.split("\"uuid\":\"").nth(1).and_then(|rest| rest.get(..36)).map(str::to_owned);
                self.line(&line.replace(&parent, &self.session_id))?;
            }
        }
        Ok(parent)
    }

    pub(super) fn finish(mut self) -> Result<PathBuf> {
        self.file.flush().with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.path)
    }
}

/// A tool call that waits for its result.
pub(super) struct Call {
    pub(super) id: String,
    record: String,
}

pub(super) fn uuid(rng: &mut Rng) -> String {
    let (a, b) = (rng.u64(..), rng.u64(..));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        0x8000 | b >> 48 & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}

fn time(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    format!("{time:.3}")
}
