//! What is read: the database since 1.2.0, and the trees of files before it.

use totalrecall_sdk::adapter::{Database, Queries, Source, Tree};

/// Everything the adapter asks for, the database first: of what is in both, it is the newer.
pub(crate) fn sources() -> Vec<Source> {
    vec![
        // Channels other than the stable one write `opencode-<channel>.db`.
        Source::Database(Database {
            paths: vec!["${XDG_DATA_HOME:-~/.local/share}/opencode/opencode*.db".into()],
            queries: [SESSION, MINIMAL]
                .map(|session| Queries { sessions: SESSIONS.into(), rows: rows(session) })
                .into(),
        }),
        Source::Tree(Tree {
            roots: vec!["${XDG_DATA_HOME:-~/.local/share}/opencode/storage".into()],
            levels: vec![
                "session/*/{session}.json".into(),
                "message/{session}/{message}.json".into(),
                "part/{message}/{part}.json".into(),
            ],
        }),
        // Up to 0.5 each project had a tree of its own. The tool copies these into the one above, but only while the
        // project's folder exists.
        Source::Tree(Tree {
            roots: vec!["${XDG_DATA_HOME:-~/.local/share}/opencode/project".into()],
            levels: vec![
                "*/storage/session/info/{session}.json".into(),
                "*/storage/session/message/{session}/{message}.json".into(),
                "*/storage/session/part/{session}/{message}/{part}.json".into(),
            ],
        }),
    ]
}

/// Sessions with a text that is another whenever something of them has changed: a part is added, up to a quarter of an hour
/// after `session.time_updated`; one of an old message is changed in place; something is deleted.
///
/// It looks at every row of the session (150 ms for 200 MB in 2,000 sessions, against 30 ms for looking at the last ones
/// only), but what it does not see would be lost. The host asks only when the file has changed.
const SESSIONS: &str = "\
SELECT s.id,
  s.time_updated
  || '/' || (SELECT count(*) || '/' || coalesce(max(time_updated), 0) FROM message WHERE session_id = s.id)
  || '/' || (SELECT count(*) || '/' || coalesce(max(time_updated), 0) FROM part WHERE session_id = s.id),
  s.time_created
FROM session s";

/// The session's row since 1.2.0. A sub-agent's sub-agent belongs to the session that a person started.
const SESSION: &str = "\
json_object('id', id, 'parentID', parent_id, 'rootID', (
      WITH RECURSIVE up(session, parent) AS (
        SELECT id, parent_id FROM session WHERE id = :key
        UNION
        SELECT s.id, s.parent_id FROM up JOIN session s ON s.id = up.parent)
      SELECT session FROM up WHERE parent IS NULL),
    'directory', directory, 'title', title, 'version', version,
    'time', json_object('created', time_created),
    'revert', CASE WHEN json_valid(revert) THEN json(revert) END,
    'permission', CASE WHEN json_valid(permission) THEN json(permission) END)";

/// The session's row where columns are missing that are not needed.
const MINIMAL: &str = "\
json_object('id', id, 'parentID', parent_id, 'directory', directory, 'title', title,
    'time', json_object('created', time_created))";

/// The rows of a session: itself, then each message followed by its parts.
///
/// `data` holds the object without its ids. They are put in front of it as text, which leaves the JSON unread here: it
/// is a quarter faster than `json_object`, and a damaged row harms no other.
fn rows(session: &str) -> String {
    format!(
        "\
SELECT line FROM (
  SELECT {session} AS line, 0 AS created, '' AS message, '' AS part
    FROM session WHERE id = :key
  UNION ALL
  SELECT '{{\"id\":' || json_quote(id) || ',' || substr(data, 2), time_created, id, ''
    FROM message WHERE session_id = :key
  UNION ALL
  SELECT '{{\"id\":' || json_quote(p.id) || ',\"messageID\":' || json_quote(p.message_id) || ',' || substr(p.data, 2),
    m.time_created, m.id, p.id
    FROM message m JOIN part p ON p.message_id = m.id WHERE m.session_id = :key
  ORDER BY created, message, part)"
    )
}
