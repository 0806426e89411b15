//! One session: turns of ordinary work, with friction planted in it.
//!
//! Ordinary work must not look like friction by accident, or the truth would be wrong: no command is run twice, no file
//! is edited more than twice, prompts share few words, and the last result of a thread is a success.

use anyhow::Result;
use fastrand::Rng;
use std::path::{Path, PathBuf};

use super::text::{self, FILES, REPLIES, RESULTS, THOUGHTS, Texts};
use super::transcript::{Call, Transcript, json, uuid};
use super::truth::{Counts, SessionTruth};

/// Friction that can be planted in a turn, with how often it is, of a hundred turns.
const PLANTS: &[(Plant, u32)] = &[
    (Plant::Errors, 22),
    (Plant::Denial, 4),
    (Plant::DenialWithWords, 4),
    (Plant::Interrupt, 3),
    (Plant::InterruptTool, 3),
    (Plant::Correction, 6),
    (Plant::Repetition, 2),
    (Plant::Churn, 5),
    (Plant::GitRevert, 2),
    (Plant::EditRevert, 2),
    (Plant::RetryLoop, 3),
    (Plant::ApiOutage, 2),
    (Plant::ApiFailure, 1),
    (Plant::Compaction, 1),
    (Plant::Subagent, 4),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plant {
    Errors,
    Denial,
    DenialWithWords,
    Interrupt,
    InterruptTool,
    Correction,
    Repetition,
    Churn,
    GitRevert,
    EditRevert,
    RetryLoop,
    ApiOutage,
    ApiFailure,
    Compaction,
    Subagent,
}

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was \
                       NOT written to the file).";

/// Plain corrections: `{}` is what was wanted.
const CORRECTIONS: &[&str] = &[
    "No, that's wrong. I asked for the {}, not this. Undo it and do what I said.",
    "That's not what I meant: leave the {} alone and change the caller instead.",
    "Stop. You changed the {} although I told you to leave it out of this, revert it.",
    "That isn't right: {} must come from the settings, you hard-coded it again.",
    "You misunderstood. Only {} was meant, everything else should not be touched.",
    "Wrong file. You should have changed the {}, please fix that.",
    "不对，我说的是 {}，不是这个。请改回来。",
    "Non, ce n'est pas ça. J'avais demandé le {}, pas cette version.",
    "違います。{} を直してと言いました。元に戻してください。",
];

pub(super) struct Session<'t> {
    texts: &'t Texts,
    rng: Rng,
    main: Transcript,
    cwd: String,
    started_at: i64,
    forked_from: Option<String>,
    subagent_files: Vec<PathBuf>,
    counts: Counts,
    counts_subagents: Counts,
    /// Wordings that were not used yet.
    corrections: Vec<&'static str>,
    /// Makes names unlike any other in this session.
    number: u32,
}

impl<'t> Session<'t> {
    pub(super) fn new(
        texts: &'t Texts,
        mut rng: Rng,
        folder: &Path,
        cwd: &str,
        version: &'static str,
        start: i64,
    ) -> Result<Self> {
        let id = uuid(&mut rng);
        let seed = rng.u64(..);
        let main =
            Transcript::create(folder.join(format!("{id}.jsonl")), Rng::with_seed(seed), id, cwd, version, start)?;
        Ok(Self {
            texts,
            number: rng.u32(1_000..900_000),
            rng,
            main,
            cwd: cwd.to_owned(),
            started_at: start,
            forked_from: None,
            subagent_files: Vec::new(),
            counts: Counts::new(),
            counts_subagents: Counts::new(),
            corrections: CORRECTIONS.to_vec(),
        })
    }

    /// Begins as a copy of another session.
    pub(super) fn copy(&mut self, parent: &Path) -> Result<()> {
        self.forked_from = Some(self.main.copy(parent)?);
        Ok(())
    }

    /// Writes about `bytes` of turns.
    pub(super) fn write(mut self, bytes: u64) -> Result<(PathBuf, SessionTruth)> {
        let goal = self.main.bytes + bytes;
        let id = self.main.session_id.clone();
        self.main
            .line(&format!("{{\"type\":\"permission-mode\",\"permissionMode\":\"default\",\"sessionId\":\"{id}\"}}"))?;
        loop {
            self.turn()?;
            if self.main.bytes >= goal {
                break;
            }
        }
        if self.rng.u8(..12) == 0 {
            self.give_up()?;
        }
        let title = format!("{} the {}", text::verb(&mut self.rng), text::noun(&mut self.rng));
        self.main
            .line(&format!("{{\"type\":\"custom-title\",\"customTitle\":{},\"sessionId\":\"{id}\"}}", json(title)))?;
        let (ended_at, records) = (self.main.clock, self.main.records);
        let path = self.main.finish()?;
        let truth = SessionTruth {
            session_id: id,
            path: path.clone(),
            subagent_files: self.subagent_files,
            forked_from: self.forked_from,
            started_at: self.started_at,
            ended_at,
            records,
            counts: self.counts,
            counts_subagents: self.counts_subagents,
        };
        Ok((path, truth))
    }

    fn count(&mut self, kind: &str, count: u64) {
        *self.counts.entry(kind.to_owned()).or_default() += count;
    }

    /// A prompt, what the agent does about it, and its last words.
    fn turn(&mut self) -> Result<()> {
        let prompt = self.task();
        self.main.prompt(&prompt)?;
        self.surroundings()?;
        for _ in 0..self.rng.u32(2..14) {
            self.step()?;
        }
        let plant = self.draw();
        if let Some(plant) = plant {
            self.plant(plant)?;
        }
        self.step()?;
        let size = text::size(&mut self.rng, &REPLIES);
        let reply = text::prose(&mut self.rng, size);
        self.main.say(&reply)?;
        self.main.system(
            "stop_hook_summary",
            "\"hookCount\":1,\"hookInfos\":[{\"command\":\"scripts/after.sh\",\"durationMs\":151}],\"hookErrors\":[],\"preventedContinuation\":false,\
             \"stopReason\":\"\",\"hasOutput\":false,\"level\":\"suggestion\"",
        )?;
        let duration = self.rng.u32(3_000..400_000);
        self.main.system("turn_duration", &format!("\"durationMs\":{duration},\"isMeta\":false"))
    }

    /// What newer clients send along with a prompt.
    fn surroundings(&mut self) -> Result<()> {
        if self.main.has_progress() {
            return Ok(());
        }
        let context = json(text::prose(&mut self.rng, 500));
        let hook = format!(
            "\"attachment\":{{\"type\":\"hook_success\",\"hookName\":\"UserPromptSubmit\",\"toolUseID\":\"{}\",\"hookEvent\":\"UserPromptSubmit\",\
             \"content\":{context},\"stdout\":{context},\"stderr\":\"\",\"exitCode\":0,\"command\":\"scripts/context.sh\",\"durationMs\":86}}",
            uuid(&mut self.rng)
        );
        self.main.record("attachment", &hook, "")?;
        let file = json(self.file());
        let size = text::size(&mut self.rng, &FILES) / 4;
        let content = json(self.texts.code(&mut self.rng, size));
        let attached = format!(
            "\"attachment\":{{\"type\":\"file\",\"filename\":{file},\"content\":{{\"type\":\"text\",\"file\":{{\"filePath\":{file},\
             \"content\":{content},\"numLines\":7,\"startLine\":1,\"totalLines\":7}}}},\"displayPath\":{file}}}"
        );
        self.main.record("attachment", &attached, "").map(drop)
    }

    fn draw(&mut self) -> Option<Plant> {
        let mut at = self.rng.u32(..100);
        for (plant, share) in PLANTS {
            if at < *share {
                return Some(*plant);
            }
            at -= share;
        }
        None
    }

    /// A new task in words that no other prompt is made of.
    fn task(&mut self) -> String {
        let rng = &mut self.rng;
        let (verb, other) = (text::verb(rng), text::verb(rng));
        let (a, b, c, d) = (text::noun(rng), text::noun(rng), text::noun(rng), text::noun(rng));
        let (x, y, z) = (text::adjective(rng), text::adjective(rng), text::adjective(rng));
        match rng.u8(..4) {
            0 => format!("{verb} the {x} {a} of the {b}, then {other} every {y} {c}"),
            1 => format!("The {x} {a} needs a {y} {b}. Let it {verb} the {c} and {other} the {d}."),
            2 => format!("Next, {verb} {a} and {b} in the {z} {c} module; {other} its {d} too."),
            _ => format!("I'd like a {x} {a} which can {verb} a {b} ({y}, {z}) and {other} the {c}."),
        }
    }

    fn name(&mut self) -> String {
        self.number += 1;
        let (a, b) = (text::noun(&mut self.rng), text::noun(&mut self.rng));
        format!("{a}_{b}_{}", self.number)
    }

    fn file(&mut self) -> String {
        let (folder, name) = (text::noun(&mut self.rng), self.name());
        format!("{}/src/{folder}/{name}.rs", self.cwd)
    }

    fn command(&mut self) -> String {
        let name = self.name();
        match self.rng.u8(..5) {
            0 => format!("cargo test {name} 2>&1 | tail -40"),
            1 => format!("grep -rn \"{name}\" src | head -20"),
            2 => format!("ls -la src/{name} && wc -l src/{name}/*"),
            3 => format!("git log --oneline -5 -- src/{name}.rs"),
            _ => format!("python3 scripts/{name}.py --check"),
        }
    }

    /// The beginning of a response: perhaps thoughts, perhaps a sentence.
    fn lead(&mut self) -> Result<()> {
        self.main.respond();
        if self.rng.u8(..4) == 0 {
            let size = text::size(&mut self.rng, &THOUGHTS);
            let signature = self.rng.usize(200..900);
            let thought = text::prose(&mut self.rng, size);
            self.main.think(&thought, signature)?;
        }
        if self.rng.u8(..3) == 0 {
            let words = text::sentence(&mut self.rng);
            self.main.block(&format!("{{\"type\":\"text\",\"text\":{}}}", json(words)), "tool_use")?;
        }
        Ok(())
    }

    /// One tool call with its result, as most of them are.
    fn step(&mut self) -> Result<()> {
        self.lead()?;
        match self.rng.u8(..100) {
            0..62 => {
                let command = self.command();
                self.bash(&command).map(drop)
            }
            62..76 => self.read(),
            76..83 => self.grep(),
            83..89 => {
                let file = self.file();
                self.edit(&file, None).map(drop)
            }
            89..92 => self.create(),
            _ => self.todo(),
        }
    }

    /// A command that succeeds.
    fn bash(&mut self, command: &str) -> Result<()> {
        let call = self.call_bash(command)?;
        let size = text::size(&mut self.rng, &RESULTS);
        let output = self.texts.output(&mut self.rng, size);
        if self.main.has_progress() && self.rng.u8(..5) < 3 {
            let seconds = self.rng.u64(2..20);
            self.main.progress(&call, &output[..output.floor_char_boundary(output.len().min(300))], seconds)?;
        }
        let returned = format!(
            "{{\"stdout\":{},\"stderr\":\"\",\"interrupted\":false,\"isImage\":false,\"noOutputExpected\":false}}",
            json(output)
        );
        self.main.result(&call, output, false, &returned)
    }

    fn call_bash(&mut self, command: &str) -> Result<Call> {
        let what = format!("{} the {}", text::verb(&mut self.rng), text::noun(&mut self.rng));
        self.main.call("Bash", &format!("{{\"command\":{},\"description\":{}}}", json(command), json(what)))
    }

    fn read(&mut self) -> Result<()> {
        let file = self.file();
        let call = self.main.call("Read", &format!("{{\"file_path\":{}}}", json(&file)))?;
        let size = text::size(&mut self.rng, &FILES) / 6;
        let content = self.texts.code(&mut self.rng, size);
        let shown: String = content.lines().enumerate().map(|(i, line)| format!("{}\t{line}\n", i + 1)).collect();
        let lines = content.lines().count();
        let returned = format!(
            "{{\"type\":\"text\",\"file\":{{\"filePath\":{},\"content\":{},\"numLines\":{lines},\"startLine\":1,\"totalLines\":{lines}}}}}",
            json(&file),
            json(content)
        );
        self.main.result(&call, &shown, false, &returned)
    }

    fn grep(&mut self) -> Result<()> {
        let pattern = self.name();
        let call =
            self.main.call("Grep", &format!("{{\"pattern\":{},\"output_mode\":\"content\"}}", json(&pattern)))?;
        let size = text::size(&mut self.rng, &RESULTS) / 2 + 40;
        let output = self.texts.output(&mut self.rng, size);
        let lines = output.lines().count();
        let returned = format!(
            "{{\"mode\":\"content\",\"numFiles\":0,\"filenames\":[],\"content\":{},\"numLines\":{lines}}}",
            json(output)
        );
        self.main.result(&call, output, false, &returned)
    }

    fn create(&mut self) -> Result<()> {
        let file = self.file();
        let size = text::size(&mut self.rng, &FILES) / 4;
        let content = json(self.texts.code(&mut self.rng, size));
        let call = self.main.call("Write", &format!("{{\"file_path\":{},\"content\":{content}}}", json(&file)))?;
        let returned = format!(
            "{{\"type\":\"create\",\"filePath\":{},\"content\":{content},\"structuredPatch\":[],\"originalFile\":null,\"userModified\":false}}",
            json(&file)
        );
        self.main.result(&call, &format!("File created successfully at: {file}"), false, &returned)
    }

    fn todo(&mut self) -> Result<()> {
        let todos: Vec<String> = (0..5)
            .map(|i| {
                let words = json(text::sentence(&mut self.rng));
                let status = ["completed", "in_progress", "pending"][usize::min(i, 2)];
                format!("{{\"content\":{words},\"status\":\"{status}\",\"activeForm\":{words}}}")
            })
            .collect();
        let todos = todos.join(",");
        let call = self.main.call("TodoWrite", &format!("{{\"todos\":[{todos}]}}"))?;
        let returned = format!("{{\"oldTodos\":[{todos}],\"newTodos\":[{todos}]}}");
        self.main.result(
            &call,
            "Todos have been modified successfully. Ensure that you continue to use the todo list.",
            false,
            &returned,
        )
    }

    /// An edit that succeeds; gives what it took away and what it put there.
    fn edit(&mut self, file: &str, swap: Option<(String, String)>) -> Result<(String, String)> {
        let (old, new) = swap.unwrap_or_else(|| {
            let (size, more) = (self.rng.usize(40..900), self.rng.usize(40..1_400));
            let (old, new) = (self.name(), self.name());
            let (before, after) = (self.texts.code(&mut self.rng, size), self.texts.code(&mut self.rng, more));
            (format!("// {old}\n{before}"), format!("// {new}\n{after}"))
        });
        let (removed, added) = (json(&old), json(&new));
        let input = format!(
            "{{\"file_path\":{},\"old_string\":{removed},\"new_string\":{added},\"replace_all\":false}}",
            json(file)
        );
        let call = self.main.call("Edit", &input)?;
        let size = text::size(&mut self.rng, &FILES);
        let original = json(self.texts.code(&mut self.rng, size));
        let returned = format!(
            "{{\"filePath\":{},\"oldString\":{removed},\"newString\":{added},\"originalFile\":{original},\"structuredPatch\":[{{\"oldStart\":1,\
             \"oldLines\":2,\"newStart\":1,\"newLines\":2,\"lines\":[{removed},{added}]}}],\"userModified\":false,\"replaceAll\":false}}",
            json(file)
        );
        self.main.result(&call, &format!("The file {file} has been updated successfully."), false, &returned)?;
        Ok((old, new))
    }

    /// One friction, in the middle of a turn.
    fn plant(&mut self, plant: Plant) -> Result<()> {
        match plant {
            Plant::Errors => {
                for _ in 0..self.rng.u64(1..4) {
                    self.lead()?;
                    self.error()?;
                    self.step()?;
                }
            }
            Plant::Denial | Plant::DenialWithWords => self.deny(plant == Plant::DenialWithWords)?,
            Plant::Interrupt => {
                let words = text::prose(&mut self.rng, 300);
                self.main.say(&words)?;
                self.main.marker("[Request interrupted by user]")?;
                self.count("interrupt", 1);
                self.go_on()?;
            }
            Plant::InterruptTool => {
                self.lead()?;
                let command = self.command();
                let call = self.call_bash(&command)?;
                self.main.fail(&call, "Exit code 137\n[Request interrupted by user for tool use]")?;
                self.main.marker("[Request interrupted by user for tool use]")?;
                self.count("interrupt", 1);
                self.go_on()?;
            }
            Plant::Correction => {
                // The same words again would be a repeated instruction.
                if self.corrections.is_empty() {
                    return Ok(());
                }
                let words = self.corrections.swap_remove(self.rng.usize(..self.corrections.len()));
                self.lead()?;
                let file = self.file();
                self.edit(&file, None)?;
                let done = format!("Done: `{}` now does this. {}", self.name(), text::sentence(&mut self.rng));
                self.main.say(&done)?;
                let wanted = self.name();
                let words = words.replace("{}", &wanted);
                self.main.prompt(&words)?;
                self.main.say("You're right, sorry. I'll put that back and change the other one.")?;
                self.count("user-correction", 1);
            }
            Plant::Repetition => self.repeat()?,
            Plant::Churn => {
                let file = self.file();
                for _ in 0..self.rng.u32(3..8) {
                    self.lead()?;
                    self.edit(&file, None)?;
                }
                self.count("churn", 1);
            }
            Plant::GitRevert => {
                self.lead()?;
                let name = self.name();
                let command = match self.rng.u8(..3) {
                    0 => format!("git checkout -- src/{name}.rs"),
                    1 => format!("git restore src/{name}.rs"),
                    _ => format!("git stash push src/{name}.rs"),
                };
                self.bash(&command)?;
                self.count("revert", 1);
            }
            Plant::EditRevert => {
                let file = self.file();
                self.lead()?;
                let (old, new) = self.edit(&file, None)?;
                self.step()?;
                self.lead()?;
                self.edit(&file, Some((new, old)))?;
                self.count("revert", 1);
            }
            Plant::RetryLoop => {
                let command = self.command();
                let message = self.complaint();
                let failures = self.rng.u64(3..6);
                for _ in 0..failures {
                    self.main.respond();
                    let call = self.call_bash(&command)?;
                    self.main.fail(&call, &message)?;
                }
                self.count("tool-error", failures);
                self.count("retry-loop", 1);
            }
            Plant::ApiOutage => {
                self.outage()?;
                self.count("api-error", 1);
            }
            Plant::ApiFailure => {
                self.outage()?;
                let fields = format!(
                    "\"message\":{{\"id\":\"{}\",\"model\":\"<synthetic>\",\"role\":\"assistant\",\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"\",\
                     \"type\":\"message\",\"usage\":{{\"input_tokens\":0,\"output_tokens\":0,\"cache_creation_input_tokens\":0,\
                     \"cache_read_input_tokens\":0}},\"content\":[{{\"type\":\"text\",\"text\":\"API Error: 529 {{\\\"type\\\":\\\"error\\\",\
                     \\\"error\\\":{{\\\"type\\\":\\\"overloaded_error\\\",\\\"message\\\":\\\"Overloaded\\\"}}}}\"}}]}}",
                    uuid(&mut self.rng)
                );
                self.main.record("assistant", &fields, "\"isApiErrorMessage\":true")?;
                self.count("api-error", 1);
                self.go_on()?;
            }
            Plant::Compaction => {
                let manual = self.rng.bool();
                let tokens = self.rng.u64(90_000..190_000);
                let summary = text::prose(&mut self.rng, 6_000);
                self.main.compact(manual, tokens, &summary)?;
                self.count("compaction", 1);
            }
            Plant::Subagent => self.delegate()?,
        }
        Ok(())
    }

    /// A new prompt after something was stopped.
    fn go_on(&mut self) -> Result<()> {
        let task = self.task();
        self.main.prompt(&task)
    }

    fn complaint(&mut self) -> String {
        let (name, size) = (self.name(), text::size(&mut self.rng, &RESULTS) / 3);
        let context = self.texts.output(&mut self.rng, size);
        match self.rng.u8(..4) {
            0 => format!("Exit code 101\nerror[E0433]: failed to resolve: use of undeclared type `{name}`\n{context}"),
            1 => format!(
                "Exit code 1\nTraceback (most recent call last):\n  File \"{name}.py\", line 12\nKeyError: '{name}'\n{context}"
            ),
            2 => format!("Exit code 2\nls: cannot access '{name}': No such file or directory\n{context}"),
            _ => format!("Exit code 127\n/bin/bash: line 1: {name}: command not found\n{context}"),
        }
    }

    /// A call that fails.
    fn error(&mut self) -> Result<()> {
        if self.rng.u8(..3) == 0 {
            let file = self.file();
            let old = json(self.name());
            let input = format!(
                "{{\"file_path\":{},\"old_string\":{old},\"new_string\":\"\",\"replace_all\":false}}",
                json(&file)
            );
            let call = self.main.call("Edit", &input)?;
            self.main.fail(
                &call,
                "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            )?;
        } else {
            let command = self.command();
            let call = self.call_bash(&command)?;
            let message = self.complaint();
            self.main.fail(&call, &message)?;
        }
        self.count("tool-error", 1);
        Ok(())
    }

    fn deny(&mut self, with_words: bool) -> Result<()> {
        self.lead()?;
        let command = format!("git push origin {}", self.name());
        let call = self.call_bash(&command)?;
        if with_words {
            let name = self.name();
            let rng = &mut self.rng;
            let (a, b, c) = (text::adjective(rng), text::noun(rng), text::noun(rng));
            let words = format!("don't push {name}, show me the {a} {b} of the {c} first");
            self.main.fail(&call, &format!("{REFUSED} To tell you how to proceed, the user said:\n{words}"))?;
        } else {
            self.main.fail(
                &call,
                &format!("{REFUSED} STOP what you are doing and wait for the user to tell you how to proceed."),
            )?;
            self.main.marker("[Request interrupted by user for tool use]")?;
            self.go_on()?;
        }
        self.count("permission-denied", 1);
        Ok(())
    }

    /// The same instruction twice, some turns of the agent between.
    fn repeat(&mut self) -> Result<()> {
        // Two such instructions in one session must not resemble each other.
        let (task, name) = (self.task(), self.name());
        let rng = &mut self.rng;
        let (a, b, c, d) = (text::adjective(rng), text::noun(rng), text::verb(rng), text::noun(rng));
        let words = format!("{task} And mind: {a} {b} files stay inside crates/{name}, {c} no {d}.");
        self.main.prompt(&words)?;
        self.step()?;
        self.main.say("Understood.")?;
        let task = self.task();
        self.main.prompt(&task)?;
        self.step()?;
        self.main.say("That is in place now.")?;
        self.main.prompt(&words)?;
        self.count("repeated-instruction", 1);
        Ok(())
    }

    fn outage(&mut self) -> Result<()> {
        for attempt in 1..=self.rng.u32(2..6) {
            self.main.clock += 900;
            self.main.system(
                "api_error",
                &format!(
                    "\"level\":\"error\",\"error\":{{\"status\":529,\"error\":{{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\
                     \"message\":\"Overloaded\"}}}}}},\"retryInMs\":{},\"retryAttempt\":{attempt},\"maxRetries\":10",
                    attempt * 600
                ),
            )?;
        }
        Ok(())
    }

    /// A sub-agent, with errors of its own.
    fn delegate(&mut self) -> Result<()> {
        self.lead()?;
        let prompt = format!("Look into it and report. {}", text::prose(&mut self.rng, 400));
        let input = format!(
            "{{\"description\":\"look into it\",\"prompt\":{},\"subagent_type\":\"general-purpose\"}}",
            json(&prompt)
        );
        let call = self.main.call("Agent", &input)?;
        let (mut agent, id) = self.main.subagent()?;
        agent.prompt(&prompt)?;
        // The helper works with the same hands, in its own transcript and with its own count.
        std::mem::swap(&mut self.main, &mut agent);
        std::mem::swap(&mut self.counts, &mut self.counts_subagents);
        let worked = (|| {
            for _ in 0..self.rng.u32(2..8) {
                self.step()?;
                if self.rng.u8(..5) == 0 {
                    self.lead()?;
                    self.error()?;
                }
            }
            self.step()
        })();
        let report = text::prose(&mut self.rng, 600);
        let said = self.main.say(&report);
        std::mem::swap(&mut self.main, &mut agent);
        std::mem::swap(&mut self.counts, &mut self.counts_subagents);
        worked.and(said)?;
        self.main.clock = agent.clock;
        let path = agent.finish()?;
        std::fs::write(
            path.with_extension("meta.json"),
            "{\"agentType\":\"general-purpose\",\"description\":\"look into it\"}",
        )?;
        self.subagent_files.push(path);
        let returned = format!(
            "{{\"status\":\"completed\",\"prompt\":{},\"agentId\":\"{id}\",\"agentType\":\"general-purpose\",\"content\":[{{\"type\":\"text\",\"text\":{}}}],\
             \"totalDurationMs\":136,\"totalTokens\":12142,\"totalToolUseCount\":3}}",
            json(&prompt),
            json(&report)
        );
        self.main.result(&call, &format!("{report}\nagentId: {id}"), false, &returned)
    }

    /// Ends the session on an error.
    fn give_up(&mut self) -> Result<()> {
        let task = self.task();
        self.main.prompt(&task)?;
        self.lead()?;
        self.error()?;
        self.main.say("I could not get this to work.")?;
        self.count("unresolved-error", 1);
        Ok(())
    }
}
