//! One event with what has to be known of earlier ones to judge it: the call that a result answers.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{Body, Event, Status, ToolCall, ToolKind, ToolResult};

use crate::shell::answers_no;
use crate::text::{hash, lines_core, significant_lines, squeeze, truncate};
use crate::thresholds::Thresholds;

/// Calls that may be open at once. Parallel calls number in the tens; calls whose result never came (a killed client)
/// pile up, and the oldest of them is forgotten first.
const OPEN_CALLS: usize = 256;

/// Bytes kept of a command: enough to tell what it does, small enough for a checkpoint with many open calls.
const COMMAND_BYTES: usize = 2048;

/// Edits kept of one call. A patch over more files than this still counts as one call.
const EDITS: usize = 64;

/// A tool call, cut down to what judging its result takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    /// The transcript's id of it.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Record of the call.
    pub line: u64,
    /// When it was made.
    pub at: Option<i64>,
    /// Whether it runs a command.
    pub executes: bool,
    /// Whether it changes files.
    pub edits_files: bool,
    /// Whether it asks the person something.
    pub asks: bool,
    /// The command of an execute call, or the input of another, for reading.
    pub gist: String,
    /// Equal for calls of the same tool with the same input, whatever their layout.
    pub fingerprint: u64,
    /// Files the call changes.
    pub edits: Vec<EditSketch>,
}

/// One replacement, kept as hashes: no text of the session stays in the state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EditSketch {
    /// The file, with `/` between its parts.
    pub path: String,
    /// Hash of the lines that went away, without those that both sides share at their ends; 0 for none.
    pub removed: u64,
    /// Hash of the lines that came, likewise.
    pub added: u64,
    /// Characters of both, without white space: what is too short says nothing.
    pub weight: u32,
    /// The whole file was written.
    pub whole: bool,
    /// Hashes of telling lines that went away.
    pub removed_lines: Vec<u32>,
    /// Hashes of telling lines that came.
    pub added_lines: Vec<u32>,
}

impl Call {
    fn new(event: &Event, call: &ToolCall) -> Self {
        let gist = call.command.as_deref().unwrap_or(&call.input);
        let mut edits: Vec<EditSketch> =
            call.edits.iter().take(EDITS).map(|edit| EditSketch::new(&edit.path, &edit.removed, &edit.added)).collect();
        let edits_files = matches!(call.kind, ToolKind::Edit | ToolKind::Create);
        if edits.is_empty() && edits_files {
            edits = call.paths.iter().take(EDITS).map(|path| EditSketch::new(path, "", "")).collect();
        }
        let normal = normal_command(gist);
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            line: event.line,
            at: event.at,
            executes: call.kind == ToolKind::Execute,
            edits_files,
            asks: call.kind == ToolKind::Ask,
            gist: truncate(gist, COMMAND_BYTES).to_owned(),
            fingerprint: hash(&format!("{}\n{normal}\n{}", call.name, call.omitted)),
            edits,
        }
    }
}

impl EditSketch {
    fn new(path: &str, removed: &str, added: &str) -> Self {
        let (core_removed, core_added) = lines_core(removed, added);
        let hashed = |text: &str| if text.trim().is_empty() { 0 } else { hash(text.trim()) };
        let weight = core_removed.chars().chain(core_added.chars()).filter(|c| !c.is_whitespace()).count();
        Self {
            path: path.replace('\\', "/"),
            removed: hashed(&core_removed),
            added: hashed(&core_added),
            weight: u32::try_from(weight).unwrap_or(u32::MAX),
            whole: removed.is_empty(),
            removed_lines: significant_lines(&core_removed),
            added_lines: significant_lines(&core_added),
        }
    }
}

/// The command without what does not change what it does: white space, and where its errors are shown.
fn normal_command(command: &str) -> String {
    let mut normal = squeeze(command);
    while let Some(rest) = normal.strip_suffix("2>&1") {
        normal.truncate(rest.trim_end().len());
    }
    normal
}

/// Calls whose result is still to come.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct OpenCalls(Vec<Call>);

impl OpenCalls {
    /// Notes a call; gives the call that a result answers.
    pub fn follow(&mut self, event: &Event) -> Option<Call> {
        match &event.body {
            Body::ToolCall(call) => {
                if self.0.len() == OPEN_CALLS {
                    self.0.remove(0);
                }
                self.0.push(Call::new(event, call));
                None
            }
            Body::ToolResult(result) => {
                let place = self.0.iter().rposition(|call| call.id == result.call)?;
                Some(self.0.remove(place))
            }
            _ => None,
        }
    }

    /// The call made last among those still open.
    pub fn last(&self) -> Option<&Call> {
        self.0.last()
    }
}

/// What a command printed, without the exit code that some clients write before it.
fn said(text: &str) -> &str {
    let rest = text.trim().strip_prefix("Exit code ").unwrap_or(text.trim());
    rest.trim_start_matches(|char: char| char.is_ascii_digit()).trim()
}

/// Whether a blocked call was cancelled only because the person refused another one made along with it: Claude Code writes
/// so into its result. The refusal is one friction, its siblings are none.
fn is_aftermath(text: &str) -> bool {
    let text = text.trim_start();
    ["The user doesn't want to take this action right now", "The user doesn't want to proceed with this tool use"]
        .iter()
        .any(|beginning| text.starts_with(beginning))
}

/// An event as the detectors see it.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// The event.
    pub event: &'a Event,
    /// The call that it answers, if it is a result whose call is known.
    pub call: Option<&'a Call>,
    /// The call made last among those still open.
    pub open: Option<&'a Call>,
    /// Where the session works, for showing paths.
    pub cwd: &'a str,
    /// Thresholds.
    pub thresholds: &'a Thresholds,
}

impl<'a> Moment<'a> {
    /// The result, if the event is one.
    pub fn result(&self) -> Option<&'a ToolResult> {
        match &self.event.body {
            Body::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// How a result ended, if the event is one: as its transcript says, but that looking for something in vain is no failure.
    pub fn status(&self) -> Option<Status> {
        let result = self.result()?;
        let in_vain = result.status == Status::Error
            && result.exit_code == Some(1)
            && self.call.is_some_and(|call| {
                // The end of a longer command is not known.
                call.executes && call.gist.len() < COMMAND_BYTES && answers_no(&call.gist, said(&result.text))
            });
        Some(if in_vain { Status::Ok } else { result.status })
    }

    /// The call of a result that went well.
    pub fn success(&self) -> Option<&'a Call> {
        (self.status()? == Status::Ok).then_some(self.call).flatten()
    }

    /// The result, if the tool failed or a rule kept it from running.
    pub fn failure(&self) -> Option<&'a ToolResult> {
        let failed = |result: &&ToolResult| match self.status() {
            Some(Status::Error) => true,
            Some(Status::Blocked) => !is_aftermath(&result.text),
            _ => false,
        };
        self.result().filter(failed)
    }

    /// The tool's name, for a result.
    pub fn tool(&self) -> &'a str {
        self.call.map_or("unknown tool", |call| &call.name)
    }

    /// `path` as a person of this project would name it.
    pub fn shown(&self, path: &str) -> String {
        let cwd = self.cwd.trim_end_matches('/');
        let path = path.trim_start_matches("./");
        match path.strip_prefix(cwd) {
            Some(rest) if !cwd.is_empty() && rest.starts_with('/') => rest[1..].to_owned(),
            _ => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command_laid_out_differently_is_the_same_call() {
        for variant in ["cargo  test", "cargo test 2>&1", " cargo test\n"] {
            assert_eq!(normal_command(variant), "cargo test", "{variant}");
        }
        for other in ["cargo test | grep x", "cargo test | tail -20"] {
            assert_eq!(normal_command(other), other);
        }
    }
}
