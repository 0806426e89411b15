//! What the client adds to the conversation, since 2.1.8x: `attachment` records.
//!
//! Two kinds matter: texts of the person that were put before the model while it worked, for which there is no user
//! record, and what hooks printed. What `TotalRecall`'s own hooks printed is stepped over: it quotes past sessions, and what was
//! learned once must not be learned again from the telling.

use totalrecall_sdk::adapter::{Output, Trouble, Verdict};
use totalrecall_sdk::types::{Author, Channel};

use crate::markers::without_ours;
use crate::record::{Content, Origin, Record};
use crate::{ClaudeCode, Place, message, named};
use totalrecall_sdk::json::{Raw, Text, object};

object! {
    /// The `attachment` of a record.
    pub(crate) struct Attachment<'a> {
        "type" => kind: Text<'a>,
        /// Of `queued_command`.
        "prompt" => prompt: Content<'a>,
        "commandMode" => mode: Text<'a>,
        "origin" => origin: Origin<'a>,
        /// Of `hook_…`.
        "hookName" => hook: Text<'a>,
        "content" => content: Raw<'a>,
        "stdout" => stdout: Text<'a>,
        "stderr" => stderr: Text<'a>,
        "blockingError" => blocking: Blocking<'a>,
        "message" => message: Text<'a>,
    }
}

object! {
    /// What a hook objected.
    pub(crate) struct Blocking<'a> {
        "blockingError" => text: Text<'a>,
    }
}

/// Attachments of no use here: listings, reminders, copies of files. Stepped over undecoded.
const SKIPPED: [&str; 45] = [
    "attachment/file",
    "attachment/edited_text_file",
    "attachment/edited_image_file",
    "attachment/already_read_file",
    "attachment/directory",
    "attachment/pdf_reference",
    "attachment/mcp_resource",
    "attachment/agent_mention",
    "attachment/nested_memory",
    "attachment/relevant_memories",
    "attachment/compact_file_reference",
    "attachment/plan_file_reference",
    "attachment/plan_mode",
    "attachment/plan_mode_reentry",
    "attachment/plan_mode_exit",
    "attachment/auto_mode",
    "attachment/auto_mode_exit",
    "attachment/task_reminder",
    "attachment/task_status",
    "attachment/todo",
    "attachment/todo_reminder",
    "attachment/skill_listing",
    "attachment/invoked_skills",
    "attachment/dynamic_skill",
    "attachment/agent_listing_delta",
    "attachment/deferred_tools_delta",
    "attachment/deferred_tools_record",
    "attachment/mcp_instructions_delta",
    "attachment/command_permissions",
    "attachment/diagnostics",
    "attachment/selected_lines_in_ide",
    "attachment/opened_file_in_ide",
    "attachment/output_style",
    "attachment/ultrathink_effort",
    "attachment/critical_system_reminder",
    "attachment/date",
    "attachment/date_change",
    "attachment/environment",
    "attachment/model",
    "attachment/session_context",
    "attachment/token_usage",
    "attachment/budget_usd",
    "attachment/total_tokens_reminder",
    "attachment/remote_session_change",
    "attachment/prompt_snapshot",
];

/// The full name of an attachment that is stepped over.
pub(crate) fn skipped(kind: &str) -> Option<&'static str> {
    SKIPPED.iter().find(|known| known.strip_prefix("attachment/") == Some(kind)).copied()
}

impl ClaudeCode {
    /// An `attachment` record.
    pub(crate) fn attachment(
        &mut self,
        record: &Record<'_>,
        place: &Place,
        out: &mut Output,
    ) -> Result<Verdict, Trouble> {
        let attachment: Attachment<'_> = match record.attachment {
            Some(raw) => serde_json::from_str(raw.get())?,
            None => Attachment::default(),
        };
        let kind = attachment.kind.as_str();
        if kind == "queued_command" {
            self.queued_command(record, place, &attachment, out);
            return Ok(Verdict::Understood(named("attachment", kind)));
        }
        if kind.starts_with("hook_") || kind == "async_hook_response" {
            let text = hook_text(kind, &attachment);
            // What a hook says in JSON follows as text in an attachment of its own.
            if text.is_empty() || (kind == "hook_success" && text.starts_with('{')) {
                return Ok(Verdict::Skipped(named("attachment", kind)));
            }
            let text = format!("{}: {text}", attachment.hook.get().unwrap_or("hook"));
            let (key, wait) = self.keys.key(record, kind, &text, 0);
            let body = message(Author::Harness, Channel::Notice, &text, out);
            self.tell_later(place, key, body, wait, out);
            return Ok(Verdict::Understood(named("attachment", kind)));
        }
        Ok(match skipped(kind) {
            Some(known) => Verdict::Skipped(known.into()),
            None => Verdict::Unknown(named("attachment", kind)),
        })
    }

    /// A queued text, or a notice that was queued.
    fn queued_command(&mut self, record: &Record<'_>, place: &Place, queued: &Attachment<'_>, out: &mut Output) {
        let text = queued.prompt.text();
        self.queue.attached(&text);
        let human = matches!(queued.mode.as_str(), "prompt" | "bash" | "")
            && queued.origin.kind.get().is_none_or(|kind| kind == "human");
        if human {
            self.sent_at_work(record, place, &text, None, out);
        } else if !text.trim().is_empty() {
            let (key, _) = self.keys.key(record, "queued", &text, 0);
            let body = message(Author::Harness, Channel::Notice, text.trim(), out);
            self.tell(place, key, body, out);
        }
    }
}

/// What hooks said: their context, their objection, or what they printed. Several may say something in one attachment, of which
/// `TotalRecall`'s is left out.
fn hook_text(kind: &str, attachment: &Attachment<'_>) -> String {
    let content = match attachment.content.map(|raw| raw.get()) {
        Some(raw) if raw.starts_with('[') => {
            serde_json::from_str::<totalrecall_sdk::json::List<Text<'_>>>(raw).unwrap_or_default().0
        }
        Some(raw) => vec![serde_json::from_str::<Text<'_>>(raw).unwrap_or_default()],
        None => Vec::new(),
    };
    let mut parts: Vec<&str> = content.iter().map(Text::as_str).collect();
    parts.extend([attachment.blocking.text.as_str(), attachment.message.as_str(), attachment.stderr.as_str()]);
    if parts.iter().all(|part| part.trim().is_empty()) {
        parts.push(attachment.stdout.as_str());
    }
    // Its line for the person (`host/src/cli/hook/`).
    let is_ours = |part: &str| kind == "hook_system_message" && part.trim().starts_with("TotalRecall: ");
    let parts = parts.into_iter().filter(|part| !is_ours(part)).map(without_ours);
    let parts: Vec<String> = parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}
