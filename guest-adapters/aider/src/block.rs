//! What Aider says: lines that begin with `> `, one block at a time.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{
    ApiError, Author, Body, Channel, Edit, Interrupt, Message, Status, ToolCall, ToolKind, ToolResult, Usage,
};

use crate::{Aider, edit, nothing, wording};

/// How a report of the linter begins.
const LINTED: &str = "# Fix any errors below";

/// Most files remembered of the last edits.
const FILES: usize = 64;

/// One message of Aider's, mostly a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) line: u64,
    pub(crate) text: String,
}

/// A call that Aider makes for the model, and how it ended.
struct Done {
    line: u64,
    name: &'static str,
    kind: ToolKind,
    command: Option<String>,
    edits: Vec<Edit>,
    paths: Vec<String>,
    status: Status,
    text: String,
}

impl Aider {
    /// Reads a block of Aider's messages.
    pub(crate) fn block(&mut self, entries: &[Entry], out: &mut Output) {
        let mut rest: Vec<&Entry> = Vec::new();
        // Where in it the lines begin that the next question may be about.
        let mut subject = 0;
        let mut at = 0;
        while at < entries.len() {
            let entry = &entries[at];
            let text = entry.text.as_str();
            at += 1;
            if let Some(status) = wording::service_error(text) {
                at = self.service(entries, at, entry, status, out);
            } else if text.starts_with("The LLM did not conform to the edit format") {
                at = self.failed_edit(entries, at, entry, out);
            } else if text.starts_with(LINTED) {
                at = self.lint(entries, at, entry, out);
            } else if wording::is_question(text) {
                self.question(entry, &rest[subject..], out);
                rest.truncate(subject);
            } else if !self.known(entry, out) && !wording::is_idle(text) {
                rest.push(entry);
                continue;
            }
            subject = rest.len();
        }
        self.rest(&rest, out);
    }

    /// A message that stands for itself; false if it is none that is known.
    fn known(&mut self, entry: &Entry, out: &mut Output) -> bool {
        let text = entry.text.as_str();
        let after = |start: &str| text.strip_prefix(start).map(str::trim);
        if let Some(path) = after("Applied edit to ") {
            self.edited(entry.line, path, Status::Ok, text, out);
        } else if let Some(path) = after("Did not apply edit to ") {
            self.edited(entry.line, path.trim_end_matches(" (--dry-run)"), Status::Blocked, text, out);
        } else if let Some(path) = after("Skipping edits to ") {
            let (path, rule) = path.split_once(" that matches ").map_or((path, false), |(path, _)| (path, true));
            let status = if rule || self.unasked { Status::Blocked } else { Status::Denied };
            self.edited(entry.line, path, status, text, out);
        } else if let Some(figures) = wording::tokens(text) {
            self.working = false;
            self.reports = true;
            let [sent, cache_write, cache_read, output] = figures;
            let input = sent.saturating_sub(cache_read).saturating_sub(cache_write);
            let key = self.key("usage");
            let usage = Usage { model: self.model.clone(), input, output, cache_read, cache_write };
            self.push(entry.line, Some(key), Body::Usage(usage), out);
        } else if let Some(version) = after("Aider v") {
            // Older ones counted no tokens.
            let minor: Option<u32> = version.strip_prefix("0.").and_then(|it| it.split('.').next()?.parse().ok());
            self.reports |= minor.is_none_or(|minor| minor >= 40);
            if version != self.version {
                version.clone_into(&mut self.version);
                let session = totalrecall_sdk::types::Session { version: Some(version.to_owned()), ..nothing() };
                self.push(entry.line, None, Body::Session(session), out);
            }
        } else if let Some(model) = after("Main model: ").or_else(|| after("Model: ")) {
            model.split(" with ").next().unwrap_or(model).clone_into(&mut self.model);
        } else if text.starts_with("^C ") {
            self.cut = true;
            if std::mem::take(&mut self.working) {
                let key = self.key("interrupt");
                self.push(entry.line, Some(key), Body::Interrupt(Interrupt { in_tool: false }), out);
            }
        } else if text.starts_with("Removed: ") {
            self.undone(entry, out);
        } else if text.starts_with("Commit ") {
            self.notice(entry.line, text, out);
        } else {
            return false;
        }
        true
    }

    /// What is left is told as one notice: the command that the run began with, what commands of the person printed.
    fn rest(&mut self, rest: &[&Entry], out: &mut Output) {
        let Some(first) = rest.first() else { return };
        if self.count == 0 {
            self.unasked = rest.iter().any(|entry| entry.text.contains(" --yes"));
        }
        let text = rest.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>().join("\n");
        self.notice(first.line, text.trim(), out);
    }

    fn notice(&mut self, line: u64, text: &str, out: &mut Output) {
        let key = self.key(text);
        let (text, omitted) = out.cap(text);
        let message = Message { author: Author::Harness, channel: Channel::Notice, text, omitted };
        self.push(line, Some(key), Body::Message(message), out);
    }

    /// An error of the model's service goes on until Aider's next message; then it says whether it tries again.
    fn service(
        &mut self,
        entries: &[Entry],
        from: usize,
        entry: &Entry,
        status: Option<u16>,
        out: &mut Output,
    ) -> usize {
        let end = from + ends(&entries[from..]);
        let retried = entries.get(end).is_some_and(|next| next.text.starts_with("Retrying in "));
        let key = self.key(&entry.text);
        let text = joined(&entry.text, &entries[from..end]);
        self.working = retried;
        let error = ApiError { status, text: out.cap(&text).0, retried };
        self.push(entry.line, Some(key), Body::ApiError(error), out);
        end + usize::from(retried)
    }

    /// The edits could not be applied. The model is told why, and tries again.
    fn failed_edit(&mut self, entries: &[Entry], from: usize, entry: &Entry, out: &mut Output) -> usize {
        let end = from + ends(&entries[from..]);
        let said = entries[from..end].iter().filter(|entry| !entry.text.starts_with("https://"));
        let text = said.map(|entry| entry.text.as_str()).collect::<Vec<_>>().join("\n");
        let text = if text.trim().is_empty() { entry.text.as_str() } else { text.trim() };
        // Some blocks failed, and the others were applied, unless the file could not be told at all.
        let mut paths: Vec<String> = Vec::new();
        for named in text.split("failed to exactly match lines in ").skip(1) {
            let path = named.lines().next().unwrap_or_default().trim();
            if !path.is_empty() && !paths.iter().any(|known| known == path) && paths.len() < FILES {
                paths.push(path.to_owned());
            }
        }
        let mut edits: Vec<Edit> = paths.iter().flat_map(|path| edit::take(&mut self.proposed, path)).collect();
        if paths.is_empty() {
            edits.extend(self.proposed.drain(..).map(edit::Proposed::edit));
            for edit in &edits {
                if !paths.contains(&edit.path) {
                    paths.push(edit.path.clone());
                }
            }
        }
        let text = reason(text).to_owned();
        self.done(Done { edits, paths, text, ..Done::new(entry.line, "edit", ToolKind::Edit, Status::Error) }, out);
        self.working = true;
        end
    }

    /// The linter found errors.
    fn lint(&mut self, entries: &[Entry], from: usize, entry: &Entry, out: &mut Output) -> usize {
        // One report for each file.
        let next = |entry: &Entry| wording::is_question(&entry.text) || entry.text.starts_with(LINTED);
        let end = from + entries[from..].iter().position(next).unwrap_or_else(|| ends(&entries[from..]));
        let report = &entries[from..end];
        let run = report.iter().find_map(|entry| entry.text.strip_prefix("## Running: "));
        let command = Some(run.unwrap_or("lint").trim().to_owned());
        // The command is no part of what it printed, and the lines of the file that follow are none.
        let frame = |entry: &&Entry| !entry.text.starts_with("## Running: ");
        let printed = report.iter().take_while(|entry| !entry.text.starts_with("## See relevant line")).filter(frame);
        let text = printed.map(|entry| entry.text.as_str()).collect::<Vec<_>>().join("\n").trim().to_owned();
        self.done(Done { command, text, ..Done::new(entry.line, "lint", ToolKind::Execute, Status::Error) }, out);
        end
    }

    /// A question that was answered. Most are about files to be added.
    fn question(&mut self, entry: &Entry, before: &[&Entry], out: &mut Output) {
        let answer = wording::answer(&entry.text);
        let yes = matches!(answer, Some('y' | 'a'));
        if entry.text.starts_with("Run shell command") {
            let status = match answer {
                _ if yes => Status::Ok,
                _ if self.unasked => Status::Blocked,
                _ => Status::Denied,
            };
            let command = before.iter().map(|entry| entry.text.trim()).collect::<Vec<_>>().join("\n");
            let text = if yes { String::new() } else { entry.text.clone() };
            let command = Some(command);
            self.done(Done { command, text, ..Done::new(entry.line, "shell", ToolKind::Execute, status) }, out);
        } else if entry.text.starts_with("Attempt to fix test errors") {
            let text = "The tests failed.".to_owned();
            let command = Some("test".to_owned());
            self.done(Done { command, text, ..Done::new(entry.line, "test", ToolKind::Execute, Status::Error) }, out);
            self.working = yes;
        } else if yes && (entry.text.starts_with("Attempt to fix") || entry.text.starts_with("Add file")) {
            self.working = true;
        }
    }

    /// An edit was applied, or not.
    fn edited(&mut self, line: u64, path: &str, status: Status, text: &str, out: &mut Output) {
        let edits = edit::take(&mut self.proposed, path);
        if status == Status::Ok {
            if self.edited.len() == FILES {
                self.edited.remove(0);
            }
            if !self.edited.iter().any(|known| known == path) {
                self.edited.push(path.to_owned());
            }
        }
        let paths = vec![path.to_owned()];
        self.done(Done { edits, paths, text: text.to_owned(), ..Done::new(line, "edit", ToolKind::Edit, status) }, out);
    }

    /// `/undo` took back a commit: this is how Aider does it.
    fn undone(&mut self, entry: &Entry, out: &mut Output) {
        let files = std::mem::take(&mut self.edited);
        let command = match files.is_empty() {
            true => "git reset --soft HEAD~1".to_owned(),
            false => format!("git checkout HEAD~1 -- {}", files.join(" ")),
        };
        let text = entry.text.clone();
        let command = Some(command);
        self.done(Done { command, text, ..Done::new(entry.line, "undo", ToolKind::Execute, Status::Ok) }, out);
    }

    /// Tells a call and how it ended.
    fn done(&mut self, done: Done, out: &mut Output) {
        let id = self.key(done.name);
        let input = match &done.command {
            Some(command) => command.clone(),
            None => input(&done.edits, &done.paths),
        };
        let (input, omitted) = out.cap(&input);
        let call = ToolCall {
            id: id.clone(),
            name: done.name.to_owned(),
            kind: done.kind,
            paths: done.paths,
            command: done.command.map(|command| out.cap(&command).0),
            edits: done.edits,
            input,
            omitted,
        };
        self.push(done.line, Some(id.clone()), Body::ToolCall(call), out);
        let (text, omitted) = out.cap(&done.text);
        let key = Some(format!("{id}/result"));
        let (status, exit_code, words, amended) = (done.status, None, None, false);
        let result = ToolResult { call: id, status, exit_code, text, omitted, words, amended };
        self.push(done.line, key, Body::ToolResult(result), out);
    }
}

impl Done {
    fn new(line: u64, name: &'static str, kind: ToolKind, status: Status) -> Self {
        Self { line, name, kind, command: None, edits: Vec::new(), paths: Vec::new(), status, text: String::new() }
    }
}

/// Why an edit failed, without the headings over it: `# 2 SEARCH/REPLACE blocks failed to match!`, `## `.
fn reason(text: &str) -> &str {
    let below = text.split_once('\n').filter(|(first, _)| first.starts_with("# ") && first.contains("failed to match"));
    let text = below.map_or(text, |(_, below)| below.trim());
    text.strip_prefix("## ").unwrap_or(text)
}

/// How many of the messages belong to what stands before them.
fn ends(entries: &[Entry]) -> usize {
    let next = |entry: &Entry| wording::begins(&entry.text) || wording::service_error(&entry.text).is_some();
    entries.iter().position(next).unwrap_or(entries.len())
}

fn joined(first: &str, more: &[Entry]) -> String {
    let mut text = first.to_owned();
    for entry in more {
        text.push('\n');
        text.push_str(&entry.text);
    }
    text.trim_end().to_owned()
}

/// Edits for reading and comparing.
fn input(edits: &[Edit], paths: &[String]) -> String {
    if edits.is_empty() {
        return paths.join("\n");
    }
    let shown = edits.iter().map(|edit| format!("{}\n- {}\n+ {}", edit.path, edit.removed, edit.added));
    cap(&shown.collect::<Vec<_>>().join("\n"), 16 << 10).0.into_owned()
}
