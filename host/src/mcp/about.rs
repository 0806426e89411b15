//! What a search is to be about, as an agent says it: the same parameters for every tool that filters.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{desk::Desk, tool::Refusal, words::Words};
use crate::{
    memory,
    passage::Kind,
    search::{Asked, Filter},
    store::Store,
};

/// Everything that is given must hold. It is asked before anything is ranked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct About {
    /// Only this project: one of its folders, or what its folder is called; `.` is the project of this session. Empty: all
    pub(super) project: String,
    /// Only what is about this field of a project, as `domains` lists them
    pub(super) domain: String,
    /// Only what was said since: a day (2026-11-01), or so long ago (30d, 2w, 6m, 1y)
    pub(super) date_from: String,
    /// Only what was said until then, a day included
    pub(super) date_to: String,
    /// Only chunks that name this: a file, a version, a module, a ticket, a function
    pub(super) entity: String,
    /// Only these kinds: prompt, reply, reasoning, call, result, memory, chunk, session. Empty: all
    pub(super) kinds: Words,
    /// Only this session: s12, or the tool's id of it
    pub(super) session: String,
    /// Only sessions of this tool, such as claude-code, codex, opencode
    pub(super) tool: String,
    /// Only what has this tag
    pub(super) tag: String,
    /// Only sessions that used this file: a whole path, or its last parts
    pub(super) path: String,
}

impl About {
    pub(super) fn filter(&self, store: &Store, desk: &Desk) -> Result<Filter, Refusal> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let asked = Asked {
            project: given(&self.project).filter(|project| project != "*"),
            tool: given(&self.tool),
            session: given(&self.session),
            since: given(&self.date_from),
            until: given(&self.date_to),
            kinds: kinds(&self.kinds)?,
            tag: given(&self.tag),
            domain: memory::word(&self.domain, "domain")?,
            entity: given(&self.entity),
            path: given(&self.path),
            ..Asked::default()
        };
        Ok(asked.filter(store, &desk.here, desk.now)?)
    }
}

fn kinds(words: &Words) -> Result<Vec<Kind>, Refusal> {
    let named = |word: &String| {
        Kind::ALL.into_iter().find(|kind| kind.name() == word).ok_or_else(|| {
            let known = Kind::ALL.map(Kind::name).join(", ");
            Refusal::new(format!("`{word}` is no kind"), format!("The kinds are {known}."))
        })
    };
    words.0.iter().map(named).collect()
}
