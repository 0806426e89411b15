//! Items that were completed: what paginated files (since 0.171) tell of the conversation beside the API's items.
//!
//! The prompts stand here, and what a script ran: such items have ids of their own. An item with the id of a call that a
//! response item told says nothing that its output does not.

use std::borrow::Cow;

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::json::{Entries, Text};
use totalrecall_sdk::types::{Body, Status, ToolCall, ToolKind};

use crate::output::Reading;
use crate::patch::Patch;
use crate::record::{Content, Item, Payload};
use crate::{Codex, Place, call, keys, output, shell};

impl Codex {
    /// An `item_completed` event.
    pub(crate) fn item(&mut self, event: &Payload<'_>, place: Place, out: &mut Output) -> Verdict {
        let item = &event.item;
        let kind = item.kind.as_str();
        let name = format!("item_completed/{kind}");
        match kind {
            "UserMessage" => {
                self.turn(event.turn.as_str());
                let text = match &item.content {
                    Content::Parts(parts) => parts.iter().map(|part| part.text.as_str()).collect(),
                    other => other.text().into_owned(),
                };
                let pictured =
                    text.trim().is_empty() && matches!(&item.content, Content::Parts(parts) if !parts.is_empty());
                self.prompted(if pictured { "[image]" } else { &text }, place, out);
            }
            "HookPrompt" => {}
            "ContextCompaction" => {
                self.turn(event.turn.as_str());
                self.compaction("", place, out);
            }
            "CommandExecution"
            | "FileChange"
            | "McpToolCall"
            | "DynamicToolCall"
            | "ImageView"
            | "WebSearch"
            | "CollabAgentToolCall" => {
                if !self.brought_by_script(item) {
                    return Verdict::Skipped(name.into());
                }
                self.within(item, event.turn.as_str(), place, out);
            }
            "AgentMessage" | "Reasoning" | "Plan" | "Sleep" | "ImageGeneration" | "SubAgentActivity"
            | "EnteredReviewMode" | "ExitedReviewMode" => return Verdict::Skipped(name.into()),
            _ => return Verdict::Unknown(name.into()),
        }
        Verdict::Understood(name.into())
    }

    /// Is it what a script called? What the person ran with `!` has a message.
    fn brought_by_script(&self, item: &Item<'_>) -> bool {
        let id = item.id.as_str();
        let waits = matches!(item.kind.as_str(), "WebSearch") && !id.starts_with("exec-");
        !id.is_empty() && !waits && item.source.as_str() != "user_shell" && !self.called.contains(hash64(id))
    }

    /// Tells a call within a script, and how it ended.
    fn within(&mut self, item: &Item<'_>, turn: &str, place: Place, out: &mut Output) {
        let call = called(item, out);
        let reading = reading(item, call.kind);
        if let Some(command) = &call.command
            && self.scripts.was_told(command)
        {
            return;
        }
        self.scripts.item(reading.status != Status::Ok);
        self.compacted = false;
        // A command may end when another turn has begun.
        let key = match keys::is_unique(turn) && turn != self.keys.now() {
            true => format!("{turn}/{}", call.id),
            false => self.keys.named(&call.id),
        };
        let (id, result) = (call.id.clone(), format!("{key}/result"));
        self.tell(place, Some(key), Body::ToolCall(call), out);
        self.result(&id, Some(result), reading, place, out);
    }
}

fn called(item: &Item<'_>, out: &Output) -> ToolCall {
    let id = item.id.as_str();
    match item.kind.as_str() {
        "CommandExecution" => call::executing(id, "exec_command", &shell::command(&item.command), "", out),
        "FileChange" => {
            let patch = Patch::of_changes(&item.changes);
            let mut call = call::bare(id, "apply_patch", patch.kind(), &shown(&patch), out);
            (call.paths, call.edits) = (patch.paths, patch.edits);
            call
        }
        "McpToolCall" => {
            let name = format!("mcp__{}__{}", item.server.as_str(), item.tool.as_str());
            call::with_arguments(id, &name, item.arguments.map_or("", |arguments| arguments.get()), out)
        }
        "ImageView" => {
            let mut call = call::bare(id, "view_image", ToolKind::Read, item.path.as_str(), out);
            call.paths = vec![local(item.path.as_str()).to_owned()];
            call
        }
        "WebSearch" => call::bare(id, "web_search", ToolKind::Search, item.query.as_str(), out),
        "CollabAgentToolCall" => {
            let name = snake(item.tool.as_str());
            call::bare(id, &name, ToolKind::Delegate, item.prompt.as_str(), out)
        }
        _ => {
            let name = item.tool.as_str();
            call::with_arguments(id, name, item.arguments.map_or("", |arguments| arguments.get()), out)
        }
    }
}

/// A patch's sides, for reading and comparing: the client does not keep the patch as it was written.
fn shown(patch: &Patch) -> String {
    let mut shown = String::new();
    for edit in &patch.edits {
        shown.push_str(&format!("*** {}\n", edit.path));
        for (mark, side) in [('-', &edit.removed), ('+', &edit.added)] {
            for line in side.lines() {
                shown.push(mark);
                shown.push_str(line);
                shown.push('\n');
            }
        }
    }
    shown
}

fn reading<'i>(item: &'i Item<'_>, kind: ToolKind) -> Reading<'i> {
    let exit_code: Option<i32> = item.exit_code.and_then(|code| code.get().parse().ok());
    let said = match item.kind.as_str() {
        "FileChange" => match item.stderr.get() {
            Some(error) => Cow::Borrowed(error),
            None => Cow::Borrowed(item.stdout.as_str()),
        },
        "McpToolCall" | "DynamicToolCall" => Cow::Owned(of_result(item)),
        _ => text(item.output.map(|output| output.get())),
    };
    let status = match item.status.as_str() {
        "declined" => match output::read_text(&said, kind).status {
            Status::Blocked => Status::Blocked,
            _ => Status::Denied,
        },
        "failed" => Status::Error,
        _ if exit_code.is_some_and(|code| code != 0) => Status::Error,
        _ => Status::Ok,
    };
    let exit_code = exit_code.filter(|_| status != Status::Denied && status != Status::Blocked);
    Reading { status, exit_code, text: said, running: None }
}

/// Text of a result or error of a tool that is not the client's own.
fn of_result(item: &Item<'_>) -> String {
    let entries =
        |raw: Option<&str>| serde_json::from_str::<Entries<'_>>(raw.unwrap_or("null")).unwrap_or_default().0.len();
    let error = item.error.map(|error| error.get());
    if entries(error) > 0 {
        let error: crate::record::Failure<'_> = serde_json::from_str(error.unwrap_or("null")).unwrap_or_default();
        return error.message.as_str().to_owned();
    }
    let result: crate::record::Wrapped<'_> =
        serde_json::from_str(item.result.map_or("null", |result| result.get())).unwrap_or_default();
    result.content.text().into_owned()
}

fn text(raw: Option<&str>) -> Cow<'_, str> {
    serde_json::from_str::<Text<'_>>(raw.unwrap_or("null")).unwrap_or_default().0.unwrap_or_default()
}

/// A path without `file://`.
fn local(path: &str) -> &str {
    path.strip_prefix("file://").unwrap_or(path)
}

/// `spawnAgent` as `spawn_agent`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_in_both_spellings() {
        assert_eq!(super::snake("spawnAgent"), "spawn_agent");
        assert_eq!(super::snake("wait"), "wait");
        assert_eq!(super::local("file:///w/a.png"), "/w/a.png");
    }
}
