//! The SQL: what it finds, how it finds it, and what it makes of values that are no JSON.

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::store::{MAIN, OLD, SUB_AGENT, TRY, database, queries, read, rows, sessions};

#[test]
fn sessions_with_their_times() {
    let found: Vec<_> = sessions(&database()).into_iter().map(|(key, _, begins_at)| (key, begins_at)).collect();
    let expected =
        [(OLD, 1_730_000_000_000), (MAIN, 1_777_885_200_000), (SUB_AGENT, 1_777_885_245_000), (TRY, 1_777_885_300_000)];
    assert_eq!(found, expected.map(|(key, at)| (key.to_owned(), Some(at))));
}

#[test]
fn versions_change_with_what_is_in_a_session() {
    let connection = database();
    let before = sessions(&connection);
    let last = "b0000000-0000-4000-8000-000000000019";
    for change in [
        "UPDATE cursorDiskKV SET value = replace(CAST(value AS TEXT), '1777885270000', '1777885280000')
         WHERE key = 'composerData:' || :key"
            .to_owned(),
        "UPDATE cursorDiskKV SET value = replace(CAST(value AS TEXT), '\"Cents\"', '\"Other\"')
         WHERE key = 'composerData:' || :key"
            .to_owned(),
        // A call ended, and nothing else says so.
        format!(
            "UPDATE cursorDiskKV SET value = replace(CAST(value AS TEXT), '\"loading\"', '\"cancelled\"')
         WHERE key = 'bubbleId:' || :key || ':{last}'"
        ),
        "INSERT INTO cursorDiskKV VALUES ('bubbleId:' || :key || ':new', '{}')".to_owned(),
        "DELETE FROM cursorDiskKV WHERE key >= 'bubbleId:' || :key AND key LIKE '%000003'".to_owned(),
    ] {
        connection.execute_batch("SAVEPOINT before").unwrap();
        assert!(connection.execute(&change, &[(":key", MAIN)]).unwrap() > 0, "{change}");
        let now = sessions(&connection);
        let changed: Vec<_> = before.iter().zip(&now).filter(|(before, now)| before != now).collect();
        assert_eq!(changed.len(), 1, "{change}");
        assert_eq!(changed[0].0.0, MAIN);
        connection.execute_batch("ROLLBACK TO before").unwrap();
    }
    assert_eq!(sessions(&connection), before);
}

/// The host lets statements read and compute, and nothing else.
#[test]
fn they_do_nothing_but_read() {
    let connection = database();
    let expected: Vec<_> = sessions(&connection).iter().map(|(key, ..)| rows(&connection, key)).collect();
    let allowed = |context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive | AuthAction::Function { .. } => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    };
    let mut fenced = database();
    fenced.authorizer(Some(allowed)).unwrap();
    let found: Vec<_> = sessions(&fenced).iter().map(|(key, ..)| rows(&fenced, key)).collect();
    assert_eq!(found, expected);
}

/// Gigabytes lie in the table: it is never scanned.
#[test]
fn the_table_is_searched_by_key_only() {
    let connection = database();
    for sql in [queries().sessions, queries().rows] {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.replace(":key", "'x'"))).unwrap();
        let steps = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        for step in steps.iter().filter(|step| step.starts_with("SCAN")) {
            assert!(step.contains("VIRTUAL TABLE") || *step == "SCAN composer", "{step} of {steps:#?}");
        }
        let searches = steps.iter().filter(|step| step.starts_with("SEARCH") && step.contains("INDEX"));
        assert!(searches.count() >= 2, "{steps:#?}");
    }
}

/// Whatever the order in which rows were written, messages come in the order of the list; in the older layout of the
/// table, too.
#[test]
fn messages_come_in_their_order() {
    let connection = database();
    let lines = |connection: &Connection| {
        let rows = String::from_utf8(rows(connection, MAIN)).unwrap();
        rows.lines().map(|line| line.get(..50).unwrap_or(line).to_owned()).collect::<Vec<_>>()
    };
    let expected = lines(&connection);
    assert_eq!(expected.len(), 21);
    connection
        .execute_batch(
            "CREATE TABLE copy AS SELECT * FROM cursorDiskKV ORDER BY random();
             DROP TABLE cursorDiskKV;
             CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY NOT NULL, value TEXT) WITHOUT ROWID;
             INSERT INTO cursorDiskKV SELECT * FROM copy;",
        )
        .unwrap();
    assert_eq!(lines(&connection), expected);
}

/// Whatever stands where JSON should, the SELECTs succeed, and the other sessions and messages are read.
#[test]
fn values_of_all_kinds() {
    let connection = database();
    let whole = read(MAIN, &rows(&connection, MAIN), 16384).0;
    let damages = [
        "NULL",
        "''",
        "'null'",
        "'['",
        "'[]'",
        "'{}'",
        "'7'",
        "7",
        "x'00ff'",
        "'\"text\"'",
        "substr(CAST(value AS TEXT), 1, 90)",
        "'{\"fullConversationHeadersOnly\":\"no list\",\"conversation\":7,\"createdAt\":\"soon\",\"name\":{}}'",
        "'{\"fullConversationHeadersOnly\":[7,\"x\",null,[],{\"bubbleId\":7},{\"bubbleId\":{}},{}]}'",
        "'{\"conversation\":[7,\"x\",null,[],{\"bubbleId\":7},{\"bubbleId\":{}},{}]}'",
    ];
    for damage in damages {
        connection.execute_batch("SAVEPOINT before").unwrap();
        let composer = format!("UPDATE cursorDiskKV SET value = {damage} WHERE key = 'composerData:' || :key");
        assert_eq!(connection.execute(&composer, &[(":key", MAIN)]).unwrap(), 1);
        let others = sessions(&connection).into_iter().filter(|(key, ..)| key != MAIN).count();
        assert_eq!(others, 3, "{damage}");
        read(MAIN, &rows(&connection, MAIN), 16384);
        connection.execute_batch("ROLLBACK TO before").unwrap();

        let bubble = format!("UPDATE cursorDiskKV SET value = {damage} WHERE key LIKE 'bubbleId:%000005'");
        assert_eq!(connection.execute(&bubble, []).unwrap(), 1);
        assert_eq!(sessions(&connection).len(), 4, "{damage}");
        let (events, tally) = read(MAIN, &rows(&connection, MAIN), 16384);
        // The call and its result are lost, and nothing else.
        let lost: Vec<_> = whole.iter().filter(|event| !events.contains(event)).collect();
        assert_eq!(lost.len(), 2, "{damage}: {lost:?}");
        let counted: u64 = tally.iter().map(|entry| entry.count).sum();
        assert!(counted >= 21, "{damage}: {tally:?}");
        connection.execute_batch("ROLLBACK TO before").unwrap();
    }
}
