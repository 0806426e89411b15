//! What tools were told to do, in all sessions: the commands they ran and the files they changed.

use rusqlite::Row;

use super::{
    Store, StoreError,
    event::{self, ORDINAL_BITS},
};

/// What a call is looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Told {
    /// Lines of the shell.
    Shell,
    /// Files that are edited, created or deleted.
    Files,
}

/// Something a tool was told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldCall {
    /// The session's tool.
    pub tool: String,
    /// As the tool names the session.
    pub session: String,
    /// When the session began, as its row says.
    pub started_at: Option<i64>,
    /// The project it is filed under.
    pub project: Option<String>,
    /// The line of the shell.
    pub command: Option<String>,
    /// The files.
    pub paths: Vec<String>,
}

impl Store {
    /// Every call of one sort, sub-agents' ones too, each once: what a transcript only copied is not among them.
    ///
    /// # Errors
    /// As for any read.
    pub fn told_calls(&self, told: Told, mut each: impl FnMut(&ToldCall)) -> Result<(), StoreError> {
        let kinds = match told {
            Told::Shell => event::EXECUTES,
            Told::Files => event::CHANGES_FILES,
        };
        // A call's place in `event` is its transcript's, so this is one walk through the table that reads no text of other events. The
        // signs before the columns, and the order that CROSS fixes, keep SQLite from making an index of the table first, which takes
        // twenty times as long.
        let mut find = self.db.prepare_cached(&format!(
            "SELECT s.tool, s.native_id, s.started_at, s.project, e.path, e.detail, e.text
             FROM session s CROSS JOIN transcript t ON t.session_id = s.id
             CROSS JOIN event e ON e.id BETWEEN t.id << {ORDINAL_BITS} AND ((t.id + 1) << {ORDINAL_BITS}) - 1
             WHERE +e.kind = {} AND +e.copied = 0 AND +e.tool_kind IN ({kinds})",
            event::TOOL_CALL
        ))?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            each(&call(row, told)?);
        }
        Ok(())
    }
}

fn call(row: &Row<'_>, told: Told) -> Result<ToldCall, StoreError> {
    let (command, paths) = match told {
        Told::Shell => (event::command_of(row, 5, 6)?, Vec::new()),
        Told::Files => (None, event::paths_of(row, 4, 5)?),
    };
    Ok(ToldCall {
        tool: row.get(0)?,
        session: row.get(1)?,
        started_at: row.get(2)?,
        project: row.get(3)?,
        command,
        paths,
    })
}
