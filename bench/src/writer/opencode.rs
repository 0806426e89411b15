//! Sessions of OpenCode: the rows that the adapter's query gives of its database, one file of lines per session. [`database`]
//! makes a database of them.
//!
//! A message's row says how the message ended, so a message is written when it has. A call and its end are one row.

pub mod database;

use anyhow::{Context, Result};
use fastrand::Rng;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{Act, Call, End, Lines, Seen, Setting, Writer, json};

/// Versions that are written.
const VERSIONS: [&str; 3] = ["1.18.33", "1.3.2", "1.15.0"];

const REJECTED: &str = "The user rejected permission to use this specific tool call";

/// Writes a session of OpenCode.
pub struct OpenCode {
    lines: Lines,
    rng: Rng,
    session: String,
    /// The session that started this one, for a sub-agent.
    parent: Option<String>,
    title: &'static str,
    cwd: String,
    version: &'static str,
    clock: i64,
    ids: u64,
    prompt: String,
    message: Option<Message>,
    tokens: u64,
    /// Session of the sub-agent that was started last.
    started: String,
}

/// The response that is being written.
struct Message {
    id: String,
    created: i64,
    /// Rows of its parts; none for a call that goes on.
    parts: Vec<Option<String>>,
    error: Option<&'static str>,
    summary: bool,
    /// When it ends, if that is known.
    completed: Option<i64>,
}

impl OpenCode {
    /// A session in the folder `rows`.
    pub fn new(setting: &Setting<'_>, rng: &mut Rng) -> Result<Self> {
        let folder = setting.folder.join("rows");
        let version = VERSIONS[setting.version % VERSIONS.len()];
        Self::create(&folder, Rng::with_seed(rng.u64(..)), setting.cwd, version, setting.start)
    }

    fn create(folder: &Path, mut rng: Rng, cwd: &str, version: &'static str, clock: i64) -> Result<Self> {
        // Ids of sessions descend.
        let session = id("ses", !(clock as u64) << 12, &mut rng);
        Ok(Self {
            lines: Lines::create(folder.join(format!("{session}.jsonl")))?,
            rng,
            session,
            parent: None,
            title: "Work on the project",
            cwd: cwd.to_owned(),
            version,
            clock,
            ids: 0,
            prompt: String::new(),
            message: None,
            tokens: 1_000,
            started: String::new(),
        })
    }

    fn id(&mut self, kind: &str) -> String {
        // They ascend.
        self.ids = (self.ids + 1).max((self.clock as u64) << 12);
        id(kind, self.ids, &mut self.rng)
    }

    fn wait(&mut self, least: i64, most: i64) {
        self.clock += self.rng.i64(least..most);
    }

    /// The session's row: the first.
    fn row(&mut self) -> Result<()> {
        let parent = json(&self.parent);
        let root = json(self.parent.as_ref().unwrap_or(&self.session));
        let line = format!(
            "{{\"id\":{},\"parentID\":{parent},\"rootID\":{root},\"directory\":{},\"title\":{},\"version\":\"{}\",\"time\":{{\"created\":{}}},\
             \"revert\":null,\"permission\":null}}",
            json(&self.session),
            json(&self.cwd),
            json(self.title),
            self.version,
            self.clock
        );
        self.lines.line(&line).map(drop)
    }

    /// A message of the person, with one part; gives the part's line.
    fn user(&mut self, part: &str) -> Result<u64> {
        let message = self.id("msg");
        self.prompt.clone_from(&message);
        let line = format!(
            "{{\"id\":\"{message}\",\"role\":\"user\",\"time\":{{\"created\":{}}},\"agent\":\"build\",\
             \"model\":{{\"providerID\":\"anthropic\",\"modelID\":\"claude-sonnet-4-5\"}}}}",
            self.clock
        );
        self.lines.line(&line)?;
        let id = self.id("prt");
        self.lines.line(&format!("{{\"id\":\"{id}\",\"messageID\":\"{message}\",{part}}}"))
    }

    fn open(&mut self) -> Result<&mut Message> {
        if self.message.is_none() {
            self.respond()?;
        }
        self.message.as_mut().context("no response goes on")
    }

    /// Adds a part to the response; gives its line. `fields` are its own, as JSON without braces.
    fn part(&mut self, fields: Option<&str>) -> Result<u64> {
        let id = self.id("prt");
        let before = self.lines.count;
        let message = self.open()?;
        let row = fields.map(|fields| format!("{{\"id\":\"{id}\",\"messageID\":\"{}\",{fields}}}", message.id));
        message.parts.push(row);
        Ok(before + 1 + message.parts.len() as u64)
    }

    fn text(&mut self, kind: &str, text: &str) -> Result<()> {
        let start = self.clock;
        self.wait(20, 400);
        let fields = format!(
            "\"type\":\"{kind}\",\"text\":{},\"time\":{{\"start\":{start},\"end\":{}}}",
            json(text),
            self.clock
        );
        self.part(Some(&fields)).map(drop)
    }

    /// Writes the response, if one goes on.
    fn flush(&mut self) -> Result<()> {
        let Some(message) = self.message.take() else { return Ok(()) };
        self.wait(20, 200);
        let completed = message.completed.unwrap_or(self.clock);
        // What failed or was stopped has no figures.
        let (error, tokens) = match message.error {
            Some(error) => (format!(",\"error\":{error}"), [0, 0, 0]),
            None => {
                self.tokens += 137;
                (String::new(), [self.tokens % 4_000 + 900, self.tokens % 600 + 7, self.tokens])
            }
        };
        let [input, output, read] = tokens;
        let summary = if message.summary { ",\"summary\":true" } else { "" };
        let line = format!(
            "{{\"id\":\"{}\",\"parentID\":\"{}\",\"role\":\"assistant\",\"mode\":\"build\",\"agent\":\"build\",\"path\":{{\"cwd\":{cwd},\"root\":{cwd}}},\
             \"cost\":0,\"tokens\":{{\"input\":{input},\"output\":{output},\"reasoning\":0,\"cache\":{{\"write\":0,\"read\":{read}}}}},\
             \"modelID\":\"claude-sonnet-4-5\",\"providerID\":\"anthropic\",\"time\":{{\"created\":{},\"completed\":{completed}}}{summary}{error}}}",
            message.id,
            self.prompt,
            message.created,
            cwd = json(&self.cwd),
        );
        self.lines.line(&line)?;
        for part in message.parts {
            self.lines.line(&part.context("a call did not end")?)?;
        }
        Ok(())
    }

    /// The response ends with an error; gives the line of the message, which tells it.
    fn fail(&mut self, error: &'static str) -> Result<u64> {
        self.open()?.error = Some(error);
        let line = self.lines.count + 1;
        self.flush()?;
        Ok(line)
    }
}

/// Stopped by the person.
const ABORTED: &str = r#"{"name":"MessageAbortedError","data":{"message":"The operation was aborted."}}"#;

const OVERLOADED: &str = r#"{"name":"APIError","data":{"message":"Overloaded","statusCode":529,"isRetryable":true,"responseBody":"{\"type\":\"error\"}"}}"#;

impl Writer for OpenCode {
    fn begin(&mut self) -> Result<()> {
        if self.lines.count == 0 { self.row() } else { Ok(()) }
    }

    fn prompt(&mut self, words: &str) -> Result<u64> {
        self.begin()?;
        self.flush()?;
        self.wait(20_000, 120_000);
        self.user(&format!("\"type\":\"text\",\"text\":{}", json(words)))
    }

    /// The message stands after the response that goes on, and was created before that ended.
    fn steer(&mut self, words: &str) -> Result<u64> {
        self.begin()?;
        self.open()?;
        self.wait(500, 900);
        let end = self.clock + 2_000;
        self.open()?.completed = Some(end);
        let now = self.clock;
        self.flush()?;
        self.clock = now + 1;
        let line = self.user(&format!("\"type\":\"text\",\"text\":{}", json(words)))?;
        self.clock = end + 1;
        Ok(line)
    }

    fn respond(&mut self) -> Result<()> {
        if self.message.as_ref().is_some_and(|message| message.parts.iter().any(Option::is_none)) {
            // Calls go on: these belong together.
            return Ok(());
        }
        self.flush()?;
        self.wait(900, 6_000);
        let (id, created) = (self.id("msg"), self.clock);
        self.message = Some(Message { id, created, parts: Vec::new(), error: None, summary: false, completed: None });
        self.part(Some("\"type\":\"step-start\"")).map(drop)
    }

    fn think(&mut self, text: &str, _: usize) -> Result<()> {
        self.text("reasoning", text)
    }

    fn remark(&mut self, text: &str) -> Result<()> {
        self.text("text", text)
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.respond()?;
        self.text("text", text)
    }

    fn call(&mut self, act: Act<'_>) -> Result<Call> {
        self.wait(20, 400);
        let mut file = String::new();
        let mut detail = [String::new(), String::new()];
        let (name, input) = match act {
            Act::Run { command, what, .. } => {
                ("bash", format!("{{\"command\":{},\"description\":{}}}", json(command), json(what)))
            }
            Act::Read { file: path } => {
                path.clone_into(&mut file);
                ("read", format!("{{\"filePath\":{}}}", json(path)))
            }
            Act::Search { pattern } => ("grep", format!("{{\"pattern\":{}}}", json(pattern))),
            Act::Create { file: path, content } => {
                path.clone_into(&mut file);
                ("write", format!("{{\"filePath\":{},\"content\":{}}}", json(path), json(content)))
            }
            Act::Edit { file: path, old, new } => {
                path.clone_into(&mut file);
                let input =
                    format!("{{\"filePath\":{},\"oldString\":{},\"newString\":{}}}", json(path), json(old), json(new));
                detail = [old.to_owned(), new.to_owned()];
                ("edit", input)
            }
            Act::Plan { steps } => {
                let todo = |(i, step): (usize, &String)| {
                    let status = ["completed", "in_progress", "pending"][usize::min(i, 2)];
                    format!(
                        "{{\"content\":{},\"status\":\"{status}\",\"priority\":\"high\",\"id\":\"{i}\"}}",
                        json(step)
                    )
                };
                let todos: Vec<String> = steps.iter().enumerate().map(todo).collect();
                ("todowrite", format!("{{\"todos\":[{}]}}", todos.join(",")))
            }
            Act::Delegate { prompt } => {
                let input = format!(
                    "{{\"description\":\"look into it\",\"prompt\":{},\"subagent_type\":\"general\"}}",
                    json(prompt)
                );
                ("task", input)
            }
            Act::Other { name, input } => (name, input.to_owned()),
        };
        let id = format!("toolu_01{:020x}", u128::from(self.rng.u64(..)) | 1 << 70);
        let line = self.part(None)?;
        let record = self.id("prt");
        Ok(Call { id, line, at: self.clock, record, name: name.to_owned(), input, asks: true, file, detail })
    }

    fn end(&mut self, call: Call, end: End<'_>) -> Result<Seen> {
        self.wait(60, 4_000);
        let runs = call.name == "bash";
        let completed = |output: &str, metadata: &str| {
            (
                format!("\"status\":\"completed\",\"output\":{},\"metadata\":{metadata},\"title\":\"\"", json(output)),
                false,
            )
        };
        let error = |text: &str, stopped| (format!("\"status\":\"error\",\"error\":{}", json(text)), stopped);
        let ran = |output: &str, code: &str| {
            let shown = json(&output[..output.floor_char_boundary(output.len().min(300))]);
            completed(output, &format!("{{\"output\":{shown},\"exit\":{code},\"truncated\":false}}"))
        };
        let ((state, stopped), refused) = match end {
            End::Done { output, .. } if runs => (ran(output, "0"), false),
            End::Done { output, .. } => match call.name.as_str() {
                "read" => {
                    let shown: String =
                        output.lines().enumerate().map(|(i, line)| format!("{:05}| {line}\n", i + 1)).collect();
                    (completed(&format!("<file>\n{shown}</file>"), "{\"truncated\":false}"), false)
                }
                "edit" => {
                    let [old, new] = &call.detail;
                    let diff = format!("--- {0}\n+++ {0}\n-{old}\n+{new}\n", call.file);
                    (completed("Edit applied successfully.", &format!("{{\"diff\":{}}}", json(diff))), false)
                }
                "grep" if output.is_empty() => (completed("No files found", "{\"matches\":0}"), false),
                "write" => (completed("Wrote file successfully.", "{\"exists\":false}"), false),
                "task" => {
                    let metadata = format!("{{\"sessionId\":\"{}\"}}", self.started);
                    (completed(output, &metadata), false)
                }
                _ => (completed(output, "{}"), false),
            },
            End::Failed { code, text } if runs => {
                (ran(text, &code.map_or("null".to_owned(), |code| code.to_string())), false)
            }
            End::Failed { .. } if call.name == "edit" => {
                let text = "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.";
                (error(text, false), false)
            }
            End::Failed { text, .. } => (error(text, false), false),
            End::Refused { words: Some(words) } => {
                (error(&format!("{REJECTED} with the following feedback: {words}"), false), true)
            }
            End::Refused { words: None } => (error(&format!("{REJECTED}."), false), true),
            End::Stopped => (error("Tool execution aborted", true), false),
        };
        let (input, name, at) = (&call.input, &call.name, call.at);
        let message = self.message.as_ref().context("a call of no response ended")?;
        let row = format!(
            "{{\"id\":\"{}\",\"messageID\":\"{}\",\"type\":\"tool\",\"tool\":{},\"callID\":\"{}\",\"state\":{{{state},\"input\":{input},\
             \"time\":{{\"start\":{at},\"end\":{}}}}}}}",
            call.record,
            message.id,
            json(name),
            call.id,
            self.clock
        );
        let before = self.lines.count;
        let message = self.message.as_mut().context("a call of no response ended")?;
        let slot =
            message.parts.get_mut((call.line - before - 2) as usize).context("a call of another response ended")?;
        *slot = Some(row);
        let whole = message.parts.iter().all(Option::is_some);
        let seen = Seen { call: call.line, end: call.line, words: call.line };
        Ok(match (stopped, refused) {
            (true, _) if whole => Seen { end: self.fail(ABORTED)?, ..seen },
            // The response ends here, and the agent waits, unless it was told what to do.
            (_, true) if whole && !matches!(end, End::Refused { words: Some(_) }) => {
                self.flush()?;
                seen
            }
            _ => seen,
        })
    }

    fn stop(&mut self) -> Result<u64> {
        self.fail(ABORTED)
    }

    fn retry(&mut self, attempt: u32) -> Result<Option<u64>> {
        if attempt == 1 {
            self.respond()?;
        }
        self.clock += 900;
        let fields = format!(
            "\"type\":\"retry\",\"attempt\":{attempt},\"error\":{OVERLOADED},\"time\":{{\"created\":{}}}",
            self.clock
        );
        self.part(Some(&fields)).map(Some)
    }

    fn give_up(&mut self, _: &mut Rng) -> Result<u64> {
        self.fail(OVERLOADED)
    }

    fn compact(&mut self, manual: bool, _: u64, summary: &str) -> Result<u64> {
        self.flush()?;
        self.wait(100, 200);
        let line = self.user(&format!("\"type\":\"compaction\",\"auto\":{}", !manual))?;
        self.respond()?;
        self.open()?.summary = true;
        self.text("text", summary)?;
        self.flush()?;
        Ok(line)
    }

    fn rest(&mut self, _: u32) -> Result<()> {
        self.flush()
    }

    /// A session of its own.
    fn subagent(&mut self, _: &Call, prompt: &str) -> Result<(Box<dyn Writer>, String)> {
        let folder = self.lines.path.parent().map(Path::to_owned).unwrap_or_default();
        let rng = Rng::with_seed(self.rng.u64(..));
        let mut agent = Self::create(&folder, rng, &self.cwd, self.version, self.clock)?;
        agent.parent = Some(self.session.clone());
        agent.title = "look into it (@general subagent)";
        agent.row()?;
        agent.clock += 5;
        agent.user(&format!("\"type\":\"text\",\"text\":{}", json(prompt)))?;
        self.started.clone_from(&agent.session);
        let id = agent.session.clone();
        Ok((Box::new(agent), id))
    }

    /// All messages and parts under new ids, with the times they had.
    fn copy(&mut self, from: &Path) -> Result<String> {
        self.title = "Work on the project (fork #1)";
        self.row()?;
        let mut ids: HashMap<String, String> = HashMap::new();
        for line in BufReader::new(File::open(from)?).lines().skip(1) {
            let mut line = line?;
            for key in ["{\"id\":\"", ",\"messageID\":\"", ",\"parentID\":\""] {
                // Its own ids stand at the beginning of a row.
                let Some(at) = line[..line.floor_char_boundary(120)].find(key) else { continue };
                let start = at + key.len();
                let end = start + line[start..].find('"').unwrap_or_default();
                let kind = line[start..end].get(..3).unwrap_or("msg").to_owned();
                let old = line[start..end].to_owned();
                let new = match ids.get(&old) {
                    Some(new) => new.clone(),
                    None => self.id(&kind),
                };
                line.replace_range(start..end, &new);
                if kind == "msg" {
                    ids.insert(old, new);
                }
            }
            self.lines.line(&line)?;
        }
        self.clock += 1_000;
        Ok(from.file_stem().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// It has one from the beginning.
    fn title(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<PathBuf> {
        self.begin()?;
        self.flush()?;
        self.lines.finish()
    }

    fn session(&self) -> &str {
        &self.session
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

/// An id as the tool makes them: what kind it is of, 48 bits that order it, 14 letters and digits.
fn id(kind: &str, order: u64, rng: &mut Rng) -> String {
    let rest: String = std::iter::repeat_with(|| rng.alphanumeric()).take(14).collect();
    format!("{kind}_{:012x}{rest}", order & 0xffff_ffff_ffff)
}
