//! What is stored, on its way to whoever looks. What is to be taken out today is not shown either, though it was stored before
//! anybody said so, and until `secrets scan --fix` has taken it out there as well. Ids of sessions, events, memories and chunks stay:
//! one with a hole in it finds nothing.

use std::{borrow::Cow, collections::BTreeSet, ops::Range, str::FromStr as _};

use serde_json::Value;

use super::{Counts, Redactor};
use crate::search::Reference;

/// Members of values that hold ids of ours.
const OURS: [&str; 4] = ["id", "ids", "reference", "superseded_by"];

/// Members that hold ids of sessions, ours or the tool's.
const SESSIONS: [&str; 2] = ["session", "native_id"];

impl Redactor {
    /// Every text of a value that is to be shown, without what is to be taken out today. Gives whether there was any. For a text
    /// alone it is [`Redactor::redact`].
    pub fn shown(&self, value: &mut Value) -> bool {
        // Not `any`: all of them are to be looked at.
        match value {
            Value::String(text) => match self.redact(text) {
                Cow::Owned(shown) => {
                    *text = shown;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(list) => list.iter_mut().fold(false, |changed, it| self.shown(it) | changed),
            Value::Object(object) => object
                .iter_mut()
                .filter(|(key, it)| ids_of(key, it).is_empty())
                .fold(false, |changed, (_, it)| self.shown(it) | changed),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The same of a text that tells of such a value.
    pub fn shown_text(&self, text: &str, value: &Value) -> String {
        let mut ids = BTreeSet::new();
        collect(value, &mut ids);
        let is_of_id = |text: &str, part: Range<usize>| ids.iter().any(|id| is_within(id, text, &part));
        self.redact_unless(text, &is_of_id, &mut Counts::default()).into_owned()
    }
}

/// The ids that a member of a value holds, if it does. Those of patterns are words of somebody, and none of these.
fn ids_of<'v>(key: &str, value: &'v Value) -> Vec<&'v str> {
    let all: Vec<&str> = match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect(),
    };
    let is_id = |it: &&str| SESSIONS.contains(&key) || (OURS.contains(&key) && Reference::from_str(it).is_ok());
    if all.iter().all(is_id) { all } else { Vec::new() }
}

fn collect<'v>(value: &'v Value, ids: &mut BTreeSet<&'v str>) {
    match value {
        Value::Array(list) => list.iter().for_each(|it| collect(it, ids)),
        Value::Object(object) => object.iter().for_each(|(key, it)| {
            ids.extend(ids_of(key, it));
            collect(it, ids);
        }),
        _ => {}
    }
}

/// Does a part of a text lie in an id that stands there?
fn is_within(id: &str, text: &str, part: &Range<usize>) -> bool {
    let from = text.ceil_char_boundary(part.end.saturating_sub(id.len()));
    let to = text.floor_char_boundary((part.start + id.len()).min(text.len()));
    // An id that stands in between is long enough to cover the part.
    text.get(from..to).is_some_and(|around| part.len() <= id.len() && around.contains(id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::redact::{Lists, Settings};

    #[test]
    fn ids_stay_and_nothing_else_does() {
        let patterns = vec!["acme".to_owned(), r"\d{8}".to_owned()];
        let privacy = Lists { patterns, ..Lists::default() }.try_into().unwrap();
        let redactor = Redactor::new(&Settings { privacy, ..Settings::default() });
        let value = json!({ "total": "acme", "found": [
            { "id": "2026-11-30_acme_001", "summary": "acme, 2026-11-30_acme_001" }, { "id": "12345678", "session": { "title": "acme" } }, { "id": "says-acme" },
        ] });
        let text = "2026-11-30_acme_001 of acme\n12345678: 87654321 acme_001, 2026-11-30_acme";
        let expected = "2026-11-30_acme_001 of [redacted:pattern]\n12345678: [redacted:pattern] [redacted:pattern]_001, 2026-11-30_[redacted:pattern]";
        assert_eq!(redactor.shown_text(text, &value), expected);
        let mut shown = value.clone();
        assert!(redactor.shown(&mut shown));
        let found = &shown["found"];
        assert_eq!((&found[0]["id"], &found[1]["id"]), (&value["found"][0]["id"], &value["found"][1]["id"]));
        assert_eq!(shown["total"], "[redacted:pattern]");
        assert_eq!(found[1]["session"]["title"], "[redacted:pattern]");
        assert_eq!(
            found[0]["summary"], "[redacted:pattern], 2026-11-30_[redacted:pattern]_001",
            "only whole values are ids"
        );
    }
}
