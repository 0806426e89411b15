//! What the client notes by itself, since 1.0.9x: `system` records.

use totalrecall_sdk::adapter::{Output, Verdict};
use totalrecall_sdk::types::{ApiError, Author, Body, Channel, Compaction};

use crate::record::Record;
use crate::{ClaudeCode, Place, message, named};
use totalrecall_sdk::json::{Number, Raw, Text, object};

object! {
    /// An error as JavaScript wraps it, several layers deep.
    pub(crate) struct Wrapped<'a> {
        "status" => status: Number,
        "message" => message: Text<'a>,
        "code" => code: Text<'a>,
        "formatted" => formatted: Text<'a>,
        "error" => error: Raw<'a>,
        "cause" => cause: Raw<'a>,
    }
}

impl ClaudeCode {
    /// A `system` record.
    pub(crate) fn system(&mut self, record: &Record<'_>, place: &Place, out: &mut Output) -> Verdict {
        let subtype = record.subtype.as_str();
        let body = match subtype {
            "compact_boundary" => {
                self.compacted = true;
                let manual = match record.compact.trigger.as_str() {
                    "manual" => Some(true),
                    "auto" => Some(false),
                    _ => None,
                };
                Body::Compaction(Compaction { manual, tokens_before: record.compact.before.0 })
            }
            "api_error" => {
                let (mut status, mut text) = (None, String::new());
                unwrap(record.error, 0, &mut status, &mut text);
                unwrap(record.cause, 0, &mut status, &mut text);
                Body::ApiError(ApiError { status, text: out.cap(&text).0, retried: true })
            }
            // Since 2.1.12x for commands that are not the model's business.
            "local_command" => {
                self.spoken(record, place, record.content.as_str(), out);
                return Verdict::Understood(named("system", subtype));
            }
            "informational" => {
                let text = record.content.as_str().trim();
                if text.is_empty() {
                    return Verdict::Skipped(named("system", subtype));
                }
                message(Author::Harness, Channel::Notice, text, out)
            }
            "microcompact_boundary" | "turn_duration" | "stop_hook_summary" | "away_summary" => {
                return Verdict::Skipped(named("system", subtype));
            }
            _ => return Verdict::Unknown(named("system", subtype)),
        };
        let (key, wait) = self.keys.key(record, subtype, record.content.as_str(), 0);
        self.tell_later(place, key, body, wait, out);
        Verdict::Understood(named("system", subtype))
    }
}

/// Takes the status and the innermost message out of the layers.
fn unwrap(error: Raw<'_>, depth: usize, status: &mut Option<u16>, text: &mut String) {
    let Some(raw) = error else { return };
    if let Ok(Text(Some(plain))) = serde_json::from_str::<Text<'_>>(raw.get()) {
        text.clear();
        text.push_str(&plain);
        return;
    }
    let Ok(wrapped) = serde_json::from_str::<Wrapped<'_>>(raw.get()) else { return };
    *status = status.or(wrapped.status.0.and_then(|status| u16::try_from(status).ok()));
    if let Some(found) = wrapped.message.get().or(wrapped.formatted.get()).or(wrapped.code.get()) {
        found.clone_into(text);
    }
    if depth < 5 {
        unwrap(wrapped.error, depth + 1, status, text);
        unwrap(wrapped.cause, depth + 1, status, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_unwrapped() {
        let read = |json: &str| {
            let (mut status, mut text) = (None, String::new());
            unwrap(serde_json::from_str(json).unwrap(), 0, &mut status, &mut text);
            (status, text)
        };
        let layers =
            r#"{"status":529,"error":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}}"#;
        assert_eq!(read(layers), (Some(529), "Overloaded".into()));
        assert_eq!(read(r#"{"cause":{"code":"ECONNRESET"}}"#), (None, "ECONNRESET".into()));
        assert_eq!(read("{}"), (None, String::new()));
    }
}
