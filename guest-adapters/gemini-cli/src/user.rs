//! What the person says, and what else stands in `user` messages: context, tools' answers, summaries.

use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::types::{Author, Body, Channel, Compaction};

use crate::record::{Record, parts};
use crate::result::{Told, response};
use crate::{GeminiCli, Place, message, tool};

/// How texts of the client begin.
const HARNESS: [&str; 7] = [
    "<session_context>",
    // The same up to 0.2x.
    "This is the Gemini CLI. We are setting up the context",
    "<hook_context>",
    "System: ",
    "Here is the user's editor context",
    "This is the user's editor context",
    "Here is a summary of changes in the user's editor context",
];

/// What a command that the person ran with `!` is told to the model as.
const SHELL: &str = "I ran the following shell command:";

/// What follows in a prompt that names files (`@file`): their contents.
const FILES: &str = "--- Content from referenced files ---";

impl GeminiCli {
    /// A `user` message.
    pub(crate) fn user(&mut self, record: &Record<'_>, place: &Place<'_>, out: &mut Output) {
        let parts = parts(record.content);
        self.settle(self.tool_stopped, out);
        let (mut text, mut images, mut answered) = (String::new(), false, false);
        for part in &parts {
            if let Some(call) = part.response.id.get() {
                answered = true;
                let (text, error) = response(part);
                let kind = tool::kind(part.response.name.as_str());
                let told = Told { kind, status: "", text: &text, error };
                self.result(place.line, place.at, call, &told, false, out);
                continue;
            }
            if part.text.as_str().trim_start().starts_with(FILES) {
                break;
            }
            images |= part.data.is_some() || part.file.is_some();
            text.push_str(part.text.as_str());
        }
        let shown = crate::record::text(record.shown);
        let text = if shown.trim().is_empty() { &text } else { &shown };
        let text = text.split(FILES).next().unwrap_or_default().trim();
        if !text.is_empty() {
            self.said(text, place, out);
        } else if images && !answered {
            self.words("[image]", Channel::Prompt, "", place, out);
        }
    }

    fn said(&mut self, text: &str, place: &Place<'_>, out: &mut Output) {
        if let Some(start) = HARNESS.iter().find(|start| text.starts_with(**start)) {
            if (*start == HARNESS[0] || *start == HARNESS[1])
                && let Some(news) = self.facts.context(text)
            {
                self.push(place.line, place.at, None, Body::Session(news), out);
            }
            let body = message(Author::Harness, Channel::Notice, text, out);
            return self.tell(place, "", body, out);
        }
        if text.starts_with('<') && text.contains("<state_snapshot>") {
            self.compaction(place, Compaction { manual: None, tokens_before: None }, out);
            let body = message(Author::Harness, Channel::Summary, text, out);
            return self.tell(place, "", body, out);
        }
        if let Some((command, output)) = shell(text) {
            self.words(command, Channel::Shell, "", place, out);
            let body = message(Author::Harness, Channel::Shell, output, out);
            return self.tell(place, "output", body, out);
        }
        // A hook's words stand behind the prompt.
        let (words, context) = text.split_at(text.find("<hook_context>").unwrap_or(text.len()));
        self.words(words.trim_end(), Channel::Prompt, "", place, out);
        if !context.is_empty() {
            let body = message(Author::Harness, Channel::Notice, context, out);
            self.tell(place, "hook", body, out);
        }
    }

    /// Words of the person; in a sub-agent's chat, of the model that started it.
    fn words(&mut self, text: &str, channel: Channel, part: &str, place: &Place<'_>, out: &mut Output) {
        let author = if self.facts.is_sub_agent() { Author::Agent } else { Author::Human };
        let body = message(author, channel, text, out);
        self.tell(place, part, body, out);
    }

    /// Tells a compaction, once for the summary and the client's notice.
    pub(crate) fn compaction(&mut self, place: &Place<'_>, compaction: Compaction, out: &mut Output) {
        if !std::mem::replace(&mut self.compacted, true) {
            self.tell(place, "compaction", Body::Compaction(compaction), out);
        }
    }
}

/// The command that the person ran with `!`, and what it printed.
fn shell(text: &str) -> Option<(&str, &str)> {
    let (command, output) = text.strip_prefix(SHELL)?.split_once("This produced the following result:")?;
    let fenced = |text: &'_ str| -> (usize, usize) {
        let start = text.find("```").and_then(|fence| Some(fence + text[fence..].find('\n')? + 1)).unwrap_or(0);
        let end = text.rfind("```").filter(|end| *end > start).unwrap_or(text.len());
        (start, end)
    };
    let (start, end) = fenced(command);
    let command = command[start..end].trim();
    let (start, end) = fenced(output);
    Some((command, output[start..end].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_commands_of_the_person() {
        let text = "I ran the following shell command:\n```sh\ngit diff --stat\n```\n\nThis produced the following result:\n```\n a | 1 +\n```";
        assert_eq!(shell(text), Some(("git diff --stat", "a | 1 +")));
        let bare = "I ran the following shell command:\necho a\n\nThis produced the following result:\na";
        assert_eq!(shell(bare), Some(("echo a", "a")));
        assert_eq!(shell("I ran the following shell command: x"), None);
    }
}
