//! Brings a database to the newest schema. `user_version` counts the migrations that were applied, `application_id`
//! tells our files from other programs'.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// "TRcl".
const APPLICATION: i64 = 0x5452_636c;

/// In order; never changed, only added to.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001-base.sql"),
    include_str!("../../migrations/0002-sources.sql"),
    include_str!("../../migrations/0003-learning.sql"),
    include_str!("../../migrations/0004-pauses.sql"),
    include_str!("../../migrations/0005-memory.sql"),
];

/// Schema that this program writes.
pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

fn number(db: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Schema of the file, 0 if it is still empty.
///
/// # Errors
/// `Foreign` and `Newer` for files that are not for us to touch.
pub(super) fn schema(db: &Connection, path: &Path) -> Result<i64, StoreError> {
    let found = number(db, "user_version")?;
    let ours = number(db, "application_id")? == APPLICATION;
    let empty = number(db, "schema_version")? == 0;
    if !ours && !empty {
        return Err(StoreError::Foreign { path: path.into() });
    }
    if found > NEWEST {
        return Err(StoreError::Newer { path: path.into(), found, known: NEWEST });
    }
    Ok(if empty { 0 } else { found })
}

/// Applies what is missing, all of it or nothing.
pub(super) fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if schema(db, path)? == NEWEST {
        return Ok(());
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while we waited for the lock.
    let from = schema(&tx, path)?;
    for migration in &MIGRATIONS[from as usize..] {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", NEWEST)?;
    tx.commit()?;
    Ok(())
}
