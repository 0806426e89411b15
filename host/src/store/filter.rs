//! Which sessions, memories and chunks a search is about, asked before anything is ranked.

use std::collections::BTreeSet;

use rusqlite::{ToSql, params_from_iter};

use super::{
    Origin, Store, StoreError,
    touch::{IS_FILE, slashes},
};
use crate::{passage::Group, search::Filter};

/// A statement that grows by conditions.
struct Query {
    sql: String,
    values: Vec<Box<dyn ToSql>>,
}

impl Query {
    fn new(sql: &str) -> Self {
        Self { sql: format!("{sql} WHERE true"), values: Vec::new() }
    }

    /// Adds a condition in which each `?` is the next value.
    fn and<V: ToSql + 'static>(&mut self, condition: &str, values: impl IntoIterator<Item = V>) {
        self.sql += &format!(" AND ({condition})");
        self.values.extend(values.into_iter().map(|value| Box::new(value) as Box<dyn ToSql>));
    }
}

impl Store {
    /// The folders, and names of projects, that sessions, memories and chunks are filed under.
    ///
    /// # Errors
    /// As for any read.
    pub fn projects(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT project FROM session WHERE project IS NOT NULL UNION
             SELECT project FROM memory WHERE project IS NOT NULL UNION
             SELECT project FROM chunk WHERE project IS NOT NULL",
        )?;
        Ok(find.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// The groups that a filter lets through; none: all of them.
    ///
    /// # Errors
    /// As for any read.
    pub fn groups(&self, filter: &Filter) -> Result<Option<BTreeSet<u64>>, StoreError> {
        if !filter.is_about_groups() && self.outdated(filter)?.is_empty() {
            return Ok(None);
        }
        let mut groups = BTreeSet::new();
        for origin in [Origin::Session, Origin::Memory, Origin::Chunk] {
            let Some(query) = query(origin, filter) else { continue };
            let mut find = self.db.prepare_cached(&query.sql)?;
            let rows = find.query_map(params_from_iter(query.values.iter()), |row| row.get::<_, i64>(0))?;
            for row in rows {
                groups.insert(Group { origin, row: row? }.number());
            }
        }
        Ok(Some(groups))
    }

    /// The memories that a filter leaves out because they do not hold: few, so that naming them costs less than naming all others.
    ///
    /// # Errors
    /// As for any read.
    pub fn outdated(&self, filter: &Filter) -> Result<BTreeSet<u64>, StoreError> {
        let Some(at) = filter.holding_at else { return Ok(BTreeSet::new()) };
        let mut find = self.db.prepare_cached(&format!("SELECT g.id FROM memory g WHERE NOT ({HOLDS})"))?;
        let rows = find.query_map([at], |row| row.get(0))?;
        rows.map(|row| Ok(Group { origin: Origin::Memory, row: row? }.number())).collect()
    }
}

/// Does a memory `g` hold at `?`? As [`crate::memory::Memory::holds`].
const HOLDS: &str = "g.superseded_at IS NULL AND g.done_at IS NULL AND ifnull(g.expires_at > ?, true)";

/// The groups of one origin; none: a filter asks for what these do not have.
fn query(origin: Origin, filter: &Filter) -> Option<Query> {
    let mut query = Query::new(match origin {
        Origin::Session => "SELECT g.id FROM session g",
        Origin::Memory => "SELECT g.id FROM memory g",
        Origin::Chunk => "SELECT g.id FROM chunk g",
        Origin::Event => return None,
    });
    let is_session = origin == Origin::Session;
    if let Some(tool) = &filter.tool {
        is_session.then(|| query.and("g.tool = ?", [tool.clone()]))?;
    }
    if let Some(session) = &filter.session {
        if is_session {
            query.and("g.native_id = ? OR ('s' || g.id) = ?", [session.clone(), session.clone()]);
        } else {
            // They know the tool's id of it.
            let of_session = "g.session = ? OR g.session = (SELECT native_id FROM session WHERE 's' || id = ?)";
            query.and(of_session, [session.clone(), session.clone()]);
        }
    }
    if let Some(path) = &filter.path {
        is_session.then(|| {
            let of_file = format!(
                "g.id IN (SELECT t.session_id FROM touch c JOIN transcript t ON t.id = c.transcript_id
                    WHERE c.file_id IN (SELECT id FROM file WHERE {}))",
                // Each `?` of the whole statement is a value of its own.
                IS_FILE.replace("?1", "?")
            );
            let path = slashes(path);
            query.and(&of_file, vec![path; IS_FILE.matches("?1").count()]);
        })?;
    }
    if let Some(project) = &filter.project {
        let folders = project.folders.iter().chain([&project.path]).cloned();
        let name = if is_session { vec![] } else { project.name().map(str::to_owned).into_iter().collect() };
        let values: Vec<String> = folders.chain(name).collect::<BTreeSet<_>>().into_iter().collect();
        let places = vec!["?"; values.len()].join(", ");
        // A memory without a project holds in all of them.
        let everywhere = if origin == Origin::Memory { " OR g.project IS NULL" } else { "" };
        query.and(&format!("g.project IN ({places}){everywhere}"), values);
    }
    if let Some(at) = filter.holding_at
        && origin == Origin::Memory
    {
        query.and(HOLDS, [at]);
    }
    for (sort, value) in [("tag", &filter.tag), ("domain", &filter.domain), ("entity", &filter.entity)] {
        let Some(value) = value else { continue };
        query.and(
            &format!(
                "EXISTS (SELECT 1 FROM mark m WHERE m.origin = {} AND m.source = g.id AND m.sort = '{sort}'
                    AND m.value = ? COLLATE NOCASE)",
                origin as i64
            ),
            [value.clone()],
        );
    }
    Some(query)
}
