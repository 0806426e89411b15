//! The time, which tests can fix.

use crate::paths;

/// Milliseconds since the Unix epoch, UTC: now, or `$TOTALRECALL_NOW` (an RFC 3339 time), which makes output that
/// tells of time the same on every day.
pub fn now() -> i64 {
    paths::variable("TOTALRECALL_NOW")
        .and_then(|fixed| fixed.parse::<jiff::Timestamp>().ok())
        .unwrap_or_else(jiff::Timestamp::now)
        .as_millisecond()
}
