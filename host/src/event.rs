//! Events: what happened in a session, in the words of the contract. The types are the newest contract's, so nothing
//! is copied between the sandbox and the rest of the program.

pub use crate::sandbox::types::{
    ApiError, Author, Body, Channel, Compaction, Edit, Event, Interrupt, Message, Session, Status, ToolCall, ToolKind,
    ToolResult, Usage,
};

impl Event {
    /// The key by which copies of this event are found in other transcripts of the tool. None when the tool wrote
    /// nothing to tell copies by.
    pub fn key_hash(&self, tool: &str) -> Option<u64> {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.update(tool.as_bytes());
        hasher.update(&[0]);
        hasher.update(self.key.as_deref()?.as_bytes());
        Some(hasher.digest())
    }
}

/// The oldest time that an event may have: 1990-01-01. No agent is that old.
const OLDEST: i64 = 631_152_000_000;

/// The latest: 2100-01-01. A clock may be wrong by years; a number that is no time is wrong by more.
const LATEST: i64 = 4_102_444_800_000;

/// Can this be the time of an event? Milliseconds since the Unix epoch.
pub fn is_plausible(at: i64) -> bool {
    (OLDEST..LATEST).contains(&at)
}

/// Longest name or id of an event, in bytes: some times what any tool writes.
const NAME: usize = 1024;

/// Longest path, in bytes: what Linux allows.
const PATH: usize = 4096;

/// Most paths, and most edits, of one call.
const MOST: usize = 1_000;

/// What was refused of the events of a transcript, by name.
pub type Refused = std::collections::BTreeMap<&'static str, u64>;

/// Takes out of an event what no honest adapter says, and counts it by name: times that are none, names and ids that are
/// long or hold control characters, more paths than a call can have. Texts are another matter: they are the transcript's,
/// and are redacted, shortened and, where they are shown, cleaned.
pub fn admit(event: &mut Event, refused: &mut Refused) {
    let mut count = |what| *refused.entry(what).or_default() += 1;
    if event.at.is_some_and(|at| !is_plausible(at)) {
        event.at = None;
        count("time out of range");
    }
    let mut short = |text: &mut String, most: usize| shorten(text, most, &mut count);
    for name in [&mut event.thread, &mut event.key].into_iter().flatten() {
        short(name, NAME);
    }
    match &mut event.body {
        Body::ToolCall(call) => {
            for name in [&mut call.id, &mut call.name] {
                short(name, NAME);
            }
            for path in
                call.paths.iter_mut().take(MOST).chain(call.edits.iter_mut().take(MOST).map(|edit| &mut edit.path))
            {
                short(path, PATH);
            }
            if call.paths.len() > MOST || call.edits.len() > MOST {
                call.paths.truncate(MOST);
                call.edits.truncate(MOST);
                *refused.entry("too many paths").or_default() += 1;
            }
        }
        Body::ToolResult(result) => short(&mut result.call, NAME),
        Body::Rewind(key) => short(key, NAME),
        Body::Usage(usage) => short(&mut usage.model, NAME),
        Body::Session(session) => {
            for path in [&mut session.cwd].into_iter().flatten() {
                short(path, PATH);
            }
            for name in
                [&mut session.id, &mut session.branch, &mut session.version, &mut session.parent].into_iter().flatten()
            {
                short(name, NAME);
            }
        }
        Body::Message(_) | Body::Interrupt(_) | Body::Compaction(_) | Body::ApiError(_) => {}
    }
}

/// The same for the name of a record's type.
pub fn admit_name(name: &mut String, refused: &mut Refused) {
    shorten(name, NAME, &mut |what| *refused.entry(what).or_default() += 1);
}

fn shorten(text: &mut String, most: usize, count: &mut impl FnMut(&'static str)) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        count("name too long");
    }
    if text.contains(char::is_control) {
        text.retain(|char| !char.is_control());
        count("control characters in a name");
    }
}
