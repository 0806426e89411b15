//! The SQL: what it finds, and that it reads no more than it must.

use totalrecall_opencode::OpenCode;
use totalrecall_sdk::types::Body;

use crate::store::{database, loaded, of_database, versions};
use crate::trail::events;

/// The columns that are read, without what else there is.
pub(crate) const SCHEMA: &str = "\
    CREATE TABLE session(id text PRIMARY KEY, parent_id text, directory text, title text, version text, revert text,\
      permission text, time_created integer, time_updated integer);\
    CREATE TABLE message(id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);\
    CREATE INDEX message_session_time_created_id_idx ON message(session_id, time_created, id);\
    CREATE TABLE part(id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,\
      data text);\
    CREATE INDEX part_message_id_id_idx ON part(message_id, id);\
    CREATE INDEX part_session_idx ON part(session_id);";

/// Whatever happens to a session changes its version, and that of no other.
#[test]
fn versions_change_with_their_session() {
    let connection = loaded(SCHEMA);
    for session in ["ses_1", "ses_2"] {
        connection
            .execute_batch(&format!("INSERT INTO session VALUES('{session}',NULL,'/w','t','1.18.33',NULL,NULL,5,6)"))
            .unwrap();
    }
    let mut before = versions(&connection).unwrap();
    assert_eq!(before[0].2, 5);
    for change in [
        "INSERT INTO message VALUES('msg_1','ses_1',7,7,'{}')",
        "INSERT INTO part VALUES('prt_1','msg_1','ses_1',8,8,'{}')",
        "UPDATE part SET time_updated = 9 WHERE id = 'prt_1'",
        "UPDATE message SET time_updated = 10 WHERE id = 'msg_1'",
        // A prompt that waits, and then the end of the message before it.
        "INSERT INTO message VALUES('msg_2','ses_1',11,11,'{}')",
        "INSERT INTO part VALUES('prt_2','msg_2','ses_1',11,11,'{}')",
        "UPDATE message SET time_updated = 12 WHERE id = 'msg_1'",
        "INSERT INTO part VALUES('prt_3','msg_1','ses_1',12,12,'{}')",
        "UPDATE session SET time_updated = 13 WHERE id = 'ses_1'",
        // Long after, and far from the end.
        "INSERT INTO message VALUES('msg_3','ses_1',14,14,'{}')",
        "UPDATE part SET time_updated = 900014 WHERE id = 'prt_1'",
        "DELETE FROM part WHERE id = 'prt_1'",
        "DELETE FROM message WHERE id = 'msg_1'",
        "DELETE FROM part WHERE id = 'prt_3'",
        "DELETE FROM message WHERE id = 'msg_2'",
    ] {
        assert_eq!(connection.execute(change, []).unwrap(), 1);
        let now = versions(&connection).unwrap();
        assert_ne!(now[0].1, before[0].1, "{change}");
        assert_eq!(now[1], before[1], "{change}");
        before = now;
    }
}

/// A sub-agent's sub-agent is filed under the session that a person started; a ring of parents ends.
#[test]
fn nested_sub_agents() {
    let connection = loaded(SCHEMA);
    for (session, parent) in
        [("ses_1", "NULL"), ("ses_2", "'ses_1'"), ("ses_3", "'ses_2'"), ("ses_4", "'ses_5'"), ("ses_5", "'ses_4'")]
    {
        connection
            .execute_batch(&format!(
                "INSERT INTO session VALUES('{session}',{parent},'/w','t','1.18.33',NULL,NULL,5,6)"
            ))
            .unwrap();
    }
    let parents: Vec<_> = of_database(&connection, "x")
        .iter()
        .map(|session| match &events(session)[0].body {
            Body::Session(facts) => facts.parent.clone(),
            body => panic!("{body:?}"),
        })
        .collect();
    let parents: Vec<_> = parents.iter().map(|parent| parent.as_deref()).collect();
    assert_eq!(parents, [None, Some("ses_1"), Some("ses_1"), Some("ses_5"), Some("ses_4")]);
}

/// How SQLite goes about a statement in a database of 1.18.33.
fn plan(sql: &str) -> Vec<String> {
    let case = totalrecall_trail::case::<OpenCode>("1.18-fork-and-subagent");
    let connection = loaded(&String::from_utf8(case.bytes("opencode.db.sql")).unwrap());
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get::<_, String>(3).unwrap());
    }
    steps
}

/// Neither messages nor parts are read from end to end, and no session's rows are sorted as a whole.
#[test]
fn statements_go_by_indexes() {
    let newest = &database().queries[0];
    for (sql, scanned) in [(&newest.sessions, &["SCAN s"][..]), (&newest.rows, &["SCAN up", "SCAN (subquery"])] {
        for step in plan(sql).iter().filter(|step| step.starts_with("SCAN")) {
            assert!(scanned.iter().any(|known| step.starts_with(known)), "{step}: {sql}");
        }
    }
    let rows = plan(&newest.rows);
    assert!(rows.iter().any(|step| step == "MERGE (UNION ALL)"), "{rows:?}");
    assert!(!rows.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY"), "{rows:?}");
}

/// A database whose sessions lack what is not needed, one that has no sessions, and one that is none.
#[test]
fn other_schemas() {
    let minimal = "CREATE TABLE session(id, parent_id, title, directory, time_created, time_updated);\
        CREATE TABLE message(id, session_id, time_created, time_updated, data);\
        CREATE TABLE part(id, message_id, session_id, time_created, time_updated, data);\
        INSERT INTO session VALUES('ses_1', NULL, 't', '/w', 1, 2);\
        INSERT INTO message VALUES('msg_1', 'ses_1', 3, 3, '{\"role\":\"user\"}');\
        INSERT INTO part VALUES('prt_1', 'msg_1', 'ses_1', 3, 3, '{\"type\":\"text\",\"text\":\"go\"}');";
    let [session] = &of_database(&loaded(minimal), "x")[..] else { panic!("one session") };
    assert_eq!(events(session).len(), 2);
    for sql in ["", "CREATE TABLE message(id text PRIMARY KEY, session_id text, data text);"] {
        assert!(versions(&loaded(sql)).is_none(), "{sql}");
    }
}

/// Nothing of accounts, credentials and shares is asked for.
#[test]
fn nothing_secret_is_asked_for() {
    for queries in database().queries {
        for sql in [queries.sessions, queries.rows] {
            for secret in ["account", "credential", "share", "secret", "SELECT *", "s.*"] {
                assert!(!sql.contains(secret), "{secret}: {sql}");
            }
        }
    }
}
