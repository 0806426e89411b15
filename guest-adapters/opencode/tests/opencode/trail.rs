//! The fixtures of this adapter.

use totalrecall_opencode::OpenCode;
use totalrecall_sdk::Parser;
use totalrecall_sdk::adapter::{Origin, TallyEntry};
use totalrecall_sdk::types::Event;
pub(crate) use totalrecall_trail::told;

use crate::store::{self, Session};

pub(crate) fn parser(key: &str, text_limit: u32, resume: Option<&[u8]>) -> Parser<OpenCode> {
    Parser::new(Origin { path: "opencode.db".into(), key: Some(key.to_owned()), text_limit }, resume)
}

/// Events of rows, and what became of the rows.
pub(crate) fn read(key: &str, rows: &[u8], text_limit: u32) -> (Vec<Event>, Vec<TallyEntry>) {
    let mut parser = parser(key, text_limit, None);
    let mut events = parser.feed(rows).unwrap();
    events.extend(parser.finish().unwrap());
    (events, parser.tally())
}

pub(crate) fn events(session: &Session) -> Vec<Event> {
    read(&session.key, &session.rows, 16384).0
}

/// Cases by name, each with its sessions.
pub(crate) fn cases() -> Vec<(String, Vec<Session>)> {
    let cases = totalrecall_trail::cases::<OpenCode>();
    cases.into_iter().map(|case| (case.name, store::sessions(&case.folder.join("transcripts")))).collect()
}

/// The sessions of a case.
pub(crate) fn sessions(name: &str) -> Vec<Session> {
    let case = totalrecall_trail::case::<OpenCode>(name);
    store::sessions(&case.folder.join("transcripts"))
}

/// The session of a case that lies below `place` and whose key begins so.
pub(crate) fn session(name: &str, place: &str, key: &str) -> Session {
    let found: Vec<_> =
        sessions(name).into_iter().filter(|it| it.place.starts_with(place) && it.key.starts_with(key)).collect();
    let [session] = &found[..] else { panic!("{key} of {name} is there {} times", found.len()) };
    session.clone()
}
