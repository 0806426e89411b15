//! Messages: what the person says, what the model says, thinks and does.

use std::borrow::Cow;

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::json::{Entries, Flag, List, Number, Raw, Text, object};
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{ApiError, Author, Body, Channel, Session, Usage};

use crate::tool::Tool;
use crate::{Cursor, Place, message, tool};

object! {
    /// A message.
    pub(crate) struct Bubble<'a> {
        "bubbleId" => id: Text<'a>,
        /// 1 is the person, 2 the model.
        "type" => kind: Number,
        "text" => text: Text<'a>,
        /// ISO 8601; milliseconds in some versions.
        "createdAt" => created: Raw<'a>,
        "thinking" => thinking: Raw<'a>,
        "allThinkingBlocks" => thoughts: List<Thought<'a>>,
        "toolFormerData" => tool: Tool<'a>,
        /// Where they were counted: `inputTokens`, `outputTokens`.
        "tokenCount" => tokens: Entries<'a>,
        "modelInfo" => model: Model<'a>,
        "workspaceUris" => folders: List<Text<'a>>,
        "images" => images: List<Raw<'a>>,
        /// Text that the editor sends for the person: when the model stopped short, and when a plan was approved.
        "isNudge" => nudge: Flag,
        "isPlanExecution" => plan: Flag,
        "errorDetails" => error: Entries<'a>,
    }
}

object! {
    /// What the model thought.
    pub(crate) struct Thought<'a> {
        "text" => text: Text<'a>,
    }
}

object! {
    /// The model that answered.
    pub(crate) struct Model<'a> {
        "modelName" => name: Text<'a>,
    }
}

impl Cursor {
    /// A message; the list's id counts where it has none of its own.
    pub(crate) fn bubble(&mut self, listed: &str, bubble: &Bubble<'_>, line: u64, out: &mut Output) -> Verdict {
        let id = if listed.is_empty() { bubble.id.as_str() } else { listed };
        let id = if id.is_empty() { format!("row {line}") } else { id.to_owned() };
        let uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let key = if uuid { id } else { format!("{}/{id}", self.key) };
        let place = Place { line, at: at(bubble.created), key };
        match bubble.kind.0 {
            Some(1) => self.person(bubble, &place, out),
            Some(2) => self.model(bubble, &place, out),
            Some(other) => return Verdict::Unknown(format!("bubble {other}").into()),
            None => return Verdict::Unknown("bubble without a type".into()),
        }
        Verdict::Understood("bubble".into())
    }

    fn person(&mut self, bubble: &Bubble<'_>, place: &Place, out: &mut Output) {
        if self.folder.is_empty()
            && let Some(folder) = bubble.folders.0.first().and_then(|uri| path(uri.as_str()))
        {
            self.folder.clone_from(&folder);
            let session =
                Session { id: None, cwd: Some(folder), branch: None, title: None, version: None, parent: None };
            self.push(place.line, place.at, None, Body::Session(session), out);
        }
        let text = bubble.text.as_str().trim();
        let text = if text.is_empty() && !bubble.images.0.is_empty() { "[image]" } else { text };
        if text.is_empty() {
            return;
        }
        let (author, channel) = match () {
            () if bubble.nudge.0 || bubble.plan.0 => (Author::Harness, Channel::Notice),
            // What a sub-agent is told comes from a model.
            () if self.thread.is_some() => (Author::Agent, Channel::Prompt),
            () => (Author::Human, Channel::Prompt),
        };
        self.tell(place, "", message(author, channel, text, out), out);
    }

    fn model(&mut self, bubble: &Bubble<'_>, place: &Place, out: &mut Output) {
        let one: Thought<'_> = bubble.thinking.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let mut thoughts: Vec<&str> = bubble.thoughts.0.iter().map(|thought| thought.text.as_str()).collect();
        thoughts.retain(|thought| !thought.trim().is_empty());
        if thoughts.is_empty() {
            thoughts.push(one.text.as_str());
        }
        let thoughts = thoughts.join("\n\n");
        if !thoughts.trim().is_empty() {
            self.tell(place, "thoughts", message(Author::Agent, Channel::Reasoning, thoughts.trim(), out), out);
        }
        let text = bubble.text.as_str().trim();
        if !text.is_empty() {
            self.tell(place, "", message(Author::Agent, Channel::Reply, text, out), out);
        }
        if let Some(text) = error(&bubble.error) {
            let body = Body::ApiError(ApiError { status: None, text: out.cap(&text).0, retried: false });
            self.tell(place, "error", body, out);
        }
        self.usage(bubble, place, out);
        if bubble.tool.is_call() {
            let id = format!("{}/call", place.key);
            let call = tool::call(&bubble.tool, &id, out);
            let result = tool::result(&bubble.tool, &id, call.kind, out);
            self.tell(place, "call", Body::ToolCall(call), out);
            if let Some(result) = result {
                self.tell(place, "result", Body::ToolResult(result), out);
            }
        }
    }

    fn usage(&mut self, bubble: &Bubble<'_>, place: &Place, out: &mut Output) {
        let figure = |name: &str| {
            let number = bubble.tokens.0.iter().find(|(key, _)| key == name);
            number.and_then(|(_, raw)| serde_json::from_str::<Number>(raw.get()).ok()?.0).unwrap_or(0)
        };
        let (input, output) = (figure("inputTokens"), figure("outputTokens"));
        if input > 0 || output > 0 {
            let model = bubble.model.name.get().unwrap_or(&self.model).to_owned();
            let usage = Usage { model, input, output, cache_read: 0, cache_write: 0 };
            self.tell(place, "usage", Body::Usage(usage), out);
        }
    }
}

/// A time as text or in milliseconds.
fn at(raw: Raw<'_>) -> Option<i64> {
    let raw = raw?.get();
    match serde_json::from_str::<Text<'_>>(raw).ok()?.0 {
        Some(text) => parse_rfc3339(&text).or_else(|| text.parse().ok()),
        None => serde_json::from_str::<Number>(raw).ok()?.0.and_then(|at| i64::try_from(at).ok()),
    }
}

/// The path of `file:///home/me/a%20b`.
fn path(uri: &str) -> Option<String> {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, more @ ..] = rest {
        let code = more.get(..2).and_then(|two| std::str::from_utf8(two).ok()).filter(|_| *first == b'%');
        match code.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // `/C:/Users` on Windows.
    let drive = path.get(2..3) == Some(":");
    Some(if drive { path[1..].to_owned() } else { path })
}

/// What a failed answer says.
fn error(details: &Entries<'_>) -> Option<String> {
    let text = ["message", "error", "detail"].iter().find_map(|key| details.text(key)).map(Cow::into_owned);
    text.filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_uris() {
        assert_eq!(path("file:///home/me/a%20b%C3%A9").as_deref(), Some("/home/me/a bé"));
        assert_eq!(path("file:///C:/Users/x").as_deref(), Some("C:/Users/x"));
        assert_eq!(path("/plain/100%").as_deref(), Some("/plain/100%"));
        assert_eq!(path("vscode-remote://ssh/x"), None);
    }

    #[test]
    fn times() {
        let read = |text: &str| at(Some(serde_json::from_str(text).unwrap()));
        assert_eq!(read("\"1970-01-01T00:00:01Z\""), Some(1000));
        assert_eq!((read("1000"), read("\"1000\""), read("{}"), at(None)), (Some(1000), Some(1000), None, None));
    }
}
