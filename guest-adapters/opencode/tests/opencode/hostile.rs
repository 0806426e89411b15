//! Rows that are damaged, of other types, or no rows at all.

use proptest::prelude::*;
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::adapter::Outcome;
use totalrecall_trail::{other_types, read_in_pieces};

use crate::store::{loaded, of_database};
use crate::trail::{read, session, sessions};

fn all_rows() -> Vec<u8> {
    let sessions = ["1.18-fork-and-subagent", "1.1-tree-migrated-by-1.3"].map(sessions);
    sessions.into_iter().flatten().flat_map(|session| session.rows).collect()
}

/// A damaged row of the database is one broken row, and harms no other.
#[test]
fn damaged_data() {
    let case = totalrecall_trail::case::<OpenCode>("1.18-fork-and-subagent");
    let connection = loaded(&String::from_utf8(case.bytes("opencode.db.sql")).unwrap());
    let key = session("1.18-fork-and-subagent", "opencode.db", "ses_dd717844cffe").key;
    let before = of_database(&connection, "x").into_iter().find(|session| session.key == key).unwrap();
    let whole = read(&key, &before.rows, 16384).0;
    for damage in ["", "null", "{", "{}", "[1]", "substr(data, 1, 40)", "x'00ff'", "data || data", "char(10) || data"] {
        connection.execute_batch("SAVEPOINT before").unwrap();
        let value =
            if damage.contains("data") || damage.starts_with("x'") { damage.to_owned() } else { format!("'{damage}'") };
        // The one part whose command failed.
        let part = "session_id = ?1 AND data LIKE '%\"exit\":1%'";
        let damaged = connection.execute(&format!("UPDATE part SET data = {value} WHERE {part}"), [&key]).unwrap();
        assert_eq!(damaged, 1);
        let session = of_database(&connection, "x").into_iter().find(|session| session.key == key).unwrap();
        let (events, tally) = read(&key, &session.rows, 16384);
        let lost = whole.iter().filter(|event| !events.contains(event)).count();
        assert!(lost <= 2, "{damage}: {lost} events are lost");
        let rows: u64 = tally.iter().map(|entry| entry.count).sum();
        assert!(rows >= before.rows.split(|byte| *byte == b'\n').count() as u64 - 1, "{damage}: {tally:?}");
        if lost > 0 {
            assert!(
                tally.iter().any(|entry| matches!(entry.outcome, Outcome::Broken | Outcome::Unknown)),
                "{damage}: {tally:?}"
            );
        }
        connection.execute_batch("ROLLBACK TO before").unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the rows are cut into calls, and wherever reading is resumed, the events are the same.
    #[test]
    fn cuts_and_resumes_change_nothing(chunks in prop::collection::vec((1usize..9000, any::<bool>()), 0..12)) {
        let rows = all_rows();
        let whole = read_in_pieces::<OpenCode>("opencode.db", &rows, &[]);
        prop_assert_eq!(read_in_pieces::<OpenCode>("opencode.db", &rows, &chunks), whole);
    }

    /// A value of another type is one that is not there.
    #[test]
    fn other_types_break_nothing(seed in any::<u64>()) {
        let rows = String::from_utf8(all_rows()).unwrap();
        read("ses_1", other_types(&rows, seed).as_bytes(), 300);
    }

    /// Bytes turned to others, and cut off.
    #[test]
    fn damage_breaks_nothing(at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), end in any::<prop::sample::Index>()) {
        let mut rows = all_rows();
        for (index, byte) in at {
            let index = index.index(rows.len());
            rows[index] = byte;
        }
        rows.truncate(end.index(rows.len()));
        read("ses_1", &rows, 300);
    }

    #[test]
    fn anything_is_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read("ses_1", &bytes, 300);
        <OpenCode as totalrecall_sdk::adapter::Adapter>::recognise(&bytes);
    }

    /// Rows of any order and any times have keys of their own, for as long as their messages stand in order.
    #[test]
    fn keys_are_unique(messages in prop::collection::vec((0u8..4, any::<bool>(), prop::collection::vec(0u8..3, 0..4)), 0..12)) {
        let mut messages = messages;
        messages.sort_by_key(|(created, agent, _)| (*created, *agent));
        let mut rows = String::new();
        for (id, (created, agent, parts)) in messages.iter().enumerate() {
            let role = if *agent { "assistant" } else { "user" };
            rows += &format!("{{\"id\":\"msg_{id}\",\"role\":\"{role}\",\"time\":{{\"created\":{created}}},\"tokens\":{{\"input\":1}},\"error\":{{\"name\":\"X\"}}}}\n");
            for (nth, part) in parts.iter().enumerate() {
                let body = match part {
                    0 => r#""type":"text","text":"go on""#,
                    1 => r#""type":"tool","tool":"bash","callID":"bash:0","state":{"status":"completed","input":{}}"#,
                    _ => r#""type":"compaction""#,
                };
                rows += &format!("{{\"id\":\"prt_{nth}\",\"messageID\":\"msg_{id}\",{body}}}\n");
            }
        }
        let (events, _) = read("ses_1", rows.as_bytes(), 300);
        let keys: Vec<_> = events.iter().map(|event| event.key.as_deref().unwrap()).collect();
        let mut unique = keys.clone();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), keys.len());
    }
}
