//! What the host does with the adapter's source: runs its SQL, and joins what it finds to rows.

use rusqlite::Connection;
use totalrecall_cursor::Cursor;
use totalrecall_sdk::Parser;
use totalrecall_sdk::adapter::{Adapter as _, Origin, Queries, Source, TallyEntry};
use totalrecall_sdk::types::Event;
use totalrecall_trail::case;

/// Where the fixture's database lies.
pub(crate) const DATABASE: &str = "state.vscdb";

/// Sessions of the fixture.
pub(crate) const MAIN: &str = "6c9f1f2e-0000-4000-8000-00000000000a";
pub(crate) const SUB_AGENT: &str = "6c9f1f2e-0000-4000-8000-00000000000b";
pub(crate) const TRY: &str = "7re00000-0000-4000-8000-00000000000d";
pub(crate) const OLD: &str = "0ld00000-0000-4000-8000-00000000000c";

pub(crate) fn queries() -> Queries {
    let mut sources = Cursor::describe().sources;
    let Some(Source::Database(database)) = sources.pop() else { panic!("no database") };
    database.queries.into_iter().next().unwrap()
}

/// The fixture's database, in memory.
pub(crate) fn database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    let sql = case::<Cursor>("agent").bytes(&format!("{DATABASE}.sql"));
    connection.execute_batch(std::str::from_utf8(&sql).unwrap()).unwrap();
    connection
}

/// Keys, versions and times of the sessions.
pub(crate) fn sessions(connection: &Connection) -> Vec<(String, String, Option<i64>)> {
    let mut statement = connection.prepare(&queries().sessions).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut sessions: Vec<_> = rows.map(Result::unwrap).collect();
    sessions.sort();
    sessions
}

/// The rows of a session.
pub(crate) fn rows(connection: &Connection, key: &str) -> Vec<u8> {
    let mut statement = connection.prepare(&queries().rows).unwrap();
    let text = |row: &rusqlite::Row<'_>| Ok(String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned());
    let rows = statement.query_map(&[(":key", key)], text).unwrap();
    rows.map(Result::unwrap).flat_map(|row| (row.replace(['\n', '\r'], " ") + "\n").into_bytes()).collect()
}

/// Events and tally of a session's rows.
pub(crate) fn read(key: &str, rows: &[u8], text_limit: u32) -> (Vec<Event>, Vec<TallyEntry>) {
    let origin = Origin { path: DATABASE.into(), key: Some(key.into()), text_limit };
    let mut parser = Parser::<Cursor>::new(origin, None);
    let mut events = parser.feed(rows).unwrap();
    events.extend(parser.finish().unwrap());
    (events, parser.tally())
}
