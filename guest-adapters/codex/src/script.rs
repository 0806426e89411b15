//! Code mode: the model writes JavaScript that calls the tools.
//!
//! Such a script is a call of the tool `exec`. What it ran is told by items of its own in paginated files, so the script
//! counts for nothing there, unless it failed or was stopped in a way that no item tells. In other files the script's text
//! is all there is: its calls are read from that.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{ToolCall, ToolKind};

use crate::call;

/// The tool's name.
pub(crate) const NAME: &str = "exec";

/// Bytes kept of a script until it ends.
const KEPT: usize = 16 << 10;

/// Scripts that may be open at once.
const MOST: usize = 32;

/// A script whose end has not come yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Script {
    /// Hashes of the ids of the calls that may bring its output: its own, and those that wait for it.
    calls: Vec<u64>,
    /// The number under which it goes on.
    cell: Option<u64>,
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) line: u64,
    pub(crate) at: Option<i64>,
    text: String,
    /// Items it brought so far.
    pub(crate) items: usize,
    /// One of them failed or was refused.
    pub(crate) failed: bool,
}

impl Script {
    pub(crate) fn new(id: &str, key: String, line: u64, at: Option<i64>, text: &str) -> Self {
        let text = cap(text, KEPT).0.into_owned();
        Self { calls: vec![hash64(id)], cell: None, id: id.to_owned(), key, line, at, text, items: 0, failed: false }
    }

    /// The call that it was stopped at; the only one, or all together, if `stopped` is not set. And whether the person had
    /// to approve it.
    pub(crate) fn call(&self, stopped: bool, out: &Output) -> (ToolCall, bool) {
        let calls = read(&self.text);
        let at = if stopped { self.items } else { 0 };
        match calls.get(at).filter(|_| stopped || calls.len() == 1) {
            Some(within) => {
                let call = within.told(&self.id, out);
                let asks = within.escalates || call::has_to_be_approved(&call);
                (call, asks)
            }
            None => {
                let commands: Vec<&str> = calls.iter().filter(|it| it.runs()).map(|it| it.argument.as_ref()).collect();
                let kind = if commands.is_empty() { ToolKind::Other } else { ToolKind::Execute };
                let mut call = call::bare(&self.id, NAME, kind, &self.text, out);
                call.command = (!commands.is_empty()).then(|| out.cap(&commands.join("\n")).0);
                (call, false)
            }
        }
    }
}

/// Scripts whose end has not come yet, and commands that are told though their item may come later.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scripts {
    open: VecDeque<Script>,
    /// Hashes.
    told: VecDeque<u64>,
}

impl Scripts {
    pub(crate) fn open(&mut self, script: Script) {
        if self.open.len() == MOST {
            self.open.pop_front();
        }
        self.open.push_back(script);
    }

    /// A call that waits for the script under this number.
    pub(crate) fn waits(&mut self, id: &str, cell: u64) -> bool {
        let Some(script) = self.open.iter_mut().rev().find(|script| script.cell == Some(cell)) else { return false };
        script.calls.push(hash64(id));
        true
    }

    /// The script that an output belongs to.
    pub(crate) fn close(&mut self, id: &str) -> Option<Script> {
        let call = hash64(id);
        let at = self.open.iter().rposition(|script| script.calls.contains(&call))?;
        self.open.remove(at)
    }

    /// It goes on under this number.
    pub(crate) fn goes_on(&mut self, mut script: Script, cell: u64) {
        script.cell = Some(cell);
        script.calls.clear();
        self.open(script);
    }

    /// An item came that some call within a script brought.
    pub(crate) fn item(&mut self, failed: bool) {
        if let Some(script) = self.open.back_mut() {
            script.items += 1;
            script.failed |= failed;
        }
    }

    /// A command was told from a script's text.
    pub(crate) fn tell(&mut self, command: &str) {
        if self.told.len() == MOST {
            self.told.pop_front();
        }
        self.told.push_back(hash64(command));
    }

    /// Was it? Then its item is no other one.
    pub(crate) fn was_told(&mut self, command: &str) -> bool {
        let hash = hash64(command);
        let at = self.told.iter().position(|told| *told == hash);
        at.is_some_and(|at| self.told.remove(at).is_some())
    }
}

/// How a script's output begins.
#[derive(Debug, PartialEq)]
pub(crate) enum End {
    Completed,
    Failed,
    GoesOn(u64),
    Stopped,
}

/// Reads how a script ended; the rest is what it printed.
pub(crate) fn end(output: &str) -> (End, &str) {
    let trimmed = output.trim();
    let body = output.split_once("Output:\n").map_or("", |(_, body)| body);
    if let Some(rest) = trimmed.strip_prefix("Script running with cell ID ") {
        let cell = rest.split(|char: char| !char.is_ascii_digit()).next().unwrap_or_default();
        return (End::GoesOn(cell.parse().unwrap_or_default()), body);
    }
    if trimmed.starts_with("Script failed") {
        let body = body.trim_start();
        return (End::Failed, body.strip_prefix("Script error:\n").unwrap_or(body));
    }
    if trimmed.starts_with("Script completed") {
        return (End::Completed, body);
    }
    match trimmed.contains("aborted by user") || trimmed.starts_with("Script terminated") {
        true => (End::Stopped, trimmed),
        false => (End::Failed, trimmed),
    }
}

/// Exit code in what a script printed, where that is the result of a command as it stands.
pub(crate) fn exit_code(printed: &str) -> Option<i32> {
    let codes = printed.lines().filter(|line| line.starts_with('{')).filter_map(|line| {
        let (_, rest) = line.split_once("\"exit_code\":")?;
        let end = rest.find(|char: char| !char.is_ascii_digit() && char != '-').unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    codes.max_by_key(|code: &i32| *code != 0)
}

/// A call within a script.
#[derive(Debug, PartialEq)]
struct Within<'s> {
    tool: &'s str,
    /// The command or the patch; otherwise all that stands between the brackets, as far as it can be told.
    argument: Cow<'s, str>,
    /// It wants to run outside of the sandbox.
    escalates: bool,
}

impl Within<'_> {
    fn runs(&self) -> bool {
        runs(self.tool)
    }

    fn told(&self, id: &str, out: &Output) -> ToolCall {
        match self.tool {
            "apply_patch" => call::patching(id, self.tool, &self.argument, out),
            _ if self.runs() => call::executing(id, self.tool, &self.argument, "", out),
            tool => call::bare(id, tool, call::kind(tool), &self.argument, out),
        }
    }
}

fn runs(tool: &str) -> bool {
    matches!(tool, "exec_command" | "shell_command")
}

/// The calls `tools.name(…)` in a script.
fn read(script: &str) -> Vec<Within<'_>> {
    let mut calls = Vec::new();
    for (at, _) in script.match_indices("tools.").take(64) {
        let rest = &script[at + "tools.".len()..];
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(rest.len());
        let (tool, rest) = rest.split_at(end);
        let Some(argument) = rest.trim_start().strip_prefix('(') else { continue };
        let argument = argument.trim_start();
        let upto = argument.find("tools.").unwrap_or(argument.len());
        let escalates = argument[..upto].contains("require_escalated");
        let argument = match argument.as_bytes().first() {
            Some(b'"' | b'\'' | b'`') => literal(argument),
            Some(b'{') if runs(tool) => value(argument, "cmd").or_else(|| value(argument, "command")),
            _ => None,
        };
        let shown = || Cow::Borrowed(rest.lines().next().unwrap_or_default());
        calls.push(Within { tool, argument: argument.unwrap_or_else(shown), escalates });
    }
    calls
}

/// The string that stands under a key in an object.
fn value<'s>(object: &'s str, key: &str) -> Option<Cow<'s, str>> {
    let at = object.find(key)?;
    let rest = object[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
    literal(rest.strip_prefix(':')?.trim_start())
}

/// A string literal.
fn literal(text: &str) -> Option<Cow<'_, str>> {
    let quote = text.chars().next().filter(|char| matches!(char, '"' | '\'' | '`'))?;
    let body = &text[1..];
    let mut owned = String::new();
    let mut chars = body.char_indices();
    let mut from = 0;
    while let Some((at, char)) = chars.next() {
        if char == quote {
            owned.push_str(&body[from..at]);
            return Some(match from {
                0 => Cow::Borrowed(&body[..at]),
                _ => Cow::Owned(owned),
            });
        }
        if char != '\\' {
            continue;
        }
        owned.push_str(&body[from..at]);
        let (_, escaped) = chars.next()?;
        match escaped {
            'n' => owned.push('\n'),
            't' => owned.push('\t'),
            'r' => owned.push('\r'),
            '\n' => {}
            'u' => {
                let code = chars.as_str().get(..4).and_then(|code| u32::from_str_radix(code, 16).ok());
                owned.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                if code.is_some() {
                    chars.nth(3);
                }
            }
            other => owned.push(other),
        }
        from = chars.offset();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(script: &str) -> Vec<(&str, String)> {
        read(script).into_iter().map(|within| (within.tool, within.argument.into_owned())).collect()
    }

    #[test]
    fn calls_are_read_from_a_script() {
        let script = r#"const a = await tools.exec_command({"cmd": "echo \"x\"\n"}); text(a.output);
            await tools.exec_command({cmd: 'ls', workdir: "/w"}); tools.apply_patch(`*** Begin Patch
*** End Patch`); tools.update_plan({plan: []}); notools.x; tools.y"#;
        assert_eq!(
            calls(script),
            [
                ("exec_command", "echo \"x\"\n".to_owned()),
                ("exec_command", "ls".to_owned()),
                ("apply_patch", "*** Begin Patch\n*** End Patch".to_owned()),
                ("update_plan", "({plan: []}); notools.x; tools.y".to_owned()),
            ]
        );
        assert_eq!(calls(r#"tools.exec_command({cmd: "cut"#), [("exec_command", r#"({cmd: "cut"#.to_owned())]);
        assert_eq!(literal(r#""\u00e9\u12"x"#).as_deref(), Some("é\u{fffd}12"));
    }

    #[test]
    fn ends() {
        assert_eq!(end("Script completed\nWall time 0.1 seconds\nOutput:\nx"), (End::Completed, "x"));
        assert_eq!(end("Script failed\nWall time 0 seconds\nOutput:\nScript error:\nno"), (End::Failed, "no"));
        assert_eq!(end("Script running with cell ID 7\nWall time 9 seconds\nOutput:\n"), (End::GoesOn(7), ""));
        assert_eq!(end("aborted by user after 2.9s"), (End::Stopped, "aborted by user after 2.9s"));
        assert_eq!(exit_code("{}\n{\"chunk_id\":\"4\",\"exit_code\":1,\"output\":\"x\"}"), Some(1));
        assert_eq!(exit_code("\"exit_code\":1"), None);
    }
}
