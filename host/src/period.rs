//! Periods as people write them: `30d`, `2w`, `6m`, `1 year`, or a day.

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};

/// What was written is no time.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is neither a length of time that has passed (30d, 2w, 6m, 1y) nor a day (2026-11-01)")]
pub struct PeriodError(String);

/// Which end of a period a day stands for: the period holds all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its first moment.
    Begin,
    /// The first moment of the next day.
    End,
}

/// The time that is meant, in milliseconds since the Unix epoch. A length of time is counted back from `now`; days begin and
/// end in UTC, as all days of a page do.
///
/// # Errors
/// It is neither a length nor a day, or so long ago that no calendar has it.
pub fn parse(text: &str, end: End, now: i64) -> Result<i64, PeriodError> {
    let error = || PeriodError(text.to_owned());
    let text = text.trim();
    if let Ok(day) = text.parse::<Date>() {
        let day = if end == End::End { day.tomorrow().map_err(|_| error())? } else { day };
        return Ok(TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_err(|_| error())?.as_millisecond());
    }
    let span = length(text).ok_or_else(error)?;
    let now = Timestamp::from_millisecond(now).map_err(|_| error())?.to_zoned_datetime(TimeZone::UTC);
    let then = now.checked_sub(span).map_err(|_| error())?;
    if then > now {
        return Err(error());
    }
    Ok(then.timestamp().as_millisecond())
}

/// What was written is no time to come.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is neither a length of time from now on (30d, 2w, 6m, 1y) nor a day to come (2027-01-31)")]
pub struct UntilError(String);

/// A time to come, in milliseconds since the Unix epoch: a length of time from `now` on, or the end of a day in UTC.
///
/// # Errors
/// It is neither, or it is past.
pub fn until(text: &str, now: i64) -> Result<i64, UntilError> {
    let error = || UntilError(text.chars().filter(|c| !c.is_control()).take(60).collect());
    let at = if text.trim().parse::<Date>().is_ok() {
        parse(text, End::End, now).map_err(|_| error())?
    } else {
        // As long after now as that is before it, by the calendar.
        let span = length(text).ok_or_else(error)?;
        let now = Timestamp::from_millisecond(now).map_err(|_| error())?.to_zoned_datetime(TimeZone::UTC);
        now.checked_add(span).map_err(|_| error())?.timestamp().as_millisecond()
    };
    if at > now { Ok(at) } else { Err(error()) }
}

/// A length of time as people write it.
fn length(text: &str) -> Option<Span> {
    let text = text.trim();
    // Elsewhere `m` are minutes, which nobody means here.
    let months = text.strip_suffix('m').filter(|number| number.trim_end().bytes().all(|byte| byte.is_ascii_digit()));
    months.map_or_else(|| text.parse(), |months| format!("{months}mo").parse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, end: End) -> Result<String, PeriodError> {
        let now = "2026-12-01T12:00:00Z".parse::<Timestamp>().unwrap().as_millisecond();
        parse(text, end, now).map(|at| Timestamp::from_millisecond(at).unwrap().to_string())
    }

    #[test]
    fn lengths_are_counted_back() {
        for (text, expected) in [
            ("30d", "2026-11-01T12:00:00Z"),
            ("2w", "2026-11-17T12:00:00Z"),
            ("6m", "2026-06-01T12:00:00Z"),
            ("3 months", "2026-09-01T12:00:00Z"),
            ("1y", "2025-12-01T12:00:00Z"),
            ("1y 2mo", "2025-10-01T12:00:00Z"),
            ("36h", "2026-11-30T00:00:00Z"),
            ("0d", "2026-12-01T12:00:00Z"),
        ] {
            assert_eq!(at(text, End::Begin).as_deref(), Ok(expected), "{text}");
            assert_eq!(at(text, End::End).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_period_holds_all_of_its_days() {
        assert_eq!(at("2026-11-01", End::Begin).as_deref(), Ok("2026-11-01T00:00:00Z"));
        assert_eq!(at("2026-11-01", End::End).as_deref(), Ok("2026-11-02T00:00:00Z"));
    }

    #[test]
    fn a_time_to_come_is_counted_ahead() {
        let now = "2026-12-01T12:00:00Z".parse::<Timestamp>().unwrap().as_millisecond();
        let at = |text: &str| until(text, now).map(|at| Timestamp::from_millisecond(at).unwrap().to_string());
        assert_eq!(at("30d").as_deref(), Ok("2026-12-31T12:00:00Z"));
        assert_eq!(at("3m").as_deref(), Ok("2027-03-01T12:00:00Z"));
        assert_eq!(at("2026-12-01").as_deref(), Ok("2026-12-02T00:00:00Z"), "today is not over");
        for text in ["0d", "-3d", "2026-11-30", "soon", "", "99999999y"] {
            assert_eq!(at(text), Err(UntilError(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "m", "soon", "30", "-30d", "30x", "2026-13-01", "11-01", "99999999y", "\u{1b}[31m"] {
            assert_eq!(at(text, End::Begin), Err(PeriodError(text.to_owned())), "{text}");
        }
    }
}
