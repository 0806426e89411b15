//! One session: turns of ordinary work, with friction planted in it.
//!
//! Ordinary work must not look like friction by accident, or the truth would be wrong: no command is run twice, no file
//! is edited more than twice, prompts share few words, and the last result of a thread is a success.

use anyhow::Result;
use fastrand::Rng;
use std::path::{Path, PathBuf};

use super::text::{self, FILES, REPLIES, RESULTS, THOUGHTS, Texts};
use super::truth::{Counts, Planted, SessionTruth};
use crate::writer::{self, Act, End, Seen, Setting, Surroundings, Tool, Writer, uuid};

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

/// Plain corrections: `{}` is what was wanted. None says that it was said before: that would be a repeated instruction, too.
const CORRECTIONS: &[&str] = &[
    "No, that's wrong. The {} is what was wanted, not this. Undo it.",
    "That's not what I meant: leave the {} alone and change the caller instead.",
    "Stop. You changed the {}, which has nothing to do with this. Revert it.",
    "That isn't right: {} must come from the settings, you hard-coded it.",
    "You misunderstood. Only {} was meant, everything else should not be touched.",
    "Wrong file. You should have changed the {}, please fix that.",
    "不对，应该是 {}，不是这个。请改回来。",
    "Non, ce n'est pas ça. Il fallait le {}, pas cette version.",
    "違います。直すのは {} です。元に戻してください。",
];

pub(super) struct Session<'t> {
    texts: &'t Texts,
    rng: Rng,
    tool: Tool,
    main: Box<dyn Writer>,
    cwd: String,
    started_at: i64,
    forked_from: Option<String>,
    subagent_files: Vec<PathBuf>,
    planted: Vec<Planted>,
    planted_subagents: Vec<Planted>,
    /// Wordings that were not used yet.
    corrections: Vec<&'static str>,
    /// Makes names unlike any other in this session.
    number: u32,
}

impl<'t> Session<'t> {
    pub(super) fn new(texts: &'t Texts, mut rng: Rng, tool: Tool, setting: &Setting<'_>) -> Result<Self> {
        let main = writer::create(tool, setting, &mut rng)?;
        Ok(Self {
            texts,
            number: rng.u32(1_000..900_000),
            rng,
            tool,
            main,
            cwd: setting.cwd.to_owned(),
            started_at: setting.start,
            forked_from: None,
            subagent_files: Vec::new(),
            planted: Vec::new(),
            planted_subagents: Vec::new(),
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
        let goal = self.main.bytes() + bytes;
        self.main.begin()?;
        loop {
            self.turn()?;
            if self.main.bytes() >= goal {
                break;
            }
        }
        if self.rng.u8(..12) == 0 {
            self.give_up()?;
        }
        let title = format!("{} the {}", text::verb(&mut self.rng), text::noun(&mut self.rng));
        self.main.title(&title)?;
        let (session_id, ended_at, records) = (self.main.session().to_owned(), self.main.clock(), self.main.records());
        let path = self.main.finish()?;
        for planted in &mut self.planted {
            planted.path.clone_from(&path);
        }
        let counts = |planted: &[Planted]| {
            planted.iter().fold(Counts::new(), |mut counts, planted| {
                *counts.entry(planted.kind.clone()).or_default() += 1;
                counts
            })
        };
        let truth = SessionTruth {
            session_id,
            path: path.clone(),
            subagent_files: self.subagent_files,
            forked_from: self.forked_from,
            started_at: self.started_at,
            ended_at,
            records,
            counts: counts(&self.planted),
            counts_subagents: counts(&self.planted_subagents),
            planted: self.planted.into_iter().chain(self.planted_subagents).collect(),
        };
        Ok((path, truth))
    }

    /// A signal has to be seen in this line.
    fn planted(&mut self, kind: &str, line: u64) {
        self.planted.push(Planted { kind: kind.to_owned(), path: PathBuf::new(), line });
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
        let duration = self.rng.u32(3_000..400_000);
        self.main.rest(duration)
    }

    /// What newer clients send along with a prompt.
    fn surroundings(&mut self) -> Result<()> {
        if !self.main.has_surroundings() {
            return Ok(());
        }
        let context = text::prose(&mut self.rng, 500);
        let (id, file) = (uuid(&mut self.rng), self.file());
        let size = text::size(&mut self.rng, &FILES) / 4;
        let content = self.texts.code(&mut self.rng, size);
        self.main.surroundings(Surroundings { context: &context, id: &id, file: &file, content })
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
        self.main.respond()?;
        if self.rng.u8(..4) == 0 {
            let size = text::size(&mut self.rng, &THOUGHTS);
            let signature = self.rng.usize(200..900);
            let thought = text::prose(&mut self.rng, size);
            self.main.think(&thought, signature)?;
        }
        if self.rng.u8(..3) == 0 {
            let words = text::sentence(&mut self.rng);
            self.main.remark(&words)?;
        }
        Ok(())
    }

    /// One tool call with its result, as most of them are.
    fn step(&mut self) -> Result<Seen> {
        self.lead()?;
        match self.rng.u8(..100) {
            0..62 => {
                let command = self.command();
                self.bash(&command)
            }
            62..76 => self.read(),
            76..83 => self.grep(),
            83..89 => {
                let file = self.file();
                Ok(self.edit(&file, None)?.0)
            }
            89..92 => self.create(),
            _ => self.todo(),
        }
    }

    /// A command that succeeds.
    fn bash(&mut self, command: &str) -> Result<Seen> {
        let call = self.call_bash(command, false)?;
        let size = text::size(&mut self.rng, &RESULTS);
        let output = self.texts.output(&mut self.rng, size);
        self.main.progress(&call, output, &mut self.rng)?;
        self.main.end(call, End::done(output))
    }

    fn call_bash(&mut self, command: &str, asks: bool) -> Result<writer::Call> {
        let what = format!("{} the {}", text::verb(&mut self.rng), text::noun(&mut self.rng));
        self.main.call(Act::Run { command, what: &what, asks })
    }

    fn read(&mut self) -> Result<Seen> {
        let file = self.file();
        let call = self.main.call(Act::Read { file: &file })?;
        let size = text::size(&mut self.rng, &FILES) / 6;
        self.main.end(call, End::done(self.texts.code(&mut self.rng, size)))
    }

    fn grep(&mut self) -> Result<Seen> {
        let pattern = self.name();
        let call = self.main.call(Act::Search { pattern: &pattern })?;
        let size = text::size(&mut self.rng, &RESULTS) / 2 + 40;
        let output = self.texts.output(&mut self.rng, size);
        // Some are in vain. Claude Code's have been measured without, and its tool ends alike.
        let in_vain = self.tool != Tool::ClaudeCode && self.number.is_multiple_of(4);
        self.main.end(call, End::done(if in_vain { "" } else { output }))
    }

    fn create(&mut self) -> Result<Seen> {
        let file = self.file();
        let size = text::size(&mut self.rng, &FILES) / 4;
        let content = self.texts.code(&mut self.rng, size);
        let call = self.main.call(Act::Create { file: &file, content })?;
        self.main.end(call, End::done(""))
    }

    fn todo(&mut self) -> Result<Seen> {
        let steps: Vec<String> = (0..5).map(|_| text::sentence(&mut self.rng)).collect();
        let call = self.main.call(Act::Plan { steps: &steps })?;
        self.main.end(call, End::done(""))
    }

    /// An edit that succeeds; gives where it is seen, what it took away and what it put there.
    fn edit(&mut self, file: &str, swap: Option<(String, String)>) -> Result<(Seen, String, String)> {
        let (old, new) = swap.unwrap_or_else(|| {
            let (size, more) = (self.rng.usize(40..900), self.rng.usize(40..1_400));
            let (old, new) = (self.name(), self.name());
            let (before, after) = (self.texts.code(&mut self.rng, size), self.texts.code(&mut self.rng, more));
            (format!("// {old}\n{before}"), format!("// {new}\n{after}"))
        });
        let call = self.main.call(Act::Edit { file, old: &old, new: &new })?;
        let size = text::size(&mut self.rng, &FILES);
        let before = self.texts.code(&mut self.rng, size);
        let seen = self.main.end(call, End::Done { output: "", before })?;
        Ok((seen, old, new))
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
                let line = self.main.stop()?;
                self.planted("interrupt", line);
                self.go_on()?;
            }
            Plant::InterruptTool => {
                self.lead()?;
                let command = self.command();
                let call = self.call_bash(&command, false)?;
                let seen = self.main.end(call, End::Stopped)?;
                self.planted("interrupt", seen.end);
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
                let line = self.main.prompt(&words)?;
                self.main.say("You're right, sorry. I'll put that back and change the other one.")?;
                self.planted("user-correction", line);
            }
            Plant::Repetition => self.repeat()?,
            Plant::Churn => {
                let file = self.file();
                for time in 1..=self.rng.u32(3..8) {
                    self.lead()?;
                    let (seen, ..) = self.edit(&file, None)?;
                    if time == 3 {
                        self.planted("churn", seen.call);
                    }
                }
            }
            Plant::GitRevert => {
                self.lead()?;
                let name = self.name();
                let command = match self.rng.u8(..3) {
                    0 => format!("git checkout -- src/{name}.rs"),
                    1 => format!("git restore src/{name}.rs"),
                    _ => format!("git stash push src/{name}.rs"),
                };
                let seen = self.bash(&command)?;
                self.planted("revert", seen.call);
            }
            Plant::EditRevert => {
                let file = self.file();
                self.lead()?;
                let (_, old, new) = self.edit(&file, None)?;
                self.step()?;
                self.lead()?;
                let (seen, ..) = self.edit(&file, Some((new, old)))?;
                self.planted("revert", seen.call);
            }
            Plant::RetryLoop => {
                let command = self.command();
                let (code, text) = self.complaint();
                for time in 1..=self.rng.u64(3..6) {
                    self.main.respond()?;
                    let call = self.call_bash(&command, false)?;
                    let seen = self.main.end(call, End::Failed { code: Some(code), text: &text })?;
                    self.planted("tool-error", seen.end);
                    if time == 3 {
                        self.planted("retry-loop", seen.end);
                    }
                }
            }
            // Retries of a client that does not keep them are no signal.
            Plant::ApiOutage => {
                if let Some(line) = self.outage()? {
                    self.planted("api-error", line);
                }
            }
            Plant::ApiFailure => {
                self.outage()?;
                let line = self.main.give_up(&mut self.rng)?;
                self.planted("api-error", line);
                self.go_on()?;
            }
            Plant::Compaction => {
                let manual = self.rng.bool();
                let tokens = self.rng.u64(90_000..190_000);
                let summary = text::prose(&mut self.rng, 6_000);
                let line = self.main.compact(manual, tokens, &summary)?;
                self.planted("compaction", line);
            }
            Plant::Subagent => self.delegate()?,
        }
        Ok(())
    }

    /// A new prompt after something was stopped.
    fn go_on(&mut self) -> Result<()> {
        let task = self.task();
        self.main.prompt(&task).map(drop)
    }

    /// What a command says that fails, and its exit code.
    fn complaint(&mut self) -> (i32, String) {
        let (name, size) = (self.name(), text::size(&mut self.rng, &RESULTS) / 3);
        let context = self.texts.output(&mut self.rng, size);
        match self.rng.u8(..4) {
            0 => (101, format!("error[E0433]: failed to resolve: use of undeclared type `{name}`\n{context}")),
            1 => {
                let trace = "Traceback (most recent call last):";
                (1, format!("{trace}\n  File \"{name}.py\", line 12\nKeyError: '{name}'\n{context}"))
            }
            2 => (2, format!("ls: cannot access '{name}': No such file or directory\n{context}")),
            _ => (127, format!("/bin/bash: line 1: {name}: command not found\n{context}")),
        }
    }

    /// A call that fails; gives the line of its result.
    fn error(&mut self) -> Result<u64> {
        let seen = if self.rng.u8(..3) == 0 {
            let (file, old) = (self.file(), self.name());
            let call = self.main.call(Act::Edit { file: &file, old: &old, new: "" })?;
            let text = "File has not been read yet. Read it first before writing to it.";
            self.main.end(call, End::Failed { code: None, text })?
        } else {
            let command = self.command();
            let call = self.call_bash(&command, false)?;
            let (code, text) = self.complaint();
            self.main.end(call, End::Failed { code: Some(code), text: &text })?
        };
        self.planted("tool-error", seen.end);
        Ok(seen.end)
    }

    fn deny(&mut self, with_words: bool) -> Result<()> {
        self.lead()?;
        let command = format!("git push origin {}", self.name());
        let call = self.call_bash(&command, true)?;
        let seen = if with_words {
            let name = self.name();
            let rng = &mut self.rng;
            let (a, b, c) = (text::adjective(rng), text::noun(rng), text::noun(rng));
            let words = format!("don't push {name}, show me the {a} {b} of the {c} first");
            let seen = self.main.end(call, End::Refused { words: Some(&words) })?;
            self.planted("user-correction", seen.words);
            seen
        } else {
            let seen = self.main.end(call, End::Refused { words: None })?;
            self.go_on()?;
            seen
        };
        self.planted("permission-denied", seen.end);
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
        let line = self.main.prompt(&words)?;
        self.planted("repeated-instruction", line);
        Ok(())
    }

    /// The service fails for a while; gives the line of the first retry, where the client keeps that.
    fn outage(&mut self) -> Result<Option<u64>> {
        let mut first = None;
        for attempt in 1..=self.rng.u32(2..6) {
            let line = self.main.retry(attempt)?;
            first = first.or(line);
        }
        Ok(first)
    }

    /// A sub-agent, with errors of its own.
    fn delegate(&mut self) -> Result<()> {
        self.lead()?;
        let prompt = format!("Look into it and report. {}", text::prose(&mut self.rng, 400));
        let call = self.main.call(Act::Delegate { prompt: &prompt })?;
        let (mut agent, _) = self.main.subagent(&call, &prompt)?;
        // The helper works with the same hands, in its own transcript and with its own truth.
        let mut planted = Vec::new();
        std::mem::swap(&mut self.main, &mut agent);
        std::mem::swap(&mut self.planted, &mut planted);
        let worked = self.help();
        std::mem::swap(&mut self.main, &mut agent);
        std::mem::swap(&mut self.planted, &mut planted);
        let report = worked?;
        self.main.wait_until(agent.clock());
        let path = agent.finish()?;
        self.planted_subagents.extend(planted.into_iter().map(|planted| Planted { path: path.clone(), ..planted }));
        self.subagent_files.push(path);
        self.main.end(call, End::done(&report)).map(drop)
    }

    /// What a sub-agent does; gives its report.
    fn help(&mut self) -> Result<String> {
        for _ in 0..self.rng.u32(2..8) {
            self.step()?;
            if self.rng.u8(..5) == 0 {
                self.lead()?;
                self.error()?;
            }
        }
        self.step()?;
        let report = text::prose(&mut self.rng, 600);
        self.main.say(&report)?;
        Ok(report)
    }

    /// Ends the session on an error.
    fn give_up(&mut self) -> Result<()> {
        let task = self.task();
        self.main.prompt(&task)?;
        self.lead()?;
        let line = self.error()?;
        self.main.say("I could not get this to work.")?;
        self.planted("unresolved-error", line);
        Ok(())
    }
}
