//! What a rollout says of its session, and which of its records are another's.
//!
//! The first `session_meta` is the file's own. A fork up to 0.16x, and a sub-agent that was given its parent's history, has
//! the records of the parent after it, the parent's `session_meta` first; a fork since refers to them, and says at most how
//! the parent's last turn ended. Ids of sessions and turns begin with the time
//! they were made at (UUID version 7), so a turn that is older than the session is copied. Up to 0.8x turns have no ids;
//! there what follows within a second of each other is the copy: it is written at once.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::json::{Text, object};
use totalrecall_sdk::types::Session;

use crate::record::Payload;

/// Longest time between two records that are written at once, in milliseconds.
const AT_ONCE: i64 = 1000;

/// What was said so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The file's own id; the session's, unless it is a sub-agent's.
    id: String,
    cwd: String,
    /// Model that answers now.
    pub(crate) model: String,
    title: String,
    /// Set for a sub-agent: the thread its events belong to.
    pub(crate) thread: Option<String>,
    /// Since 0.171: what was said and done is told by items.
    pub(crate) paginated: bool,
    /// It goes on from another session.
    forked: bool,
    /// What follows is a copy of another session's.
    pub(crate) copying: bool,
    /// When the last copied record was written, where only that tells how far the copy goes.
    copied_at: Option<i64>,
}

object! {
    /// `source` of a sub-agent.
    struct Source<'a> {
        "subagent" => subagent: Subagent<'a>,
        "subAgent" => sub_agent: Subagent<'a>,
    }
}

object! {
    /// Other kinds (`review`, `compact`) are strings.
    struct Subagent<'a> {
        "thread_spawn" => spawn: Spawn<'a>,
    }
}

object! {
    struct Spawn<'a> {
        "parent_thread_id" => parent: Text<'a>,
    }
}

/// What a `session_meta` is.
#[derive(Debug, PartialEq)]
pub(crate) enum Meta {
    /// The file's own.
    Own(Session),
    /// Of the session whose records follow; its id.
    Copied(String),
    /// The file's own once more.
    Again,
}

impl Facts {
    /// Takes in a `session_meta`, or the first line of 0.2x and before.
    pub(crate) fn meta(&mut self, meta: &Payload<'_>) -> Meta {
        let id = meta.id.as_str();
        if !self.id.is_empty() {
            if id.is_empty() || id == self.id {
                return Meta::Again;
            }
            self.copying = true;
            return Meta::Copied(id.to_owned());
        }
        id.clone_into(&mut self.id);
        self.paginated = meta.history_mode.as_str() == "paginated";
        let own = |text: &Text<'_>| text.get().map(str::to_owned);
        let mut news = nothing();
        news.version = own(&meta.version);
        news.branch = own(&meta.git.branch);
        news.parent = own(&meta.forked_from).filter(|from| *from != self.id);
        self.forked = news.parent.is_some();
        if let Some(parent) = parent_of_sub_agent(meta) {
            self.thread = Some(self.id.clone());
            let root = own(&meta.session).filter(|session| *session != self.id);
            let session = root.or(parent).or(news.parent).unwrap_or_else(|| self.id.clone());
            news.parent = Some(session.clone());
            news.id = Some(session);
        } else {
            news.id = Some(self.id.clone()).filter(|id| !id.is_empty());
        }
        news.cwd = self.moved(meta.cwd.as_str());
        Meta::Own(news)
    }

    /// The session works in this folder; gives it if that is new.
    pub(crate) fn moved(&mut self, cwd: &str) -> Option<String> {
        if self.copying || cwd.is_empty() || cwd == self.cwd {
            return None;
        }
        cwd.clone_into(&mut self.cwd);
        Some(self.cwd.clone())
    }

    /// The session has this title; gives it if that is new.
    pub(crate) fn titled(&mut self, title: &str) -> Option<String> {
        if self.copying || title.is_empty() || title == self.title {
            return None;
        }
        title.clone_into(&mut self.title);
        Some(self.title.clone())
    }

    /// A turn begins: is it still one of the session that was copied?
    pub(crate) fn turn(&mut self, id: &str) {
        if (self.copying || self.forked)
            && let (Some(turn), Some(own)) = (born(id), born(&self.id))
        {
            self.copying = turn < own;
            self.copied_at = None;
        }
    }

    /// A record was written at this time. Where turns have no ids, a pause ends what was copied.
    pub(crate) fn written(&mut self, at: Option<i64>, turns_have_ids: bool) {
        if !self.copying || turns_have_ids {
            return;
        }
        match (self.copied_at, at) {
            (Some(before), Some(now)) if now.saturating_sub(before) > AT_ONCE => self.copying = false,
            (_, Some(now)) => self.copied_at = Some(now),
            _ => {}
        }
    }
}

/// Of a sub-agent: its parent, if that is named.
fn parent_of_sub_agent(meta: &Payload<'_>) -> Option<Option<String>> {
    let source = meta.source?.get();
    if !source.starts_with('{') || !source.to_ascii_lowercase().contains("subagent") {
        return None;
    }
    let source: Source<'_> = serde_json::from_str(source).unwrap_or_default();
    let spawn = [&source.subagent.spawn.parent, &source.sub_agent.spawn.parent, &meta.parent];
    Some(spawn.into_iter().find_map(|parent| parent.get()).map(str::to_owned))
}

/// The time in a UUID of version 7, as it is written.
fn born(id: &str) -> Option<&str> {
    let whole = id.len() == 36 && id.as_bytes()[14] == b'7' && id.is_ascii();
    whole.then(|| &id[..13])
}

pub(crate) fn nothing() -> Session {
    Session { id: None, cwd: None, branch: None, title: None, version: None, parent: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(facts: &mut Facts, json: &str) -> Meta {
        facts.meta(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_first_meta_is_the_files_own() {
        let mut facts = Facts::default();
        let own = r#"{"id":"01a228e0-4e2c-78a3-ab7e-6db7eb56f880","cwd":"/w","forked_from_id":"01a228df-83d7-70a1-9cfd-e499d418506e","source":"cli"}"#;
        let Meta::Own(news) = meta(&mut facts, own) else { panic!() };
        assert_eq!(news.parent.as_deref(), Some("01a228df-83d7-70a1-9cfd-e499d418506e"));
        assert_eq!(meta(&mut facts, own), Meta::Again);
        let parents = r#"{"id":"01a228df-83d7-70a1-9cfd-e499d418506e","cwd":"/else"}"#;
        assert_eq!(meta(&mut facts, parents), Meta::Copied("01a228df-83d7-70a1-9cfd-e499d418506e".into()));
        facts.turn("01a228df-9cb5-7222-9e5a-455407e95ae9");
        assert!(facts.copying);
        facts.turn("01a228e0-4f2a-7573-a30e-ca50a961087f");
        assert!(!facts.copying);
    }

    #[test]
    fn a_pause_ends_a_copy_without_turn_ids() {
        let mut facts = Facts::default();
        meta(&mut facts, r#"{"id":"a"}"#);
        meta(&mut facts, r#"{"id":"b"}"#);
        for (at, copying) in [(10_000, true), (10_900, true), (11_899, true), (13_000, false), (13_001, false)] {
            facts.written(Some(at), false);
            assert_eq!(facts.copying, copying, "{at}");
        }
    }

    #[test]
    fn sub_agents_belong_to_the_session_that_made_them() {
        let spawned = r#"{"id":"c","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":1}}}}"#;
        let mut facts = Facts::default();
        let Meta::Own(news) = meta(&mut facts, spawned) else { panic!() };
        assert_eq!((news.id.as_deref(), news.parent.as_deref()), (Some("p"), Some("p")));
        assert_eq!(facts.thread.as_deref(), Some("c"));
        let mut facts = Facts::default();
        let reviewing = r#"{"id":"c","session_id":"root","source":{"subagent":"review"}}"#;
        let Meta::Own(news) = meta(&mut facts, reviewing) else { panic!() };
        assert_eq!((news.id.as_deref(), news.parent.as_deref()), (Some("root"), Some("root")));
    }
}
