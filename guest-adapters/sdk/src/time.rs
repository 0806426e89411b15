//! RFC 3339 to milliseconds since the Unix epoch, without a calendar crate: a guest parses one per record.

/// Milliseconds since the epoch of an RFC 3339 time such as `2026-11-29T19:42:51.636Z` or `…+02:00`. Digits past the
/// milliseconds are dropped, a leap second counts as the last millisecond before it. None for anything else, and for
/// years before 1970.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || bytes[4] != b'-' || bytes[7] != b'-' || bytes[13] != b':' || bytes[16] != b':' {
        return None;
    }
    if !matches!(bytes[10], b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (digits(bytes, 0, 4)?, digits(bytes, 5, 2)?, digits(bytes, 8, 2)?);
    let (hour, minute, second) = (digits(bytes, 11, 2)?, digits(bytes, 14, 2)?, digits(bytes, 17, 2)?);
    if year < 1970 || !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(&bytes[19..])?;
    let millis = if second == 60 { 59_999 } else { second * 1000 + fraction };
    let minutes = days_since_epoch(year, month, day) * 1440 + hour * 60 + minute - offset(zone)?;
    (minutes >= 0).then_some(minutes * 60_000 + millis)
}

fn digits(bytes: &[u8], at: usize, count: usize) -> Option<i64> {
    bytes
        .get(at..at + count)?
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// Milliseconds of an optional `.123456`, and what follows it.
fn fraction(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = bytes.strip_prefix(b".") else { return Some((0, bytes)) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let millis =
        (0..3).fold(0, |millis, place| millis * 10 + if place < length { i64::from(rest[place] - b'0') } else { 0 });
    (length > 0).then_some((millis, &rest[length..]))
}

/// Minutes east of UTC of `Z` or `+02:00`.
fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), rest @ ..] if rest.len() == 5 && rest[2] == b':' => {
            let (hours, minutes) = (digits(rest, 0, 2)?, digits(rest, 3, 2)?);
            let east = if *sign == b'+' { 1 } else { -1 };
            (hours < 24 && minutes < 60).then_some(east * (hours * 60 + minutes))
        }
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, by counting leap days in years that begin in March: the leap day is then a year's last day.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before_year = year * 365 + year / 4 - year / 100 + year / 400;
    let before_month = (month * 153 + 2) / 5;
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    before_year + before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_times() {
        let known = [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00.5Z", 951_825_600_500),
            ("2026-11-29T19:42:51.636Z", 1_795_981_371_636),
            ("2026-11-29T21:42:51.636789+02:00", 1_795_981_371_636),
            ("2016-12-31T23:59:60Z", 1_483_228_799_999),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ];
        for (text, millis) in known {
            assert_eq!(parse_rfc3339(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn not_times() {
        for text in [
            "",
            "2026-11-29",
            "2026-13-01T00:00:00Z",
            "2025-02-29T00:00:00Z",
            "2026-11-29T24:00:00Z",
            "2026-11-29T19:42:51",
            "2026-11-29T19:42:51.Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "２026-11-29T19:42:51Z",
            "2026-11-29T19:42:51+2:00",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }

    proptest! {
        /// Counting days one by one, the slow way, agrees.
        #[test]
        fn agrees_with_counting(day in 0i64..2_932_896, millis in 0i64..86_400_000) {
            let (mut year, mut month, mut left) = (1970, 1, day);
            while left >= if is_leap(year) { 366 } else { 365 } {
                left -= if is_leap(year) { 366 } else { 365 };
                year += 1;
            }
            while left >= days_in(year, month) {
                left -= days_in(year, month);
                month += 1;
            }
            let (seconds, fraction) = (millis / 1000, millis % 1000);
            let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            let text = format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z", left + 1);
            prop_assert_eq!(parse_rfc3339(&text), Some(day * 86_400_000 + millis));
        }

        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = parse_rfc3339(&text);
        }

        #[test]
        fn never_panics_nearby(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9Zé+:-]{0,9}") {
            let _ = parse_rfc3339(&text);
        }
    }
}
