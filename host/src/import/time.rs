//! Times as Python writes them.

/// An ISO 8601 time in milliseconds since the Unix epoch; one without a zone is taken for UTC.
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let time = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()
    })?;
    // Times before the epoch are mistakes of a clock, and order nothing.
    Some(time.as_millisecond()).filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_a_zone() {
        assert_eq!(parse("2026-06-18T10:00:00Z"), Some(1_781_776_800_000));
        assert_eq!(parse("2026-06-18T10:00:00.123456+00:00"), Some(1_781_776_800_123));
        assert_eq!(parse("2026-06-18T12:00:00+02:00"), Some(1_781_776_800_000));
        assert_eq!(parse("2026-06-18T10:00:00.5"), Some(1_781_776_800_500));
        assert_eq!(parse("2026-06-18 10:00:00"), Some(1_781_776_800_000));
        for none in ["", "yesterday", "0001-01-01T00:00:00", "2026-13-01T00:00:00Z"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
