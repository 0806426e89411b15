//! What a transcript says of its session, and what its path says of it.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::Origin;
use totalrecall_sdk::hash::hash64;
use totalrecall_sdk::types::Session;

use crate::record::Record;
use totalrecall_sdk::json::Text;

/// What the path tells.
///
/// A session's transcript is `<slug>/<session>.jsonl`. A sub-agent's is `<slug>/agent-<id>.jsonl` up to 2.0.x and
/// `<slug>/<session>/subagents/**/agent-<id>.jsonl` since 2.1.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Home {
    /// The file's name without `.jsonl`.
    stem: String,
    /// Id of the sub-agent whose file it is.
    pub(crate) agent: Option<String>,
    /// The session's folder the file lies in.
    folder: Option<String>,
}

impl Home {
    pub(crate) fn new(origin: &Origin) -> Self {
        let mut parts = origin.path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or_default();
        let stem = name.strip_suffix(".jsonl").unwrap_or(name).to_owned();
        let agent = stem.strip_prefix("agent-").filter(|id| !id.is_empty()).map(str::to_owned);
        let folder = parts.skip_while(|part| *part != "subagents").nth(1).map(str::to_owned);
        Self { folder: folder.filter(|_| agent.is_some()), stem, agent }
    }
}

/// How good a title is: each better one replaces the ones before.
#[derive(Debug, Default, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
enum Rank {
    #[default]
    None,
    /// `summary` lines, up to 2.1.x.
    Summary,
    /// `ai-title`, since 2.1.7x.
    Model,
    /// `custom-title`: the person's.
    Person,
}

/// Most summaries that wait for the record they belong to.
const SUMMARIES: usize = 64;

/// What was said so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    id: String,
    cwd: String,
    branch: String,
    version: String,
    title: String,
    rank: Rank,
    /// Summaries stand at the head of a file and mostly belong to other sessions: hash of the record's uuid each is the
    /// title of, and the title.
    summaries: Vec<(u64, String)>,
}

impl Facts {
    /// Takes in a record of the conversation; gives what is new.
    pub(crate) fn note(&mut self, record: &Record<'_>, home: &Home) -> Option<Session> {
        let session = record.session.as_str();
        let known = session.is_empty() || session == self.id || (!self.id.is_empty() && session != home.stem);
        let same = |text: &Text<'_>, now: &str| text.get().is_none_or(|text| text == now);
        if known
            && same(&record.cwd, &self.cwd)
            && same(&record.branch, &self.branch)
            && same(&record.version, &self.version)
        {
            return None;
        }
        let mut news = nothing();
        if !known {
            let id = home.folder.clone().unwrap_or_else(|| session.to_owned());
            let before = std::mem::replace(&mut self.id, id.clone());
            // A fork begins with records of the session it was made from; only `/branch` names that.
            let fork = record.forked_from.session.get().map(str::to_owned).or(Some(before));
            news.parent = if home.agent.is_some() { Some(id.clone()) } else { fork.filter(|from| !from.is_empty()) };
            news.id = Some(id);
        }
        news.cwd = change(&mut self.cwd, &record.cwd);
        news.branch = change(&mut self.branch, &record.branch);
        news.version = change(&mut self.version, &record.version);
        (news != nothing()).then_some(news)
    }

    /// Takes in a line that names the session: the person's name beats the model's, and that a summary. `is_here` tells
    /// whether the record with a uuid of this hash was read.
    pub(crate) fn name(&mut self, record: &Record<'_>, is_here: impl Fn(u64) -> bool) -> Option<Session> {
        match record.kind.as_str() {
            "custom-title" => self.title(Rank::Person, record.custom_title.get()?),
            "ai-title" => self.title(Rank::Model, record.ai_title.get()?),
            _ => {
                let (leaf, title) = (hash64(record.leaf.get()?), record.title.get()?);
                if is_here(leaf) {
                    return self.title(Rank::Summary, title);
                }
                if self.summaries.len() == SUMMARIES {
                    self.summaries.remove(0);
                }
                self.summaries.push((leaf, title.to_owned()));
                None
            }
        }
    }

    /// A record was read: gives the title that a summary gave it before.
    pub(crate) fn summarised(&mut self, uuid: &str) -> Option<Session> {
        if self.summaries.is_empty() {
            return None;
        }
        let hash = hash64(uuid);
        let at = self.summaries.iter().rposition(|(leaf, _)| *leaf == hash)?;
        let (_, title) = self.summaries.remove(at);
        self.title(Rank::Summary, &title)
    }

    fn title(&mut self, rank: Rank, title: &str) -> Option<Session> {
        if rank < self.rank || title == self.title {
            return None;
        }
        self.rank = rank;
        title.clone_into(&mut self.title);
        Some(Session { title: Some(title.to_owned()), ..nothing() })
    }

    /// Major, minor and patch of the version that wrote the last record; zeros where it does not say.
    pub(crate) fn version(&self) -> [u32; 3] {
        let mut numbers = self.version.split('.').map(|part| part.parse().unwrap_or(0));
        [(); 3].map(|()| numbers.next().unwrap_or(0))
    }
}

fn change(now: &mut String, text: &Text<'_>) -> Option<String> {
    let text = text.get().filter(|text| text != now)?;
    text.clone_into(now);
    Some(text.to_owned())
}

fn nothing() -> Session {
    Session { id: None, cwd: None, branch: None, title: None, version: None, parent: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(path: &str) -> Home {
        Home::new(&Origin { path: path.into(), key: None, text_limit: 100 })
    }

    #[test]
    fn paths_tell_sub_agents() {
        assert_eq!(home("/p/-home-dev/1a.jsonl"), Home { stem: "1a".into(), agent: None, folder: None });
        let beside = home("/p/-home-dev/agent-0c9b24d1.jsonl");
        assert_eq!((beside.agent.as_deref(), beside.folder), (Some("0c9b24d1"), None));
        for path in ["/p/-x/1a/subagents/agent-a1.jsonl", "C:\\p\\-x\\1a\\subagents\\workflows\\wf\\agent-a1.jsonl"] {
            let below = home(path);
            assert_eq!((below.agent.as_deref(), below.folder.as_deref()), (Some("a1"), Some("1a")));
        }
    }

    #[test]
    fn changes_are_told_once() {
        let (mut facts, home) = (Facts::default(), home("/p/1a.jsonl"));
        let record = |line| serde_json::from_str::<Record<'_>>(line).unwrap();
        let first = record(r#"{"sessionId":"0b","cwd":"/w","version":"2.0.30","gitBranch":""}"#);
        let news = facts.note(&first, &home).unwrap();
        assert_eq!((news.id.as_deref(), news.cwd.as_deref(), news.branch), (Some("0b"), Some("/w"), None));
        assert_eq!(facts.note(&first, &home), None);
        // The file's own name wins over the session it was copied from, for good.
        let news = facts.note(&record(r#"{"sessionId":"1a"}"#), &home).unwrap();
        assert_eq!((news.id.as_deref(), news.parent.as_deref()), (Some("1a"), Some("0b")));
        assert_eq!(facts.note(&first, &home), None);
        assert_eq!(facts.version(), [2, 0, 30]);
    }

    #[test]
    fn better_titles_win() {
        let mut facts = Facts::default();
        let mut name = |line, here| facts.name(&serde_json::from_str(line).unwrap(), |_| here).and_then(|it| it.title);
        assert_eq!(name(r#"{"type":"summary","summary":"a","leafUuid":"1"}"#, true).as_deref(), Some("a"));
        assert_eq!(name(r#"{"type":"custom-title","customTitle":"b"}"#, false).as_deref(), Some("b"));
        assert_eq!(name(r#"{"type":"ai-title","aiTitle":"c"}"#, false), None);
        assert_eq!(name(r#"{"type":"custom-title","customTitle":"b"}"#, false), None);
    }

    #[test]
    fn summaries_of_other_sessions_are_no_titles() {
        let mut facts = Facts::default();
        for line in [r#"{"summary":"other","leafUuid":"1"}"#, r#"{"summary":"ours","leafUuid":"2"}"#] {
            assert_eq!(facts.name(&serde_json::from_str(line).unwrap(), |_| false), None);
        }
        assert_eq!(facts.summarised("3"), None);
        assert_eq!(facts.summarised("2").and_then(|news| news.title).as_deref(), Some("ours"));
    }
}
