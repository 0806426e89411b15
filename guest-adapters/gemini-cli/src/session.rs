//! What a chat says of its session, and what its path says of it.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::json::Text;
use totalrecall_sdk::types::Session;

use crate::record::Record;

/// What the path tells: `…/chats/session-….json` is a document, `…/chats/session-….jsonl` a log,
/// `…/chats/<session>/<sub-agent>.jsonl` that of a sub-agent.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Home {
    pub(crate) document: bool,
    /// The session that a sub-agent works for.
    pub(crate) parent: Option<String>,
}

impl Home {
    pub(crate) fn new(path: &str) -> Self {
        let mut parts = path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or_default();
        let (folder, above) = (parts.next().unwrap_or_default(), parts.next());
        let parent = (above == Some("chats")).then(|| folder.to_owned());
        Self { document: name.ends_with(".json"), parent }
    }
}

/// What was said so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    id: String,
    /// It is a sub-agent's chat; its session is another.
    sub_agent: bool,
    title: String,
    cwd: String,
}

impl Facts {
    /// Takes in a header, or the fields that `$set` changes; gives what is new.
    pub(crate) fn note(&mut self, chat: &Record<'_>, home: &Home) -> Option<Session> {
        let mut news = nothing();
        if let Some(id) = chat.session.get().filter(|id| *id != self.id) {
            id.clone_into(&mut self.id);
            self.sub_agent = home.parent.is_some() || chat.sort.as_str() == "subagent";
            // A sub-agent is part of its session, which it also names as where it came from.
            news.parent = home.parent.clone().filter(|_| self.sub_agent);
            news.id = Some(news.parent.clone().unwrap_or_else(|| id.to_owned()));
        }
        news.title = change(&mut self.title, chat.summary.as_str());
        if let Some(cwd) = chat.directories.0.first().and_then(Text::get) {
            news.cwd = change(&mut self.cwd, cwd);
        }
        (news != nothing()).then_some(news)
    }

    /// Takes in the message that sets up the context; gives the folder, if it is new.
    pub(crate) fn context(&mut self, text: &str) -> Option<Session> {
        let cwd = folder(text)?;
        let cwd = change(&mut self.cwd, cwd)?;
        Some(Session { cwd: Some(cwd), ..nothing() })
    }

    /// The thread of what this chat tells.
    pub(crate) fn thread(&self) -> Option<String> {
        self.sub_agent.then(|| self.id.clone())
    }

    pub(crate) fn is_sub_agent(&self) -> bool {
        self.sub_agent
    }

    /// A message's id, unique among all chats. UUIDs are; the ids of messages that the client makes up (the context, a
    /// summary) come from their place and are equal in many sessions.
    pub(crate) fn unique(&self, id: &str) -> String {
        let uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if uuid { id.to_owned() } else { format!("{}/{id}", self.id) }
    }
}

/// The folder in the context message: a list below a heading since 0.2x, a sentence before.
fn folder(text: &str) -> Option<&str> {
    let lists = ["**Workspace Directories:**", "in the following directories:"];
    let listed = lists.iter().find_map(|heading| text.split_once(heading)).and_then(|(_, after)| {
        let line = after.trim_start_matches([' ', '\r', '\n']).lines().next()?;
        line.trim().strip_prefix("- ")
    });
    let said = || text.split_once("working in the directory: ")?.1.lines().next();
    listed.or_else(said).map(str::trim).filter(|folder| !folder.is_empty())
}

fn change(now: &mut String, text: &str) -> Option<String> {
    if text.is_empty() || text == now {
        return None;
    }
    text.clone_into(now);
    Some(text.to_owned())
}

fn nothing() -> Session {
    Session { id: None, cwd: None, branch: None, title: None, version: None, parent: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_shape_and_parent() {
        let home = |path: &str| (Home::new(path).document, Home::new(path).parent);
        assert_eq!(home("/h/.gemini/tmp/demo/chats/session-1.json"), (true, None));
        assert_eq!(home("/h/.gemini/tmp/demo/chats/session-1.jsonl"), (false, None));
        assert_eq!(home("C:\\h\\tmp\\demo\\chats\\1a\\2b.jsonl"), (false, Some("1a".into())));
        assert_eq!(home("1.jsonl"), (false, None));
    }

    #[test]
    fn folders_in_the_context() {
        assert_eq!(folder("x\n- **Workspace Directories:**\n  - /home/dev/a b\n  - /c\n- more"), Some("/home/dev/a b"));
        assert_eq!(folder("I'm currently working in the directory: /w\nHere"), Some("/w"));
        assert_eq!(folder("I'm currently working in the following directories:\n  - /a\n  - /b"), Some("/a"));
        assert_eq!(folder("**Workspace Directories:**\nnone"), None);
    }
}
