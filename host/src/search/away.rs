//! What was put away and is not looked through: grep reads texts as they lie, and these are compressed.

use super::Filter;
use crate::{
    passage::{Group, Kind},
    store::{Origin, Store, StoreError},
};

/// Sessions and chunks that a filter lets through and whose texts are put away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Away {
    /// Sessions.
    pub sessions: usize,
    /// Chunks.
    pub chunks: usize,
}

impl Away {
    /// Of a filter.
    ///
    /// # Errors
    /// As for any read.
    pub fn of(store: &Store, filter: &Filter) -> Result<Self, StoreError> {
        let groups = store.groups(filter)?;
        let admits = |origin, row| groups.as_ref().is_none_or(|it| it.contains(&Group { origin, row }.number()));
        let begins = |at: i64| filter.until.is_none_or(|until| at < until);
        let ends = |at: i64| filter.since.is_none_or(|since| at >= since);
        let wants = |is_it: &dyn Fn(&Kind) -> bool| filter.kinds.is_empty() || filter.kinds.iter().any(is_it);
        let mut away = Self::default();
        if wants(&|kind| !matches!(kind, Kind::Memory | Kind::Chunk | Kind::Session)) {
            let sessions = store.sessions()?;
            let sessions = sessions.iter().filter(|row| row.archived_at.is_some() && row.purged_at.is_none());
            let sessions = sessions.filter(|row| row.started_at.is_none_or(begins) && row.ended_at.is_none_or(ends));
            away.sessions = sessions.filter(|row| admits(Origin::Session, row.id.0)).count();
        }
        if wants(&|kind| *kind == Kind::Chunk) {
            let chunks = store.chunks()?;
            let chunks = chunks.iter().filter(|it| it.archived && begins(it.created_at) && ends(it.created_at));
            away.chunks = chunks.filter(|chunk| admits(Origin::Chunk, chunk.row)).count();
        }
        Ok(away)
    }

    /// In words. None: there is nothing.
    pub fn told(self) -> Option<String> {
        let counted = |count, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let sorts = [counted(self.sessions, "session", "sessions"), counted(self.chunks, "chunk", "chunks")];
        let sorts: Vec<String> = sorts.into_iter().flatten().collect();
        (!sorts.is_empty())
            .then(|| format!("The text of {} is archived and was not looked through", sorts.join(" and ")))
    }
}
