//! What the client says: `info`, `warning` and `error` messages, which the terminal showed.

use totalrecall_sdk::adapter::Output;
use totalrecall_sdk::types::{ApiError, Author, Body, Channel, Compaction};

use crate::record::{Record, text};
use crate::{GeminiCli, Place, message};

/// How the client says that the person stopped the agent.
const STOPPED: [&str; 2] = ["Request cancelled.", "User cancelled the request."];

impl GeminiCli {
    /// An `info`, `warning` or `error` message.
    pub(crate) fn notice(&mut self, record: &Record<'_>, place: &Place<'_>, out: &mut Output) {
        let text = text(record.content);
        let text = text.trim();
        if STOPPED.contains(&text) {
            return self.interrupted(place, out);
        }
        self.settle(self.tool_stopped, out);
        if let Some(tokens_before) = compressed(text) {
            // The client did it by itself.
            return self.compaction(place, Compaction { manual: Some(false), tokens_before }, out);
        }
        if text.is_empty() {
            // `/compress` is recorded as a notice without its figures.
            if record.kind.as_str() == "info" {
                self.compaction(place, Compaction { manual: Some(true), tokens_before: None }, out);
            }
            return;
        }
        let body = match text.strip_prefix("[API Error: ") {
            Some(_) => Body::ApiError(ApiError { status: status(text), text: out.cap(text).0, retried: false }),
            None => message(Author::Harness, Channel::Notice, text, out),
        };
        self.tell(place, "", body, out);
    }

    /// The person stopped the agent. A tool that ran then ends with this message, or the one before.
    fn interrupted(&mut self, place: &Place<'_>, out: &mut Output) {
        self.settle(false, out);
        let key = place.id.map(str::to_owned);
        let again = key.as_ref().is_some_and(|key| !self.seen.insert(totalrecall_sdk::hash::hash64(key)));
        if !again {
            self.stopped = Some((place.line, place.at, key));
            if self.tool_stopped {
                self.settle(true, out);
            }
        }
    }
}

/// The tokens before a compaction that a notice tells of: `… (compressed from: 900000 to 4000 tokens).`
fn compressed(text: &str) -> Option<Option<u64>> {
    let (_, figures) = text.split_once("(compressed from: ")?;
    Some(figures.split(' ').next().and_then(|before| before.parse().ok()))
}

/// The HTTP status of an error: `got status: 503 …`, `"code":503`, or `(Status: UNAVAILABLE)`, a name of the service's.
fn status(text: &str) -> Option<u16> {
    let number = ["got status: ", "\"code\":", "status code "].iter().find_map(|mark| {
        let digits = text.split_once(mark)?.1.trim_start();
        digits.get(..3)?.parse().ok().filter(|status| (100..600).contains(status))
    });
    let named = || {
        let (_, name) = text.rsplit_once("(Status: ")?;
        let name = name.split(')').next()?;
        name.parse().ok().or(Some(match name {
            "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
            "UNAUTHENTICATED" => 401,
            "PERMISSION_DENIED" => 403,
            "NOT_FOUND" => 404,
            "ABORTED" | "ALREADY_EXISTS" => 409,
            "RESOURCE_EXHAUSTED" => 429,
            "CANCELLED" => 499,
            "INTERNAL" | "UNKNOWN" | "DATA_LOSS" => 500,
            "UNIMPLEMENTED" => 501,
            "UNAVAILABLE" => 503,
            "DEADLINE_EXCEEDED" => 504,
            _ => return None,
        }))
    };
    number.or_else(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        assert_eq!(status("[API Error: The model is overloaded. (Status: UNAVAILABLE)]"), Some(503));
        assert_eq!(status("[API Error: got status: 429 Too Many Requests. {}]"), Some(429));
        assert_eq!(status(r#"[API Error: {"error":{"code": 400,"message":"x"}}]"#), Some(400));
        assert_eq!(status("[API Error: fetch failed]"), None);
    }

    #[test]
    fn compactions_by_the_client() {
        let text = "IMPORTANT: … (compressed from: 900000 to 4000 tokens).";
        assert_eq!(compressed(text), Some(Some(900_000)));
        assert_eq!(compressed("IMPORTANT: … (compressed from: unknown to unknown tokens)."), Some(None));
        assert_eq!(compressed("nothing"), None);
    }
}
