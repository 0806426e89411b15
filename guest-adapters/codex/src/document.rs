//! The oldest client's transcripts (written in TypeScript, up to 0.1.25…, spring 2025): one JSON document of the session and
//! all items so far.
//!
//! It was written anew under another name and session id each time the conversation paused, so each file repeats the ones
//! before. What survives are the ids that the service gave the items: the first of them stands for the session in keys.

use memchr::memmem;
use totalrecall_sdk::adapter::{Output, Record, Trouble, Verdict};
use totalrecall_sdk::json::{List, Text, object};
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::Body;

use crate::record::Payload;
use crate::{Codex, Place, session};

object! {
    /// The whole of it.
    struct Document<'a> {
        "session" => session: Head<'a>,
        "items" => items: List<Payload<'a>>,
    }
}

object! {
    struct Head<'a> {
        "id" => id: Text<'a>,
        "timestamp" => timestamp: Text<'a>,
    }
}

/// Does a document begin so?
pub(crate) fn is_one(head: &[u8]) -> bool {
    let Some(rest) = head.trim_ascii_start().strip_prefix(b"{") else { return false };
    let Some(session) = rest.trim_ascii_start().strip_prefix(b"\"session\":") else { return false };
    let has = |key: &[u8]| memmem::find(&session[..session.len().min(4096)], key).is_some();
    session.trim_ascii_start().starts_with(b"{") && has(b"\"id\":") && has(b"\"timestamp\":")
}

impl Codex {
    /// The whole of a document.
    pub(crate) fn whole(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let document: Document<'_> = record.decode()?;
        let head = &document.session;
        let at = parse_rfc3339(head.timestamp.as_str());
        let place = Place { line: record.line, at: None };
        self.bare = true;
        let news = totalrecall_sdk::types::Session { id: head.id.get().map(str::to_owned), ..session::nothing() };
        self.tell(Place { at, ..place }, None, Body::Session(news), out);
        let items = &document.items.0;
        let given = items.iter().find_map(|item| item.id.get().or(item.call.get()));
        self.keys.session(given.unwrap_or(head.id.as_str()));
        for item in items {
            self.response(item, place, out);
        }
        Ok(Verdict::Understood("session".into()))
    }
}
