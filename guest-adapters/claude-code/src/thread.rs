//! Which conversation a record belongs to: the main one, or a sub-agent's.
//!
//! A sub-agent with a file of its own has its id in the file's name. Up to 1.0.x sub-agents stand inline in the main file,
//! several at once when they ran in parallel, and have no id: there the thread is named after the first record of the
//! chain that `parentUuid` makes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::hash::hash64;

use crate::record::Record;

/// Most inline sub-agents followed at once.
const CHAINS: usize = 32;

/// Records of one chain that a next one may hang on: a result hangs on its call, and few calls are open at once.
const LINKS: usize = 64;

/// Inline sub-agents, the one that spoke last at the end.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Threads {
    chains: Vec<Chain>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Chain {
    name: String,
    links: VecDeque<u64>,
}

impl Threads {
    /// The thread of an inline sub-agent's record.
    pub(crate) fn inline(&mut self, record: &Record<'_>) -> String {
        let chain = self.find(record.parent.get().map(hash64));
        let mut chain = match chain {
            Some(at) => self.chains.remove(at),
            None => {
                if self.chains.len() == CHAINS {
                    self.chains.remove(0);
                }
                Chain { name: record.uuid.as_str().to_owned(), links: VecDeque::new() }
            }
        };
        if chain.links.len() == LINKS {
            chain.links.pop_front();
        }
        chain.links.push_back(hash64(record.uuid.as_str()));
        let name = chain.name.clone();
        self.chains.push(chain);
        name
    }

    /// The chain a record hangs on; one whose parent is not known belongs to the chain that spoke last.
    fn find(&self, parent: Option<u64>) -> Option<usize> {
        let parent = parent?;
        let holds = |chain: &Chain| chain.links.contains(&parent);
        self.chains.iter().rposition(holds).or_else(|| self.chains.len().checked_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_chains_are_told_apart() {
        let mut threads = Threads::default();
        let mut thread = |uuid: &str, parent: &str| {
            let line = format!(r#"{{"uuid":"{uuid}","parentUuid":{parent},"isSidechain":true}}"#);
            threads.inline(&serde_json::from_str(&line).unwrap())
        };
        assert_eq!(thread("a1", "null"), "a1");
        assert_eq!(thread("b1", "null"), "b1");
        assert_eq!(thread("a2", r#""a1""#), "a1");
        assert_eq!(thread("b2", r#""b1""#), "b1");
        assert_eq!(thread("a3", r#""a1""#), "a1");
        assert_eq!(thread("x", r#""lost""#), "a1");
    }
}
